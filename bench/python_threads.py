#!/usr/bin/env python3
"""Runs a network on the CPU from one Python thread and from eight, each with a context and a stream of its own.

usage: KILN_THREADS=1 python_threads.py MODEL.onnx LIBCUDART [ROUNDS]

Needs the module tensorrt on PYTHONPATH, and Kiln's libcudart, which makes the streams. KILN_THREADS=1 keeps each run on one
core, so that what the threads gain is theirs. Dynamic extents are 1. Each round runs one, two and eight threads for two
seconds each and prints runs a second, and the rates of two and eight beside that of one.
"""
import ctypes
import os
import sys
import threading
import time

os.environ["KILN_DEVICE"] = "cpu"

import numpy as np  # noqa: E402
import tensorrt as trt  # noqa: E402


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


def rate(workers, seconds=2.0):
    start = time.perf_counter()
    threads = [threading.Thread(target=worker.run, args=(start + seconds,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(worker.runs for worker in workers) / (time.perf_counter() - start)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    engine = build(sys.argv[1], trt.Logger(trt.Logger.WARNING))
    if engine is None:
        sys.exit("the engine was not built")
    workers = [Worker(engine, ctypes.CDLL(sys.argv[2])) for _ in range(8)]
    rate(workers, 0.5)
    for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 5):
        one, two, eight = (rate(workers[:count]) for count in (1, 2, 8))
        print(f"one {one:.1f} two {two:.1f} eight {eight:.1f} runs a second; "
              f"two {two / one:.2f}, eight {eight / one:.2f} of one", flush=True)


if __name__ == "__main__":
    main()
