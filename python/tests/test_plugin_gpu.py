"""Plugins in Python on a GPU: V3 and quick ones, whose kernels are PyTorch's, Triton's and CuPy's on device memory."""

import os
import pathlib
import subprocess
import sys
from typing import List, Tuple

import gpu_plugins
import kiln_models
import numpy as np
import numpy.typing as npt
import pytest
import tensorrt as trt
import tensorrt.plugin as trtp
from gpu_plugins import (
    GpuBench,
    agrees_in_two_threads,
    close,
    enqueue,
    memory_at,
    on_stream,
    random,
    run,
    run_by_allocator,
    tensor_at,
    torch,
)
from onnx import helper

import kiln

REGISTRY = trt.get_plugin_registry()
TESTS = pathlib.Path(__file__).resolve().parent


class Scale(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuildV2, trt.IPluginV3OneRuntime):
    """y = x * factor on the GPU, in FP32 or FP16. `kernel` says what computes it; tests change it by the class."""

    plugin_name, plugin_version, plugin_namespace = "GpuScale", "1", "tests"
    num_outputs = 1
    kernel = "torch"
    tactics = []
    seen_tactics, shape_changes, num_enqueues, failing = [], 0, 0, False

    def __init__(self, factor=1.0):
        trt.IPluginV3.__init__(self)
        trt.IPluginV3OneCore.__init__(self)
        trt.IPluginV3OneBuildV2.__init__(self)
        trt.IPluginV3OneRuntime.__init__(self)
        self.factor = np.array([factor], np.float32)
        self.tactic = 0

    def get_capability_interface(self, type):
        return self

    def clone(self):
        copy = Scale()
        copy.__dict__.update(self.__dict__)
        return copy

    def get_output_data_types(self, input_types):
        return [input_types[0]]

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        return [trt.DimsExprs(inputs[0])]

    def get_workspace_size(self, in_, out):
        return int(np.prod(list(in_[0].max))) * 4 if self.kernel == "workspace" else 0

    def configure_plugin(self, in_, out):
        pass

    def supports_format_combination(self, pos, in_out, num_inputs):
        desc = in_out[pos].desc
        types = (trt.DataType.FLOAT, trt.DataType.HALF)
        return desc.format == trt.TensorFormat.LINEAR and desc.type in types and desc.type == in_out[0].desc.type

    def get_valid_tactics(self):
        return Scale.tactics

    def on_shape_change(self, in_, out):
        Scale.shape_changes += 1

    def set_tactic(self, tactic):
        self.tactic = tactic

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection([trt.PluginField("factor", self.factor, trt.PluginFieldType.FLOAT32)])

    def attach_to_context(self, resource_context):
        return self.clone()

    def get_aliased_input(self, output_index):
        return 0 if self.kernel == "in place" else -1

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        Scale.num_enqueues += 1
        Scale.seen_tactics.append(self.tactic)
        if Scale.failing:
            raise ValueError("no enqueue today")
        with on_stream(stream):
            x, y = tensor_at(inputs[0], input_desc[0]), tensor_at(outputs[0], output_desc[0])
            KERNELS[self.kernel](x, y, float(self.factor[0]), memory_at(workspace, input_desc[0]), stream)


def by_torch(x, y, factor, workspace, stream):
    torch.mul(x, factor, out=y)


def in_place(x, y, factor, workspace, stream):
    assert x.data_ptr() == y.data_ptr()
    y.mul_(factor)


def by_workspace(x, y, factor, workspace, stream):
    half = torch.as_tensor(workspace, device="cuda")
    torch.mul(x, factor / 2, out=half)
    torch.add(half, half, out=y)


def with_a_wait(x, y, factor, workspace, stream):
    """What no recording may have."""
    torch.cuda.current_stream().synchronize()
    torch.mul(x, factor, out=y)


def with_memory(x, y, factor, workspace, stream):
    """Temporary memory of PyTorch's."""
    y.copy_(x * (factor * 2) * 0.5)


def by_cupy(x, y, factor, workspace, stream):
    import cupy

    with cupy.cuda.ExternalStream(stream):
        cupy.multiply(cupy.asarray(x), np.float32(factor), out=cupy.asarray(y), casting="same_kind")


