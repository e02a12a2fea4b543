"""Quick plugins: functions with decorators, run by Python on the CPU."""

import os
import pathlib
import subprocess
import sys
from typing import List, Tuple, Union

import numpy as np
import numpy.typing as npt
import pytest
import tensorrt as trt
import tensorrt.plugin as trtp
from networks import Bench
from plugins import array_at, run_by_allocators
from stand_in import run_on_stand_in

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@trtp.register("tests::affine")
def affine(x: trtp.TensorDesc, factor: float, offset: int) -> trtp.TensorDesc:
    """y = factor * x + offset"""
    return x.like()


@trtp.impl("tests::affine")
def affine_impl(x: trtp.Tensor, factor: float, offset: int, outputs: Tuple[trtp.Tensor], stream: int) -> None:
    (y,) = outputs
    assert y.dtype == trt.float32 and y.format == trt.TensorFormat.LINEAR
    assert x.ndim == 2 and x.numel() == 12 and tuple(x.shape) == (3, 4) and tuple(x.strides) == (4, 1)
    assert not x.is_aliased and not x.is_data_dependent
    np.asarray(y)[...] = np.asarray(x) * factor + offset


def test_decorated_functions():
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.affine(bench.input("x", X), factor=1.5, offset=-2))
    assert type(layer) is trt.IPluginV3Layer
    (y,) = bench.run({"x": X}, [layer.get_output(0)])
    np.testing.assert_allclose(y, X * 1.5 - 2, rtol=1e-6)
    assert bench.log.take_errors() == ""


@pytest.mark.parametrize("flag", [None, trt.NetworkDefinitionCreationFlag.PREFER_JIT_PYTHON_PLUGINS])
def test_forms_of_add_plugin(flag):
    bench = Bench(0 if flag is None else 1 << int(flag))
    x = bench.input("x", X)
    made = trtp.op.tests.affine(x, offset=1, factor=2.0)  # the order of attributes is free
    assert bench.network.add_plugin(made) is not None
    assert bench.network.add_plugin(made, aot=False) is not None
    tensors, shape_inputs, plugin = made(trt.QuickPluginCreationRequest.STRICT_JIT)
    assert len(tensors) == 1 and shape_inputs == []
    assert bench.network.add_plugin((tensors, shape_inputs, plugin)) is not None
    with pytest.raises(ValueError, match="'tests::affine' has no aot_impl function"):
        bench.network.add_plugin(made, aot=True)


@trtp.register("tests::all_attributes")
def all_attributes(
    x: trtp.TensorDesc,
    an_int: int,
    a_float: float,
    a_bool: bool,
    a_str: str,
    some_bytes: bytes,
    i8: npt.NDArray[np.int8],
    i16: npt.NDArray[np.int16],
    i32: npt.NDArray[np.int32],
    i64: npt.NDArray[np.int64],
    f16: npt.NDArray[np.float16],
    f32: npt.NDArray[np.float32],
    f64: npt.NDArray[np.float64],
    flags: npt.NDArray[np.bool_],
) -> trtp.TensorDesc:
    return x.like()


SEEN = {}


@trtp.impl("tests::all_attributes")
def all_attributes_impl(
    x, an_int, a_float, a_bool, a_str, some_bytes, i8, i16, i32, i64, f16, f32, f64, flags, outputs, stream
):
    SEEN.update(locals())
    np.asarray(outputs[0])[...] = np.asarray(x)


ATTRIBUTES = {
    "an_int": -(2**40),
    "a_float": 0.1,
    "a_bool": True,
    "a_str": "text with ü",
    "some_bytes": b"\x00\xff\x00",
    "i8": np.array([-128, 127], np.int8),
    "i16": np.array([-(2**15)], np.int16),
    "i32": np.array([1, 2, 3], np.int32),
    "i64": np.array([2**60], np.int64),
    "f16": np.array([0.5, -2], np.float16),
    "f32": np.array([0.1], np.float32),
    "f64": np.array([0.1, 0.2], np.float64),
    "flags": np.array([True, False], np.bool_),
}


