"""Objects in any order of their ends, and after what they came from is gone."""
import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest
import running
import tensorrt as trt
from running import Messages, Recorder, doubled, engine_of_doubled, plan_of_doubled, quick

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_parts_outlive_their_makers():
    def context():
        logger = Messages()
        return trt.Runtime(logger).deserialize_cuda_engine(plan_of_doubled(logger)).create_execution_context()

    found = context()
    gc.collect()
    assert (running.run(found, X) == 2 * X).all()
    assert found.engine.num_io_tensors == 2


def test_network_and_config_outlive_the_builder():
    builder = trt.Builder(Messages())
    network, config, profile = doubled(builder), quick(builder), builder.create_optimization_profile()
    del builder
    gc.collect()
    assert network.num_layers == 1 and config.builder_optimization_level == 0 and profile.extra_memory_target == 1
    other = trt.Builder(Messages())
    assert other.build_serialized_network(network, config) is not None


def test_parser_outlives_names_of_its_network():
    logger = Messages()
    parser = trt.OnnxParser(trt.Builder(logger).create_network(), logger)
    gc.collect()
    assert not parser.parse(b"no model") and parser.num_errors == 1
    error = parser.get_error(0)
    parser.clear_errors()
    assert parser.num_errors == 0 and error.code() == trt.ErrorCode.MODEL_DESERIALIZE_FAILED and error.desc()
    assert "MODEL_DESERIALIZE_FAILED" in str(error) and parser.get_error(0) is None


def test_objects_end():
    """Nothing stays but the process's first logger."""
    trt.Builder(Messages())
    logger = Messages()
    engine = engine_of_doubled(logger)
    context = engine.create_execution_context()
    context.error_recorder = recorder = Recorder()
    config = engine.create_serialization_config()
    ends = [weakref.ref(it) for it in (logger, engine, context, recorder, config)]
    del logger, engine, context, recorder, config
    gc.collect()
    assert [end() for end in ends] == [None] * 5


class Array(np.ndarray):
    """An array that may refer to other objects."""


def array_of_ones():
    return np.ones(2, dtype=np.float32).view(Array)


@pytest.mark.parametrize("wrap", [lambda array: array, trt.Weights], ids=["array", "Weights"])
def test_cycles_through_weights_end(wrap):
    network = trt.Builder(Messages()).create_network()
    kernel, bias, constant = arrays = [array_of_ones() for _ in range(3)]
    x = network.add_input("x", trt.float32, (1, 1, 4, 4))
    network.add_convolution_nd(x, 2, (1, 1), wrap(kernel), wrap(bias))
    network.add_constant((2,), trt.Weights(np.zeros(2, np.float32))).weights = wrap(constant)
    for array in arrays:
        array.network = network
    ends = [weakref.ref(it) for it in (network, *arrays)]
    del network, x, kernel, bias, constant, array
    gc.collect()
    assert ends[0]() is not None, "the arrays are the program's yet"
    arrays.clear()
    gc.collect()
    assert [end() for end in ends] == [None] * 4


def test_cycles_of_weights_end():
    array = array_of_ones()
    array.weights = trt.Weights(array)
    assert array.weights.numpy().tolist() == [1, 1]
    end = weakref.ref(array)
    del array
    gc.collect()
    assert end() is None


def test_items_are_released_when_others_come():
    context = engine_of_doubled(Messages()).create_execution_context()
    first, second = Recorder(), Recorder()
    context.error_recorder = first
    end = weakref.ref(first)
    del first
    assert end() is not None and context.error_recorder is end()
    context.error_recorder = second
    assert end() is None and context.error_recorder is second


def made_by_builder(logger):
    builder = trt.Builder(logger)
    return builder, builder.create_network


def made_by_runtime(logger):
    plan, runtime = plan_of_doubled(logger), trt.Runtime(logger)
    return runtime, lambda: runtime.deserialize_cuda_engine(plan)


def made_by_engine(logger):
    engine = engine_of_doubled(logger)
    return engine, engine.create_execution_context


