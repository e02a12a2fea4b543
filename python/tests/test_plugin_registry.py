"""The registry with creators of Python and of C++, what plugins share, and the attributes of plugins."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench
from plugins import Scale, ScaleCreator

REGISTRY = trt.get_plugin_registry()
F = trt.PluginFieldType


def test_registry_is_one():
    assert trt.get_plugin_registry() is REGISTRY
    assert type(REGISTRY) is trt.IPluginRegistry
    assert trt.get_builder_plugin_registry(trt.EngineCapability.STANDARD) is REGISTRY
    with pytest.raises(TypeError):
        trt.IPluginRegistry()


def test_creators_of_python():
    creator = ScaleCreator()
    seen = weakref.ref(creator)
    assert REGISTRY.get_creator("PythonScale", "1", "tests") is None
    assert REGISTRY.register_creator(creator, "tests")
    assert not REGISTRY.register_creator(creator, "tests")
    assert not REGISTRY.register_creator(ScaleCreator(), plugin_namespace="tests")
    assert REGISTRY.get_creator("PythonScale", "1", plugin_namespace="tests") is creator
    assert creator in REGISTRY.all_creators and creator in REGISTRY.all_creators_recursive
    assert creator not in REGISTRY.plugin_creator_list
    assert REGISTRY.get_plugin_creator("PythonScale", "1", "tests") is None  # it is of version 3
    del creator
    gc.collect()
    assert seen() is REGISTRY.get_creator("PythonScale", "1", "tests")  # the registry keeps it
    assert REGISTRY.deregister_creator(seen())
    assert not REGISTRY.deregister_creator(ScaleCreator())
    gc.collect()
    assert seen() is None


def test_creators_that_are_interrupted():
    """The interrupt is raised, and the registry's count of the creator is right: it goes when it is taken out."""

    class Interrupted(ScaleCreator):
        interrupts = False

        @property
        def name(self):
            if Interrupted.interrupts:
                raise KeyboardInterrupt
            return "Interrupted"

        @name.setter
        def name(self, text):
            pass

    creator = Interrupted()
    end = weakref.ref(creator)
    Interrupted.interrupts = True
    for call in (REGISTRY.register_creator, REGISTRY.register_creator):
        with pytest.raises(KeyboardInterrupt):
            call(creator, "tests")
    Interrupted.interrupts = False
    assert REGISTRY.get_creator("Interrupted", "1", "tests") is None
    assert REGISTRY.register_creator(creator, "tests")
    Interrupted.interrupts = True
    try:
        is_out = REGISTRY.deregister_creator(creator)
    except KeyboardInterrupt:
        is_out = False
    Interrupted.interrupts = False
    assert is_out or REGISTRY.deregister_creator(creator) or REGISTRY.get_creator("Interrupted", "1", "tests") is None
    del creator
    gc.collect()
    assert end() is None


def test_an_interrupt_at_the_end_of_the_process():
    """A creator of another registry alone is asked for its name then, for a message. The others go all the same."""
    script = """
import plugins, tensorrt as trt

class Interrupted(plugins.ScaleCreator):
    @property
    def name(self):
        if ends:
            raise KeyboardInterrupt
        return "Interrupted"

    @name.setter
    def name(self, text):
        pass

class Last(plugins.ScaleCreator):
    def __del__(self):
        print("gone")

ends = False
builder = trt.Builder(trt.Logger(trt.Logger.INTERNAL_ERROR))
assert builder.get_plugin_registry().register_creator(Interrupted(), "tests")
for i in range(3):
    assert trt.get_plugin_registry().register_creator(Last(), f"tests {i}")
ends = True
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environment)
    assert (ran.returncode, ran.stdout) == (0, "gone\n" * 3) and "atexit" not in ran.stderr, ran.stderr


def test_failures_without_a_logger():
    """They go to sys.unraisablehook, as those of other callbacks."""
    script = """
import sys, plugins, tensorrt as trt

class Raising(plugins.ScaleCreator):
    @property
    def name(self):
        raise ValueError("as the test wants it")

    @name.setter
    def name(self, text):
        pass

sys.unraisablehook = lambda told: print(repr(told.exc_value), told.object or told.err_msg)  # the latter from Python 3.13 on
trt.get_plugin_registry().register_creator(Raising(), "tests")
class Numbered(plugins.ScaleCreator):
    name = 5

    def __init__(self):
        self.plugin_version, self.plugin_namespace = "1", ""

trt.get_plugin_registry().register_creator(Numbered(), "tests")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environment)
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0 and "as the test wants it" not in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    assert "ValueError('as the test wants it')" in lines[0] and "an object of class 'Raising' version" in lines[0] and ": name" in lines[0], lines
    assert any("it returned an object of class 'int'; a str is needed" in line for line in lines), lines