def test_attributes_of_each_type():
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.all_attributes(bench.input("x", X), **ATTRIBUTES))
    SEEN.clear()
    bench.run({"x": X}, [layer.get_output(0)])  # from a plan, which has the attributes as fields
    for name, value in ATTRIBUTES.items():
        assert type(SEEN[name]) is type(value), name
        np.testing.assert_array_equal(SEEN[name], value)
        if isinstance(value, np.ndarray):
            assert SEEN[name].dtype == value.dtype


def test_types_under_other_names():
    """From numpy 2.5 on NDArray is an alias; a program's own aliases do as well."""
    typing_extensions = pytest.importorskip("typing_extensions")
    Pads = typing_extensions.TypeAliasType("Pads", npt.NDArray[np.int32])
    Width = typing_extensions.TypeAliasType("Width", int)

    @trtp.register("tests::aliases")
    def aliases(x: trtp.TensorDesc, pads: Pads, width: Width) -> trtp.TensorDesc:
        return x.like()

    @trtp.impl("tests::aliases")
    def aliases_impl(x: trtp.Tensor, pads: npt.NDArray[np.int32], width: Width, outputs: Tuple[trtp.Tensor], stream: int):
        np.asarray(outputs[0])[...] = np.asarray(x) + pads.sum() * width

    bench = Bench()
    pads = np.array([1, 2], np.int32)
    layer = bench.network.add_plugin(trtp.op.tests.aliases(bench.input("x", X), pads=pads, width=2))
    (y,) = bench.run({"x": X}, [layer.get_output(0)])
    np.testing.assert_allclose(y, X + 6, rtol=1e-6)


def test_empty_attributes():
    bench = Bench()
    empty = {**ATTRIBUTES, "a_str": "", "some_bytes": b"", "f32": np.array([], np.float32)}
    layer = bench.network.add_plugin(trtp.op.tests.all_attributes(bench.input("x", X), **empty))
    SEEN.clear()
    bench.run({"x": X}, [layer.get_output(0)])
    assert SEEN["a_str"] == "" and SEEN["some_bytes"] == b"" and SEEN["f32"].shape == (0,)


@trtp.register("tests::pad")
def pad(x: trtp.TensorDesc, pads: npt.NDArray[np.int32]) -> trtp.TensorDesc:
    y = x.like()
    for i in range(pads.size):
        y.shape_expr[i] += int(pads[i])
    return y


@trtp.autotune("tests::pad")
def pad_autotune(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc]) -> List[trtp.AutoTuneCombination]:
    assert x.has_shape and x.shape.is_dynamic
    assert x.shape.min == (1, 4) and x.shape.opt == (2, 4) and x.shape.max == (5, 4)
    assert outputs[0].shape.max == (6, 6)
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16", "LINEAR", [4, 9])]


@trtp.impl("tests::pad")
def pad_impl(x, pads, outputs, stream, tactic):
    assert tactic in (4, 9)
    array = np.asarray(x)
    np.asarray(outputs[0])[...] = np.pad(array, [(0, int(extent)) for extent in pads], constant_values=tactic)


def test_symbolic_shapes_autotune_and_tactics():
    bench = Bench()
    x = bench.input("x", (-1, 4))
    layer = bench.network.add_plugin(trtp.op.tests.pad(x, pads=np.array([1, 2], np.int32)))
    y = layer.get_output(0)
    y.name = "y"
    assert tuple(y.shape) == (-1, 6)
    bench.network.mark_output(y)
    config = bench.builder.create_builder_config()
    profile = bench.builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (5, 4))
    config.add_optimization_profile(profile)
    plan = bench.builder.build_serialized_network(bench.network, config)
    assert plan is not None, bench.log.take_errors()
    context = trt.Runtime(bench.log).deserialize_cuda_engine(plan).create_execution_context()
    for rows in (1, 5, 3):
        given = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
        made = np.empty((rows + 1, 6), np.float32)
        assert context.set_input_shape("x", given.shape)
        assert context.execute_v2([given.ctypes.data, made.ctypes.data])
        assert made[-1, -1] in (4, 9)
        np.testing.assert_array_equal(made, np.pad(given, [(0, 1), (0, 2)], constant_values=made[-1, -1]))


