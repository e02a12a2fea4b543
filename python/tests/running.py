"""What tests of builds and runs share: small networks, plans of them, runs on numpy's memory."""
import ctypes
import os
import pathlib
import sys
import threading
import time

import numpy as np
import pinned_arrays
import tensorrt as trt

assert pinned_arrays  # which puts arrays where a GPU reads them, if that is asked for


def cudart():
    """Kiln's CUDA runtime, whose streams runs on the CPU use."""
    built = pathlib.Path(trt.__file__).parents[2] / "cudart" / "libcudart.so.13"
    library = ctypes.CDLL(os.environ.get("KILN_CUDART", str(built)))
    library.cudaStreamSynchronize.argtypes = [ctypes.c_void_p]
    return library


def wait(stream=0):
    """Waits for the runs of a stream."""
    assert cudart().cudaStreamSynchronize(stream) == 0


def floats_at(address, shape, stream):
    """A copy of floats that a run on `stream` made, which is queued there on a GPU."""
    shape = tuple(shape)
    copy = np.empty(shape, np.float32)
    if os.environ.get("KILN_DEVICE") == "cuda":
        anywhere = 4  # cudaMemcpyDefault
        sizes = ctypes.c_size_t(copy.nbytes), anywhere, ctypes.c_void_p(stream)
        assert cudart().cudaMemcpyAsync(ctypes.c_void_p(copy.ctypes.data), ctypes.c_void_p(address), *sizes) == 0
        wait(stream)
    else:
        ctypes.memmove(copy.ctypes.data, address, copy.nbytes)
    return copy


class Messages(trt.ILogger):
    """A logger that keeps what it gets."""

    def __init__(self):
        trt.ILogger.__init__(self)
        self.texts = []

    def log(self, severity, msg):
        self.texts.append((severity, msg))

    def errors(self):
        return [text for severity, text in self.texts if severity <= trt.ILogger.ERROR]

    def all(self):
        return "\n".join(text for _, text in self.texts)


class Recorder(trt.IErrorRecorder):
    """A recorder that keeps what it gets."""

    def __init__(self):
        trt.IErrorRecorder.__init__(self)
        self.errors = []

    def num_errors(self):
        return len(self.errors)

    def get_error_code(self, index):
        return self.errors[index][0]

    def get_error_desc(self, index):
        return self.errors[index][1]

    def has_overflowed(self):
        return False

    def clear(self):
        self.errors.clear()

    def report_error(self, code, desc):
        self.errors.append((code, desc))
        return False


class Allocator(trt.IGpuAllocator):
    """Memory of arrays, as it is the host's on the CPU; on a GPU of pinned ones."""

    def __init__(self):
        trt.IGpuAllocator.__init__(self)
        self.blocks, self.num_allocated = {}, 0

    def allocate(self, size, alignment, flags):
        block = np.empty(size + alignment, np.uint8)
        address = -(-block.ctypes.data // alignment) * alignment
        self.blocks[address] = block
        self.num_allocated += 1
        return address

    def deallocate(self, memory):
        return self.blocks.pop(memory, None) is not None


def doubled(builder, shape=(2, 3), name="x"):
    """A network that adds its input to itself: y = x + x."""
    network = builder.create_network()
    x = network.add_input(name, trt.float32, shape)
    layer = network.add_elementwise(x, x, trt.ElementWiseOperation.SUM)
    layer.name = "sum"
    y = layer.get_output(0)
    y.name = "y"
    network.mark_output(y)
    return network


def quick(builder):
    """A configuration that builds fast."""
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    return config


def plan_of_doubled(logger, shape=(2, 3)):
    builder = trt.Builder(logger)
    plan = builder.build_serialized_network(doubled(builder, shape), quick(builder))
    assert plan is not None
    return plan


def engine_of_doubled(logger, shape=(2, 3)):
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan_of_doubled(logger, shape))
    assert engine is not None
    return engine


def softmax_plan(logger):
    """A plan whose context needs memory."""
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (64, 64))
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, x, trt.MatrixOperation.TRANSPOSE).get_output(0)
    y = network.add_softmax(product).get_output(0)
    z = network.add_matrix_multiply(y, trt.MatrixOperation.NONE, product, trt.MatrixOperation.NONE).get_output(0)
    z.name = "y"
    network.mark_output(z)
    return builder.build_serialized_network(network, quick(builder))


def work_on(logger):
    """Builds, runs and ends engines on a daemon thread, until the process ends."""

    def work():
        while True:
            run(engine_of_doubled(logger).create_execution_context(), np.ones((2, 3), dtype=np.float32))

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)


def run(context, x, shape=None):
    """Runs y = x + x, or another network of an x and a y of equal shapes."""
    y = np.full_like(x, -1) if shape is None else np.full(shape, -1, dtype=x.dtype)
    assert context.set_tensor_address("x", x.ctypes.data) and context.set_tensor_address("y", y.ctypes.data)
    assert context.execute_async_v3(0)
    wait()
    return y


class Unraisable(list):
    """Collects what goes to sys.unraisablehook."""

    def __enter__(self):
        self.before, sys.unraisablehook = sys.unraisablehook, lambda args: self.append(str(args.exc_value))
        return self

    def __exit__(self, *_):
        sys.unraisablehook = self.before


class Progress(trt.IProgressMonitor):
    def __init__(self, most=10**9):
        trt.IProgressMonitor.__init__(self)
        self.phases, self.steps, self.most = [], 0, most

    def phase_start(self, phase_name, parent_phase, num_steps):
        assert parent_phase is None or parent_phase in self.phases
        self.phases.append(phase_name)

    def step_complete(self, phase_name, step):
        self.steps += 1
        return self.steps < self.most

    def phase_finish(self, phase_name):
        self.phases.remove(phase_name)


def build(logger, monitor):
    builder = trt.Builder(logger)
    config = quick(builder)
    config.progress_monitor = monitor
    assert config.progress_monitor is monitor
    return builder.build_serialized_network(doubled(builder), config)
