"""Plugins of version 3 that Python implements, in networks that run on the CPU."""

import contextlib
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench
from plugins import Scale, ScaleCreator, array_at, run_by_allocators

REGISTRY = trt.get_plugin_registry()


@pytest.fixture(autouse=True)
def scale():
    """The creator of Scale, registered for the test."""
    Scale.failing, Scale.calls = None, []
    creator = ScaleCreator()
    assert REGISTRY.register_creator(creator, "tests")
    yield creator
    Scale.failing = None
    assert REGISTRY.deregister_creator(creator)


def test_scale(scale):
    x = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)
    bench = Bench()
    layer = bench.network.add_plugin_v3([bench.input("x", x)], [], Scale(2.5))
    assert type(layer) is trt.IPluginV3Layer
    assert layer.type == trt.LayerType.PLUGIN_V3
    assert isinstance(layer.plugin, Scale)
    assert layer.plugin.factor[0] == 2.5
    assert tuple(layer.get_output(0).shape) == (2, 3, 4)
    (y,) = bench.run({"x": x}, [layer.get_output(0)])
    np.testing.assert_array_equal(y, x * np.float32(2.5))
    assert scale.phases == [trt.TensorRTPhase.RUNTIME]
    assert bench.log.take_errors() == ""


def test_the_network_has_a_copy():
    bench = Bench()
    plugin = Scale(2)
    layer = bench.network.add_plugin_v3([bench.input("x", (4,))], [], plugin)
    assert layer.plugin is not plugin
    assert layer.plugin is layer.plugin
    assert "destroy" not in Scale.calls  # the program's plugin is the program's
    del layer, bench
    assert Scale.calls.count("destroy") == 1


def test_types_are_asked_before_shapes():
    bench = Bench()
    assert bench.network.add_plugin_v3([bench.input("x", (4,))], [], Scale(2)) is not None
    asked = [call for call in Scale.calls if call.startswith("get_output")]
    assert asked == ["get_output_data_types", "get_output_shapes"]


def test_dynamic_shapes(scale):
    bench = Bench()
    x = bench.input("x", (-1, 3))
    y = bench.network.add_plugin_v3([x], [], Scale(3)).get_output(0)
    y.name = "y"
    bench.network.mark_output(y)
    config = bench.builder.create_builder_config()
    profile = bench.builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (4, 3), (8, 3))
    config.add_optimization_profile(profile)
    plan = bench.builder.build_serialized_network(bench.network, config)
    context = trt.Runtime(bench.log).deserialize_cuda_engine(plan).create_execution_context()
    for rows in (1, 8, 5, 5):
        given = np.random.default_rng(rows).standard_normal((rows, 3), np.float32)
        made = np.empty_like(given)
        assert context.set_input_shape("x", given.shape)
        assert context.execute_v2([given.ctypes.data, made.ctypes.data])
        np.testing.assert_array_equal(made, given * 3)
    assert Scale.calls.count("on_shape_change") == 3  # the last run has the shapes of the one before


class Parts(trt.IPluginV3):
    """y = x ** 2, whose parts are objects of their own."""

    class Core(trt.IPluginV3OneCore):
        plugin_name, plugin_version, plugin_namespace = "Square", "1", ""

    class Build(trt.IPluginV3OneBuild):
        num_outputs = 1

        def get_output_data_types(self, input_types):
            return input_types

        def get_output_shapes(self, inputs, shape_inputs, expr_builder):
            return inputs

        def configure_plugin(self, in_, out):
            pass

        def supports_format_combination(self, pos, in_out, num_inputs):
            return in_out[pos].desc.format == trt.TensorFormat.LINEAR

    class Runtime(trt.IPluginV3OneRuntime):
        def on_shape_change(self, in_, out):
            pass

        def set_tactic(self, tactic):
            pass

        def get_fields_to_serialize(self):
            return []

        def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
            array_at(outputs[0], output_desc[0])[...] = np.square(array_at(inputs[0], input_desc[0]))

        def attach_to_context(self, resource_context):
            return Parts()

    def get_capability_interface(self, type):
        return {
            trt.PluginCapabilityType.CORE: self.Core,
            trt.PluginCapabilityType.BUILD: self.Build,
            trt.PluginCapabilityType.RUNTIME: self.Runtime,
        }[type]()

    def clone(self):
        return Parts()


