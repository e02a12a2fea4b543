"""Plugins in Python that the tests share: numpy computes them on host memory."""

import ctypes

import numpy as np
import pinned_arrays
import tensorrt as trt

assert pinned_arrays  # which puts arrays where a GPU reads them, if that is asked for


def array_at(address, desc):
    """The memory of a plugin's tensor, a PluginTensorDesc, as an array. On a GPU that is one of the program's own tensors."""
    if address and not trt.tensorrt._is_host_memory(address):
        raise TypeError("the tensor is in device memory, which numpy does not read")
    dtype = np.dtype(trt.nptype(desc.type))
    shape = tuple(desc.dims)
    count = int(np.prod(shape)) * dtype.itemsize
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_byte * count).from_address(address), dtype).reshape(shape)


class Output(trt.IOutputAllocator):
    """Memory for an output whose size data decides."""

    def __init__(self, dtype):
        trt.IOutputAllocator.__init__(self)
        self.dtype = np.dtype(trt.nptype(dtype))
        self.memory = np.empty(0, np.uint8)
        self.shape = None

    def reallocate_output(self, tensor_name, memory, size, alignment):
        self.memory = np.zeros(max(size, 1), np.uint8)
        return self.memory.ctypes.data

    def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
        return self.reallocate_output(tensor_name, memory, size, alignment)

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)

    def array(self):
        count = int(np.prod(self.shape)) * self.dtype.itemsize
        return self.memory[:count].view(self.dtype).reshape(self.shape)


def run_by_allocators(bench, inputs, outputs):
    """As Bench.run, for outputs whose sizes data may decide."""
    for i, tensor in enumerate(outputs):
        tensor.name = f"out{i}"
        bench.network.mark_output(tensor)
    plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
    assert plan is not None, bench.log.take_errors()
    engine = trt.Runtime(bench.log).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()
    for name, array in inputs.items():
        context.set_tensor_address(name, array.ctypes.data)
    allocators = [Output(engine.get_tensor_dtype(f"out{i}")) for i in range(len(outputs))]
    for i, allocator in enumerate(allocators):
        assert context.set_output_allocator(f"out{i}", allocator)
    assert context.execute_async_v3(0), bench.log.take_errors()
    return [allocator.array() for allocator in allocators]


class Scale(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    """y = x * factor. It is of one class, and records which methods are called.

    `failing` is the name of a method that raises.
    """

    failing = None
    calls = []
    alive = 0

    def __init__(self, factor=1.0):
        trt.IPluginV3.__init__(self)
        trt.IPluginV3OneCore.__init__(self)
        trt.IPluginV3OneBuild.__init__(self)
        trt.IPluginV3OneRuntime.__init__(self)
        self.plugin_name = "PythonScale"
        self.plugin_version = "1"
        self.plugin_namespace = "tests"
        self.num_outputs = 1
        self.factor = np.array([factor], np.float32)
        Scale.alive += 1

    def __del__(self):
        Scale.alive -= 1

    def call(self, name):
        Scale.calls.append(name)
        if Scale.failing == name:
            raise ValueError(f"no {name} today")

    def get_capability_interface(self, type):
        self.call("get_capability_interface")
        return self

    def clone(self):
        self.call("clone")
        copy = Scale()
        copy.__dict__.update(self.__dict__)
        return copy

    def destroy(self):
        self.call("destroy")

    def get_output_data_types(self, input_types):
        self.call("get_output_data_types")
        return [input_types[0]]

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        self.call("get_output_shapes")
        return [trt.DimsExprs(inputs[0])]

    def get_workspace_size(self, in_, out):
        self.call("get_workspace_size")
        return 0

    def configure_plugin(self, in_, out):
        self.call("configure_plugin")

    def supports_format_combination(self, pos, in_out, num_inputs):
        self.call("supports_format_combination")
        desc = in_out[pos].desc
        return desc.format == trt.TensorFormat.LINEAR and desc.type == trt.DataType.FLOAT

    def get_valid_tactics(self):
        self.call("get_valid_tactics")
        return []

    def on_shape_change(self, in_, out):
        self.call("on_shape_change")

    def set_tactic(self, tactic):
        self.call("set_tactic")

    def get_fields_to_serialize(self):
        self.call("get_fields_to_serialize")
        return trt.PluginFieldCollection([trt.PluginField("factor", self.factor, trt.PluginFieldType.FLOAT32)])

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        self.call("enqueue")
        array_at(outputs[0], output_desc[0])[...] = array_at(inputs[0], input_desc[0]) * self.factor[0]

    def attach_to_context(self, resource_context):
        self.call("attach_to_context")
        copy = Scale()
        copy.__dict__.update(self.__dict__)
        return copy


class ScaleCreator(trt.IPluginCreatorV3One):
    """Creates Scale."""

    def __init__(self):
        trt.IPluginCreatorV3One.__init__(self)
        self.name = "PythonScale"
        self.plugin_version = "1"
        self.plugin_namespace = "tests"
        self.field_names = trt.PluginFieldCollection(
            [trt.PluginField("factor", np.array([]), trt.PluginFieldType.FLOAT32)]
        )
        self.phases = []

    def create_plugin(self, name, field_collection, phase):
        self.phases.append(phase)
        if Scale.failing == "create_plugin":
            raise ValueError("no create_plugin today")
        (factor,) = [field.data for field in field_collection if field.name == "factor"]
        return Scale(float(factor[0]))
