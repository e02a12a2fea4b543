"""What decorators of quick plugins refuse, and what their expressions and combinations mean."""

from typing import Tuple

import numpy as np
import numpy.typing as npt
import pytest
import tensorrt as trt
import tensorrt.plugin as trtp


def described(x: trtp.TensorDesc, a: int) -> trtp.TensorDesc:
    return x.like()


trtp.register("checks::checked")(described)


def without_hint(x) -> trtp.TensorDesc: ...
def with_default(x: trtp.TensorDesc, a: int = 3) -> trtp.TensorDesc: ...
def attribute_first(a: int, x: trtp.TensorDesc) -> trtp.TensorDesc: ...
def tensor_last(x: trtp.TensorDesc, a: int, y: trtp.TensorDesc) -> trtp.TensorDesc: ...
def reserved(x: trtp.TensorDesc, stream: int) -> trtp.TensorDesc: ...
def a_list(x: trtp.TensorDesc, a: list) -> trtp.TensorDesc: ...
def any_array(x: trtp.TensorDesc, a: np.ndarray) -> trtp.TensorDesc: ...
def complex_array(x: trtp.TensorDesc, a: npt.NDArray[np.complex64]) -> trtp.TensorDesc: ...
def returns_nothing(x: trtp.TensorDesc): ...
def returns_int(x: trtp.TensorDesc) -> int: ...
def any_number(x: trtp.TensorDesc) -> Tuple[trtp.TensorDesc, ...]: ...
def starred(*x: trtp.TensorDesc) -> trtp.TensorDesc: ...


@pytest.mark.parametrize(
    "function, words",
    [
        (without_hint, "'x' has no annotation"),
        (with_default, "'a' has a default value"),
        (attribute_first, "'a' is no TensorDesc; tensors come first"),
        (tensor_last, "tensor 'y' stands behind an attribute"),
        (reserved, "an attribute cannot be called 'stream'"),
        (a_list, "attribute 'a' is annotated with <class 'list'>"),
        (any_array, "'a' is an array of any type, which only a plugin with lazy_register can have"),
        (complex_array, "attribute 'a' is annotated with"),
        (returns_nothing, "its return annotation is"),
        (returns_int, "its return annotation is <class 'int'>"),
        (any_number, "its return annotation is"),
        (starred, "'x' can neither be given by position nor by name"),
    ],
)
def test_wrong_register_functions(function, words):
    with pytest.raises(ValueError) as failure:
        trtp.register(f"checks::{function.__name__}")(function)
    assert words in str(failure.value)
    assert not hasattr(trtp.op.checks, function.__name__)


def test_wrong_ids():
    for wrong in ("name", "a::b::c", "trt::name", "::name", "checks::", "checks::a.b", "a.b::name"):
        with pytest.raises(ValueError):
            trtp.register(wrong)(described)
    with pytest.raises(ValueError, match="is registered already"):
        trtp.register("checks::checked")(described)
    with pytest.raises(TypeError, match="a plugin's id is a str, 'namespace::name', not 5"):
        trtp.register(5)(described)
    for decorator in (trtp.impl, trtp.aot_impl, trtp.autotune):
        with pytest.raises(ValueError, match="'checks::unknown' is not registered"):
            decorator("checks::unknown")(described)
    with pytest.raises(AttributeError, match="tensorrt.plugin.op.checks has no 'unknown'"):
        trtp.op.checks.unknown
    with pytest.raises(AttributeError, match="tensorrt.plugin.op has no 'nobody'"):
        trtp.op.nobody


def test_wrong_implementations():
    wrong = [
        (trtp.impl, lambda x, outputs: None, r"its parameters are \(x, outputs\); \(x, outputs, stream\) is expected"),
        (trtp.impl, lambda y, outputs, stream: None, "its parameters are"),
        (trtp.impl, lambda x, b, outputs, stream: None, "its parameters are"),
        (trtp.autotune, lambda x, outputs, stream: None, "its parameters are"),
        (trtp.aot_impl, lambda x, outputs: None, "its parameters are"),
        (trtp.aot_impl, lambda x, outputs, tactic: None, "its return annotation is"),
    ]

    def other_type(x: trtp.Tensor, a: float, outputs, stream): ...
    def other_tensor(x: trtp.TensorDesc, outputs, stream): ...
    def other_outputs(x, outputs: Tuple[int], stream): ...
    def other_result(x, outputs, stream) -> int: ...
    def other_kernel(x, outputs, tactic) -> Tuple[int, str, trtp.KernelLaunchParams, trtp.SymExprs]: ...

    wrong += [
        (trtp.impl, other_type, "attribute 'a' is <class 'float'>, and <class 'int'> when it was registered"),
        (trtp.impl, other_tensor, "not Tensor"),
        (trtp.impl, other_outputs, "not a tuple of Tensor"),
        (trtp.impl, other_result, "it returns nothing"),
        (trtp.aot_impl, other_kernel, "name and code of the kernel are str or bytes"),
    ]
    for decorator, function, words in wrong:
        with pytest.raises(ValueError, match=words):
            decorator("checks::checked")(function)


def test_combinations():
    def of(*arguments, count=2):
        return list(trtp.AutoTuneCombination(*arguments)._combinations(count))

    f32, f16, linear, hwc = trt.float32, trt.float16, trt.TensorFormat.LINEAR, trt.TensorFormat.HWC
    both = (linear, linear)
    assert of("FP32|FP16, FP32|FP16") == [((f32, f32), both, []), ((f16, f16), both, [])]
    assert of("FP32*FP16, FP32", "LINEAR", [1]) == [((f32, f32), both, [1]), ((f16, f32), both, [1])]
    assert [types for types, _, _ in of("FP32*FP16, FP32|FP16")] == [(f32, f32), (f32, f16), (f16, f32), (f16, f16)]
    assert [formats for _, formats, _ in of("FP32, FP32", "LINEAR*HWC, LINEAR")] == [both, (hwc, linear)]
    combination = trtp.AutoTuneCombination()
    combination.pos([0, 1], "FP32|FP16")
    combination.pos(2, "INT32*INT64", "HWC")
    combination.tactics([1, 2])
    assert len(list(combination._combinations(3))) == 4
    with pytest.raises(ValueError, match="position 1 were said already"):
        combination.pos(1, "FP32")
    for wrong, words in [
        (("FP32|FP16*INT8, FP32",), "both '|' and '\\*'"),
        (("FP32|FP16, FP32|FP16|INT8",), "as many choices"),
        (("FP33, FP32",), "'FP33' is no type"),
        (("FP32, FP32", "ROUND"), "'ROUND' is no format"),
        (("FP32",), "has 1 positions; the plugin has 2"),
    ]:
        with pytest.raises(ValueError, match=words):
            of(*wrong)
    with pytest.raises(ValueError, match="tactics are above 0"):
        trtp.AutoTuneCombination("FP32, FP32", "LINEAR", [0])


def test_fake_expressions():
    extent = trtp.ShapeExpr()
    assert extent.is_fake and (extent + 3).is_fake and (2 * extent // 4).is_fake
    with pytest.raises(RuntimeError, match="has no value: no shapes are computed now"):
        extent.constant_value()
    with pytest.raises(RuntimeError):
        bool(extent == 3)
    with pytest.raises(ValueError, match="both are ints"):
        trtp.cdiv(3, 4)
    shape = trtp.ShapeExprs.from_tuple((extent, 4))
    assert len(shape) == 2 and shape.numel().is_fake
    with pytest.raises(ValueError, match="at most 8 extents"):
        trtp.ShapeExprs(9)
    with pytest.raises(TypeError):
        hash(extent)
