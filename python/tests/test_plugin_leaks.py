"""References and memory of plugins over many builds, threads, and the end of the interpreter."""

import gc
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import numpy.typing as npt
import pytest
import tensorrt as trt
import tensorrt.plugin as trtp
from networks import Bench
from plugins import Scale, ScaleCreator
from test_plugin_v2 import Shift, ShiftCreator

REGISTRY = trt.get_plugin_registry()
X = np.arange(6, dtype=np.float32)


@trtp.register("leaks::twice")
def twice(x: trtp.TensorDesc, values: npt.NDArray[np.float32]) -> trtp.TensorDesc:
    return x.like()


@trtp.impl("leaks::twice")
def twice_impl(x, values, outputs, stream):
    np.asarray(outputs[0])[...] = np.asarray(x) * values[0]


@pytest.fixture(autouse=True)
def creators():
    Scale.failing = Shift.failing = None
    made = [(ScaleCreator(), "tests"), (ShiftCreator(), "")]
    for creator, namespace in made:
        assert REGISTRY.register_creator(creator, namespace)
    yield
    for creator, _ in made:
        assert REGISTRY.deregister_creator(creator)


def build_and_run():
    """A network with a plugin of each kind: x * 3 + 1, in a row more, times 2."""
    bench = Bench()
    x = bench.input("x", (2, 3))
    first = bench.network.add_plugin_v3([x], [], Scale(3)).get_output(0)
    second = bench.network.add_plugin_v2([first], Shift(1)).get_output(0)
    third = bench.network.add_plugin(trtp.op.leaks.twice(second, values=np.array([2], np.float32))).get_output(0)
    (y,) = bench.run({"x": X.reshape(2, 3)}, [third])
    np.testing.assert_array_equal(y[:2], (X.reshape(2, 3) * 3 + 1) * 2)


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def state():
    gc.collect()
    Scale.calls.clear(), Shift.calls.clear()
    return len(gc.get_objects()), len(os.listdir("/proc/self/fd")), Scale.alive


def test_a_thousand_builds():
    for _ in range(50):
        build_and_run()
    before, memory = state(), resident_bytes()
    for _ in range(950):
        build_and_run()
    after = state()
    assert after[1:] == before[1:]
    assert abs(after[0] - before[0]) < 50, (before, after)
    assert resident_bytes() - memory < 16 << 20


def test_failures_leak_nothing():
    methods = ["clone", "get_output_shapes", "configure_plugin", "get_fields_to_serialize", "create_plugin", "enqueue"]

    def fail(method):
        bench = Bench()
        Scale.failing = method
        try:
            layer = bench.network.add_plugin_v3([bench.input("x", X)], [], Scale(3))
            if layer is not None:
                bench.network.mark_output(layer.get_output(0))
                config = bench.builder.create_builder_config()
                plan = bench.builder.build_serialized_network(bench.network, config)
                engine = trt.Runtime(bench.log).deserialize_cuda_engine(plan) if plan else None
                if engine is not None:
                    y = np.empty_like(X)
                    assert not engine.create_execution_context().execute_v2([X.ctypes.data, y.ctypes.data])
        finally:
            Scale.failing = None
        assert bench.log.take_errors()

    for method in methods:
        fail(method)
    before = state()
    for _ in range(50):
        for method in methods:
            fail(method)
    after = state()
    assert after[1:] == before[1:]
    assert abs(after[0] - before[0]) < 50, (before, after)


def test_contexts_of_several_threads():
    """Each thread runs a context of its own of one engine, whose plugins take turns at the GIL."""
    bench = Bench()
    y = bench.network.add_plugin_v3([bench.input("x", X)], [], Scale(3)).get_output(0)
    bench.network.mark_output(y)
    plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
    engine = trt.Runtime(bench.log).deserialize_cuda_engine(plan)
    failures = []

    def use(number):
        for i in range(20):
            context = engine.create_execution_context()
            given = X + number + i
            made = np.empty_like(X)
            if not context.execute_v2([given.ctypes.data, made.ctypes.data]) or (made != given * 3).any():
                failures.append((number, i))

    threads = [threading.Thread(target=use, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    assert failures == []


ENDS = """
import numpy as np
import tensorrt as trt
from networks import Bench
from plugins import Scale, ScaleCreator
from test_plugin_registry import Shared
creator = ScaleCreator()
registry = trt.get_plugin_registry()
registry.register_creator(creator, "tests")
shared = registry.acquire_plugin_resource("ends", Shared(1))
bench = Bench()
other = bench.builder.get_plugin_registry()
other.register_creator(creator, "tests")
x = np.zeros(4, np.float32)
layer = bench.network.add_plugin_v3([bench.input("x", x)], [], Scale(2))
bench.network.mark_output(layer.get_output(0))
plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
engine = trt.Runtime(bench.log).deserialize_cuda_engine(plan)
context = engine.create_execution_context()
field = creator.field_names[0]
kept = [globals()]  # a cycle with all of it
print("ends")
"""


def test_the_interpreter_ends_before_all_of_it():
    here = str(pathlib.Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    ran = subprocess.run([sys.executable, "-c", ENDS], env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "ends\n", "")
