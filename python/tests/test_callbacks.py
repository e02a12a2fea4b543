"""What programs derive: each class does its work, and an exception in each method becomes an error that names it."""
import ctypes
import gc
import io
import signal
import threading
import warnings

import numpy as np
import pytest
import running
import tensorrt as trt
from running import (
    Allocator, Messages, Progress, Recorder, Unraisable, build, doubled, engine_of_doubled, plan_of_doubled, quick,
    softmax_plan,
)  # fmt: skip

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def raising(*_):
    raise ValueError("as the test wants it")


def make_raising(base, *methods):
    """A class whose given methods raise."""
    return type("Raising", (base,), {"__init__": lambda self: base.__init__(self), **{m: raising for m in methods}})


def assert_told(texts, method):
    """The error names the method, and has Python's text."""
    assert any(method in text and "ValueError" in text and "as the test wants it" in text for text in texts), texts


# Loggers


def test_logger_gets_messages():
    logger = Messages()
    assert trt.Runtime(logger).deserialize_cuda_engine(b"no plan") is None
    assert len(logger.errors()) == 1 and isinstance(logger.texts[0][0], trt.ILogger.Severity)


def test_logger_that_raises():
    with Unraisable() as raised:
        logger = make_raising(trt.ILogger, "log")()
        assert trt.Runtime(logger).deserialize_cuda_engine(b"no plan") is None
    assert "as the test wants it" in raised


#: Text that UTF-8 does not have: Python makes it of file names that are not valid.
SURROGATE = "half a character: \udc80"


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no text")


@pytest.mark.parametrize("error", [ValueError(SURROGATE), Unprintable()], ids=["surrogate", "unprintable"])
def test_exceptions_whose_text_cannot_be_shown(error):
    """Each is reported by its type, by callbacks of loggers, recorders and others."""

    def fail(self, *_):
        raise error

    with Unraisable():
        assert trt.Runtime(type("Raising", (Messages,), {"log": fail})()).deserialize_cuda_engine(b"no plan") is None
    logger = Messages()
    monitor = type("Raising", (Progress,), {"step_complete": fail})()
    assert build(logger, monitor) is None
    runtime = trt.Runtime(logger)
    runtime.error_recorder = type("Raising", (Recorder,), {"report_error": fail})()
    assert runtime.deserialize_cuda_engine(b"no plan") is None
    for method in ("IProgressMonitor.step_complete", "IErrorRecorder.report_error"):
        (text,) = {text for text in logger.errors() if method in text}
        assert type(error).__name__ in text and "Traceback" in text
        assert ("half a character: \\udc80" in text) == isinstance(error, ValueError)


def test_logger_without_log():
    with Unraisable() as raised:
        assert trt.Runtime(make_raising(trt.ILogger)()).deserialize_cuda_engine(b"no plan") is None
    assert any("ILogger.log" in text for text in raised)


def test_logger_that_calls_its_base(capfd):
    class Loud(trt.Logger):
        def log(self, severity, msg):
            super().log(severity, msg.upper())

    Loud().log(trt.Logger.ERROR, "hello")  # no recursion without an end
    assert capfd.readouterr().out.endswith("[TRT] [E] HELLO\n")


def test_logger_without_init():
    class Forgetful(trt.ILogger):
        def __init__(self):
            pass

    for make in (trt.Runtime, trt.Builder):
        with pytest.raises(TypeError, match="initialized"), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            make(Forgetful())
        assert not told, "the error is enough"


# Error recorders


def test_recorder_gets_errors():
    recorder = Recorder()
    runtime = trt.Runtime(trt.Logger(trt.Logger.INTERNAL_ERROR))
    runtime.error_recorder = recorder
    assert runtime.error_recorder is recorder
    assert runtime.deserialize_cuda_engine(b"no plan") is None
    assert len(recorder.errors) == 1 and isinstance(recorder.errors[0][0], trt.ErrorCodeTRT)
    assert recorder.errors[0][1] and recorder.MAX_DESC_LENGTH == trt.IErrorRecorder.MAX_DESC_LENGTH == 127
    runtime.error_recorder = None
    assert runtime.error_recorder is None


