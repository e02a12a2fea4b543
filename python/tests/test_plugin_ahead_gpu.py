"""Quick plugins ahead of time on a GPU: kernels of Triton and of NVRTC, which are in the plan and run without Python."""

import os
import subprocess
import sys
from typing import Tuple, Union

import gpu_plugins
import numpy as np
import pytest
import tensorrt as trt
import tensorrt.plugin as trtp
from gpu_plugins import GpuBench, agrees_in_two_threads, close, enqueue, random, run, torch

Kernel = Tuple[Union[str, bytes], Union[str, bytes], trtp.KernelLaunchParams, trtp.SymExprs]
BLOCK = 128


def by_triton(name, types, **constants):
    """Compiles a kernel of gpu_kernels for this GPU; `types` are its parameters' by name."""
    triton = pytest.importorskip("triton")
    import gpu_kernels

    kernel = getattr(gpu_kernels, name)
    signature = {**types, **{constant: "constexpr" for constant in constants}}
    return triton.compile(triton.compiler.ASTSource(fn=kernel, signature=signature, constexprs=constants))


def by_nvrtc(source, is_cubin=False):
    """Compiles CUDA C++ for this GPU to PTX or to a cubin."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    major, minor = torch.cuda.get_device_capability()
    options = [f"--gpu-architecture={'sm' if is_cubin else 'compute'}_{major}{minor}".encode()]

    def checked(result, *values):
        assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS, result
        return values[0] if values else None

    program = checked(*nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
    checked(*nvrtc.nvrtcCompileProgram(program, len(options), options))
    size = checked(*(nvrtc.nvrtcGetCUBINSize if is_cubin else nvrtc.nvrtcGetPTXSize)(program))
    code = b" " * size
    checked(*(nvrtc.nvrtcGetCUBIN if is_cubin else nvrtc.nvrtcGetPTX)(program, code))
    checked(*nvrtc.nvrtcDestroyProgram(program))
    return code


def pointer(desc):
    return "*fp32" if desc.dtype == trt.float32 else "*fp16"


def launch_of(compiled, grid_x):
    launch = trtp.KernelLaunchParams(block_x=compiled.metadata.num_warps * 32, shared_mem=compiled.metadata.shared)
    launch.grid_x = grid_x
    return launch


@trtp.register("ahead::shift")
def shift(x: trtp.TensorDesc, delta: int) -> trtp.TensorDesc:
    return x.like()


@trtp.autotune("ahead::shift")
def shift_autotune(x, outputs):
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16")]


@trtp.impl("ahead::shift")
def shift_impl(x, delta, outputs, stream):
    with gpu_plugins.on_stream(stream):
        torch.add(torch.as_tensor(x, device="cuda"), delta, out=torch.as_tensor(outputs[0], device="cuda"))


@trtp.aot_impl("ahead::shift")
def shift_ahead(x: trtp.TensorDesc, delta: int, outputs: Tuple[trtp.TensorDesc], tactic: int) -> Kernel:
    compiled = by_triton(
        "shift_kernel", {"x": pointer(x), "count": "i32", "delta": "i32", "y": pointer(outputs[0])}, BLOCK=BLOCK
    )
    count = x.shape_expr.numel()
    arguments = trtp.SymIntExprs.from_tuple([trtp.SymInt32(count), trtp.SymInt32(delta)])
    return compiled.metadata.name, compiled.asm["ptx"], launch_of(compiled, trtp.cdiv(count, BLOCK)), arguments


def ahead_between_layers(bench, shape, operation, dtype=trt.float32, aot=True):
    """y = operation(2 x) + x."""
    x = bench.input("x", shape, dtype)
    doubled = bench.network.add_elementwise(x, x, trt.ElementWiseOperation.SUM).get_output(0)
    layer = bench.network.add_plugin(operation(doubled), aot=aot)
    assert layer is not None, bench.log.take_errors()
    return bench.network.add_elementwise(layer.get_output(0), x, trt.ElementWiseOperation.SUM).get_output(0)


def shifted(x):
    return trtp.op.ahead.shift(x, delta=3)


@pytest.mark.parametrize("dtype", [trt.float32, trt.float16])
@pytest.mark.parametrize("aot", [True, False], ids=["ahead", "in Python"])
def test_both_forms(dtype, aot):
    bench = GpuBench()
    context = bench.engine([ahead_between_layers(bench, (9, 77), shifted, dtype, aot)]).create_execution_context()
    for seed in range(4):
        x = random(9, 77, seed=seed, dtype=gpu_plugins.TORCH_TYPES[dtype])
        close(run(context, {"x": x})[0], 3 * x + 3, 1e-5 if dtype == trt.float32 else 2e-2)
    assert bench.log.take_errors() == ""


def test_memory_of_the_program():
    """The kernel reads and writes what the program binds, which is other memory in each run."""
    bench = GpuBench()
    layer = bench.network.add_plugin(shifted(bench.input("x", (1000,))), aot=True)
    context = bench.engine([layer.get_output(0)]).create_execution_context()
    kept = []
    for seed in range(6):
        x = random(1000, seed=seed)
        kept.append((x, run(context, {"x": x})[0]))
    for x, y in kept:
        close(y, x + 3)


DYNAMIC = {"x": ((1, 40), (16, 40), (300, 40))}


def test_dynamic_shapes_and_two_contexts():
    bench = GpuBench()
    engine = bench.engine([ahead_between_layers(bench, (-1, 40), shifted)], shapes=DYNAMIC)
    contexts = [engine.create_execution_context() for _ in range(2)]
    streams = [torch.cuda.Stream() for _ in contexts]
    made = []
    for i, rows in enumerate((1, 300, 16, 16, 5, 300, 300, 1, 7, 7, 16, 2)):
        with torch.cuda.stream(streams[i % 2]):
            x = random(rows, 40, seed=i)
            made.append((x, enqueue(contexts[i % 2], {"x": x})[0]))
    torch.cuda.synchronize()
    for x, y in made:
        close(y, 3 * x + 3)


def test_threads_without_python():
    """The runs of a kernel ahead of time want no GIL; each thread has a context."""
    bench = GpuBench()
    engine = bench.engine([ahead_between_layers(bench, (512, 128), shifted)])
    agrees_in_two_threads(engine, (512, 128), lambda x: 3 * x + 3)


def test_captured_by_the_program():
    bench = GpuBench()
    engine = bench.engine([ahead_between_layers(bench, (-1, 40), shifted)], shapes=DYNAMIC)
    context = engine.create_execution_context()
    x = random(33, 40)
    y = run(context, {"x": x})
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        enqueue(context, {"x": x}, y)
    for seed in range(3):
        x.copy_(random(33, 40, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        close(y[0], 3 * x + 3)


LOADS = """
import ctypes, sys
import tensorrt as trt
assert trt.get_plugin_registry().get_creator("shift", "1", "ahead") is None
import gpu_plugins
log = trt.Logger(trt.Logger.ERROR)
context = trt.Runtime(log).deserialize_cuda_engine(open(sys.argv[1], "rb").read()).create_execution_context()
for rows in (1, 300, 16, 16, 16):
    x = gpu_plugins.random(rows, 40, seed=rows)
    gpu_plugins.close(gpu_plugins.run(context, {"x": x})[0], 3 * x + 3)