@trtp.register("tests::nonzero")
def nonzero(x: trtp.TensorDesc) -> Tuple[trtp.TensorDesc, trtp.TensorDesc]:
    most = x.shape_expr.numel()
    size = trtp.size_tensor(most // 2, most)
    size.dtype = trt.int64
    assert size.is_size_tensor and size.expr().is_size_tensor
    return trtp.from_shape_expr((size.expr(), 2), dtype=trt.int32), size


@trtp.impl("tests::nonzero")
def nonzero_impl(x, outputs, stream):
    found = np.argwhere(np.asarray(x)).astype(np.int32)
    assert outputs[0].is_data_dependent
    with pytest.raises(ValueError, match=r"data decides an extent of Shape\(-1, 2\): aliased\(shape\)"):
        np.asarray(outputs[0])
    np.asarray(outputs[0].aliased(found.shape))[...] = found
    np.asarray(outputs[1])[...] = len(found)


def test_size_that_data_decides():
    x = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]], np.float32)
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.nonzero(bench.input("x", x)))
    assert layer is not None, bench.log.take_errors()
    (y,) = run_by_allocators(bench, {"x": x}, [layer.get_output(0)])
    np.testing.assert_array_equal(y, np.argwhere(x))


@trtp.register("tests::add_in_place")
def add_in_place(x: trtp.TensorDesc, delta: int) -> trtp.TensorDesc:
    return x.aliased()


@trtp.impl("tests::add_in_place")
def add_in_place_impl(x, delta, outputs, stream):
    assert x.data_ptr == outputs[0].data_ptr
    assert outputs[0].get_aliased() is x and x.get_aliased() is outputs[0] and x.is_aliased
    memory = np.asarray(x)
    memory += delta


def test_aliased_output():
    bench = Bench()
    first = bench.network.add_plugin(trtp.op.tests.add_in_place(bench.input("x", X), delta=2))
    second = bench.network.add_plugin(trtp.op.tests.add_in_place(first.get_output(0), delta=4))
    y = second.get_output(0)
    bench.network.mark_output(y)
    config = bench.builder.create_builder_config()
    config.set_preview_feature(trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03, True)
    plan = bench.builder.build_serialized_network(bench.network, config)
    assert plan is not None, bench.log.take_errors()
    context = trt.Runtime(bench.log).deserialize_cuda_engine(plan).create_execution_context()
    x, made = X.copy(), np.empty_like(X)
    assert context.execute_v2([x.ctypes.data, made.ctypes.data])
    np.testing.assert_allclose(made, X + 6, rtol=1e-6)


@trtp.register("tests::lazy", lazy_register=True)
def lazy(x: trtp.TensorDesc, values: np.ndarray) -> trtp.TensorDesc:
    return x.like()


@trtp.impl("tests::lazy")
def lazy_impl(x, values, outputs, stream):
    np.asarray(outputs[0])[...] = np.asarray(x) + values.sum()


def test_lazy_registration():
    registry = trt.get_plugin_registry()
    assert registry.get_creator("affine", "1", "tests") is not None
    assert registry.get_creator("lazy", "1", "tests") is None
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.lazy(bench.input("x", X), values=np.array([1, 2], np.int16)))
    creator = registry.get_creator("lazy", "1", "tests")
    assert [(one.name, one.type) for one in creator.field_names] == [("values", trt.PluginFieldType.INT16)]
    (y,) = bench.run({"x": X}, [layer.get_output(0)])
    np.testing.assert_allclose(y, X + 3, rtol=1e-6)


LOADS = """
import sys
import numpy as np
import tensorrt as trt
import test_plugin_quick
log = trt.Logger(trt.Logger.ERROR)
engine = trt.Runtime(log).deserialize_cuda_engine(open(sys.argv[1], "rb").read())
context = engine.create_execution_context()
x = test_plugin_quick.X.copy()
y = np.empty_like(x)
assert context.execute_v2([x.ctypes.data, y.ctypes.data])
assert np.allclose(y, x * 3 + 1)
print("right")
"""


