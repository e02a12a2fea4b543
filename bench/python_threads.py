#!/usr/bin/env python3
"""Runs a network on the CPU from one Python thread and from eight, each with a context and a stream of its own.

usage: KILN_THREADS=1 python_threads.py MODEL.onnx LIBCUDART|kiln [ROUNDS [SECONDS]]

Needs the module tensorrt on PYTHONPATH, and Kiln's libcudart, which makes the streams; or runs calls of the package kiln,
with arrays of numpy. KILN_THREADS=1 keeps each run on one core, so that what the threads gain is theirs. Dynamic extents
are 1. Each round runs one, two and eight threads for two seconds each, or for SECONDS, and prints runs a second, and the
rates of two and eight beside that of one; the last line has the rounds' medians.
"""
import ctypes
import os
import statistics
import sys
import threading
import time

os.environ["KILN_DEVICE"] = "cpu"

import numpy as np  # noqa: E402
import tensorrt as trt  # noqa: E402

ROW = "one {:.1f} two {:.1f} eight {:.1f} runs a second; two {:.2f}, eight {:.2f} of one"


def build(path, logger):
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(path):
        sys.exit(str(parser.get_error(0)))
    config = builder.create_builder_config()
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        shape = [max(extent, 1) for extent in tensor.shape]
        profile.set_shape(tensor.name, shape, shape, shape)
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


class Worker:
    def __init__(self, engine, cudart):
        self.context = engine.create_execution_context()
        self.cudart = cudart
        self.stream = ctypes.c_void_p()
        self.runs = 0
        if cudart.cudaStreamCreate(ctypes.byref(self.stream)) != 0:
            sys.exit("no stream could be made")
        names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
        for name in names:
            if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
                self.context.set_input_shape(name, [max(extent, 1) for extent in engine.get_tensor_shape(name)])
        self.arrays = {name: np.zeros(tuple(self.context.get_tensor_shape(name)), trt.nptype(engine.get_tensor_dtype(name)))
                       for name in names}
        for name, array in self.arrays.items():
            self.context.set_tensor_address(name, array.ctypes.data)

    def run(self, until):
        self.runs = 0
        while time.perf_counter() < until:
            if not self.context.execute_async_v3(self.stream.value):
                sys.exit("a run failed")
            self.cudart.cudaStreamSynchronize(self.stream)
            self.runs += 1


class Caller:
    """Calls an engine of the package kiln, which has a context for each thread."""

    def __init__(self, engine):
        self.engine, self.arrays = engine, engine.example_inputs()
        self.runs = 0

    def run(self, until):
        self.runs = 0
        while time.perf_counter() < until:
            self.engine(*self.arrays)
            self.runs += 1


def callers(path):
    import kiln

    engine = kiln.compile(path, progress=False)
    return [Caller(engine) for _ in range(8)]


def rate(workers, seconds=2.0):
    start = time.perf_counter()
    threads = [threading.Thread(target=worker.run, args=(start + seconds,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(worker.runs for worker in workers) / (time.perf_counter() - start)


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    if sys.argv[2] == "kiln":
        workers = callers(sys.argv[1])
    else:
        engine = build(sys.argv[1], trt.Logger(trt.Logger.WARNING))
        if engine is None:
            sys.exit("the engine was not built")
        workers = [Worker(engine, ctypes.CDLL(sys.argv[2])) for _ in range(8)]
    rounds, seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 5, float(sys.argv[4]) if len(sys.argv) > 4 else 2.0
    rate(workers, 0.5)
    found = []
    for _ in range(rounds):
        one, two, eight = (rate(workers[:count], seconds) for count in (1, 2, 8))
        found.append((one, two, eight, two / one, eight / one))
        print(ROW.format(*found[-1]), flush=True)
    print("median " + ROW.format(*(statistics.median(column) for column in zip(*found))))


if __name__ == "__main__":
    main()