def test_recorder_that_raises():
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.error_recorder = make_raising(trt.IErrorRecorder, "report_error")()
    assert runtime.deserialize_cuda_engine(b"no plan") is None
    assert_told(logger.errors(), "IErrorRecorder.report_error")


# Profilers


def test_profiler_is_told_of_layers():
    class Times(trt.IProfiler):
        def __init__(self):
            trt.IProfiler.__init__(self)
            self.layers = []

        def report_layer_time(self, layer_name, ms):
            self.layers.append((layer_name, ms))

    context = engine_of_doubled(Messages()).create_execution_context()
    context.profiler = times = Times()
    assert context.profiler is times
    assert (running.run(context, X) == 2 * X).all()
    assert [name for name, _ in times.layers] and all(ms >= 0 for _, ms in times.layers)
    context.enqueue_emits_profile = False
    count = len(times.layers)
    running.run(context, X)
    assert len(times.layers) == count
    assert context.report_to_profiler() and len(times.layers) == 2 * count


def test_profiler_that_raises():
    logger = Messages()
    context = engine_of_doubled(logger).create_execution_context()
    context.profiler = make_raising(trt.IProfiler, "report_layer_time")()
    assert (running.run(context, X) == 2 * X).all()
    assert_told(logger.errors(), "IProfiler.report_layer_time")


def test_printing_profiler(capfd):
    context = engine_of_doubled(Messages()).create_execution_context()
    context.profiler = trt.Profiler()
    running.run(context, X)
    assert " ms\n" in capfd.readouterr().out


# Progress monitors


def test_progress_is_told():
    monitor = Progress()
    assert build(Messages(), monitor) is not None
    assert monitor.steps > 0 and not monitor.phases


def test_progress_stops_a_build():
    logger = Messages()
    assert build(logger, Progress(most=1)) is None
    assert logger.errors()


@pytest.mark.parametrize("method", ["phase_start", "step_complete", "phase_finish"])
def test_progress_that_raises(method):
    logger = Messages()
    monitor = type("Raising", (Progress,), {method: raising})()
    plan = build(logger, monitor)
    assert (plan is None) == (method == "step_complete")
    assert_told(logger.errors(), f"IProgressMonitor.{method}")


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit])
def test_progress_that_is_interrupted(exception):
    class Interrupting(Progress):
        def step_complete(self, phase_name, step):
            raise exception("now")

    logger = Messages()
    with pytest.raises(exception, match="now"):
        build(logger, Interrupting())
    assert build(logger, Progress()) is not None


@pytest.mark.parametrize(
    "exception, own_logger, monitor",
    [
        (KeyboardInterrupt, True, None),
        (KeyboardInterrupt, True, Progress),
        (KeyboardInterrupt, False, None),
        (KeyboardInterrupt, False, Progress),
        (ValueError, False, None),  # in a callback it would be the callback's
    ],
)
def test_ctrl_c_ends_a_build(exception, own_logger, monitor):
    """As the terminal does it, in the middle of a build that takes longer than the timer."""

    def handler(number, frame):
        raise exception("by hand")

    builder = trt.Builder(Messages() if own_logger else trt.Logger(trt.Logger.INTERNAL_ERROR))
    builder.error_recorder = recorder = Recorder()
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (64, 64))
    for _ in range(3000):
        product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, x, trt.MatrixOperation.NONE)
        x = network.add_softmax(product.get_output(0)).get_output(0)
    network.mark_output(x)
    config = builder.create_builder_config()
    config.progress_monitor = given = monitor and monitor()
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(exception, match="by hand"):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            builder.build_serialized_network(network, config)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert any("cancelled" in text for _, text in recorder.errors), "the build went on to its end"
    assert config.progress_monitor is given
    assert build(Messages(), Progress()) is not None


