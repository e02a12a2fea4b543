"""The package kiln on a GPU that is none: the stand-in for the driver, whose kernels do nothing. What counts is which
calls are made, and that what comes from the host goes there and back."""

import os
import subprocess
import sys

import pytest
from stand_in import run_on_stand_in

HEAD = """
import numpy as np
import kiln, kiln_models
from kiln import _device

QUICK = {"optimization_level": 0, "progress": False}
model, _, _ = kiln_models.affine()
engine = kiln.compile(model, shapes={"x": [(1, 4), (8, 4)]}, name="affine", **QUICK)
assert engine.device == "cuda:0"

class Memory:
    # An array on the GPU, as numba or CuPy show theirs.
    def __init__(self, shape):
        _device.driver().use(0)
        pointer = _device.driver().allocate(int(np.prod(shape)) * 4)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (pointer, False), "version": 3}

def raises(error, text, call):
    try:
        call()
    except error as failure:
        assert text in str(failure), failure
    else:
        raise AssertionError(f"{text}: nothing was raised")
"""


def run(program):
    run_on_stand_in(HEAD + program)


def test_device_name():
    run("""
assert kiln.device_name().endswith(", compute capability 9.0"), kiln.device_name()
assert kiln.device_name("cuda:0") == kiln.device_name()
raises(kiln.Error, "there are", lambda: kiln.device_name("cuda:9"))
""")


def test_arrays_of_the_host():
    run("""
for n in (1, 3, 8, 3):
    assert engine(np.ones((n, 4), "f")).shape == (n, 3)
out = np.ones((2, 3), "f")
assert engine(np.ones((2, 4), "f"), out=out) is out
assert len(engine.profile(runs=2)) >= 1
assert kiln.compile(kiln_models.non_zero(), **QUICK)(np.ones((3, 4), "f")).shape[0] == 2
""")


def test_batches_of_calibration():
    """Those of the host are copied to the GPU, where the build reads them; those of the GPU stay where they are."""
    run("""
copies, copy = [], _device.driver().copy_in
_device.driver().copy_in = lambda to, source, size, stream: (copies.append((source, size)), copy(to, source, size, stream))
x = np.ones((8, 4), "f")
int8 = {**QUICK, "precision": "int8", "shapes": {"x": [(1, 4), (8, 4)]}}
kiln.compile(model, calibration=[x, x], **int8)
assert copies == [(x.ctypes.data, 128)] * 2, copies
kiln.compile(model, calibration=[Memory((8, 4))], **int8)
assert len(copies) == 2
raises(ValueError, "batch 0: input 'x' has shape (2, 4)", lambda: kiln.compile(model, calibration=[x[:2]], **int8))
raises(ValueError, "batch 0: input 'x' is on cuda:0, where this build does not run",
       lambda: kiln.compile(model, calibration=[Memory((8, 4))], device="cpu", **int8))
""")


def test_calibrators_of_the_api_give_memory_of_the_gpu():
    """An address of the host is an error, not a kernel's fault."""
    run("""
trt = kiln.bindings()
class Calibrator(trt.IInt8EntropyCalibrator2):
    def __init__(self, pointer):
        trt.IInt8EntropyCalibrator2.__init__(self)
        self.pointer, self.left, self.written = pointer, 2, None
    def get_batch_size(self):
        return 1
    def get_batch(self, names):
        self.left -= 1
        return [self.pointer] if self.left >= 0 else None
    def read_calibration_cache(self):
        return None
    def write_calibration_cache(self, cache):
        self.written = cache
def build(pointer):
    class Log(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)
            self.texts = []
        def log(self, severity, text):
            self.texts.append(text)
    log = Log()
    builder = trt.Builder(log)
    network = builder.create_network(0)
    relu = network.add_activation(network.add_input("x", trt.float32, (8, 4)), trt.ActivationType.RELU)
    network.mark_output(relu.get_output(0))
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = calibrator = Calibrator(pointer)
    return builder.build_serialized_network(network, config), calibrator.written, "".join(log.texts)
host = np.ones((8, 4), "f")
plan, written, texts = build(host.ctypes.data)
assert plan is None and written is None, texts
assert "calibration batch 0: the memory of input 'x' is the host's, where the GPU does not read" in texts, texts
there = Memory((8, 4))
plan, written, texts = build(there.__cuda_array_interface__["data"][0])
assert plan is not None and written is not None, texts
""")