def by_triton(x, y, factor, workspace, stream):
    import triton
    from gpu_kernels import scale_kernel

    scale_kernel[(triton.cdiv(x.numel(), 128),)](x, y, factor, x.numel(), BLOCK=128)


KERNELS = {
    "torch": by_torch,
    "triton": by_triton,
    "cupy": by_cupy,
    "workspace": by_workspace,
    "a wait": with_a_wait,
    "memory": with_memory,
    "in place": in_place,
}


class ScaleCreator(trt.IPluginCreatorV3One):
    """Creates Scale."""

    name, plugin_version, plugin_namespace = "GpuScale", "1", "tests"

    def __init__(self):
        trt.IPluginCreatorV3One.__init__(self)
        field = trt.PluginField("factor", np.array([]), trt.PluginFieldType.FLOAT32)
        self.field_names = trt.PluginFieldCollection([field])

    def create_plugin(self, name, field_collection, phase):
        return Scale(*[float(field.data[0]) for field in field_collection if field.name == "factor"])


@pytest.fixture(autouse=True)
def creator():
    """The creator of Scale, registered for the test."""
    Scale.kernel, Scale.tactics, Scale.failing = "torch", [], False
    Scale.seen_tactics, Scale.shape_changes, Scale.num_enqueues = [], 0, 0
    made = ScaleCreator()
    assert REGISTRY.register_creator(made, "tests")
    yield made
    assert REGISTRY.deregister_creator(made)


def needs(kernel):
    """Skips the test where what a kernel is written in is not there."""
    if kernel in ("cupy", "triton"):
        pytest.importorskip(kernel)


def scaled(bench, x, factor=2.0):
    layer = bench.network.add_plugin_v3([x], [], Scale(factor))
    assert layer is not None, bench.log.take_errors()
    return layer.get_output(0)


def add(bench, x, y):
    return bench.network.add_elementwise(x, y, trt.ElementWiseOperation.SUM).get_output(0)


def between_layers(bench, shape, dtype=trt.float32, factor=2.0):
    """y = 2 x * factor + x: the plugin reads and writes memory of the engine."""
    x = bench.input("x", shape, dtype)
    return add(bench, scaled(bench, add(bench, x, x), factor), x)


def context_between_layers(shape, **options):
    bench = GpuBench()
    return bench, bench.engine([between_layers(bench, shape)], **options).create_execution_context()


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "in place"])
def test_kernels(kernel):
    """Of each kind, in memory of the engine, and several times: from the second run on it is recorded where it can be."""
    needs(kernel)
    Scale.kernel = kernel
    bench, context = context_between_layers((5, 130))
    for seed in range(5):
        x = random(5, 130, seed=seed)
        (y,) = run(context, {"x": x})
        close(y, 5 * x)
    assert bench.log.take_errors() == ""


@pytest.mark.parametrize("kernel", ["torch", "triton", "cupy"])
def test_memory_of_the_program(kernel):
    """The plugin reads and writes what the program binds, which is other memory in each run."""
    needs(kernel)
    Scale.kernel = kernel
    bench = GpuBench()
    context = bench.engine([scaled(bench, bench.input("x", (64, 3)), 1.5)]).create_execution_context()
    kept = []
    for seed in range(6):
        x = random(64, 3, seed=seed)
        kept += [x, *run(context, {"x": x})]
        close(kept[-1], x * 1.5)
    for x, y in zip(kept[::2], kept[1::2]):  # no run wrote another's memory
        close(y, x * 1.5)


def test_a_replay_calls_nothing():
    _, context = context_between_layers((8, 8))
    x = random(8, 8)
    y = run(context, {"x": x})
    for _ in range(4):
        run(context, {"x": x}, y)
    calls = Scale.num_enqueues
    for seed in range(6):
        x.copy_(random(8, 8, seed=seed))
        run(context, {"x": x}, y)
        close(y[0], 5 * x)
    assert Scale.num_enqueues == calls


