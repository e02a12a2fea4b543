"""An exception in each method of a plugin in turn: an error that names plugin, method and exception, and nothing else."""

import gc

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench
from plugins import Scale, ScaleCreator
from running import Recorder
from stand_in import run_on_stand_in

X = np.arange(6, dtype=np.float32)
REGISTRY = trt.get_plugin_registry()


@pytest.fixture(autouse=True)
def scale():
    Scale.failing, Scale.calls = None, []
    creator = ScaleCreator()
    assert REGISTRY.register_creator(creator, "tests")
    yield creator
    Scale.failing = None
    assert REGISTRY.deregister_creator(creator)


def added(bench):
    layer = bench.network.add_plugin_v3([bench.input("x", X)], [], Scale(2))
    if layer is not None:
        bench.network.mark_output(layer.get_output(0))
    return layer


def built(bench):
    return bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())


def loaded(bench, plan):
    runtime = trt.Runtime(bench.log)
    runtime.error_recorder = bench.network.error_recorder
    return runtime.deserialize_cuda_engine(plan)


def ran(engine):
    engine_context = engine.create_execution_context()
    if engine_context is None:
        return None
    y = np.empty_like(X)
    return y if engine_context.execute_v2([X.ctypes.data, y.ctypes.data]) else None


# The call of the program that fails where a method does.
METHODS = {
    "get_capability_interface": "add",
    "clone": "add",
    "get_output_data_types": "add",
    "get_output_shapes": "add",
    "supports_format_combination": "build",
    "configure_plugin": "build",
    "get_workspace_size": "build",
    "get_valid_tactics": "build",
    "get_fields_to_serialize": "build",
    "create_plugin": "load",
    "attach_to_context": "run",
    "set_tactic": "run",
    "on_shape_change": "run",
    "enqueue": "run",
}
STAGES = ["add", "build", "load", "run"]


def pass_through(bench, failing, stage):
    """Does what a program does; from `stage` on the method fails. Returns the stage that failed."""
    if stage == "add":
        Scale.failing = failing
    if added(bench) is None:
        return "add"
    if stage == "build":
        Scale.failing = failing
    plan = built(bench)
    if plan is None:
        return "build"
    if stage == "load":
        Scale.failing = failing
    engine = loaded(bench, plan)
    if engine is None:
        return "load"
    if stage == "run":
        Scale.failing = failing
    y = ran(engine)
    if y is None:
        return "run"
    np.testing.assert_array_equal(y, X * 2)
    return None


def test_the_table_has_all_methods():
    parts = [trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime]
    methods = {name for part in parts for name, value in vars(part).items() if callable(value) and name[0] != "_"}
    assert methods - {"destroy"} == set(METHODS) - {"create_plugin"}


@pytest.mark.parametrize("method", METHODS)
def test_exception(method):
    stage = METHODS[method]
    bench = Bench()
    recorder = Recorder()
    bench.builder.error_recorder = bench.network.error_recorder = recorder
    assert pass_through(bench, method, stage) == stage
    who = "the creator of plugin 'PythonScale'" if method == "create_plugin" else "plugin 'PythonScale'"
    what = f"{method} raised ValueError: no {method} today"
    text = bench.log.take_errors()
    assert f"{who} version '1' of namespace 'tests': {what}" in text, text
    assert "Traceback (most recent call last)" in text
    if stage != "run":  # contexts have the recorder of their engine, which has none of its own here
        assert any(desc == f"{who}: {what}" for _, desc in recorder.errors), recorder.errors
    # What failed once does not fail again.
    Scale.failing = None
    assert pass_through(Bench(), None, None) is None


def test_exception_in_destroy_is_told_alone():
    bench = Bench()
    assert added(bench) is not None
    Scale.failing = "destroy"
    del bench.network
    gc.collect()
    assert "plugin 'PythonScale' version '1' of namespace 'tests': destroy raised ValueError" in bench.log.take_errors()