def test_a_creator_in_several_registries():
    bench = Bench()
    own = bench.builder.get_plugin_registry()
    creator = ScaleCreator()
    assert REGISTRY.register_creator(creator, "tests") and own.register_creator(creator, "tests")
    assert own.get_creator("PythonScale", "1", "tests") is creator
    assert REGISTRY.deregister_creator(creator)
    assert own.get_creator("PythonScale", "1", "tests") is creator
    assert own.deregister_creator(creator)
    assert own.get_creator("PythonScale", "1", "tests") is None


def test_parents():
    bench = Bench()
    own = bench.builder.get_plugin_registry()
    creator = ScaleCreator()
    assert REGISTRY.register_creator(creator, "tests")
    try:
        assert own.parent_search_enabled
        assert own.get_creator("PythonScale", "1", "tests") is creator
        own.parent_search_enabled = False
        assert own.get_creator("PythonScale", "1", "tests") is None
        assert creator not in own.all_creators
    finally:
        REGISTRY.deregister_creator(creator)


def test_creators_and_plugins_of_cpp():
    trt.init_libnvinfer_plugins(None, "")
    creator = REGISTRY.get_creator("ROIAlign_TRT", "2", "")
    assert type(creator) is trt.IPluginCreatorV3One
    assert (creator.name, creator.plugin_version, creator.plugin_namespace) == ("ROIAlign_TRT", "2", "")
    assert creator.api_language == trt.APILanguage.CPP
    assert creator.interface_info.kind == "PLUGIN CREATOR_V3ONE" and creator.interface_info.major == 1
    assert "output_height" in [one.name for one in creator.field_names]
    with pytest.raises(AttributeError, match="name of an object in C\\+\\+ is read-only"):
        creator.name = "mine"
    fields = [
        trt.PluginField("output_height", np.array([2], np.int32), F.INT32),
        trt.PluginField("output_width", np.array([3], np.int32), F.INT32),
    ]
    plugin = creator.create_plugin("roi", trt.PluginFieldCollection(fields), trt.TensorRTPhase.BUILD)
    assert type(plugin) is trt.IPluginV3
    parts = {kind: plugin.get_capability_interface(kind) for kind in trt.PluginCapabilityType.__members__.values()}
    core, build, runtime = (parts[getattr(trt.PluginCapabilityType, name)] for name in ("CORE", "BUILD", "RUNTIME"))
    assert (type(core), type(runtime)) == (trt.IPluginV3OneCore, trt.IPluginV3OneRuntime)
    assert isinstance(build, trt.IPluginV3OneBuild)
    assert (core.plugin_name, build.num_outputs) == ("ROIAlign_TRT", 1)
    with pytest.raises(NotImplementedError, match="can be called by the library only"):
        runtime.set_tactic(1)
    bench = Bench()
    images = bench.input("images", (1, 4, 8, 8))
    boxes, indices = bench.input("boxes", (5, 4)), bench.input("indices", (5,), trt.int32)
    for one in (plugin, plugin.clone()):
        layer = bench.network.add_plugin_v3([images, boxes, indices], [], one)
        assert layer is not None, bench.log.take_errors()
        assert tuple(layer.get_output(0).shape) == (5, 4, 2, 3)
        seen = layer.plugin.get_capability_interface(trt.PluginCapabilityType.CORE)
        assert seen.plugin_name == "ROIAlign_TRT"


def test_plugins_of_cpp_are_given_away_once():
    trt.init_libnvinfer_plugins(None, "")
    inner = REGISTRY.get_creator("ROIAlign_TRT", "2", "").create_plugin("roi", [], trt.TensorRTPhase.BUILD)

    class Delegates(trt.IPluginV3):
        def get_capability_interface(self, type):
            return None

        def clone(self):
            return inner

    bench = Bench()
    inputs = [bench.input("images", (1, 4, 8, 8)), bench.input("boxes", (5, 4)), bench.input("indices", (5,), trt.int32)]
    assert bench.network.add_plugin_v3(inputs, [], Delegates()) is not None, bench.log.take_errors()
    with pytest.raises(RuntimeError, match="no longer the program's"):
        inner.clone()
    assert bench.network.add_plugin_v3(inputs, [], Delegates()) is None
    assert "no longer the program's" in bench.log.take_errors()


def test_interfaces_of_python():
    scale = Scale()
    assert scale.api_language == trt.APILanguage.PYTHON
    assert (scale.interface_info.kind, scale.interface_info.major) == ("PLUGIN", 1)
    assert trt.IPluginV3OneBuildV2().interface_info.major == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_names_that_a_creator_lacks():
    class Nameless(trt.IPluginCreatorV3One):
        pass

    assert not REGISTRY.register_creator(Nameless())
    with pytest.raises(AttributeError, match="Nameless.name is not set"):
        Nameless().name
    with pytest.raises(NotImplementedError, match="Nameless.create_plugin is not implemented"):
        Nameless().create_plugin("", [], trt.TensorRTPhase.BUILD)
    with pytest.raises(TypeError, match="a PluginField is needed, not int"):
        Nameless().field_names = [3]