def test_what_cannot_be_recorded_is_called_by_each_run():
    Scale.kernel = "a wait"
    _, context = context_between_layers((8, 8))
    x = random(8, 8)
    y = run(context, {"x": x})
    calls = []
    for seed in range(6):
        x.copy_(random(8, 8, seed=seed))
        run(context, {"x": x}, y)
        close(y[0], 5 * x)
        calls.append(Scale.num_enqueues)
    assert calls == sorted(set(calls))


def test_half():
    bench = GpuBench()
    context = bench.engine([between_layers(bench, (33, 9), trt.float16)]).create_execution_context()
    x = random(33, 9, dtype=torch.float16)
    for _ in range(3):
        (y,) = run(context, {"x": x})
        assert y.dtype == torch.float16
        close(y, 5 * x, 1e-2)


def test_tactics_are_timed_and_one_is_kept():
    Scale.tactics = [3, 7]
    _, context = context_between_layers((64, 64))
    assert set(Scale.seen_tactics) == {3, 7}  # in the build
    Scale.seen_tactics.clear()
    x = random(64, 64)
    close(run(context, {"x": x})[0], 5 * x)
    assert len(set(Scale.seen_tactics)) == 1 and Scale.seen_tactics[0] in (3, 7)


def test_dynamic_shapes():
    _, context = context_between_layers((-1, 3), shapes={"x": ((1, 3), (4, 3), (64, 3))})
    Scale.shape_changes = 0
    for rows in (1, 64, 5, 5, 64, 1, 5):
        x = random(rows, 3, seed=rows)
        close(run(context, {"x": x})[0], 5 * x)
    assert Scale.shape_changes >= 3


def test_two_contexts_on_two_streams():
    """Runs that overlap, of shapes of their own."""
    bench = GpuBench()
    y = between_layers(bench, (-1, 1024))
    engine = bench.engine([y], shapes={"x": ((1, 1024), (64, 1024), (512, 1024))})
    contexts = [engine.create_execution_context() for _ in range(2)]
    streams = [torch.cuda.Stream() for _ in contexts]
    given = [random(rows, 1024, seed=rows) for rows in (512, 100)]
    torch.cuda.synchronize()
    made = []
    for _ in range(20):
        for context, stream, x in zip(contexts, streams, given):
            with torch.cuda.stream(stream):
                made.append((x, enqueue(context, {"x": x})[0]))
    torch.cuda.synchronize()
    for x, y in made:
        close(y, 5 * x)


def test_threads():
    """Two threads with a context each: enqueue has the GIL, runs do not."""
    bench = GpuBench()
    engine = bench.engine([between_layers(bench, (256, 256))])
    agrees_in_two_threads(engine, (256, 256), lambda x: 5 * x)


def test_aliased_output():
    Scale.kernel = "in place"
    bench = GpuBench()
    y = scaled(bench, bench.input("x", (40,)), 3)
    y = add(bench, scaled(bench, y, 2), bench.constant(np.ones(40)))
    feature = trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03
    context = bench.engine([y], features=[feature]).create_execution_context()
    for seed in range(3):
        x = random(40, seed=seed)
        kept = x.clone()
        close(run(context, {"x": x})[0], kept * 6 + 1)


def test_an_exception_fails_the_run_alone():
    bench, context = context_between_layers((4, 4))
    x = random(4, 4)
    close(run(context, {"x": x})[0], 5 * x)
    Scale.failing = True
    other = random(4, 4, seed=1)
    y = torch.empty_like(other)
    context.set_tensor_address("x", other.data_ptr())
    context.set_tensor_address("out0", y.data_ptr())
    assert not context.execute_async_v3(torch.cuda.current_stream().cuda_stream)
    text = bench.log.take_errors()
    assert "GpuScale" in text and "enqueue" in text and "ValueError: no enqueue today" in text, text
    Scale.failing = False
    for seed in range(3):
        x = random(4, 4, seed=seed)
        close(run(context, {"x": x})[0], 5 * x)
    assert bench.log.take_errors() == ""