def test_saved_plan_in_a_new_process(tmp_path):
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.affine(bench.input("x", X), factor=3.0, offset=1))
    bench.network.mark_output(layer.get_output(0))
    path = tmp_path / "affine.plan"
    path.write_bytes(bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()))
    here = str(pathlib.Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", LOADS, str(path)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, "right\n"), ran.stderr


def test_exceptions_of_each_function():
    @trtp.register("tests::raises")
    def described(x: trtp.TensorDesc) -> trtp.TensorDesc:
        if failing == "register":
            raise ValueError("no register today")
        return x.like()

    @trtp.autotune("tests::raises")
    def tuned(x, outputs):
        if failing == "autotune":
            raise ValueError("no autotune today")
        return answer

    @trtp.impl("tests::raises")
    def run(x, outputs, stream):
        if failing == "impl":
            raise ValueError("no impl today")
        np.asarray(outputs[0])[...] = np.asarray(x)

    answer = trtp.AutoTuneCombination("FP32, FP32")
    for failing, method in ("register", "get_output_data_types"), ("autotune", "get_supported_format_combinations"):
        bench = Bench()
        layer = bench.network.add_plugin(trtp.op.tests.raises(bench.input("x", X)))
        if failing == "register":
            assert layer is None
        else:
            bench.network.mark_output(layer.get_output(0))
            assert bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()) is None
        text = bench.log.take_errors()
        assert f"plugin 'raises' version '1' of namespace 'tests': {method} raised ValueError: no {failing} today" in text
    failing = "impl"
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.raises(bench.input("x", X)))
    with pytest.raises(AssertionError, match="enqueue raised ValueError: no impl today"):
        bench.run({"x": X}, [layer.get_output(0)])
    failing = None
    for answer in (None, "FP32, FP32", [None]):
        bench = Bench()
        layer = bench.network.add_plugin(trtp.op.tests.raises(bench.input("x", X)))
        bench.network.mark_output(layer.get_output(0))
        assert bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()) is None
        assert f"'tests::raises': it returned {answer!r}; a list of AutoTuneCombination" in bench.log.take_errors()
    answer = [trtp.AutoTuneCombination("FP32, FP32")]
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.raises(bench.input("x", X)))
    np.testing.assert_array_equal(bench.run({"x": X}, [layer.get_output(0)])[0], X)


def test_wrong_uses_of_an_operation():
    bench = Bench()
    x = bench.input("x", X)
    affine_op = trtp.op.tests.affine
    for words, tensors, attributes in [
        ("inputs of 'tests::affine' are ITensor, not int", [3], {"factor": 1.0, "offset": 2}),
        ("has 1 inputs", [x, x], {"factor": 1.0, "offset": 2}),
        ("has the attributes", [x], {"factor": 1.0}),
        ("has the attributes", [x], {"factor": 1.0, "offset": 2, "more": 3}),
        ("attribute 'factor' is float, and was given int", [x], {"factor": 1, "offset": 2}),
    ]:
        with pytest.raises(ValueError, match=words):
            affine_op(*tensors, **attributes)
    with pytest.raises(ValueError, match="attribute 'pads' is an array of int32, and was given one of int64"):
        trtp.op.tests.pad(x, pads=np.array([1, 2]))
    with pytest.raises(ValueError, match="neither an impl nor an aot_impl"):
        trtp.register("tests::empty")(affine)
        bench.network.add_plugin(trtp.op.tests.empty(x, factor=1.0, offset=2))


def test_expressions_have_values():
    seen = {}

    @trtp.register("tests::values")
    def values(x: trtp.TensorDesc) -> trtp.TensorDesc:
        rows, columns = x.shape_expr
        if not rows.is_fake:
            seen.update(
                rows=rows.constant_value(),
                sum=(rows + columns * 2 - 1).constant_value(),
                reflected=(10 - rows).constant_value(),
                cdiv=trtp.cdiv(columns, 3).constant_value(),
                max=trtp.max(2, columns).constant_value(),
                min=trtp.min(rows, 2).constant_value(),
                floor=(columns // 3).constant_value(),
                less=bool(rows < columns),
                equal=bool(rows == columns),
                numel=x.shape_expr.numel().constant_value(),
                text=repr(rows),
            )
        return trtp.from_shape_expr((rows, trtp.max(columns, 1)), x.dtype)

    trtp.impl("tests::values")(lambda x, outputs, stream: None)
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.values(bench.input("x", X)))
    assert tuple(layer.get_output(0).shape) == (3, 4)
    assert seen == dict(
        rows=3, sum=10, reflected=7, cdiv=2, max=4, min=2, floor=1, less=True, equal=False, numel=12,
        text="ShapeExpr[3]",
    )