@pytest.mark.parametrize("make", [made_by_builder, made_by_runtime, made_by_engine])
def test_a_recorder_outlives_its_setting(make):
    """What is made has its maker's recorder, also when the maker gets another one."""
    maker, make_one = make(Messages())
    maker.error_recorder = recorder = Recorder()
    end = weakref.ref(recorder)
    made = make_one()
    del recorder
    maker.error_recorder = None
    gc.collect()
    assert end() is not None and made.error_recorder is end()
    made.error_recorder = None
    assert end() is None and made.error_recorder is None


def test_a_recorder_outlives_its_setting_for_parts_without_one():
    """Configurations, their timing caches and profiles report to the recorder that the builder had."""
    builder = trt.Builder(Messages())
    builder.error_recorder = recorder = Recorder()
    config, profile = builder.create_builder_config(), builder.create_optimization_profile()
    cache, end = config.create_timing_cache(b""), weakref.ref(recorder)
    del recorder
    builder.error_recorder = None
    gc.collect()
    assert end() is not None
    assert config.create_timing_cache(b"damaged") is None and len(end().errors) == 1
    with pytest.raises(RuntimeError):
        profile.set_shape("x", (3,), (2,), (1,))
    assert len(end().errors) == 2
    assert not cache.combine(cache, False) and len(end().errors) == 3
    del config, cache, profile, builder
    gc.collect()
    assert end() is None


def test_a_timing_cache_that_is_set_goes_with_its_configuration():
    builder = trt.Builder(Messages())
    config = builder.create_builder_config()
    cache = config.create_timing_cache(b"")
    assert config.set_timing_cache(cache, False)
    ends = [weakref.ref(it) for it in (builder, config, cache)]
    del builder, config
    gc.collect()
    assert ends[1]() is None and len(bytes(cache.serialize())), "a cache does not need its configuration"
    del cache
    gc.collect()
    assert [end() for end in ends] == [None] * 3


def test_an_allocator_outlives_its_setting():
    """An engine uses the allocator that its runtime had when it was loaded."""
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = allocator = running.Allocator()
    end = weakref.ref(allocator)
    engine = runtime.deserialize_cuda_engine(running.softmax_plan(logger))
    del allocator
    runtime.gpu_allocator = None
    gc.collect()
    assert end() is not None
    before = end().num_allocated
    context = engine.create_execution_context()
    running.run(context, np.ones((64, 64), dtype=np.float32))
    assert end().num_allocated > before
    del context, engine, runtime
    gc.collect()
    assert end() is None


def test_the_same_object_comes_back():
    logger = Messages()
    builder = trt.Builder(logger)
    assert builder.logger is logger
    runtime = trt.Runtime(logger)
    assert runtime.logger is logger
    engine = runtime.deserialize_cuda_engine(plan_of_doubled(logger))
    context = engine.create_execution_context()
    assert context.engine is engine
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context
    assert inspector.execution_context is context
    inspector.execution_context = None
    assert inspector.execution_context is None


def test_makers_can_be_derived():
    class Builder(trt.Builder):
        def __init__(self, logger):
            super().__init__(logger)
            self.mine = 7

    builder = Builder(Messages())
    builder.error_recorder = recorder = Recorder()
    end = weakref.ref(recorder)
    del recorder
    assert builder.mine == 7 and builder.error_recorder is end()
    assert builder.build_serialized_network(doubled(builder), quick(builder)) is not None
    del builder
    gc.collect()
    assert end() is None


def test_weights_and_profiles_stay_until_the_build():
    logger = Messages()
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (-1, 3))
    constant = network.add_constant((1, 3), np.array([[1, 2, 3]], dtype=np.float32)).get_output(0)
    y = network.add_elementwise(x, constant, trt.ElementWiseOperation.SUM).get_output(0)
    y.name = "y"
    network.mark_output(y)
    config = quick(builder)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (4, 3))
    config.add_optimization_profile(profile)
    del constant, profile, y
    gc.collect()
    np.full((1000, 1000), 7.0, dtype=np.float32)  # memory that was freed would be this now
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    context = engine.create_execution_context()
    context.set_input_shape("x", X.shape)
    assert (running.run(context, X) == X + [[1, 2, 3]]).all()