def test_values_stay_on_the_host():
    run("""
values = {"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}
reshape = kiln.compile(kiln_models.reshape_by_input(), values=values, **QUICK)
assert reshape(np.arange(6, dtype="f"), [3, 2]).shape == (3, 2)
sizes = Memory((4,))
sizes.__cuda_array_interface__.update(shape=(2,), typestr="<i8")
raises(ValueError, "its values decide shapes, so the host needs them", lambda: reshape(Memory((6,)), sizes))
""")


def test_arrays_of_the_gpu():
    run("""
out = Memory((2, 3))
assert engine(Memory((2, 4)), out=out) is out
stream = _device.driver().create_stream()
assert engine(Memory((2, 4)), out=out, stream=stream) is out
waits = []
wait = _device.driver().synchronize
_device.driver().synchronize = lambda handle: (waits.append(handle), wait(handle))
x = Memory((2, 4))
x.__cuda_array_interface__["stream"] = other = _device.driver().create_stream()
engine(x, out=out, stream=stream)
assert waits == [other], waits  # what writes x is waited for
engine(x, out=out, stream=other)
assert waits == [other], waits  # and here is ahead in the stream
engine(Memory((2, 4)), out=out)
assert waits[1:] == [0], waits  # the legacy stream, whose order DLPack speaks of; the run waits for itself
raises(TypeError, "import one of them, or give out=", lambda: engine(Memory((2, 4))))
raises(ValueError, "out= is on the host; cuda:0 is needed", lambda: engine(Memory((2, 4)), out=np.zeros((2, 3), "f")))
raises(TypeError, "stream is 'x'", lambda: engine(Memory((2, 4)), out=out, stream="x"))
both = kiln.compile(kiln_models.sum_and_product(), shapes={"a": (2, 2), "b": (2, 2)}, name="both", **QUICK)
raises(ValueError, "input 'b' is on the host and another is on a GPU", lambda: both(Memory((2, 2)), np.zeros((2, 2), "f")))
""")


def test_engines_on_the_cpu_beside_those_on_the_gpu():
    """The stand-in's kernels compute nothing: right results are the CPU's."""
    run("""
model, w, b = kiln_models.affine()
x = np.random.default_rng(1).random((3, 4), "f")
wanted = np.maximum(x @ w + b, 0)
on_cpu = kiln.compile(model, shapes={"x": [(1, 4), (8, 4)]}, device="cpu", **QUICK)
assert on_cpu.device == "cpu" and engine.device == "cuda:0"
np.testing.assert_allclose(on_cpu(x), wanted, rtol=1e-5)
engine(x)
np.testing.assert_allclose(on_cpu(x), wanted, rtol=1e-5)
loaded = kiln.load(bytes(on_cpu), device="cpu")
np.testing.assert_allclose(loaded(x), wanted, rtol=1e-5)
assert kiln.compile(kiln_models.non_zero(), device="cpu", **QUICK)(np.ones((3, 4), "f")).shape == (2, 12)
raises(ValueError, "is on cuda:0; this engine runs on the CPU", lambda: on_cpu(Memory((2, 4))))
raises(kiln.Error, "built for device 'cpu', this is 'cuda'", lambda: kiln.load(bytes(on_cpu)))
raises(kiln.Error, "built for device 'cuda', this is 'cpu'", lambda: kiln.load(bytes(engine), device="cpu"))

def nested(network, config):
    inner.append(kiln.compile(model, shapes={"x": (1, 4)}, **QUICK))
inner = []
outer = kiln.compile(model, shapes={"x": (1, 4)}, device="cpu", configure=nested, **QUICK)
assert outer.device == "cpu" and inner[0].device == "cuda:0" and outer(x[:1]).shape == (1, 3)
assert kiln.compile(model, shapes={"x": (1, 4)}, **QUICK).device == "cuda:0"
""")