@pytest.mark.parametrize("kernel", ["torch", "triton"])
def test_captured_by_the_program(kernel):
    """torch.cuda.graph records the run, with the plugin's kernels."""
    needs(kernel)
    Scale.kernel = kernel
    _, context = context_between_layers((16, 16))
    x = random(16, 16)
    y = run(context, {"x": x})
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        enqueue(context, {"x": x}, y)
    calls = Scale.num_enqueues
    for seed in range(3):
        x.copy_(random(16, 16, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        close(y[0], 5 * x)
    assert Scale.num_enqueues == calls


LOADS = """
import sys
import gpu_plugins, test_plugin_gpu as module
creator = module.ScaleCreator()
assert module.REGISTRY.register_creator(creator, "tests")
log = gpu_plugins.trt.Logger(gpu_plugins.trt.Logger.ERROR)
engine = gpu_plugins.trt.Runtime(log).deserialize_cuda_engine(open(sys.argv[1], "rb").read())
x = module.random(6, 7)
for _ in range(3):
    module.close(module.run(engine.create_execution_context(), {"x": x})[0], 5 * x)
print("right")
"""


def test_saved_plan_in_a_new_process(tmp_path):
    bench = GpuBench()
    path = tmp_path / "scale.plan"
    path.write_bytes(bench.plan([between_layers(bench, (6, 7))]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    done = subprocess.run([sys.executable, "-c", LOADS, path], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_a_model_with_the_plugin():
    """From ONNX, through the package kiln, with PyTorch's tensors and in torch.cuda.graph."""
    nodes = [
        helper.make_node("GpuScale", ["x"], ["s"], domain="tests", factor=3.0, plugin_namespace="tests"),
        helper.make_node("Add", ["s", "x"], ["y"]),
    ]
    shape = ["n", 4]
    model = kiln_models.model(nodes, [("x", kiln_models.FLOAT, shape)], [("y", kiln_models.FLOAT, shape)])
    model.opset_import.append(helper.make_opsetid("tests", 1))
    engine = kiln.compile(model, shapes={"x": [(1, 4), (2, 4), (32, 4)]}, device="cuda", progress=False)
    for rows in (1, 32, 7, 7, 7):
        x = random(rows, 4, seed=rows)
        close(engine(x), 4 * x)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = engine(x)
    x.copy_(random(7, 4, seed=1))
    graph.replay()
    torch.cuda.synchronize()
    close(y, 4 * x)
    given = np.ones((3, 4), "f")
    np.testing.assert_array_equal(engine(given), given * 4)  # copied there and back


# Quick plugins, which Python runs.


def quick_engine(add, *given, shapes=None, **options):
    """The engine of one quick plugin between layers: add(*inputs) calls trtp.op's function."""
    bench = GpuBench()
    inputs = [bench.input(f"x{i}", shape, dtype) for i, (shape, dtype) in enumerate(given)]
    layer = bench.network.add_plugin(add(*inputs))
    assert layer is not None, bench.log.take_errors()
    return bench, bench.engine([layer.get_output(0)], shapes=shapes, **options)


@trtp.register("gputests::shift")
def shift(x: trtp.TensorDesc, delta: float) -> trtp.TensorDesc:
    return x.like()


REFUSALS = set()  # by numpy, whose arrays cannot be of device memory


@trtp.impl("gputests::shift")
def shift_impl(x: trtp.Tensor, delta: float, outputs: Tuple[trtp.Tensor], stream: int) -> None:
    try:
        np.asarray(x)
    except TypeError as refusal:
        REFUSALS.add(str(refusal))
    with on_stream(stream):
        torch.cuda._sleep(2_000_000)  # cycles, in which what does not wait for the plugin would be done
        torch.add(torch.as_tensor(x, device="cuda"), delta, out=torch.as_tensor(outputs[0], device="cuda"))


def test_quick_plugin():
    _, engine = quick_engine(lambda x: trtp.op.gputests.shift(x, delta=0.5), ((3, 50), trt.float32))
    context = engine.create_execution_context()
    for seed in range(4):
        x = random(3, 50, seed=seed)
        close(run(context, {"x0": x})[0], x + 0.5)
    assert REFUSALS == {"the tensor is in device memory: torch.as_tensor(tensor, device='cuda') takes it"}


def test_quick_plugin_between_layers():
    """Of dynamic shapes, with two contexts in turn."""
    bench = GpuBench()
    x = bench.input("x", (-1, 32))
    shifted = bench.network.add_plugin(trtp.op.gputests.shift(add(bench, x, x), delta=1.0)).get_output(0)
    engine = bench.engine([add(bench, shifted, x)], shapes={"x": ((1, 32), (8, 32), (40, 32))})
    contexts = [engine.create_execution_context() for _ in range(2)]
    for i, rows in enumerate((1, 40, 8, 8, 8, 8, 40, 40, 3)):
        x = random(rows, 32, seed=i)
        close(run(contexts[i % 2], {"x": x})[0], 3 * x + 1)


@trtp.register("gputests::triton_scale")
def triton_scale(x: trtp.TensorDesc, factor: float, block: int) -> trtp.TensorDesc:
    return x.like()


@trtp.autotune("gputests::triton_scale")
def triton_scale_autotune(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc]) -> List[trtp.AutoTuneCombination]:
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16")]


@trtp.impl("gputests::triton_scale")
def triton_scale_impl(x, factor, block, outputs, stream):
    from gpu_kernels import scale_kernel

    count = x.numel()
    with on_stream(stream):
        given, made = torch.as_tensor(x, device="cuda"), torch.as_tensor(outputs[0], device="cuda")
        scale_kernel[(-(-count // block),)](given, made, factor, count, BLOCK=block)


@pytest.mark.parametrize("dtype", [trt.float32, trt.float16])
def test_quick_plugin_by_triton(dtype):
    pytest.importorskip("triton")
    _, engine = quick_engine(lambda x: trtp.op.gputests.triton_scale(x, factor=0.5, block=64), ((7, 33), dtype))
    context = engine.create_execution_context()
    for seed in range(4):
        x = random(7, 33, seed=seed, dtype=gpu_plugins.TORCH_TYPES[dtype])
        close(run(context, {"x0": x})[0], x * 0.5)


@trtp.register("gputests::cupy_square")
def cupy_square(x: trtp.TensorDesc) -> trtp.TensorDesc:
    return x.like()


@trtp.impl("gputests::cupy_square")
def cupy_square_impl(x, outputs, stream):
    import cupy

    with cupy.cuda.ExternalStream(stream):
        cupy.square(cupy.asarray(x), out=cupy.asarray(outputs[0]))


def test_quick_plugin_by_cupy():
    pytest.importorskip("cupy")
    _, engine = quick_engine(lambda x: trtp.op.gputests.cupy_square(x), ((7, 33), trt.float32))
    context = engine.create_execution_context()
    for seed in range(4):
        x = random(7, 33, seed=seed)
        close(run(context, {"x0": x})[0], x * x)


@trtp.register("gputests::shift_in_place")
def shift_in_place(x: trtp.TensorDesc, delta: int) -> trtp.TensorDesc:
    return x.aliased()


@trtp.autotune("gputests::shift_in_place")
def shift_in_place_autotune(x, outputs) -> List[trtp.AutoTuneCombination]:
    return [trtp.AutoTuneCombination("FP32, FP32", "LINEAR*HWC"), trtp.AutoTuneCombination("FP32|FP16, FP32|FP16", "LINEAR")]


@trtp.impl("gputests::shift_in_place")
def shift_in_place_impl(x, delta, outputs, stream):
    assert x.data_ptr == outputs[0].data_ptr
    with on_stream(stream):
        torch.as_tensor(x, device="cuda").add_(delta)


@pytest.mark.parametrize("is_shared", [False, True], ids=["addresses of their own", "one address"])
def test_quick_plugin_in_place(is_shared):
    bench = GpuBench()
    y = bench.input("x", (2, 3, 8, 8))
    for delta in (2, 4):
        y = bench.network.add_plugin(trtp.op.gputests.shift_in_place(y, delta=delta)).get_output(0)
    feature = trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03
    context = bench.engine([y], features=[feature]).create_execution_context()
    for seed in range(3):
        x = random(2, 3, 8, 8, seed=seed)
        kept = x.clone()
        (y,) = run(context, {"x": x}, [x] if is_shared else None)
        close(y, kept + 6)


@trtp.register("gputests::nonzero")
def nonzero(x: trtp.TensorDesc) -> Tuple[trtp.TensorDesc, trtp.TensorDesc]:
    most = x.shape_expr.numel()
    size = trtp.size_tensor(most // 2, most)
    size.dtype = trt.int64
    return trtp.from_shape_expr((size.expr(), 2), dtype=trt.int32), size


@trtp.autotune("gputests::nonzero")
def nonzero_autotune(x, outputs) -> List[trtp.AutoTuneCombination]:
    return [trtp.AutoTuneCombination("FP32|FP16, INT32, INT64")]


@trtp.impl("gputests::nonzero")
def nonzero_impl(x, outputs, stream):
    with on_stream(stream):
        found = torch.nonzero(torch.as_tensor(x, device="cuda"))
        torch.as_tensor(outputs[0].aliased(tuple(found.shape)), device="cuda").copy_(found)
        torch.as_tensor(outputs[1], device="cuda").fill_(len(found))


@pytest.mark.parametrize("goes_on", [False, True], ids=["alone", "read by a layer"])
def test_size_that_data_decides(goes_on):
    bench = GpuBench()
    layer = bench.network.add_plugin(trtp.op.gputests.nonzero(bench.input("x", (32, 9))))
    y = layer.get_output(0)
    engine = bench.engine([add(bench, y, y) if goes_on else y])
    context = engine.create_execution_context()
    for seed in range(5):
        x = random(32, 9, seed=seed).clamp(min=seed * 0.3)
        x = x * (x > seed * 0.3)
        made = run_by_allocator(context, {"x": x}, torch.int32)
        assert torch.equal(made, torch.nonzero(x).int() * (2 if goes_on else 1))


@trtp.register("gputests::wrap")
def wrap(x: trtp.TensorDesc, pads: npt.NDArray[np.int32]) -> trtp.TensorDesc:
    y = x.like()
    for i in range(pads.size // 2):
        y.shape_expr[x.ndim - i - 1] += int(pads[2 * i] + pads[2 * i + 1])
    return y


@trtp.autotune("gputests::wrap")
def wrap_autotune(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc]) -> List[trtp.AutoTuneCombination]:
    combination = trtp.AutoTuneCombination()
    combination.pos([0, 1], "FP32|FP16")
    combination.tactics([1, 2])
    return [combination]


SEEN_TACTICS = []


@trtp.impl("gputests::wrap")
def wrap_impl(x, pads, outputs, stream, tactic):
    SEEN_TACTICS.append(tactic)
    with on_stream(stream):
        given, made = torch.as_tensor(x, device="cuda"), torch.as_tensor(outputs[0], device="cuda")
        if tactic == 1:
            made.copy_(torch.nn.functional.pad(given, pads.tolist(), mode="circular"))
            return
        rows = (torch.arange(made.shape[2], device="cuda") - int(pads[2])) % given.shape[2]
        columns = (torch.arange(made.shape[3], device="cuda") - int(pads[0])) % given.shape[3]
        made.copy_(given[:, :, rows][:, :, :, columns])


@pytest.mark.parametrize("dtype", [trt.float32, trt.float16])
def test_quick_plugin_with_tactics(dtype):
    SEEN_TACTICS.clear()
    pads = np.array([1, 2, 3, 1], np.int32)
    _, engine = quick_engine(
        lambda x: trtp.op.gputests.wrap(x, pads=pads),
        ((-1, 3, 8, 9), dtype),
        shapes={"x0": ((1, 3, 8, 9), (2, 3, 8, 9), (5, 3, 8, 9))},
    )
    assert set(SEEN_TACTICS) == {1, 2}
    context = engine.create_execution_context()
    for batch in (1, 5, 5, 2):
        x = random(batch, 3, 8, 9, seed=batch, dtype=gpu_plugins.TORCH_TYPES[dtype])
        close(run(context, {"x0": x})[0], torch.nn.functional.pad(x, pads.tolist(), mode="circular"), 0)