def test_descriptions_are_frozen():
    changed = []

    @trtp.register("tests::frozen")
    def frozen(x: trtp.TensorDesc) -> trtp.TensorDesc:
        for name in ("dtype", "shape_expr", "format"):
            with pytest.raises(ValueError, match="this TensorDesc cannot be changed"):
                setattr(x, name, None)
            changed.append(name)
        with pytest.raises(ValueError, match="has symbolic extents only"):
            x.shape
        y = x.like()
        y.dtype = trt.float32
        assert y.get_aliased() is None and x.aliased().get_aliased() is x
        return y

    trtp.impl("tests::frozen")(lambda x, outputs, stream: None)
    bench = Bench()
    assert bench.network.add_plugin(trtp.op.tests.frozen(bench.input("x", X))) is not None, bench.log.take_errors()
    assert changed


def test_tensors_of_other_shapes():
    tensor = trtp.Tensor()
    tensor.data_ptr, tensor.dtype, tensor.shape = X.ctypes.data, trt.float32, trtp.Shape(X.shape)
    tensor.strides = (4, 1)
    tensor._freeze()
    np.testing.assert_array_equal(np.asarray(tensor), X)
    flat = tensor.aliased((12,))
    assert flat.is_aliased and flat.get_aliased() is tensor
    np.testing.assert_array_equal(np.asarray(flat), X.reshape(-1))
    np.testing.assert_array_equal(np.from_dlpack(flat), X.reshape(-1))
    assert not hasattr(tensor, "__cuda_array_interface__")  # it is the host's
    elsewhere = trtp.Tensor()
    elsewhere.data_ptr, elsewhere.dtype, elsewhere.shape, elsewhere.strides = 8, trt.float16, trtp.Shape((2, 3)), (3, 1)
    assert not hasattr(elsewhere, "__array_interface__")
    with pytest.raises(TypeError, match="the tensor is in device memory"):
        np.asarray(elsewhere)
    with pytest.raises(TypeError, match="the tensor is in device memory"):
        np.from_dlpack(elsewhere)
    assert elsewhere.__cuda_array_interface__ == {
        "version": 3, "shape": (2, 3), "typestr": "<f2", "data": (8, False), "strides": (6, 2), "stream": 1,
    }
    with pytest.raises(ValueError, match="has more elements"):
        tensor.aliased((13,))
    with pytest.raises(ValueError, match="this Tensor cannot be changed"):
        tensor.data_ptr = 0


class ByHand(trt.IPluginV3, trt.IPluginV3QuickCore, trt.IPluginV3QuickBuild, trt.IPluginV3QuickRuntime):
    """y = x + 1, by the interfaces themselves."""

    def __init__(self):
        super().__init__()
        self.plugin_name, self.plugin_version, self.plugin_namespace = "ByHand", "1", "tests"
        self.calls = []

    def get_capability_interface(self, type):
        return self

    def clone(self):
        copy = ByHand()
        copy.__dict__.update(self.__dict__)
        return copy

    def get_num_outputs(self):
        return 1

    def get_output_data_types(self, input_types, ranks):
        self.calls.append(("types", list(ranks)))
        return input_types

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        self.calls.append(("shapes", [len(one) for one in inputs]))
        return inputs

    def configure_plugin(self, in_, out):
        pass

    def get_supported_format_combinations(self, in_out, num_inputs):
        return [tensor.desc for tensor in in_out]

    def set_tactic(self, tactic):
        pass

    def get_fields_to_serialize(self):
        return []

    def enqueue(self, input_desc, output_desc, inputs, outputs, in_strides, out_strides, stream):
        assert tuple(in_strides[0]) == tuple(out_strides[0]) == (4, 1)
        array_at(outputs[0], output_desc[0])[...] = array_at(inputs[0], input_desc[0]) + 1


class ByHandCreator(trt.IPluginCreatorV3Quick):
    name, plugin_version, plugin_namespace = "ByHand", "1", "tests"
    field_names = []
    asked = []

    def create_plugin(self, name, namespace, field_collection, phase, quickPluginType):
        self.asked.append((name, namespace, phase, quickPluginType))
        return ByHand()