class Shared(trt.IPluginResource):
    failing = None
    released = 0

    def __init__(self, value):
        trt.IPluginResource.__init__(self)
        self.value = value

    def clone(self):
        if Shared.failing == "clone":
            raise ValueError("no clone today")
        return Shared(self.value + 1)

    def release(self):
        Shared.released += 1
        if Shared.failing == "release":
            raise ValueError("no release today")


def test_resources():
    Shared.failing, Shared.released = None, 0
    first = REGISTRY.acquire_plugin_resource("python/shared", Shared(1))
    assert type(first) is Shared and first.value == 2
    assert REGISTRY.acquire_plugin_resource(key="python/shared", resource=Shared(10)) is first
    assert REGISTRY.release_plugin_resource("python/shared") == 0
    assert Shared.released == 0
    assert REGISTRY.release_plugin_resource("python/shared") == 0
    assert Shared.released == 1
    assert REGISTRY.release_plugin_resource("python/shared") == -1
    kept = weakref.ref(first)
    del first
    gc.collect()
    assert kept() is None


def test_resources_that_fail():
    bench = Bench()  # whose logger is the latest
    Shared.failing = "clone"
    assert REGISTRY.acquire_plugin_resource("python/fails", Shared(1)) is None
    assert "an object of class 'Shared': clone raised ValueError: no clone today" in bench.log.take_errors()
    Shared.failing = "release"
    assert REGISTRY.acquire_plugin_resource("python/fails", Shared(1)) is not None
    assert REGISTRY.release_plugin_resource("python/fails") == -1
    assert "release raised ValueError: no release today" in bench.log.take_errors()
    with pytest.raises(TypeError, match="resource is no IPluginResource"):
        REGISTRY.acquire_plugin_resource("python/fails", 3)


def test_threads_share_a_resource():
    """A thread that waits for another's clone waits without the GIL, which the clone needs."""
    Shared.failing, Shared.released = None, 0
    got = []

    def use():
        for _ in range(50):
            got.append(REGISTRY.acquire_plugin_resource("python/threads", Shared(1)))
            assert REGISTRY.release_plugin_resource("python/threads") == 0

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert len(got) == 200 and all(one.value == 2 for one in got)


def test_libraries():
    assert REGISTRY.load_library("/nowhere/libplugin.so") is None
    with pytest.raises(TypeError):
        REGISTRY.deregister_library(3)


@pytest.mark.parametrize(
    "kind, dtype",
    [
        (F.FLOAT16, np.float16),
        (F.FLOAT32, np.float32),
        (F.FLOAT64, np.float64),
        (F.INT8, np.int8),
        (F.INT16, np.int16),
        (F.INT32, np.int32),
        (F.INT64, np.int64),
        (F.CHAR, np.int8),
        (F.UNKNOWN, np.int8),
    ],
)
def test_fields(kind, dtype):
    values = np.array([1, -2, 3], dtype)
    field = trt.PluginField("values", values, kind)
    assert (field.name, field.type, field.size) == ("values", kind, 3)
    assert field.data.dtype == dtype
    np.testing.assert_array_equal(field.data, values)
    values[0] = 7
    assert field.data[0] == 7  # the field has the array itself
    field.data[0] = 9
    assert values[0] == 7  # and gives copies
    field.name, field.type, field.size = "other", kind, 2
    assert (field.name, len(field.data)) == ("other", 2)
    field.data = np.array([4, 5, 6], dtype)
    assert field.size == 2
    np.testing.assert_array_equal(field.data, [4, 5])


def test_fields_without_data():
    empty = trt.PluginField()
    assert (empty.name, empty.type, empty.size) == ("", F.UNKNOWN, 0)
    assert trt.PluginField("named").name == "named"
    assert len(trt.PluginField("none", np.array([]), F.INT32).data) == 0


def test_text_and_bytes():
    field = trt.PluginField("text", b"abc", F.CHAR)
    assert field.size == 3 and field.data.tobytes() == b"abc"
    assert trt.PluginField("unknown", b"abc").type == F.UNKNOWN


def test_arrays_that_are_not_contiguous():
    field = trt.PluginField("columns", np.arange(12, dtype=np.int32).reshape(3, 4)[:, 1], F.INT32)
    np.testing.assert_array_equal(field.data, [1, 5, 9])