def test_cycles_end():
    """A program's class that refers to what it is set on."""

    class Profiler(trt.IProfiler):
        def __init__(self, context):
            trt.IProfiler.__init__(self)
            self.context = context

    class Builder(trt.Builder):
        pass

    context = engine_of_doubled(Messages()).create_execution_context()
    context.profiler = Profiler(context)
    builder = Builder(Messages())
    builder.error_recorder = recorder = Recorder()
    recorder.builder = builder
    ends = [weakref.ref(it) for it in (context, context.engine, context.profiler, builder, recorder)]
    gc.collect()
    assert None not in [end() for end in ends]
    del context, builder, recorder
    gc.collect()
    assert [end() for end in ends] == [None] * 5


def test_an_exception_survives_the_end_of_an_object_that_calls_back():
    """The context goes while the exception is being raised, and gives its memory back to the program's allocator."""
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = allocator = running.Allocator()
    engine = runtime.deserialize_cuda_engine(running.softmax_plan(logger))
    before = set(allocator.blocks)
    with pytest.raises(TypeError, match="set_input_shape"):
        engine.create_execution_context().set_input_shape(1)
    assert set(allocator.blocks) == before and logger.errors() == []


def test_names_are_kept():
    context = engine_of_doubled(Messages()).create_execution_context()
    context.name = "a name of " + str(id(context))
    gc.collect()
    assert context.name == "a name of " + str(id(context))


def test_context_managers_warn_and_work():
    with pytest.warns(DeprecationWarning):
        with trt.Logger() as logger, trt.Builder(logger) as builder, builder.create_network() as network:
            assert network.num_layers == 0
        with builder.create_builder_config() as config, trt.OnnxParser(network, logger) as parser:
            assert parser.num_errors == 0 and config is not None
    assert builder.create_network() is not None  # it goes when nothing refers to it, not at the end of the block
    builder.__del__()
    assert builder.create_network() is not None


def test_wrong_objects_are_type_errors():
    logger = Messages()
    builder = trt.Builder(logger)
    for wrong in (None, 1, "text", builder, object()):
        with pytest.raises(TypeError):
            trt.Builder(wrong)
        with pytest.raises(TypeError):
            trt.Runtime(wrong)
        with pytest.raises(TypeError):
            builder.build_serialized_network(wrong, quick(builder))
        with pytest.raises(TypeError):
            trt.OnnxParser(wrong, logger)
    with pytest.raises(TypeError):
        builder.error_recorder = logger
    for cls in (trt.ICudaEngine, trt.IExecutionContext, trt.IBuilderConfig, trt.IHostMemory):
        with pytest.raises(TypeError):
            cls()


def test_an_object_without_init_is_a_type_error():
    uninitialized = trt.ILogger.__new__(trt.ILogger)
    with pytest.raises(TypeError, match="initialized"):
        trt.Builder(uninitialized)


@pytest.mark.filterwarnings("error")  # of an exception in __del__, too
@pytest.mark.parametrize(
    "base", [trt.ICudaEngine, trt.IExecutionContext, trt.IBuilderConfig, trt.INetworkDefinition, trt.IHostMemory]
)
def test_a_class_derived_from_one_without_a_constructor(base):
    derived = type("Derived", (base,), {})
    with pytest.raises(TypeError, match="no constructor"):
        derived()
    gc.collect()


def test_memory_that_was_not_made_is_a_type_error():
    with pytest.raises(TypeError, match="it has no memory"):
        bytes(trt.IHostMemory.__new__(trt.IHostMemory))


def test_builds_do_not_leak():
    """100 rounds through everything: objects, handles of files and memory stay as they are."""
    logger = Messages()

    def round():
        engine = engine_of_doubled(logger)
        context = engine.create_execution_context()
        context.error_recorder = Recorder()
        running.run(context, X)

    def count():
        gc.collect()
        logger.texts.clear()
        resident = int(open("/proc/self/statm").read().split()[1]) * 4
        return len(gc.get_objects()), len(os.listdir("/proc/self/fd")), resident

    for _ in range(10):
        round()
    before = count()
    for _ in range(100):
        round()
    after = count()
    assert after[0] <= before[0] + 20 and after[1] == before[1]
    assert after[2] - before[2] < 8000, "KiB"