def test_a_monitor_is_its_own_during_a_build():
    class Curious(Progress):
        def step_complete(self, phase_name, step):
            seen.append(config.progress_monitor)
            return super().step_complete(phase_name, step)

    seen = []
    builder = trt.Builder(Messages())
    config = quick(builder)
    config.progress_monitor = monitor = Curious()
    assert builder.build_serialized_network(doubled(builder), config) is not None
    assert seen and all(one is monitor for one in seen) and config.progress_monitor is monitor


# Allocators


class AsyncAllocator(trt.IGpuAsyncAllocator):
    def __init__(self):
        trt.IGpuAsyncAllocator.__init__(self)
        self.inner = Allocator()

    def allocate_async(self, size, alignment, flags, stream):
        assert flags in (0, 1)
        return self.inner.allocate(size, alignment, flags)

    def deallocate_async(self, memory, stream):
        return self.inner.deallocate(memory)


class StreamThird(AsyncAllocator):
    """Written for the order in which TensorRT's module calls."""

    def allocate_async(self, size, alignment, stream, flags):
        assert flags in (0, 1)
        return self.inner.allocate(size, alignment, flags)


@pytest.mark.parametrize("kind", [Allocator, AsyncAllocator, StreamThird])
def test_allocator_gives_contexts_memory(kind):
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = allocator = kind()
    engine = runtime.deserialize_cuda_engine(softmax_plan(logger))
    context = engine.create_execution_context()
    x = np.ones((64, 64), dtype=np.float32)
    assert np.allclose(running.run(context, x), 64)
    inner = getattr(allocator, "inner", allocator)
    assert inner.num_allocated > 0 and inner.blocks
    del context, engine
    assert not inner.blocks
    with pytest.raises(AttributeError):
        runtime.gpu_allocator


@pytest.mark.parametrize(
    "base, method", [(trt.IGpuAllocator, "allocate"), (trt.IGpuAsyncAllocator, "allocate_async")], ids=str
)
def test_allocator_that_raises(base, method):
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = make_raising(base, method)()
    engine = runtime.deserialize_cuda_engine(softmax_plan(logger))
    context = engine.create_execution_context() if engine else None
    assert context is None or not context.execute_v2([X.ctypes.data, X.ctypes.data])
    assert_told(logger.errors(), f"{base.__name__}.{method}")


def test_allocator_whose_deallocate_raises():
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = allocator = type("Raising", (Allocator,), {"deallocate": raising})()
    engine = runtime.deserialize_cuda_engine(softmax_plan(logger))
    context = engine.create_execution_context()
    running.run(context, np.ones((64, 64), dtype=np.float32))
    del context, engine
    assert allocator.num_allocated > 0
    assert_told(logger.errors(), "IGpuAllocator.deallocate")


def test_a_call_of_another_thread_ends_while_it_is_told():
    """An error outside of calls goes to the call of whichever thread: to its logger, too, if that call has ended."""
    begun, may_end = threading.Event(), threading.Event()

    class Reader(trt.IStreamReaderV2):
        def __init__(self):
            trt.IStreamReaderV2.__init__(self)

        def read(self, num_bytes, stream):
            begun.set()
            may_end.wait(60)
            return b""

        def seek(self, offset, where):
            return True

    class Ending(Recorder):
        """Does not return before the call is over and its thread has ended."""

        def report_error(self, code, desc):
            super().report_error(code, desc)
            may_end.set()
            if threading.current_thread() is not thread:
                thread.join(60)
            return False

    def work():
        runtime = trt.Runtime(logger)
        runtime.error_recorder = recorder
        runtime.deserialize_cuda_engine(Reader())

    logger, recorder = Messages(), Ending()
    other = Messages()
    runtime = trt.Runtime(other)
    runtime.gpu_allocator = type("Raising", (Allocator,), {"deallocate": raising})()
    context = runtime.deserialize_cuda_engine(softmax_plan(other)).create_execution_context()
    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    del context
    gc.collect()
    assert not thread.is_alive()
    assert_told([desc for _, desc in recorder.errors], "IGpuAllocator.deallocate")
    assert_told(logger.errors(), "IGpuAllocator.deallocate")


