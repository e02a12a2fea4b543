#!/usr/bin/env python3
"""Times a call of an engine from Python beside ONNX Runtime's session.run, on the CPU by one thread, with arrays of numpy.

usage: KILN_THREADS=1 python_calls.py [MODEL.onnx [ROUNDS]]

Needs the package kiln on PYTHONPATH, and onnxruntime. Without a model it is the sum of four floats and a constant, whose
run takes next to no time: what is left is the call. Dynamic extents are 1. Each round times a thousand calls of each kind,
in turns; medians and the least of the rounds are printed, in microseconds a call.
"""
import os
import statistics
import sys
import time

os.environ["KILN_DEVICE"] = "cpu"

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

import kiln  # noqa: E402

CALLS = 1000


def small_model():
    value = helper.make_tensor("c", TensorProto.FLOAT, [4], [1, 2, 3, 4])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "c"], ["y"])], "sum", [x], [y], [value])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def time_us(call):
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS * 1e6


def main():
    if len(sys.argv) > 3:
        sys.exit(__doc__)
    model = open(sys.argv[1], "rb").read() if len(sys.argv) > 1 else small_model()
    engine, session = kiln.compile(model, progress=False), session_of(model)
    arrays = engine.example_inputs()
    named = dict(zip((tensor.name for tensor in engine.inputs), arrays))
    results = engine(*arrays)
    out = [np.empty_like(array) for array in (results if isinstance(results, tuple) else [results])]
    kinds = {
        "kiln, by position": lambda: engine(*arrays),
        "kiln, by one dict": lambda: engine(named),
        "kiln, with out=": lambda: engine(*arrays, out=out),
        "ONNX Runtime": lambda: session.run(None, named),
    }
    times = {kind: [] for kind in kinds}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 50):
        for kind, call in kinds.items():
            times[kind].append(time_us(call))
    for kind, found in times.items():
        print(f"{kind:18} median {statistics.median(found):.2f} us, least {min(found):.2f}")


if __name__ == "__main__":
    main()