def test_the_cpu_needs_no_driver():
    """An engine for the CPU is made where KILN_DEVICE asks for a GPU that is not there."""
    program = """
import numpy as np
import kiln, kiln_models
model, w, b = kiln_models.affine(2)
engine = kiln.compile(model, device="cpu", optimization_level=0, progress=False)
x = np.ones((2, 4), "f")
np.testing.assert_allclose(engine(x), np.maximum(x @ w + b, 0), rtol=1e-5)
try:
    kiln.compile(model, progress=False)
except kiln.Error as error:
    assert "engines cannot run here: KILN_DEVICE is 'cuda'" in str(error), error
else:
    raise AssertionError("there is no driver")
"""
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = {**os.environ, "KILN_DEVICE": "cuda", "KILN_CUDA_DRIVER": "/no/driver", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_modules_on_the_cpu():
    """A module and tensors of the host get engines of the CPU."""
    pytest.importorskip("torch")
    run("""
import torch, kiln.torch
module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 4)).eval()
x = torch.rand(2, 4)
with torch.no_grad():
    torch.testing.assert_close(torch.compile(module, backend="kiln", options={"strict": True})(x), module(x))
    (report,) = kiln.torch.last_reports()
    assert [part.engine.device for part in report.engines] == ["cpu"]
    compiled = kiln.torch.compile(module, x, strict=True)
    torch.testing.assert_close(compiled(x), module(x))
    assert compiled.engines[0].device == "cpu"
""")


def test_devices():
    run("""
raises(kiln.Error, "device is 'cuda:7', but there are", lambda: kiln.compile(model, device="cuda:7", **QUICK))
import threading
seen = []
thread = threading.Thread(target=lambda: seen.append(engine(np.ones((1, 4), "f")).shape))
thread.start(); thread.join()
assert seen == [(1, 3)]
engine.close()
raises(kiln.Error, "affine was closed", lambda: engine(np.ones((1, 4), "f")))
""")


def test_a_page_of_a_plan_whose_gpu_is_not_here(tmp_path, monkeypatch):
    import kiln

    plan = tmp_path / "gpu.plan"
    run(f"engine.save({str(plan)!r})")
    monkeypatch.setenv("KILN_DEVICE", "cpu")
    monkeypatch.setenv("KILN_CUDA_DRIVER", str(tmp_path / "nowhere.so"))
    page = kiln.show(plan).html
    assert "The engine was not run here, so there are no measured times" in page and "cuda Fake GPU sm_90" in page


def test_plugins_are_told_the_default_stream_as_their_threads():
    """PyTorch makes another stream of 0, and refuses 1."""
    run(
        """
from typing import Tuple
import tensorrt as trt
import tensorrt.plugin as trtp
import plugins, running

class Told(plugins.Scale):
    streams = []

    def clone(self):
        copy = Told(float(self.factor[0]))
        copy.__dict__.update(self.__dict__)
        return copy

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        Told.streams.append(stream)

    def attach_to_context(self, resource_context):
        return self.clone()

class Creator(plugins.ScaleCreator):
    def create_plugin(self, name, fields, phase):
        return Told(2)

creator = Creator()
assert trt.get_plugin_registry().register_creator(creator, "tests")

@trtp.register("toldtests::quick")
def quick(x: trtp.TensorDesc) -> trtp.TensorDesc:
    return x.like()

@trtp.impl("toldtests::quick")
def quick_impl(x: trtp.Tensor, outputs: Tuple[trtp.Tensor], stream: int) -> None:
    Told.streams.append(stream)

log = running.Messages()
builder = trt.Builder(log)
network = builder.create_network(0)
y = network.add_plugin_v3([network.add_input("x", trt.float32, (2, 3))], [], Told(2)).get_output(0)
y = network.add_plugin(trtp.op.toldtests.quick(y)).get_output(0)
y.name = "y"
network.mark_output(y)
plan = builder.build_serialized_network(network, running.quick(builder))
context = trt.Runtime(log).deserialize_cuda_engine(plan).create_execution_context()
context.profiler = trt.Profiler()  # with which no run is recorded
x, made = Memory((2, 3)), Memory((2, 3))
context.set_tensor_address("x", x.__cuda_array_interface__["data"][0])
context.set_tensor_address("y", made.__cuda_array_interface__["data"][0])
del Told.streams[:]
assert context.execute_async_v3(0)
assert Told.streams == [2, 2], Told.streams
"""
    )