def test_allocator_that_answers_nonsense():
    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = type("Odd", (Allocator,), {"allocate": lambda *_: "no address"})()
    engine = runtime.deserialize_cuda_engine(softmax_plan(logger))
    assert engine is None or engine.create_execution_context() is None or logger.errors()
    assert any("IGpuAllocator.allocate" in text and "type" in text for text in logger.errors())


# Outputs whose sizes a run decides


def nonzero_context(logger):
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (6,))
    y = network.add_non_zero(x).get_output(0)
    y.name = "y"
    network.mark_output(y)
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, quick(builder)))
    return engine.create_execution_context()


class Output(trt.IOutputAllocator):
    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.shape = self.array = None

    def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
        assert tensor_name == "y"
        self.array = np.zeros(size // 4, dtype=np.int32)
        return self.array.ctypes.data

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)


def run_nonzero(context, output):
    x = np.array([0, 1, 0, 2, 3, 0], dtype=np.float32)
    assert context.set_tensor_address("x", x.ctypes.data)
    assert context.set_output_allocator("y", output)
    assert context.get_output_allocator("y") is output
    done = context.execute_async_v3(0)
    running.cudart().cudaStreamSynchronize(0)
    return done


def test_output_allocator():
    output = Output()
    assert run_nonzero(nonzero_context(Messages()), output)
    assert output.shape == (1, 3) and output.array[:3].tolist() == [1, 3, 4]


def test_old_output_allocator():
    class Old(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)

        def reallocate_output(self, tensor_name, memory, size, alignment):
            self.array = np.zeros(size // 4, dtype=np.int32)
            return self.array.ctypes.data

        def notify_shape(self, tensor_name, shape):
            self.shape = tuple(shape)

    output = Old()
    assert run_nonzero(nonzero_context(Messages()), output)
    assert output.shape == (1, 3) and output.array[:3].tolist() == [1, 3, 4]


@pytest.mark.parametrize("method", ["reallocate_output_async", "notify_shape"])
def test_output_allocator_that_raises(method):
    logger = Messages()
    run_nonzero(nonzero_context(logger), type("Raising", (Output,), {method: raising})())
    assert_told(logger.errors(), f"IOutputAllocator.{method}")


# Streams of plans


class Reader(trt.IStreamReader):
    def __init__(self, data):
        trt.IStreamReader.__init__(self)
        self.file = io.BytesIO(data)

    def read(self, size):
        return self.file.read(size)


class ReaderV2(trt.IStreamReaderV2):
    def __init__(self, data, most=1 << 30):
        trt.IStreamReaderV2.__init__(self)
        self.file, self.most = io.BytesIO(data), most

    def read(self, num_bytes, stream):
        return self.file.read(min(num_bytes, self.most))

    def seek(self, offset, where):
        self.file.seek(offset, int(where))
        return True


@pytest.mark.parametrize("make", [Reader, ReaderV2, lambda data: ReaderV2(data, 100)], ids=["V1", "V2", "pieces"])
def test_plan_from_a_reader(make):
    logger = Messages()
    engine = trt.Runtime(logger).deserialize_cuda_engine(make(bytes(plan_of_doubled(logger))))
    assert (running.run(engine.create_execution_context(), X) == 2 * X).all()


@pytest.mark.parametrize("base", [Reader, ReaderV2])
def test_reader_that_raises_or_ends(base):
    logger = Messages()
    runtime = trt.Runtime(logger)
    plan = bytes(plan_of_doubled(logger))
    assert runtime.deserialize_cuda_engine(base(plan[:200])) is None
    assert runtime.deserialize_cuda_engine(type("Raising", (base,), {"read": raising})(plan)) is None
    assert_told(logger.errors(), f"{base.__bases__[0].__name__}.read")
    assert runtime.deserialize_cuda_engine(type("More", (base,), {"read": lambda *_: b"x" * 10**6})(plan)) is None
    assert any("1000000 bytes" in text for text in logger.errors())


class Writer(trt.IStreamWriter):
    def __init__(self):
        trt.IStreamWriter.__init__(self)
        self.data = b""

    def write(self, data):
        self.data += data
        return len(data)


def test_plan_to_a_writer():
    logger = Messages()
    builder = trt.Builder(logger)
    writer = Writer()
    assert builder.build_serialized_network_to_stream(doubled(builder), quick(builder), writer)
    assert trt.Runtime(logger).deserialize_cuda_engine(writer.data) is not None


def test_writer_that_raises():
    logger = Messages()
    builder = trt.Builder(logger)
    builder.error_recorder = recorder = Recorder()
    writer = type("Raising", (Writer,), {"write": raising})()
    assert not builder.build_serialized_network_to_stream(doubled(builder), quick(builder), writer)
    assert_told(logger.errors(), "IStreamWriter.write")
    assert any("IStreamWriter.write" in text for _, text in recorder.errors)


# Debug listeners


def debug_engine(logger, unfused=False):
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (2, 3))
    middle = network.add_unary(x, trt.UnaryOperation.ABS).get_output(0)
    middle.name = "middle"
    y = network.add_unary(middle, trt.UnaryOperation.NEG).get_output(0)
    y.name = "y"
    network.mark_output(y)
    assert not network.is_debug_tensor(middle)
    if unfused:
        assert network.mark_unfused_tensors_as_debug_tensors() and network.unmark_unfused_tensors_as_debug_tensors()
        assert network.mark_unfused_tensors_as_debug_tensors()
    else:
        assert network.mark_debug(middle) and network.unmark_debug(middle) and network.mark_debug(middle)
    assert network.is_debug_tensor(middle) is not unfused
    return builder.build_engine_with_config(network, quick(builder))