WRONG = {
    "get_output_data_types": (None, "it returned None; a list of DataType is needed"),
    "get_output_shapes": ([3], "a list of DimsExprs is needed"),
    "get_workspace_size": ("much", "it returned an object of class 'str'; a number of bytes is needed"),
    "get_valid_tactics": ([1.5], "a list of int is needed"),
    "supports_format_combination": ("yes", "it returned an object of class 'str'; a bool is needed"),
    "get_fields_to_serialize": (3, "a PluginFieldCollection, or a list of PluginField, is needed"),
    "clone": ("me", "plugin is an object of class 'str', and no IPluginV3"),
    "get_capability_interface": (5, "an object of the interface of that part is needed"),
    "attach_to_context": (object(), "plugin is an object of class 'object', and no IPluginV3"),
}


@pytest.mark.parametrize("method", WRONG)
def test_wrong_result(method, monkeypatch):
    result, words = WRONG[method]
    monkeypatch.setattr(Scale, method, lambda self, *arguments: result)
    bench = Bench()
    assert pass_through(bench, None, None) == METHODS[method]
    text = bench.log.take_errors()
    assert f"PythonScale' version '1' of namespace 'tests': {method}: " in text and words in text, text


STATUSES = ["configure_plugin", "set_tactic", "on_shape_change", "enqueue"]


@pytest.mark.parametrize("method", STATUSES)
@pytest.mark.parametrize("status", [-7, np.int32(-7)])
def test_a_negative_status_is_a_failure(method, status, monkeypatch):
    monkeypatch.setattr(Scale, method, lambda self, *arguments: status)
    bench = Bench()
    assert pass_through(bench, None, None) == METHODS[method]
    text = bench.log.take_errors()
    assert f"PythonScale' version '1' of namespace 'tests': {method}: it returned -7, a status of failure" in text, text


@pytest.mark.parametrize("method", STATUSES)
@pytest.mark.parametrize("status", [0, 3, True, "done", np.array([-1, -2])])
def test_other_results_are_no_status(method, status, monkeypatch):
    original = getattr(Scale, method)

    def with_status(self, *arguments):
        original(self, *arguments)
        return status

    monkeypatch.setattr(Scale, method, with_status)
    bench = Bench()
    assert pass_through(bench, None, None) is None, bench.log.take_errors()


def test_a_search_that_raises_is_told_once():
    bench = Bench()
    recorder = Recorder()
    bench.builder.error_recorder = bench.network.error_recorder = recorder
    Scale.failing = None
    assert added(bench) is not None
    for _ in range(2):  # each build tells it
        recorder.clear()
        Scale.failing, Scale.calls = "supports_format_combination", []
        assert built(bench) is None
        assert Scale.calls.count("supports_format_combination") > 1
        raised = "supports_format_combination raised ValueError"
        assert bench.log.take_errors().count(raised) == 1
        assert sum(raised in desc for _, desc in recorder.errors) == 1, recorder.errors


def test_wrong_numbers_of_results(monkeypatch):
    monkeypatch.setattr(Scale, "get_output_data_types", lambda self, types: [types[0], types[0]])
    bench = Bench()
    assert pass_through(bench, None, None) == "add"
    assert "get_output_data_types: it returned 2 types for 1 outputs" in bench.log.take_errors()


@pytest.mark.parametrize("copier", ["clone", "attach_to_context"])
def test_copies_that_are_none(copier, monkeypatch):
    monkeypatch.setattr(Scale, copier, lambda self, *context: self)
    bench = Bench()
    assert pass_through(bench, None, None) == METHODS[copier]
    assert "returned the plugin itself, not a copy" in bench.log.take_errors()


def test_keyboard_interrupt(monkeypatch):
    def interrupt(self, in_, out):
        raise KeyboardInterrupt

    bench = Bench()
    assert added(bench) is not None
    with monkeypatch.context() as patch:
        patch.setattr(Scale, "configure_plugin", interrupt)
        with pytest.raises(KeyboardInterrupt):
            built(bench)
    assert pass_through(Bench(), None, None) is None