assert "triton" not in sys.modules and "tensorrt.plugin" not in sys.modules
print("right")
"""


def test_a_plan_needs_no_plugin(tmp_path):
    bench = GpuBench()
    path = tmp_path / "shift.plan"
    path.write_bytes(bench.plan([ahead_between_layers(bench, (-1, 40), shifted)], shapes=DYNAMIC))
    here = os.path.dirname(os.path.abspath(__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    done = subprocess.run([sys.executable, "-c", LOADS, path], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@trtp.register("ahead::softmax")
def softmax(x: trtp.TensorDesc) -> trtp.TensorDesc:
    return x.like()


@trtp.autotune("ahead::softmax")
def softmax_autotune(x, outputs):
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16")]


@trtp.aot_impl("ahead::softmax")
def softmax_ahead(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc], tactic: int) -> Kernel:
    compiled = by_triton("softmax_kernel", {"x": pointer(x), "columns": "i32", "y": pointer(outputs[0])}, BLOCK=2048)
    arguments = trtp.SymIntExprs.from_tuple([trtp.SymInt32(x.shape_expr[1])])
    return compiled.metadata.name.encode(), compiled.asm["cubin"], launch_of(compiled, x.shape_expr[0]), arguments


@pytest.mark.parametrize("dtype", [trt.float32, trt.float16])
def test_a_cubin_of_triton_with_shared_memory(dtype):
    bench = GpuBench()
    x = bench.input("x", (-1, -1), dtype)
    layer = bench.network.add_plugin(trtp.op.ahead.softmax(x), aot=True)
    engine = bench.engine([layer.get_output(0)], shapes={"x": ((1, 1), (8, 1000), (64, 2048))})
    context = engine.create_execution_context()
    for shape in ((1, 1), (64, 2048), (3, 77), (8, 1000), (8, 1000)):
        given = random(*shape, seed=shape[1], dtype=gpu_plugins.TORCH_TYPES[dtype])
        wanted = torch.softmax(given.float(), 1).to(given.dtype)
        close(run(context, {"x": given})[0], wanted, 1e-6 if dtype == trt.float32 else 1e-3)


TRANSPOSE = """
extern "C" __global__ void transpose(const float* x, int rows, int columns, short offset, signed char sign, float* y) {
  extern __shared__ float tile[];
  const int side = blockDim.x;
  int row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
  if (row < rows && column < columns) tile[threadIdx.y * (side + 1) + threadIdx.x] = x[row * columns + column];
  __syncthreads();
  row = blockIdx.y * side + threadIdx.x;
  column = blockIdx.x * side + threadIdx.y;
  if (row < rows && column < columns) y[column * rows + row] = sign * tile[threadIdx.x * (side + 1) + threadIdx.y] + offset;
}
"""


class Argument(trt.ISymExpr):
    """A number of a kernel, of 8 or 16 bits: the interface that SymInt32 has for 32."""

    def __init__(self, expr, dtype):
        trt.ISymExpr.__init__(self)
        self.type, self.dtype = trt.PluginArgType.INT, dtype
        self.expr = expr


@trtp.register("ahead::transpose")
def transpose(x: trtp.TensorDesc, form: str) -> trtp.TensorDesc:
    return trtp.from_shape_expr((x.shape_expr[1], x.shape_expr[0]), dtype=x.dtype)


@trtp.autotune("ahead::transpose")
def transpose_autotune(x, outputs):
    return [trtp.AutoTuneCombination("FP32, FP32", "LINEAR", [8, 16])]


ASKED = []


@trtp.aot_impl("ahead::transpose")
def transpose_ahead(x: trtp.TensorDesc, form: str, outputs: Tuple[trtp.TensorDesc], tactic: int) -> Kernel:
    """A tactic is the side of a tile: grids of two axes, and shared memory that depends on it."""
    ASKED.append(tactic)
    side = tactic
    rows, columns = x.shape_expr
    launch = trtp.KernelLaunchParams(block_x=side, block_y=side, shared_mem=side * (side + 1) * 4)
    launch.grid_x, launch.grid_y = trtp.cdiv(columns, side), trtp.cdiv(rows, side)
    source = TRANSPOSE.replace("short", "int").replace("signed char", "int")
    arguments = trtp.SymIntExprs.from_tuple([rows, columns, trtp.SymInt32(5), trtp.SymInt32(-1)])
    return "transpose", by_nvrtc(source, is_cubin=form == "cubin"), launch, arguments


@pytest.mark.parametrize("form", ["ptx", "cubin"])
def test_nvrtc_with_tactics(form):
    ASKED.clear()
    bench = GpuBench()
    layer = bench.network.add_plugin(trtp.op.ahead.transpose(bench.input("x", (-1, -1)), form=form), aot=True)
    engine = bench.engine([layer.get_output(0)], shapes={"x": ((1, 1), (100, 60), (200, 300))})
    assert set(ASKED) == {8, 16}
    context = engine.create_execution_context()
    for shape in ((1, 1), (200, 300), (100, 60), (17, 33), (17, 33)):
        x = random(*shape, seed=shape[0])
        close(run(context, {"x": x})[0], 5 - x.T, 0)


class Transposes(trt.IPluginV3, trt.IPluginV3QuickCore, trt.IPluginV3QuickAOTBuild):
    """y = 5 - x^T by the interfaces themselves, with numbers of 16 and 8 bits."""

    plugin_name, plugin_version, plugin_namespace = "Transposes", "1", "ahead"
    side = 16

    def __init__(self):
        trt.IPluginV3.__init__(self)
        trt.IPluginV3QuickCore.__init__(self)
        trt.IPluginV3QuickAOTBuild.__init__(self)

    def get_capability_interface(self, type):
        return self

    def clone(self):
        copy = Transposes()
        copy.__dict__.update(self.__dict__)
        return copy

    def get_num_outputs(self):
        return 1

    def get_output_data_types(self, input_types, ranks):
        return input_types

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        return [trt.DimsExprs([inputs[0][1], inputs[0][0]])]

    def configure_plugin(self, in_, out):
        pass

    def get_supported_format_combinations(self, in_out, num_inputs):
        return [tensor.desc for tensor in in_out]

    def get_valid_tactics(self):
        return []

    def set_tactic(self, tactic):
        pass

    def get_launch_params(self, inputs, in_out, num_inputs, launch_params, extra_args, expr_builder):
        rows, columns = inputs[0]
        types, constant, side = trt.PluginArgDataType, expr_builder.constant, expr_builder.constant(self.side)
        for name, extent in (("grid_x", columns), ("grid_y", rows)):
            blocks = expr_builder.operation(trt.DimensionOperation.CEIL_DIV, extent, side)
            setattr(launch_params, name, Argument(blocks, types.INT32))
        launch_params.block_x = launch_params.block_y = Argument(side, types.INT32)
        launch_params.shared_mem = Argument(constant(self.side * (self.side + 1) * 4), types.INT32)
        numbers = ((rows, types.INT32), (columns, types.INT32), (constant(5), types.INT16), (constant(-1), types.INT8))
        extra_args.nbSymExprs = len(numbers)
        for i, number in enumerate(numbers):
            extra_args[i] = Argument(*number)

    def get_kernel(self, input_desc, output_desc):
        return "transpose", by_nvrtc(TRANSPOSE)


def test_interfaces_by_hand():
    bench = GpuBench()
    layer = bench.network.add_plugin_v3([bench.input("x", (-1, -1))], [], Transposes())
    assert layer is not None, bench.log.take_errors()
    engine = bench.engine([layer.get_output(0)], shapes={"x": ((1, 1), (100, 60), (200, 300))})
    context = engine.create_execution_context()
    for shape in ((1, 1), (200, 300), (17, 33)):
        x = random(*shape, seed=shape[0])
        close(run(context, {"x": x})[0], 5 - x.T, 0)


BROKEN = {
    "no code": ("shift", b"this is no code", 1),
    "another name": ("shaft", None, 1),
    "a parameter too few": ("shift", None, 0),
    "a parameter too many": ("shift", None, 2),
}
SHIFT = 'extern "C" __global__ void shift(const float* x, int n, float* y) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }'


@trtp.register("ahead::broken")
def broken(x: trtp.TensorDesc, case: str) -> trtp.TensorDesc:
    return x.like()


@trtp.aot_impl("ahead::broken")
def broken_ahead(x: trtp.TensorDesc, case: str, outputs: Tuple[trtp.TensorDesc], tactic: int) -> Kernel:
    name, code, count = BROKEN[case]
    arguments = trtp.SymIntExprs.from_tuple([trtp.SymInt32(4)] * count)
    return name, code or by_nvrtc(SHIFT), trtp.KernelLaunchParams(block_x=32), arguments


@pytest.mark.parametrize("case", BROKEN)
def test_kernels_that_do_not_load(case):
    """A build ends with an error that names the plugin; the process builds and runs on."""
    bench = GpuBench()
    layer = bench.network.add_plugin(trtp.op.ahead.broken(bench.input("x", (4,)), case=case), aot=True)
    assert bench.plan([layer.get_output(0)]) is None
    text = bench.log.take_errors()
    assert "broken" in text, text
    x = random(9, 77)
    after = GpuBench()
    context = after.engine([ahead_between_layers(after, (9, 77), shifted)]).create_execution_context()
    close(run(context, {"x": x})[0], 3 * x + 3)


def test_a_kernel_that_is_slow_to_compile_is_kept(tmp_path):
    """With a timing cache a second build chooses alike, and gives the same results."""
    def build(cache):
        bench = GpuBench()
        layer = bench.network.add_plugin(trtp.op.ahead.transpose(bench.input("x", (64, 96)), form="ptx"), aot=True)
        y = layer.get_output(0)
        y.name = "out0"
        bench.network.mark_output(y)
        config = bench.builder.create_builder_config()
        timings = config.create_timing_cache(cache)
        assert config.set_timing_cache(timings, ignore_mismatch=False)
        plan = bench.builder.build_serialized_network(bench.network, config)
        assert plan is not None, bench.log.take_errors()
        return trt.Runtime(bench.log).deserialize_cuda_engine(plan), bytes(config.get_timing_cache().serialize())

    first, cache = build(b"")
    second, again = build(cache)
    x = random(64, 96)
    for engine in (first, second):
        close(run(engine.create_execution_context(), {"x": x})[0], 5 - x.T, 0)
    assert len(again) == len(cache)