class CreatorOf(trt.IPluginCreatorV3One):
    """Creates plugins of a class that have no fields."""

    def __init__(self, make):
        trt.IPluginCreatorV3One.__init__(self)
        core = make().get_capability_interface(trt.PluginCapabilityType.CORE)
        self.name, self.plugin_version = core.plugin_name, core.plugin_version
        self.plugin_namespace, self.field_names = core.plugin_namespace, []
        self._make = make

    def create_plugin(self, name, field_collection, phase):
        return self._make()


@contextlib.contextmanager
def registered(creator):
    """Registers a creator meanwhile."""
    assert REGISTRY.register_creator(creator, creator.plugin_namespace)
    try:
        yield creator
    finally:
        assert REGISTRY.deregister_creator(creator)


def test_parts_of_their_own():
    with registered(CreatorOf(Parts)):
        x = np.arange(6, dtype=np.float32)
        bench = Bench()
        layer = bench.network.add_plugin_v3([bench.input("x", x)], [], Parts())
        (y,) = bench.run({"x": x}, [layer.get_output(0)])
        np.testing.assert_array_equal(y, x * x)


class Tile(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    """Repeats a vector to the size of a shape input; another output has the rows that are not zero, and how many.

    y = resize(x, shape), rows = x[x != 0], a size tensor tells their number.
    """

    def __init__(self):
        super().__init__()
        self.plugin_name, self.plugin_version, self.plugin_namespace = "Tile", "1", "tests"
        self.num_outputs = 3

    def get_capability_interface(self, type):
        return self

    def clone(self):
        return Tile()

    def get_output_data_types(self, input_types):
        return [input_types[0], input_types[0], trt.int64]

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        length = inputs[0][0]
        half = expr_builder.operation(trt.DimensionOperation.CEIL_DIV, length, expr_builder.constant(2))
        size = expr_builder.declare_size_tensor(2, half, length)
        assert size.is_size_tensor() and not length.is_size_tensor()
        rows = trt.DimsExprs(1)
        assert rows[0] is None
        rows[0] = size
        return [trt.DimsExprs(shape_inputs[0]), rows, trt.DimsExprs(0)]

    def configure_plugin(self, in_, out):
        pass

    def supports_format_combination(self, pos, in_out, num_inputs):
        desc = in_out[pos].desc
        expected = [trt.float32, trt.float32, trt.float32, trt.int64] if num_inputs == 1 else None
        return desc.format == trt.TensorFormat.LINEAR and (expected is None or desc.type == expected[pos])

    def on_shape_change(self, in_, out):
        pass

    def set_tactic(self, tactic):
        pass

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection([])

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        x = array_at(inputs[0], input_desc[0])
        assert tuple(output_desc[1].dims) == (-1,)
        array_at(outputs[0], output_desc[0])[...] = np.resize(x, tuple(output_desc[0].dims))
        found = x[x != 0]
        desc = trt.PluginTensorDesc()
        desc.dims, desc.type = found.shape, trt.float32
        array_at(outputs[1], desc)[...] = found
        array_at(outputs[2], output_desc[2])[...] = len(found)

    def attach_to_context(self, resource_context):
        assert resource_context.gpu_allocator is not None
        return Tile()


def test_shape_input_and_size_that_data_decides():
    with registered(CreatorOf(Tile)):
        x = np.array([3, 0, 1, 0, 0, 7, 2], np.float32)
        bench = Bench()
        shape = bench.constant([2, 5], np.int64)
        layer = bench.network.add_plugin_v3([bench.input("x", x)], [shape], Tile())
        assert tuple(layer.get_output(0).shape) == (2, 5)
        assert tuple(layer.get_output(1).shape) == (-1,)
        y, rows = run_by_allocators(bench, {"x": x}, [layer.get_output(0), layer.get_output(1)])
        np.testing.assert_array_equal(y, np.resize(x, (2, 5)))
        np.testing.assert_array_equal(rows, [3, 1, 7, 2])


class Tactics(Scale):
    """Scale with tactics, one of which adds the tactic to the result."""

    def clone(self):
        copy = Tactics()
        copy.__dict__.update(self.__dict__)
        return copy

    attach_to_context = lambda self, context: self.clone()  # noqa: E731

    def get_valid_tactics(self):
        return [7, 3]

    def set_tactic(self, tactic):
        self.tactic = tactic

    def get_workspace_size(self, in_, out):
        return 64

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        assert workspace != 0
        array_at(outputs[0], output_desc[0])[...] = array_at(inputs[0], input_desc[0]) + self.tactic


class TacticsCreator(ScaleCreator):
    def __init__(self):
        super().__init__()
        self.name = "PythonTactics"

    def create_plugin(self, name, field_collection, phase):
        plugin = Tactics()
        plugin.plugin_name = self.name
        return plugin


def test_tactics_and_workspace():
    with registered(TacticsCreator()) as creator:
        x = np.zeros(5, np.float32)
        bench = Bench()
        plugin = creator.create_plugin("", [], trt.TensorRTPhase.BUILD)
        layer = bench.network.add_plugin_v3([bench.input("x", x)], [], plugin)
        (y,) = bench.run({"x": x}, [layer.get_output(0)])
        assert y[0] in (3, 7)
        np.testing.assert_array_equal(y, x + y[0])


def test_how_often_a_combination_is_configured():
    """docs/plugins.md has the numbers: twice for each profile."""
    bench = Bench()
    x = bench.input("x", (-1, 3))
    layer = bench.network.add_plugin_v3([x], [], Scale(2))
    bench.network.mark_output(layer.get_output(0))
    config = bench.builder.create_builder_config()
    for most in 8, 32:
        profile = bench.builder.create_optimization_profile()
        profile.set_shape("x", (1, 3), (4, 3), (most, 3))
        config.add_optimization_profile(profile)
    Scale.calls.clear()
    assert bench.builder.build_serialized_network(bench.network, config) is not None, bench.log.take_errors()
    asked = ["clone", "configure_plugin", "get_valid_tactics", "get_workspace_size"]
    assert [Scale.calls.count(call) for call in asked] == [4] * 4, Scale.calls


class InPlace(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuildV2, trt.IPluginV3OneRuntime):
    """y = x + 1 in x's memory."""

    def __init__(self):
        super().__init__()
        self.plugin_name, self.plugin_version, self.plugin_namespace = "InPlace", "1", "tests"
        self.num_outputs = 1

    def get_capability_interface(self, type):
        return self

    def clone(self):
        return InPlace()

    def get_output_data_types(self, input_types):
        return input_types

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        return inputs

    def configure_plugin(self, in_, out):
        pass

    def supports_format_combination(self, pos, in_out, num_inputs):
        return in_out[pos].desc.format == trt.TensorFormat.LINEAR

    def get_aliased_input(self, output_index):
        return 0

    def on_shape_change(self, in_, out):
        pass

    def set_tactic(self, tactic):
        pass

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection()

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        assert inputs == outputs
        memory = array_at(outputs[0], output_desc[0])
        memory += 1

    def attach_to_context(self, resource_context):
        return InPlace()


def test_aliased_output():
    with registered(CreatorOf(InPlace)):
        x = np.arange(5, dtype=np.float32)
        bench = Bench()
        layer = bench.network.add_plugin_v3([bench.input("x", x)], [], InPlace())
        y = layer.get_output(0)
        y.name = "y"
        bench.network.mark_output(y)
        config = bench.builder.create_builder_config()
        config.set_preview_feature(trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03, True)
        plan = bench.builder.build_serialized_network(bench.network, config)
        assert plan is not None, bench.log.take_errors()
        context = trt.Runtime(bench.log).deserialize_cuda_engine(plan).create_execution_context()
        made = np.empty_like(x)
        assert context.execute_v2([x.ctypes.data, made.ctypes.data])
        np.testing.assert_array_equal(made, np.arange(5) + 1)


LOADS = """
import sys
import numpy as np
import tensorrt as trt
from plugins import ScaleCreator

log = trt.Logger(trt.Logger.ERROR)
runtime = trt.Runtime(log)
plan = open(sys.argv[1], "rb").read()
if sys.argv[2] == "with":
    trt.get_plugin_registry().register_creator(ScaleCreator(), "tests")
engine = runtime.deserialize_cuda_engine(plan)
assert engine is not None
context = engine.create_execution_context()
x = np.arange(8, dtype=np.float32)
y = np.empty_like(x)
assert context.execute_v2([x.ctypes.data, y.ctypes.data])
assert (y == x * 4).all()
print("right")
"""


def test_saved_plan_in_a_new_process(tmp_path):
    bench = Bench()
    y = bench.network.add_plugin_v3([bench.input("x", (8,))], [], Scale(4)).get_output(0)
    bench.network.mark_output(y)
    plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
    path = tmp_path / "scale.plan"
    path.write_bytes(plan)

    def load(how):
        here = str(pathlib.Path(__file__).parent)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-c", LOADS, str(path), how]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    loaded = load("with")
    assert loaded.returncode == 0, loaded.stderr
    assert loaded.stdout == "right\n"
    refused = load("without")
    assert refused.returncode == 1
    assert "no creator of plugin 'PythonScale'" in refused.stdout + refused.stderr
