"""Callbacks that take their own object off what it is set on, which may be the last reference to it."""
import gc
import threading
import time
import weakref

import numpy as np
import pytest
import running
import tensorrt as trt
from running import Messages, Progress, Recorder, doubled, engine_of_doubled, quick

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def take_off_in(base, method, **defined):
    """An object whose method calls `take_off` once, and answers what `work` does."""

    def taking_off(self, *arguments):
        if take_off := self.__dict__.pop("take_off", None):
            take_off()
            gc.collect()
        return self.work(*arguments)

    return type("TakingOff", (base,), {method: taking_off, **defined})()


def test_a_monitor_that_takes_itself_off():
    logger = Messages()
    builder = trt.Builder(logger)
    config = quick(builder)
    config.progress_monitor = monitor = take_off_in(Progress, "phase_start", work=lambda self, *_: None,
                                                    phase_finish=lambda self, _: None)  # fmt: skip
    monitor.take_off = lambda: setattr(config, "progress_monitor", None)
    end = weakref.ref(monitor)
    del monitor
    assert builder.build_serialized_network(doubled(builder), config) is not None and not logger.errors()
    assert end() is None, "it goes when the call has ended"


def test_a_profiler_that_takes_itself_off():
    context = engine_of_doubled(Messages()).create_execution_context()
    base = type("Base", (trt.IProfiler,), {"__init__": lambda self: trt.IProfiler.__init__(self)})
    context.profiler = profiler = take_off_in(base, "report_layer_time", work=lambda self, *_: None)
    profiler.take_off = lambda: setattr(context, "profiler", None)
    end = weakref.ref(profiler)
    del profiler
    assert (running.run(context, X) == 2 * X).all() and end() is None


def test_a_recorder_that_takes_itself_off():
    runtime = trt.Runtime(Messages())
    runtime.error_recorder = recorder = take_off_in(Recorder, "report_error", work=lambda self, *_: False)
    recorder.take_off = lambda: setattr(runtime, "error_recorder", None)
    end = weakref.ref(recorder)
    del recorder
    assert runtime.deserialize_cuda_engine(b"no plan") is None and end() is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_calibrator_that_takes_itself_off():
    class Calibrator(trt.IInt8EntropyCalibrator2):
        def __init__(self):
            trt.IInt8EntropyCalibrator2.__init__(self)
            self.left = 2

        def get_batch_size(self):
            return 1

        def get_batch(self, names):
            config.int8_calibrator = None
            gc.collect()
            self.left -= 1
            return [X.ctypes.data] if self.left else None

        def read_calibration_cache(self):
            return None

        def write_calibration_cache(self, cache):
            pass

    builder = trt.Builder(Messages())
    network = builder.create_network(0)
    relu = network.add_activation(network.add_input("x", trt.float32, (2, 3)), trt.ActivationType.RELU)
    network.mark_output(relu.get_output(0))
    config = quick(builder)
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = Calibrator()
    assert builder.build_serialized_network(network, config) is not None


def test_what_is_taken_off_goes_while_other_calls_go_on():
    """Calls of other threads delay its end only until they have ended."""
    runtimes = [trt.Runtime(Messages()) for _ in range(4)]
    stop = threading.Event()

    def work(runtime):
        while not stop.is_set():
            runtime.deserialize_cuda_engine(b"no plan")
            runtime.logger.texts.clear()

    threads = [threading.Thread(target=work, args=(runtime,)) for runtime in runtimes]
    for thread in threads:
        thread.start()
    runtime, ends, until = trt.Runtime(Messages()), [], time.monotonic() + 30
    while time.monotonic() < until and not (len(ends) > 50 and ends[0]() is None):
        runtime.error_recorder = recorder = Recorder()
        ends.append(weakref.ref(recorder))
        del recorder
        runtime.deserialize_cuda_engine(b"no plan")
    assert ends[0]() is None
    runtime.error_recorder = None
    stop.set()
    for thread in threads:
        thread.join(timeout=60)
    runtime.deserialize_cuda_engine(b"no plan")
    assert all(end() is None for end in ends)
