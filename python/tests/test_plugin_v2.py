"""Plugins of version 2: IPluginV2DynamicExt in Python, and those of C++ libraries as Python sees them."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench
from plugins import array_at

REGISTRY = trt.get_plugin_registry()


class Shift(trt.IPluginV2DynamicExt):
    """y = x + shift, with a row more than x has, of zeros."""

    failing = None
    calls = []

    def __init__(self, shift=0.0):
        trt.IPluginV2DynamicExt.__init__(self)
        self.plugin_type = "PythonShift"
        self.plugin_version = "2"
        self.plugin_namespace = ""
        self.num_outputs = 1
        self.shift = shift

    def call(self, name):
        Shift.calls.append(name)
        if Shift.failing == name:
            raise ValueError(f"no {name} today")

    def initialize(self):
        self.call("initialize")

    def terminate(self):
        self.call("terminate")

    def get_output_datatype(self, index, input_types):
        self.call("get_output_datatype")
        return input_types[0]

    def get_output_dimensions(self, output_index, inputs, expr_builder):
        self.call("get_output_dimensions")
        shape = trt.DimsExprs(inputs[0])
        shape[0] = expr_builder.operation(trt.DimensionOperation.SUM, shape[0], expr_builder.constant(np.int32(1)))
        return shape

    def serialize(self):
        self.call("serialize")
        return np.float64(self.shift).tobytes()

    def configure_plugin(self, pos, in_out):
        self.call("configure_plugin")

    def supports_format_combination(self, pos, in_out, num_inputs):
        self.call("supports_format_combination")
        return in_out[pos].format == trt.TensorFormat.LINEAR and in_out[pos].type == trt.float32

    def get_workspace_size(self, in_, out):
        self.call("get_workspace_size")
        return 16

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        self.call("enqueue")
        y = array_at(outputs[0], output_desc[0])
        y[:-1] = array_at(inputs[0], input_desc[0]) + np.float32(self.shift)
        y[-1] = 0

    def clone(self):
        self.call("clone")
        copy = Shift()
        copy.__dict__.update(self.__dict__)
        return copy

    def destroy(self):
        self.call("destroy")


class ShiftCreator(trt.IPluginCreator):
    def __init__(self):
        trt.IPluginCreator.__init__(self)
        self.name = "PythonShift"
        self.plugin_version = "2"
        self.plugin_namespace = ""
        self.field_names = [trt.PluginField("shift", np.array([]), trt.PluginFieldType.FLOAT32)]

    def create_plugin(self, name, field_collection):
        return Shift(float(field_collection[0].data[0]))

    def deserialize_plugin(self, name, serialized_plugin):
        assert type(serialized_plugin) is bytes
        return Shift(np.frombuffer(serialized_plugin)[0])


@pytest.fixture(autouse=True)
def creator():
    Shift.failing, Shift.calls = None, []
    made = ShiftCreator()
    assert REGISTRY.register_creator(made)
    yield made
    Shift.failing = None
    assert REGISTRY.deregister_creator(made)


X = np.arange(6, dtype=np.float32).reshape(2, 3)
EXPECTED = np.vstack([X + 5, np.zeros((1, 3), np.float32)])


def test_shift(creator):
    fields = trt.PluginFieldCollection(
        [trt.PluginField("shift", np.array([5], np.float32), trt.PluginFieldType.FLOAT32)]
    )
    found = REGISTRY.get_plugin_creator("PythonShift", "2")
    assert found is creator and found is REGISTRY.get_creator("PythonShift", "2", "")
    plugin = found.create_plugin("shift", fields)
    bench = Bench()
    layer = bench.network.add_plugin_v2([bench.input("x", X)], plugin)
    assert type(layer) is trt.IPluginV2Layer and layer.type == trt.LayerType.PLUGIN_V2
    assert isinstance(layer.plugin, Shift) and layer.plugin is not plugin
    (y,) = bench.run({"x": X}, [layer.get_output(0)])
    np.testing.assert_array_equal(y, EXPECTED)
    assert bench.log.take_errors() == ""
    del layer, bench
    assert Shift.calls.count("destroy") == Shift.calls.count("clone") + 1  # and the one that was deserialized


def test_dynamic_shapes():
    bench = Bench()
    y = bench.network.add_plugin_v2([bench.input("x", (-1, 3))], Shift(5)).get_output(0)
    bench.network.mark_output(y)
    config = bench.builder.create_builder_config()
    profile = bench.builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (4, 3))
    config.add_optimization_profile(profile)
    plan = bench.builder.build_serialized_network(bench.network, config)
    context = trt.Runtime(bench.log).deserialize_cuda_engine(plan).create_execution_context()
    for rows in (4, 1):
        given = np.full((rows, 3), rows, np.float32)
        made = np.empty((rows + 1, 3), np.float32)
        assert context.set_input_shape("x", given.shape)
        assert context.execute_v2([given.ctypes.data, made.ctypes.data])
        np.testing.assert_array_equal(made[:-1], given + 5)


def pass_through(bench, failing=None, stage=None):
    """As in test_plugin_errors."""
    if stage == "add":
        Shift.failing = failing
    layer = bench.network.add_plugin_v2([bench.input("x", X)], Shift(5))
    if layer is None:
        return "add"
    bench.network.mark_output(layer.get_output(0))
    if stage == "build":
        Shift.failing = failing
    plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
    if plan is None:
        return "build"
    if stage == "load":
        Shift.failing = failing
    engine = trt.Runtime(bench.log).deserialize_cuda_engine(plan)
    if engine is None:
        return "load"
    if stage == "run":
        Shift.failing = failing
    context = engine.create_execution_context()
    y = np.empty_like(EXPECTED)
    if context is None or not context.execute_v2([X.ctypes.data, y.ctypes.data]):
        return "run"
    np.testing.assert_array_equal(y, EXPECTED)
    return None


METHODS = {
    "clone": "add",
    "get_output_datatype": "add",
    "get_output_dimensions": "add",
    "supports_format_combination": "build",
    "get_workspace_size": "build",
    "serialize": "build",
    "initialize": "load",
    "configure_plugin": "run",
    "enqueue": "run",
}


@pytest.mark.parametrize("method", [*METHODS, "configure_plugin of a build"])
def test_exception(method):
    method, stage = (method, METHODS[method]) if method in METHODS else ("configure_plugin", "build")
    bench = Bench()
    assert pass_through(bench, method, stage) == stage
    what = f"plugin 'PythonShift' version '2': {method} raised ValueError: no {method} today"
    assert what in bench.log.take_errors()
    Shift.failing = None
    assert pass_through(Bench()) is None


@pytest.mark.parametrize("method", ["terminate", "destroy"])
def test_exceptions_that_nothing_can_fail_by(method):
    bench = Bench()
    Shift.failing = method
    assert pass_through(bench) is None
    assert f"{method} raised ValueError: no {method} today" in bench.log.take_errors()


@pytest.mark.parametrize("size", [3, 9])
def test_sizes_that_serialize_does_not_keep(size, monkeypatch):
    monkeypatch.setattr(Shift, "get_serialization_size", lambda self: size)
    bench = Bench()
    assert pass_through(bench) == "build"
    assert f"it returned 8 bytes; get_serialization_size said {size}" in bench.log.take_errors()


def test_a_copy_that_is_none(monkeypatch):
    monkeypatch.setattr(Shift, "clone", lambda self: self)
    assert pass_through(Bench()) == "add"


LOADS = """
import sys
import numpy as np
import tensorrt as trt
from test_plugin_v2 import EXPECTED, ShiftCreator, X
trt.get_plugin_registry().register_creator(ShiftCreator(), "")
log = trt.Logger(trt.Logger.ERROR)
engine = trt.Runtime(log).deserialize_cuda_engine(open(sys.argv[1], "rb").read())
context = engine.create_execution_context()
y = np.empty_like(EXPECTED)
assert context.execute_v2([X.ctypes.data, y.ctypes.data])
assert (y == EXPECTED).all()
print("right")
"""


def test_saved_plan_in_a_new_process(tmp_path):
    bench = Bench()
    bench.network.mark_output(bench.network.add_plugin_v2([bench.input("x", X)], Shift(5)).get_output(0))
    path = tmp_path / "shift.plan"
    path.write_bytes(bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()))
    here = str(pathlib.Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", LOADS, str(path)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, "right\n"), ran.stderr


def field(name, values, dtype, kind):
    return trt.PluginField(name, np.array(values, dtype), kind)


@pytest.fixture(scope="module")
def standard_plugins():
    trt.init_libnvinfer_plugins(None, "")


def test_plugin_of_a_library(standard_plugins):
    """LReLU_TRT, an IPluginV2Ext of C++."""
    creator = REGISTRY.get_plugin_creator("LReLU_TRT", "1", "")
    assert type(creator) is trt.IPluginCreator
    assert (creator.name, creator.plugin_version) == ("LReLU_TRT", "1")
    assert [one.name for one in creator.field_names] == ["negSlope"]
    for name in ("name", "plugin_version", "field_names"):
        with pytest.raises(AttributeError, match="read-only"):
            setattr(creator, name, "x")
    plugin = creator.create_plugin("relu", [field("negSlope", [0.25], np.float32, trt.PluginFieldType.FLOAT32)])
    assert isinstance(plugin, trt.IPluginV2)
    assert (plugin.plugin_type, plugin.plugin_version, plugin.num_outputs) == ("LReLU_TRT", "1", 1)
    assert plugin.api_language == trt.APILanguage.CPP
    plugin.plugin_namespace = "mine"
    assert plugin.plugin_namespace == "mine"
    with pytest.raises(AttributeError, match="num_outputs of an object in C\\+\\+ is read-only"):
        plugin.num_outputs = 2
    plugin.plugin_namespace = ""
    serialized = plugin.serialize()
    assert type(serialized) is memoryview and len(serialized) == plugin.serialization_size
    again = creator.deserialize_plugin("relu", serialized)
    assert bytes(again.serialize()) == bytes(serialized)
    x = np.array([[-4, 2, -1]], np.float32)
    bench = Bench()
    layer = bench.network.add_plugin_v2([bench.input("x", x)], again.clone())
    assert layer.plugin.plugin_type == "LReLU_TRT"
    (y,) = bench.run({"x": x}, [layer.get_output(0)])
    np.testing.assert_array_equal(y, [[-1, 2, -0.25]])
    again.destroy()
    with pytest.raises(RuntimeError, match="no longer the program's"):
        again.plugin_type


def test_what_has_no_constructor():
    for kind in (trt.IPluginV2, trt.IPluginV2Ext, trt.IPluginV2DynamicExtBase):
        with pytest.raises(TypeError, match=f"{kind.__name__} has no constructor"):
            kind()