def test_interfaces_by_hand():
    creator = ByHandCreator()
    registry = trt.get_plugin_registry()
    assert registry.register_creator(creator, "tests")
    try:
        bench = Bench()
        layer = bench.network.add_plugin_v3([bench.input("x", X)], [], ByHand())
        layer.name = "a layer"
        assert layer.plugin.calls[:2] == [("types", [2]), ("shapes", [2])]
        (y,) = bench.run({"x": X}, [layer.get_output(0)])
        np.testing.assert_array_equal(y, X + 1)
        request = trt.QuickPluginCreationRequest.STRICT_JIT
        assert creator.asked == [("ByHand", "tests", trt.TensorRTPhase.RUNTIME, request)]
    finally:
        registry.deregister_creator(creator)


def test_ahead_of_time_needs_a_gpu():
    @trtp.register("tests::ahead")
    def ahead(x: trtp.TensorDesc) -> trtp.TensorDesc:
        return x.like()

    @trtp.aot_impl("tests::ahead")
    def ahead_impl(
        x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc], tactic: int
    ) -> Tuple[Union[str, bytes], Union[str, bytes], trtp.KernelLaunchParams, trtp.SymIntExprs]:
        launch = trtp.KernelLaunchParams(block_x=128)
        launch.grid_x = trtp.cdiv(x.shape_expr.numel(), 128)
        with pytest.raises(AttributeError, match="KernelLaunchParams has no attribute 'grid'"):
            launch.grid = 3
        return "kernel", "ptx", launch, trtp.SymIntExprs.from_tuple((x.shape_expr.numel(),))

    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.ahead(bench.input("x", X)), aot=True)
    bench.network.mark_output(layer.get_output(0))
    assert bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()) is None
    text = bench.log.take_errors()
    assert "plugin 'ahead' version '1' of namespace 'tests' is a CUDA kernel" in text and "needs an NVIDIA GPU" in text
    with pytest.raises(ValueError, match="'tests::ahead' has no impl function"):
        bench.network.add_plugin(trtp.op.tests.ahead(bench.network.get_input(0)), aot=False)


AHEAD = """
from typing import Tuple, Union
import pathlib
import numpy as np
import tensorrt as trt
import tensorrt.plugin as trtp
from networks import Bench

CODE = ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry shift(%s){}" % ", ".join(
    f".param .{kind} p{i}" for i, kind in enumerate(("u64", "u32", "u32", "u64"))
)
TOLD = []

@trtp.register("tests::ahead")
def ahead(x: trtp.TensorDesc, delta: int) -> trtp.TensorDesc:
    return x.like()

@trtp.aot_impl("tests::ahead")
def ahead_impl(
    x: trtp.TensorDesc, delta: int, outputs: Tuple[trtp.TensorDesc], tactic: int
) -> Tuple[Union[str, bytes], Union[str, bytes], trtp.KernelLaunchParams, trtp.SymIntExprs]:
    TOLD.append((x.dtype, x.format, tuple(x.shape), x.shape.max, delta, tactic))
    launch = trtp.KernelLaunchParams(block_x=128)
    launch.grid_x = trtp.cdiv(x.shape_expr.numel(), 128)
    return "shift", CODE, launch, trtp.SymIntExprs.from_tuple((x.shape_expr.numel(), delta))

bench = Bench()
layer = bench.network.add_plugin(trtp.op.tests.ahead(bench.input("x", (-1, 4)), delta=3), aot=True)
bench.network.mark_output(layer.get_output(0))
config = bench.builder.create_builder_config()
profile = bench.builder.create_optimization_profile()
profile.set_shape("x", (1, 4), (8, 4), (64, 4))
config.add_optimization_profile(profile)
plan = bench.builder.build_serialized_network(bench.network, config)
assert plan is not None, bench.log.take_errors()
assert set(TOLD) == {(trt.float32, trt.TensorFormat.LINEAR, (-1, 4), (64, 4), 3, 0)}
trt.get_plugin_registry().deregister_creator(trt.get_plugin_registry().get_creator("ahead", "1", "tests"))
assert trt.Runtime(bench.log).deserialize_cuda_engine(plan) is not None, bench.log.take_errors()
print("built")
"""