def test_fields_keep_their_data():
    field = trt.PluginField("kept", np.arange(100_000), F.INT64)
    gc.collect()
    np.testing.assert_array_equal(field.data, np.arange(100_000))


def test_wrong_fields():
    for wrong in (3, "text", None, [1, 2]):
        with pytest.raises(TypeError):
            trt.PluginField("x", wrong, F.INT32)
    with pytest.raises(TypeError):
        trt.PluginField("x", b"", 5)
    with pytest.raises(ValueError, match="PluginField 'x': 3 elements of its type are 12 bytes; its data has 6"):
        trt.PluginField("x", np.zeros(3, np.int16), F.INT32).data
    field = trt.PluginField("x", b"ab")
    field.size = -1
    with pytest.raises(ValueError, match="negative"):
        field.data
    for kind in (F.BF16, F.FP8, F.INT4, F.FP4, F.DIMS):
        with pytest.raises(AttributeError, match="numpy has no type"):
            trt.PluginField("x", np.zeros(100, np.int8), kind).data


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes of Python have buffers from 3.12 on")
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_exceptions_of_a_buffer(error):
    """A buffer that is not contiguous is asked a second time. Another error is the caller's."""

    class Refusing:
        def __buffer__(self, flags):
            self.asked = getattr(self, "asked", 0) + 1
            if self.asked == 1:
                raise error
            return memoryview(b"abc")

    with pytest.raises(error):
        trt.PluginField("x", Refusing(), F.CHAR)


def test_collections():
    a, b, c = (trt.PluginField(name) for name in "abc")
    fields = trt.PluginFieldCollection([a, b])
    fields.append(c)
    assert len(fields) == 3 and [one.name for one in fields] == ["a", "b", "c"] and bool(fields)
    fields.extend(trt.PluginFieldCollection([a]))
    fields.insert(0, c)
    assert [one.name for one in fields] == ["c", "a", "b", "c", "a"]
    assert fields.pop().name == "a" and fields.pop(0).name == "c"
    fields[0] = b
    del fields[1]
    assert [one.name for one in fields[:]] == ["b", "c"]
    fields.clear()
    assert len(fields) == 0
    for change in (lambda: fields.append(3), lambda: fields.extend([a, 3]), lambda: trt.PluginFieldCollection([3])):
        with pytest.raises(TypeError, match="a PluginField is needed, not int"):
            change()
    given = trt.PluginFieldCollection_(trt.PluginFieldCollection([a, b]))
    assert len(given) == 2 and given[0].name == "a" and given[-1].name == "b"
    with pytest.raises(IndexError):
        given[2]


def test_a_recorder_is_kept():
    """The registry outlives every Python object for it, so a recorder goes when the next one is set."""
    script = """
import gc, weakref
import running, tensorrt as trt

first = running.Recorder()
end = weakref.ref(first)
trt.get_plugin_registry().error_recorder = first
del first
gc.collect()
assert end() is not None and trt.get_plugin_registry().error_recorder is end()
trt.get_plugin_registry().error_recorder = second = running.Recorder()
assert end() is None and trt.get_plugin_registry().error_recorder is second
trt.get_plugin_registry().error_recorder = None
assert trt.get_plugin_registry().error_recorder is None
"""
    # A process of its own: in this one REGISTRY would keep the recorder.
    subprocess.run([sys.executable, "-c", script], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])})


def test_tensor_descriptions():
    desc = trt.PluginTensorDesc()
    desc.dims, desc.type, desc.format, desc.scale = (1, 2, 3), trt.float16, trt.TensorFormat.HWC8, 0.5
    assert tuple(desc.dims) == (1, 2, 3) and desc.scale == 0.5
    assert (desc.type, desc.format) == (trt.float16, trt.TensorFormat.HWC8)
    dynamic = trt.DynamicPluginTensorDesc()
    dynamic.desc = desc
    dynamic.desc.type = trt.int8
    assert dynamic.desc.type == trt.int8 and desc.type == trt.float16
    dynamic.min, dynamic.opt, dynamic.max = (1,), (2,), (3,)
    assert [tuple(one) for one in (dynamic.min, dynamic.opt, dynamic.max)] == [(1,), (2,), (3,)]
    with pytest.raises(TypeError):
        desc.type = 3


def test_shapes():
    assert len(trt.DimsExprs()) == 0
    shape = trt.DimsExprs(3)
    assert len(shape) == 3 and shape[0] is None and shape[-1] is None
    with pytest.raises(IndexError):
        shape[3]
    with pytest.raises(ValueError, match="at most 8"):
        trt.DimsExprs(9)
    with pytest.raises(TypeError):
        trt.DimsExprs([3])
    with pytest.raises(RuntimeError, match="an IExprBuilder that a program makes has no expressions"):
        trt.IExprBuilder().constant(3)
