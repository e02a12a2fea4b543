"""An exception in each method of a plugin in turn: an error that names plugin, method and exception, and nothing else."""

import gc

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench
from plugins import Scale, ScaleCreator

X = np.arange(6, dtype=np.float32)
REGISTRY = trt.get_plugin_registry()


class Recorder(trt.IErrorRecorder):
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

    def report_error(self, code, text):
        self.errors.append((code, text))
        return True


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