# What no launch may be set to is told; the build fails by that.
NO_NUMBERS = """
import tensorrt as trt
from networks import Bench

class Ahead(trt.IPluginV3, trt.IPluginV3QuickCore, trt.IPluginV3QuickAOTBuild):
    plugin_name, plugin_version, plugin_namespace = "Ahead", "1", "tests"

    def __init__(self, what):
        super().__init__()
        self.what = what

    def get_capability_interface(self, type):
        return self

    def clone(self):
        return Ahead(self.what)

    def get_num_outputs(self):
        return 1

    def get_output_data_types(self, input_types, ranks):
        return input_types

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        return inputs

    def configure_plugin(self, in_, out):
        pass

    def get_supported_format_combinations(self, in_out, num_inputs):
        return [tensor.desc for tensor in in_out]

    def get_valid_tactics(self):
        return []

    def set_tactic(self, tactic):
        pass

    def get_launch_params(self, inputs, in_out, num_inputs, launch_params, extra_args, expr_builder):
        extra_args.nbSymExprs = 1
        if self.what == "launch":
            launch_params.grid_x = inputs[0][0]
        else:
            extra_args[0] = 7

    def get_kernel(self, input_desc, output_desc):
        return "kernel", b"code"

for what, text in (("launch", "an ISymExpr is needed, not IDimensionExpr"), ("extra", "an ISymExpr is needed, not int")):
    bench = Bench()
    layer = bench.network.add_plugin_v3([bench.input("x", (3,))], [], Ahead(what))
    bench.network.mark_output(layer.get_output(0))
    assert bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()) is None
    told = bench.log.take_errors()
    assert f"get_launch_params raised TypeError: {text}" in told, told
print("built")
"""


# What an aot_impl function returns instead of four things is told, with the plugin and what is needed.
WRONG_RESULTS = """
from typing import Tuple, Union
import tensorrt as trt
import tensorrt.plugin as trtp
from networks import Bench

NEEDED = "a tuple of the kernel's name, its code (each str or bytes), KernelLaunchParams and SymExprs is needed"

@trtp.register("tests::wrong")
def wrong(x: trtp.TensorDesc) -> trtp.TensorDesc:
    return x.like()

@trtp.aot_impl("tests::wrong")
def wrong_impl(
    x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc], tactic: int
) -> Tuple[Union[str, bytes], Union[str, bytes], trtp.KernelLaunchParams, trtp.SymIntExprs]:
    return found(trtp.KernelLaunchParams(grid_x=1, block_x=1), trtp.SymIntExprs(0))

for found, text in (
    (lambda launch, none: None, "it returned None; " + NEEDED),
    (lambda launch, none: "four", "it returned a str; " + NEEDED),
    (lambda launch, none: ("kernel", "code", launch), "it returned a tuple of 3; " + NEEDED),
    (lambda launch, none: ("kernel", "code", launch, none, 5), "it returned a tuple of 5; " + NEEDED),
    (lambda launch, none: ("kernel", 7, launch, none), "it returned a int as the kernel's code; str or bytes is needed"),
    (lambda launch, none: ("kernel", "code", none, launch), "it returned a SymIntExprs as how it is launched; KernelLaunchParams is needed"),
    (lambda launch, none: ("kernel", "code", launch, [1]), "it returned a list as its arguments; SymExprs is needed"),
    (lambda launch, none: ("kernel", "code", launch, trtp.SymIntExprs(1)), "argument 0 of the kernel is a NoneType; a SymInt32 is needed"),
):
    bench = Bench()
    layer = bench.network.add_plugin(trtp.op.tests.wrong(bench.input("x", (3,))), aot=True)
    bench.network.mark_output(layer.get_output(0))
    assert bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config()) is None
    told = bench.log.take_errors()
    assert "get_launch_params raised TypeError: aot_impl function of 'tests::wrong': " + text in told, told
print("built")
"""


@pytest.mark.parametrize(
    "program", [AHEAD, NO_NUMBERS, WRONG_RESULTS], ids=["a kernel", "no numbers", "wrong results"]
)
def test_ahead_of_time_on_the_driver_that_stands_in_for_a_gpu(program):
    assert run_on_stand_in(program) == "built\n"
