"""Counts what is left of many rounds of each way to use the modules: references, handles of files, threads, memory.

    PYTHONPATH=build/release/python KILN_DEVICE=cpu python python/tests/leaks.py [rounds] [part of a name]

Prints a table, and exits with 1 where something grew. test_leaks.py runs it with fewer rounds.
"""

import dataclasses
import gc
import os
import pathlib
import sys
import tempfile
import threading

import kiln_models
import numpy as np
import running
import tensorrt as trt

import kiln

MOST_OBJECTS = 20
MOST_BYTES_A_ROUND = 512  # allocators keep some; what leaks is a plan or an engine, thousands of bytes
MOST_BYTES = 3 << 20
QUICK = {"optimization_level": 0, "progress": False}
X = np.arange(6, dtype=np.float32).reshape(2, 3)

AFFINE = kiln_models.affine()[0].SerializeToString()
NON_ZERO = kiln_models.non_zero().SerializeToString()
RESHAPE = kiln_models.reshape_by_input().SerializeToString()
UNKNOWN = kiln_models.unknown_operator().SerializeToString()
FOLDER = tempfile.TemporaryDirectory()
PLAN = kiln.compile(AFFINE, shapes={"x": [(1, 4), (8, 4)]}, **QUICK).save(pathlib.Path(FOLDER.name) / "affine.plan")


def kiln_build_and_run():
    engine = kiln.compile(AFFINE, shapes={"x": [(1, 4), (8, 4)]}, **QUICK)
    for n in (1, 8):
        engine(np.ones((n, 4), np.float32))
    str(engine.layers), bytes(engine)


def kiln_profile():
    engine = kiln.load(PLAN)
    engine.profile(runs=1, warmup=0)


def kiln_failures():
    for use in (
        lambda: kiln.compile(UNKNOWN, **QUICK),
        lambda: kiln.compile(b"no model", **QUICK),
        lambda: kiln.compile(AFFINE, **QUICK),
        lambda: kiln.load(b"no plan"),
        lambda: kiln.load(PLAN)(np.ones((9, 4), np.float32)),
        lambda: kiln.load(PLAN)(np.ones((2, 4), np.float64)),
    ):
        try:
            use()
        except (kiln.Error, ValueError, TypeError):
            continue
        raise AssertionError("it did not fail")


def kiln_progress_that_ends_a_build():
    def stop(fraction, text):
        raise KeyError("enough")

    try:
        kiln.compile(AFFINE, shapes={"x": (1, 4)}, optimization_level=0, progress=stop)
    except KeyError:
        return
    raise AssertionError("it did not fail")


def kiln_timing_cache():
    path = pathlib.Path(FOLDER.name) / "timing.cache"
    kiln.compile(AFFINE, shapes={"x": (1, 4)}, timing_cache=path, **QUICK)