def test_missing_methods():
    class Empty(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
        def get_capability_interface(self, type):
            return self

        def clone(self):
            return Empty()

    bench = Bench()
    assert bench.network.add_plugin_v3([bench.input("x", X)], [], Empty()) is None
    assert "plugin_name raised AttributeError: Empty.plugin_name is not set" in bench.log.take_errors()
    with pytest.raises(TypeError, match="Empty.num_outputs: 'str' object cannot be interpreted as an integer"):
        Empty().num_outputs = "two"
    with pytest.raises(TypeError, match="Empty.plugin_name: a str is needed, not int"):
        Empty().plugin_name = 3


def test_expressions_end_with_their_call(monkeypatch):
    kept = []

    def keep(self, inputs, shape_inputs, expr_builder):
        kept.extend([inputs[0], inputs[0][0], expr_builder])
        return inputs

    monkeypatch.setattr(Scale, "get_output_shapes", keep)
    assert added(Bench()) is not None
    shape, extent, builder = kept[:3]
    for use in (extent.is_constant, extent.get_constant_value, lambda: builder.constant(3)):
        with pytest.raises(RuntimeError, match="used after the call"):
            use()
    monkeypatch.setattr(Scale, "get_output_shapes", lambda self, *given: [shape])
    bench = Bench()
    assert added(bench) is None
    assert "an expression that another call was given" in bench.log.take_errors()


def test_what_is_no_plugin():
    bench = Bench()
    x = bench.input("x", X)
    for wrong in (3, object(), trt.IPluginV3OneCore()):
        with pytest.raises(TypeError, match="and no IPluginV3"):
            bench.network.add_plugin_v3([x], [], wrong)
        with pytest.raises(TypeError, match="and no IPluginV2"):
            bench.network.add_plugin_v2([x], wrong)
    with pytest.raises(TypeError):
        bench.network.add_plugin_v3([3], [], Scale())
    for call in (bench.network.add_plugin_v2, lambda x, none: bench.network.add_plugin_v3(x, [], none)):
        with pytest.raises(TypeError):
            call([x], None)
    for wrong in (3, Scale()):
        with pytest.raises(TypeError, match="creator is no IPluginCreatorV3One"):
            REGISTRY.register_creator(wrong)


# A plugin that waits for its stream, which no recording repeats: the run that is to be recorded calls it once more.
WAITS = """
import ctypes
import tensorrt as trt
from networks import Bench
from plugins import Scale, ScaleCreator
from running import Messages, Recorder, cudart

cuda = cudart()
log, recorder = Messages(), Recorder()
registry = trt.get_plugin_registry()
creator = ScaleCreator()
registry.register_creator(creator, "tests")

def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
    Scale.calls.append("enqueue")
    copied = cuda.cudaMemcpyAsync(ctypes.c_void_p(outputs[0]), ctypes.c_void_p(inputs[0]), 24, 3, ctypes.c_void_p(stream))
    if copied != 0 or cuda.cudaStreamSynchronize(stream) != 0:
        raise RuntimeError("no waiting today")

Scale.enqueue = enqueue
bench = Bench()
layer = bench.network.add_plugin_v3([bench.input("x", (6,))], [], Scale(1))
layer.get_output(0).name = "y"
bench.network.mark_output(layer.get_output(0))
plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
engine = trt.Runtime(log).deserialize_cuda_engine(plan)
context = engine.create_execution_context()
context.error_recorder = recorder
for name in "x", "y":
    memory = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(24)) == 0
    context.set_tensor_address(name, memory.value)
Scale.calls.clear()
for _ in range(8):
    assert context.execute_async_v3(0), log.all()
assert cuda.cudaStreamSynchronize(0) == 0
assert Scale.calls.count("enqueue") == 9, Scale.calls
assert log.errors() == [] and recorder.errors == [], (log.errors(), recorder.errors)
told = [text for severity, text in log.texts if severity == trt.ILogger.WARNING]
assert len(told) == 1 and "plugin 'PythonScale'" in told[0] and "cannot be recorded" in told[0], told
raised = [text for severity, text in log.texts if severity == trt.ILogger.VERBOSE and "enqueue raised" in text]
assert len(raised) == 1 and "RuntimeError: no waiting today" in raised[0], log.all()
print("ran")
"""


def test_an_exception_of_a_run_that_is_to_be_recorded_is_no_error():
    assert run_on_stand_in(WAITS) == "ran\n"
