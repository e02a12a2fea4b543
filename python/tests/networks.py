"""Networks of a few layers, built and run with numpy arrays, and the table of cases that the tests of layers share."""

from dataclasses import dataclass, field

import numpy as np
import pinned_arrays
import tensorrt as trt

assert pinned_arrays  # which puts arrays where a GPU reads them, if that is asked for

TYPES = {
    np.dtype(np.float32): trt.float32,
    np.dtype(np.float16): trt.float16,
    np.dtype(np.int8): trt.int8,
    np.dtype(np.int32): trt.int32,
    np.dtype(np.int64): trt.int64,
    np.dtype(np.bool_): trt.bool,
    np.dtype(np.uint8): trt.uint8,
}


class Log(trt.ILogger):
    """Keeps the errors."""

    def __init__(self):
        trt.ILogger.__init__(self)
        self.errors = []

    def log(self, severity, message):
        if severity <= trt.ILogger.Severity.ERROR:
            self.errors.append(message)

    def take_errors(self):
        taken, self.errors = "\n".join(self.errors), []
        return taken


class Outputs(trt.IOutputAllocator):
    """Memory for outputs, whose sizes data may decide."""

    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.memory, self.shapes = {}, {}

    def reallocate_output(self, tensor_name, memory, size, alignment):
        block = np.zeros(size + alignment, np.uint8)
        self.memory[tensor_name] = block[-block.ctypes.data % alignment :]
        return self.memory[tensor_name].ctypes.data

    def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
        return self.reallocate_output(tensor_name, memory, size, alignment)

    def notify_shape(self, tensor_name, shape):
        self.shapes[tensor_name] = tuple(shape)

    def array(self, name, dtype):
        memory, shape, dtype = self.memory[name], self.shapes[name], np.dtype(trt.nptype(dtype))
        return memory[: int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape)


class Bench:
    """A network under construction with its inputs, and what it takes to run it."""

    def __init__(self, flags=0):
        self.log = Log()
        self.builder = trt.Builder(self.log)
        self.network = self.builder.create_network(flags)

    def input(self, name, array_or_shape, dtype=None):
        """An input of the extents (and type) of an array, or of a shape."""
        if isinstance(array_or_shape, np.ndarray):
            return self.network.add_input(name, TYPES[array_or_shape.dtype], array_or_shape.shape)
        return self.network.add_input(name, dtype or trt.float32, array_or_shape)

    def constant(self, values, dtype=np.float32):
        array = np.array(values, dtype, order="C")
        return self.network.add_constant(array.shape, array).get_output(0)

    def run(self, inputs, outputs):
        """Marks `outputs`, builds, runs, and returns their values as arrays, in order."""
        for i, tensor in enumerate(outputs):
            assert tensor is not None, self.log.take_errors()
            tensor.name = f"out{i}"
            self.network.mark_output(tensor)
        plan = self.builder.build_serialized_network(self.network, self.builder.create_builder_config())
        assert plan is not None, self.log.take_errors()
        engine = trt.Runtime(self.log).deserialize_cuda_engine(plan)
        context = engine.create_execution_context()
        memory = {name: np.array(array, order="C") for name, array in inputs.items()}
        for name, array in memory.items():
            context.set_input_shape(name, array.shape)
            context.set_tensor_address(name, array.ctypes.data)
        allocator = Outputs()
        for i in range(len(outputs)):
            context.set_output_allocator(f"out{i}", allocator)
        assert context.execute_async_v3(0), self.log.take_errors()
        types = [engine.get_tensor_dtype(f"out{i}") for i in range(len(outputs))]
        del context  # which waits for its runs
        errors = self.log.take_errors()
        assert errors == "", errors
        return [allocator.array(f"out{i}", dtype) for i, dtype in enumerate(types)]


@dataclass
class Case:
    """A call that adds a layer: what it is given, and what comes out.

    add(bench, *tensors) calls network.add_<name>; `inputs` are arrays for the tensors; `expected` are the outputs.
    `kind` is the layer's class. `set` are properties that are set before the run, `shown` those that are read only.
    """

    id: str
    kind: type
    add: callable
    inputs: list
    expected: list
    set: dict = field(default_factory=dict)
    shown: dict = field(default_factory=dict)
    terms: int = 1  # of the longest sum; errors of rounding grow with it


def same(value, expected):
    """Whether a property reads back as it was set."""
    if isinstance(value, np.ndarray):
        return np.array_equal(value, np.asarray(expected).reshape(-1))
    if isinstance(value, (trt.Dims, trt.Permutation)):
        return list(value)[: len(expected)] == list(expected)
    if isinstance(value, list):
        return np.allclose(value, expected)
    if isinstance(value, float):
        return np.float32(value) == np.float32(expected)
    return value == expected and type(value) is type(expected)


def check(case):
    """Adds the layer, sets and reads its properties, runs it."""
    bench = Bench()
    tensors = [bench.input(f"in{i}", array) for i, array in enumerate(case.inputs)]
    layer = case.add(bench, *tensors)
    assert layer is not None, bench.log.take_errors()
    assert type(layer) is case.kind
    for name, value in case.set.items():
        setattr(layer, name, value)
    for name, value in {**case.set, **case.shown}.items():
        assert same(getattr(layer, name), value), f"{name}: {getattr(layer, name)!r}"
    assert bench.log.take_errors() == ""
    inputs = {f"in{i}": array for i, array in enumerate(case.inputs)}
    results = bench.run(inputs, [layer.get_output(i) for i in range(len(case.expected))])
    for result, expected in zip(results, case.expected):
        expected = np.asarray(expected)
        assert result.shape == expected.shape
        assert result.dtype == expected.dtype
        if expected.dtype.kind == "f":
            # 4 for functions whose values are rounded at several places.
            tolerance = np.finfo(expected.dtype).eps * 4 * (1 + case.terms)
            np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(result, expected)