def kiln_sizes_of_data():
    kiln.compile(NON_ZERO, **QUICK)(np.ones((3, 4), np.float32))
    values = {"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}
    kiln.compile(RESHAPE, values=values, **QUICK)(np.ones(6, np.float32), [2, 3])


def kiln_loads():
    for mapped in (False, True):
        with kiln.load(PLAN, mapped=mapped) as engine:
            engine(np.ones((2, 4), np.float32))


def kiln_threads():
    engine = kiln.load(PLAN)
    threads = [threading.Thread(target=engine, args=(np.ones((2, 4), np.float32),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def kiln_dlpack_and_buffers():
    engine = kiln.load(PLAN)
    x = np.ones((2, 4), np.float32)

    class Dlpack:
        def __dlpack__(self, **_):
            return x.__dlpack__()

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    engine(Dlpack())
    engine(memoryview(x))


class Profiler(trt.IProfiler):
    def __init__(self):
        trt.IProfiler.__init__(self)

    def report_layer_time(self, layer_name, ms):
        self.last = layer_name


class Monitor(trt.IProgressMonitor):
    def __init__(self):
        trt.IProgressMonitor.__init__(self)

    def phase_start(self, phase_name, parent_phase, num_steps):
        self.last = phase_name

    def step_complete(self, phase_name, step):
        return True

    def phase_finish(self, phase_name):
        pass


class Raising(trt.IProgressMonitor):
    def __init__(self):
        trt.IProgressMonitor.__init__(self)

    def phase_start(self, *_):
        raise ValueError("as the test wants it")

    step_complete = phase_finish = phase_start


class Writer(trt.IStreamWriter):
    def __init__(self):
        trt.IStreamWriter.__init__(self)
        self.data = b""

    def write(self, data):
        self.data += data
        return len(data)


class Reader(trt.IStreamReaderV2):
    def __init__(self, data):
        trt.IStreamReaderV2.__init__(self)
        self.data, self.at = data, 0

    def read(self, num_bytes, stream):
        self.at += num_bytes
        return self.data[self.at - num_bytes : self.at]

    def seek(self, offset, where):
        return False


def trt_build_and_run():
    logger = running.Messages()
    engine = running.engine_of_doubled(logger)
    context = engine.create_execution_context()
    context.error_recorder = running.Recorder()
    running.run(context, X)


def trt_callbacks():
    logger, recorder = running.Messages(), running.Recorder()
    builder = trt.Builder(logger)
    builder.error_recorder = recorder
    builder.gpu_allocator = running.Allocator()
    config = running.quick(builder)
    config.progress_monitor = Monitor()
    plan = builder.build_serialized_network(running.doubled(builder), config)
    runtime = trt.Runtime(logger)
    runtime.gpu_allocator = running.Allocator()
    engine = runtime.deserialize_cuda_engine(Reader(bytes(plan)))
    context = engine.create_execution_context()
    context.profiler = Profiler()
    running.run(context, X)


def trt_callbacks_that_raise():
    logger = running.Messages()
    builder = trt.Builder(logger)
    config = running.quick(builder)
    config.progress_monitor = Raising()
    assert builder.build_serialized_network(running.doubled(builder), config) is None
    assert trt.Runtime(logger).deserialize_cuda_engine(Reader(b"no plan")) is None


def trt_streams():
    logger = running.Messages()
    builder, writer = trt.Builder(logger), Writer()
    assert builder.build_serialized_network_to_stream(running.doubled(builder), running.quick(builder), writer)
    assert trt.Runtime(logger).deserialize_cuda_engine(Reader(writer.data)) is not None


def trt_parser_and_inspector():
    logger = running.Messages()
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(AFFINE)
    assert not trt.OnnxParser(builder.create_network(), logger).parse(UNKNOWN)
    config, profile = running.quick(builder), builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (4, 4))
    config.add_optimization_profile(profile)
    engine = builder.build_engine_with_config(network, config)
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context = engine.create_execution_context()
    assert inspector.get_engine_information(trt.LayerInformationFormat.JSON)
    context.set_input_shape("x", (3, 4))
    assert len(bytes(engine.serialize())) and len(trt.PluginField("n", np.zeros(3, np.float32)).data)


def trt_cycles():
    """A program's objects that refer to what they are set on."""
    context = running.engine_of_doubled(running.Messages()).create_execution_context()
    context.profiler = profiler = Profiler()
    profiler.context = context
    context.error_recorder = recorder = running.Recorder()
    recorder.context = context


ROUNDS = [use for name, use in sorted(globals().items()) if name.startswith(("kiln_", "trt_")) and callable(use)]


@dataclasses.dataclass
class State:
    objects: int
    handles: int
    threads: int
    resident: int

    @staticmethod
    def now():
        for _ in range(3):
            gc.collect()
        statm = pathlib.Path("/proc/self/statm").read_text().split()
        return State(
            len(gc.get_objects()),
            len(os.listdir("/proc/self/fd")),
            len(os.listdir("/proc/self/task")),
            int(statm[1]) * os.sysconf("SC_PAGE_SIZE"),
        )

    def minus(self, other):
        return State(*(a - b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other))))


def grown(use, rounds):
    """What `rounds` rounds leave behind, after as many as fill caches and pools."""
    for _ in range(max(rounds // 4, 20)):
        use()
    before = State.now()
    for _ in range(rounds):
        use()
    return State.now().minus(before)


def faults(found, rounds):
    """What is too much of it."""
    told = []
    if found.objects > MOST_OBJECTS:
        told.append(f"{found.objects} objects more")
    if found.handles > 0:
        told.append(f"{found.handles} handles of files more")
    if found.threads > 1:  # the CPU device's standby may start one
        told.append(f"{found.threads} threads more")
    if found.resident > max(MOST_BYTES, rounds * MOST_BYTES_A_ROUND):
        told.append(f"{found.resident >> 10} KiB more")
    return told


def main(rounds=1000, part=""):
    wrong = 0
    print(f"{'of ' + str(rounds) + ' rounds':36} {'objects':>8} {'handles':>8} {'threads':>8} {'KiB':>8}")
    for use in ROUNDS:
        if part in use.__name__:
            found = grown(use, rounds)
            told = faults(found, rounds)
            wrong += bool(told)
            numbers = f"{found.objects:8} {found.handles:8} {found.threads:8} {found.resident >> 10:8}"
            print(f"{use.__name__:36} {numbers}  {'; '.join(told)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(int(a) if a.isdigit() else a for a in sys.argv[1:])))