def test_threads_build_and_run():
    """Loggers, recorders and the GIL: no thread waits for another one for good."""
    logger = Messages()
    wrong = []

    def work():
        for _ in range(5):
            context = engine_of_doubled(logger).create_execution_context()
            if not (running.run(context, X) == 2 * X).all():
                wrong.append(context)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not wrong and not any(thread.is_alive() for thread in threads)


SCRIPT = """
    import sys
    sys.path.insert(0, {tests!r})
    import numpy as np, running, tensorrt as trt
    logger = running.Messages()
    engine = running.engine_of_doubled(logger)
    context = engine.create_execution_context()
    x = np.ones((2, 3), dtype=np.float32)
    context.error_recorder = running.Recorder()
    running.run(context, x)
    {end}
"""


@pytest.mark.parametrize(
    "end",
    [
        "running.work_on(logger)",
        "keep = [logger]; keep.append(keep); del logger, engine, context",
        "del logger",
        "sys.keep = context",
        "context.execute_async_v3(0)",
        "import threading; threading.Thread(target=running.engine_of_doubled, args=(logger,)).start()",
        "raise SystemExit(0)",
    ],
)
def test_the_interpreter_ends(end):
    script = textwrap.dedent(SCRIPT).format(tests=os.path.dirname(__file__), end=end)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr


GATHERING = """
    import threading, time
    import numpy as np
    import tensorrt as trt

    into, parts = np.empty(1 << 24, np.uint8), [np.ones(1 << 24, np.uint8)]

    def work():
        while True:
            trt.tensorrt._kiln_gather(into, parts)

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)
"""


def test_the_interpreter_ends_while_a_thread_gathers_arrays():
    """As a server's thread does that joins requests. Python 3.13 and earlier unwound it through frames of C++: abort."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(GATHERING)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr


#: Python 3.13 has the same module under another name.
SUBINTERPRETER = """
    import sys
    try:
        import _interpreters as interpreters
        subinterpreter = interpreters.create("legacy")
    except ImportError:
        import _xxsubinterpreters as interpreters
        subinterpreter = interpreters.create(isolated=False)
    if {before}:
        import tensorrt as trt
    interpreters.run_string(subinterpreter, {code!r})
    import tensorrt as trt
    if {destroy}:
        interpreters.destroy(subinterpreter)
    import running  # a module of this folder
    assert running.engine_of_doubled(trt.Logger()) is not None
"""

IMPORT = """
import sys
sys.path[:] = {path!r}
try:
    import tensorrt
except ImportError as error:
    assert "subinterpreter" in str(error), error
else:
    print("imported")
"""


IMPORT_AGAIN = """
import sys
import running
import tensorrt as before
for name in [name for name in sys.modules if name.partition(".")[0] in ("tensorrt", "running")]:
    del sys.modules[name]
import running as again
import tensorrt as after
assert after is not before and after.Logger is before.Logger and after.DataType.FLOAT is before.float32
for module, trt in ((again, after), (running, before)):
    assert module.engine_of_doubled(trt.Logger()) is not None
"""


def test_a_module_that_is_imported_again():
    """Programs take modules out of sys.modules, as tests do, and import them once more: types are the same."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    done = subprocess.run([sys.executable, "-c", IMPORT_AGAIN], capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("module", ["tensorrt", "kiln"])
def test_free_threaded_builds_are_refused(module):
    script = f"""
import sys
sys.abiflags = "t"  # as Python 3.13t has it
try:
    import kiln
    import {module}
    kiln.bindings()
except ImportError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0 and "free-threaded build of Python" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("before", [False, True], ids=["first", "after-main"])
@pytest.mark.parametrize("destroy", [False, True], ids=["stays", "destroyed"])
def test_subinterpreters_are_refused(before, destroy):
    """And the main interpreter works on, whether it had the module before or not."""
    code = IMPORT.format(path=sys.path)
    script = textwrap.dedent(SUBINTERPRETER).format(code=code, before=before, destroy=destroy)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0 and "imported" not in done.stdout, done.stdout + done.stderr
