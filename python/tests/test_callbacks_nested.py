"""Callbacks that cause themselves: by a call of the library, by memory that Python frees meanwhile, by a call of the base."""

import functools
import gc

import tensorrt as trt
from running import Allocator, Messages, Progress, Recorder, Unraisable, build, softmax_plan


def test_callbacks_that_cause_themselves():
    """A message of a logger's own log, and an error of a recorder's own report, are told, but not without an end."""

    class Again(Messages):
        def __init__(self, most):
            super().__init__()
            self.most = most

        def log(self, severity, msg):
            super().log(severity, msg)
            if len(self.texts) < self.most:
                trt.Runtime(self).deserialize_cuda_engine(b"no plan")

    with Unraisable() as raised:
        logger = Again(3)
        assert trt.Runtime(logger).deserialize_cuda_engine(b"no plan") is None
        assert len(logger.errors()) == 3 and not raised
        logger = Again(1000)
        assert trt.Runtime(logger).deserialize_cuda_engine(b"no plan") is None
        assert 3 < len(logger.errors()) < 1000
    assert raised and all("ILogger.log is called out of itself again and again" in text for text in raised)

    class Twice(Recorder):
        def report_error(self, code, desc):
            super().report_error(code, desc)
            if len(self.errors) < 2:
                runtime.deserialize_cuda_engine(b"no plan either")
            return False

    logger, recorder = Messages(), Twice()
    runtime = trt.Runtime(logger)
    runtime.error_recorder = recorder
    assert runtime.deserialize_cuda_engine(b"no plan") is None
    assert len(recorder.errors) == len(logger.errors()) == 2


class Counted:
    """A decorator that makes an object of its own of a method."""

    def __init__(self, function):
        self.function = function

    def __get__(self, owner, kind=None):
        return self if owner is None else functools.partial(self.function, owner)


def test_decorated_methods_that_cause_themselves():
    class Again(Messages):
        @Counted
        def log(self, severity, msg):
            Messages.log(self, severity, msg)
            if len(self.texts) < 3:
                trt.Runtime(self).deserialize_cuda_engine(b"no plan")

    with Unraisable() as raised:
        logger = Again()
        assert trt.Runtime(logger).deserialize_cuda_engine(b"no plan") is None
    assert len(logger.errors()) == 3 and not raised


def test_a_build_within_a_monitor_of_the_same_monitor():
    class Inner(Progress):
        plan = None

        def phase_start(self, phase_name, parent_phase, num_steps):
            self.phases.append(phase_name)
            if len(self.phases) == 1:
                self.plan = build(logger, self)

        def phase_finish(self, phase_name):
            self.phases.remove(phase_name)

    logger, monitor = Messages(), Inner()
    assert build(logger, monitor) is not None and monitor.plan is not None
    assert not monitor.phases and logger.errors() == []


def test_methods_that_call_the_base_of_an_interface():
    """The interface has nothing there: that is told, and the method is not called again."""

    class Polite(Progress):
        def phase_start(self, phase_name, parent_phase, num_steps):
            super().phase_start(phase_name, parent_phase, num_steps)
            trt.IProgressMonitor.phase_start(self, phase_name, parent_phase, num_steps)

    logger, monitor = Messages(), Polite()
    assert build(logger, monitor) is not None
    assert not monitor.phases
    assert set(logger.errors()) == {"the Python method IProgressMonitor.phase_start is needed, and the class does not define it"}


def test_memory_that_python_frees_while_memory_is_freed():
    """Python's collector may delete a context within `deallocate`, whose memory is the same allocator's."""

    class Collecting(Allocator):
        def deallocate(self, memory):
            gc.collect()
            return super().deallocate(memory)

    logger = Messages()
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = allocator = Collecting()
    engine = runtime.deserialize_cuda_engine(softmax_plan(logger))
    contexts = [engine.create_execution_context() for _ in range(2)]
    gc.disable()
    try:
        cycle = [contexts.pop()]
        cycle.append(cycle)
        del cycle
        assert len(allocator.blocks) == 2
        contexts.clear()
    finally:
        gc.enable()
    assert not allocator.blocks and logger.errors() == []