class Listener(trt.IDebugListener):
    def __init__(self):
        trt.IDebugListener.__init__(self)
        self.seen = []

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        self.seen.append((name, type, running.floats_at(addr, shape, stream)))
        assert location == trt.TensorLocation.DEVICE and isinstance(stream, int)


def test_debug_listener():
    logger = Messages()
    engine = debug_engine(logger)
    assert engine.is_debug_tensor("middle") and not engine.is_debug_tensor("y")
    context = engine.create_execution_context()
    listener = Listener()
    assert context.set_debug_listener(listener)
    assert context.get_debug_listener() is listener
    running.run(context, X)
    assert not listener.seen, "debug tensors are off by default"
    assert not context.get_debug_state("middle")
    assert not context.set_tensor_debug_state("y", True)
    assert "'y' was not marked as a debug tensor" in logger.all()
    assert context.set_all_tensors_debug_state(True) and context.get_debug_state("middle")
    y = running.run(context, X)
    assert [(name, type) for name, type, _ in listener.seen] == [("middle", trt.float32)]
    assert (listener.seen[0][2] == np.abs(X)).all() and (y == -np.abs(X)).all()
    assert context.set_tensor_debug_state("middle", False)
    running.run(context, X)
    assert len(listener.seen) == 1


def test_unfused_debug_tensors():
    engine = debug_engine(Messages(), unfused=True)
    assert not engine.is_debug_tensor("middle")
    context = engine.create_execution_context()
    listener = Listener()
    assert context.set_debug_listener(listener) and not context.unfused_tensors_debug_state
    context.unfused_tensors_debug_state = True
    assert context.unfused_tensors_debug_state
    y = running.run(context, X)
    assert listener.seen[-1][0] == "y" and (listener.seen[-1][2] == y).all()


def test_debug_listener_ends_the_run():
    logger = Messages()
    context = debug_engine(logger).create_execution_context()
    refusing = type("Refusing", (Listener,), {"process_debug_tensor": lambda self, *arguments: False})()
    assert context.set_debug_listener(refusing) and context.set_all_tensors_debug_state(True)
    x, y = X.copy(), np.empty_like(X)
    assert not context.execute_v2([x.ctypes.data, y.ctypes.data])
    assert "the debug listener returned false when it was shown 'middle'" in logger.all()


# Calibrators and algorithm selectors
