"""Converters of operators that work element by element."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import fx

from ._emitter import FLOATS, Emitter, Unsupported, aten, converter, is_symbolic, value_of

_UNARY = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "log": "Log",
    "neg": "Neg",
    "reciprocal": "Reciprocal",
    "relu": "Relu",
    "round": "Round",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sgn": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
    "mish": "Mish",
}
_OF_FLOATS_ONLY = ("ceil", "floor", "round")  # the identity for integers


def _unary(name: str, kind: str) -> None:
    @converter(aten(name))
    def convert(cx: Emitter, x: Any, *_: Any) -> str:
        dtype = cx.out_dtype
        if name in _OF_FLOATS_ONLY and dtype not in FLOATS:
            return cx.op("Identity", cx.tensor(x))
        if dtype == "bool":
            raise Unsupported(f"{name} of bool")
        return cx.op(kind, cx.tensor(x, dtype))


for _name, _kind in _UNARY.items():
    _unary(_name, _kind)


@converter(aten("rsqrt"))
def _rsqrt(cx: Emitter, x: Any) -> str:
    return cx.op("Reciprocal", cx.op("Sqrt", cx.tensor(x, cx.out_dtype)))


@converter(aten("log2"), aten("log10"))
def _log_of_base(cx: Emitter, x: Any) -> str:
    dtype = cx.out_dtype
    base = 2.0 if cx.node.target is aten("log2") else 10.0
    return cx.op("Mul", cx.op("Log", cx.tensor(x, dtype)), cx.tensor(1 / math.log(base), dtype))


@converter(aten("log1p"))
def _log1p(cx: Emitter, x: Any) -> str:
    """log(u) * x / (u - 1) with u = 1 + x: what u loses of a small x, the quotient gives back."""
    dtype = cx.out_dtype
    value, one = cx.tensor(x, dtype), cx.tensor(1.0, dtype)
    u = cx.op("Add", value, one)
    log = cx.op("Log", u)
    exact = cx.op("Div", cx.op("Mul", log, value), cx.op("Sub", u, one))
    large = cx.op("Where", cx.op("Greater", value, cx.tensor(1.0, dtype)), log, exact)
    return cx.op("Where", cx.op("Equal", u, one), value, large)


@converter(aten("expm1"))
def _expm1(cx: Emitter, x: Any) -> str:
    """(u - 1) * x / log(u) with u = exp(x), likewise."""
    dtype = cx.out_dtype
    value, one = cx.tensor(x, dtype), cx.tensor(1.0, dtype)
    u = cx.op("Exp", value)
    less = cx.op("Sub", u, one)
    exact = cx.op("Div", cx.op("Mul", less, value), cx.op("Log", u))
    far = cx.op("Greater", cx.op("Abs", value), one)
    return cx.op("Where", cx.op("Equal", u, one), value, cx.op("Where", far, less, exact))


@converter(aten("atan2"))
def _atan2(cx: Emitter, y: Any, x: Any) -> str:
    dtype = cx.out_dtype
    up, right, zero = cx.tensor(y, dtype), cx.tensor(x, dtype), cx.tensor(0.0, dtype)
    angle = cx.op("Atan", cx.op("Div", up, right))
    turn = cx.op("Where", cx.op("Less", up, zero), cx.tensor(-math.pi, dtype), cx.tensor(math.pi, dtype))
    angle = cx.op("Where", cx.op("Less", right, zero), cx.op("Add", angle, turn), angle)
    upright = cx.op("Mul", cx.op("Sign", up), cx.tensor(math.pi / 2, dtype))
    return cx.op("Where", cx.op("Equal", right, zero), upright, angle)


@converter(aten("exp2"))
def _exp2(cx: Emitter, x: Any) -> str:
    return cx.op("Pow", cx.tensor(2.0, cx.out_dtype), cx.tensor(x, cx.out_dtype))


@converter(aten("square"))
def _square(cx: Emitter, x: Any) -> str:
    value = cx.tensor(x, cx.out_dtype)
    return cx.op("Mul", value, value)


@converter(aten("trunc"))
def _trunc(cx: Emitter, x: Any) -> str:
    dtype = cx.out_dtype
    value = cx.tensor(x, dtype)
    if dtype not in FLOATS:
        return cx.op("Identity", value)
    return _trunc_float(cx, value)


def _trunc_float(cx: Emitter, value: str) -> str:
    return cx.op("Mul", cx.op("Sign", value), cx.op("Floor", cx.op("Abs", value)))


@converter(aten("isinf"))
def _isinf(cx: Emitter, x: Any) -> str:
    return _of_floats(cx, "IsInf", x)


@converter(aten("isnan"))
def _isnan(cx: Emitter, x: Any) -> str:
    return _of_floats(cx, "IsNaN", x)


def _of_floats(cx: Emitter, kind: str, x: Any) -> str:
    if cx.dtype(x) not in FLOATS:
        raise Unsupported(f"{kind} of {cx.dtype(x)}")
    return cx.op(kind, cx.tensor(x))


@converter(aten("logical_not"))
def _logical_not(cx: Emitter, x: Any) -> str:
    return cx.op("Not", cx.tensor(x, "bool"))


@converter(aten("bitwise_not"))
def _bitwise_not(cx: Emitter, x: Any) -> str:
    dtype = cx.dtype(x)
    if dtype == "bool":
        return cx.op("Not", cx.tensor(x))
    if dtype == "uint8":
        raise Unsupported("bits of uint8")
    return cx.op("Sub", cx.op("Neg", cx.tensor(x)), cx.tensor(1, dtype))  # two's complement


# Two operands.


def joint_dtype(cx: Emitter, *args: Any) -> str:
    """The element type in which PyTorch computes with these operands."""
    vals = [value_of(arg) for arg in args]
    plain: list[Any] = [1.0 if isinstance(v, torch.SymFloat) else 1 if isinstance(v, torch.SymInt) else v for v in vals]
    result = torch.result_type(plain[0], plain[1]) if len(plain) == 2 else plain[0].dtype
    return cx.dtype(torch.empty((), dtype=result, device="meta"))


def _arithmetic(cx: Emitter, kind: str, a: Any, b: Any) -> str:
    dtype = cx.out_dtype
    if dtype == "bool":
        raise Unsupported(f"{kind} of bool")
    return cx.op(kind, cx.tensor(a, dtype), cx.tensor(b, dtype))


def _scaled(cx: Emitter, b: Any, alpha: Any) -> Any:
    """b * alpha, where alpha is not 1."""
    if not is_symbolic(alpha) and alpha == 1:
        return cx.tensor(b, cx.out_dtype)
    return cx.op("Mul", cx.tensor(b, cx.out_dtype), cx.tensor(alpha, cx.out_dtype))


@converter(aten("add.Tensor"), aten("add.Scalar"))
def _add(cx: Emitter, a: Any, b: Any, alpha: Any = 1) -> str:
    if cx.out_dtype == "bool":
        return cx.op("Or", cx.tensor(a, "bool"), cx.tensor(b, "bool"))
    return cx.op("Add", cx.tensor(a, cx.out_dtype), _scaled(cx, b, alpha))


@converter(aten("sub.Tensor"), aten("sub.Scalar"))
def _sub(cx: Emitter, a: Any, b: Any, alpha: Any = 1) -> str:
    return cx.op("Sub", cx.tensor(a, cx.out_dtype), _scaled(cx, b, alpha))


@converter(aten("rsub.Tensor"), aten("rsub.Scalar"))
def _rsub(cx: Emitter, a: Any, b: Any, alpha: Any = 1) -> str:
    return cx.op("Sub", cx.tensor(b, cx.out_dtype), _scaled(cx, a, alpha))


@converter(aten("mul.Tensor"), aten("mul.Scalar"))
def _mul(cx: Emitter, a: Any, b: Any) -> str:
    if cx.out_dtype == "bool":
        return cx.op("And", cx.tensor(a, "bool"), cx.tensor(b, "bool"))
    return _arithmetic(cx, "Mul", a, b)


@converter(aten("div.Tensor"), aten("div.Scalar"), aten("true_divide.Tensor"))
def _div(cx: Emitter, a: Any, b: Any) -> str:
    return _arithmetic(cx, "Div", a, b)


@converter(aten("div.Tensor_mode"), aten("div.Scalar_mode"))
def _div_mode(cx: Emitter, a: Any, b: Any, rounding_mode: str | None) -> str:
    dtype = cx.out_dtype
    if rounding_mode is None:
        return _arithmetic(cx, "Div", a, b)
    if rounding_mode == "floor":
        return _floor_div(cx, cx.tensor(a, dtype), cx.tensor(b, dtype), dtype)
    quotient = _arithmetic(cx, "Div", a, b)  # of integers it is truncated
    return _trunc_float(cx, quotient) if dtype in FLOATS else quotient


@converter(aten("floor_divide"), aten("floor_divide.Scalar"))
def _floor_divide(cx: Emitter, a: Any, b: Any) -> str:
    dtype = cx.out_dtype
    return _floor_div(cx, cx.tensor(a, dtype), cx.tensor(b, dtype), dtype)


def _floor_div(cx: Emitter, a: str, b: str, dtype: str) -> str:
    quotient = cx.op("Div", a, b)
    if dtype == "uint8":
        return quotient
    one, zero = cx.tensor(1, dtype), cx.tensor(0, dtype)
    if dtype not in FLOATS:  # of which ONNX's quotient is truncated
        rest = cx.op("Sub", a, cx.op("Mul", quotient, b))
        return cx.op("Where", _signs_differ(cx, rest, b, dtype), cx.op("Sub", quotient, one), quotient)
    # As Python's: by the exact rest, since the quotient may have been rounded up to the next whole number.
    rest = cx.op("Mod", a, b, fmod=1)
    exact = cx.op("Div", cx.op("Sub", a, rest), b)
    exact = cx.op("Where", _signs_differ(cx, rest, b, dtype), cx.op("Sub", exact, one), exact)
    whole = cx.op("Round", exact)  # of what is a whole number but for the rounding of the division
    return cx.op("Where", cx.op("Equal", b, zero), quotient, whole)


def _signs_differ(cx: Emitter, rest: str, b: str, dtype: str) -> str:
    """Whether a rest that is not 0 has another sign than the divisor."""
    zero = cx.tensor(0, dtype)
    differ = cx.op("Xor", cx.op("Less", rest, zero), cx.op("Less", b, zero))
    return cx.op("And", differ, cx.op("Not", cx.op("Equal", rest, zero)))


@converter(aten("remainder.Tensor"), aten("remainder.Scalar"))
def _remainder(cx: Emitter, a: Any, b: Any) -> str:
    dtype = cx.out_dtype
    x, y = cx.tensor(a, dtype), cx.tensor(b, dtype)
    if dtype not in FLOATS:
        return cx.op("Mod", x, y)
    rest = cx.op("Mod", x, y, fmod=1)  # exact
    return cx.op("Where", _signs_differ(cx, rest, y, dtype), cx.op("Add", rest, y), rest)


@converter(aten("fmod.Tensor"), aten("fmod.Scalar"))
def _fmod(cx: Emitter, a: Any, b: Any) -> str:
    return cx.op("Mod", cx.tensor(a, cx.out_dtype), cx.tensor(b, cx.out_dtype), fmod=1)


@converter(aten("pow.Tensor_Tensor"), aten("pow.Tensor_Scalar"), aten("pow.Scalar"))
def _pow(cx: Emitter, a: Any, b: Any) -> str:
    dtype = cx.out_dtype
    if b == 2:
        x = cx.tensor(a, dtype)
        return cx.op("Mul", x, x)
    if b == 0.5 and dtype in FLOATS:
        return cx.op("Sqrt", cx.tensor(a, dtype))
    if b == -0.5 and dtype in FLOATS:
        return cx.op("Reciprocal", cx.op("Sqrt", cx.tensor(a, dtype)))
    return cx.op("Pow", cx.tensor(a, dtype), cx.tensor(b, dtype))


@converter(aten("maximum"))
def _maximum(cx: Emitter, a: Any, b: Any) -> str:
    return _arithmetic(cx, "Max", a, b)


@converter(aten("minimum"))
def _minimum(cx: Emitter, a: Any, b: Any) -> str:
    return _arithmetic(cx, "Min", a, b)


def _comparison(name: str, kind: str) -> None:
    @converter(aten(f"{name}.Tensor"), aten(f"{name}.Scalar"))
    def convert(cx: Emitter, a: Any, b: Any) -> str:
        dtype = joint_dtype(cx, a, b)
        if dtype == "bool" and kind not in ("Equal", "Different"):
            dtype = "int32"
        x, y = cx.tensor(a, dtype), cx.tensor(b, dtype)
        return cx.op("Not", cx.op("Equal", x, y)) if kind == "Different" else cx.op(kind, x, y)


for _name, _kind in {
    "eq": "Equal",
    "ne": "Different",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}.items():
    _comparison(_name, _kind)


def _logical(names: tuple[str, ...], kind: str, bits: bool) -> None:
    @converter(*(aten(name) for name in names))
    def convert(cx: Emitter, a: Any, b: Any) -> str:
        if bits and cx.out_dtype != "bool":
            raise Unsupported(f"bits of {cx.out_dtype}")
        return cx.op(kind, cx.tensor(a, "bool"), cx.tensor(b, "bool"))


for _op, _kind in {"and": "And", "or": "Or", "xor": "Xor"}.items():
    _logical((f"logical_{_op}",), _kind, False)
    _logical((f"bitwise_{_op}.Tensor", f"bitwise_{_op}.Scalar"), _kind, True)


# Choices.


@converter(aten("where.self"), aten("where.ScalarSelf"), aten("where.ScalarOther"), aten("where.Scalar"))
def _where(cx: Emitter, condition: Any, a: Any, b: Any) -> str:
    return cx.op("Where", cx.tensor(condition, "bool"), cx.tensor(a, cx.out_dtype), cx.tensor(b, cx.out_dtype))


@converter(aten("masked_fill.Scalar"), aten("masked_fill.Tensor"))
def _masked_fill(cx: Emitter, x: Any, mask: Any, value: Any) -> str:
    return cx.op("Where", cx.tensor(mask, "bool"), cx.tensor(value, cx.out_dtype), cx.tensor(x, cx.out_dtype))


@converter(aten("clamp"), aten("clamp.Tensor"))
def _clamp(cx: Emitter, x: Any, low: Any = None, high: Any = None) -> str:
    dtype = cx.out_dtype
    result = cx.tensor(x, dtype)
    if low is not None:
        result = cx.op("Max", result, cx.tensor(low, dtype))
    if high is not None:
        result = cx.op("Min", result, cx.tensor(high, dtype))
    return result


@converter(aten("hardtanh"))
def _hardtanh(cx: Emitter, x: Any, low: Any = -1, high: Any = 1) -> str:
    dtype = cx.out_dtype
    return cx.op("Clip", cx.tensor(x, dtype), cx.tensor(low, dtype), cx.tensor(high, dtype))


@converter(aten("clamp_min"), aten("clamp_min.Tensor"))
def _clamp_min(cx: Emitter, x: Any, low: Any) -> str:
    return _clamp(cx, x, low, None)


@converter(aten("clamp_max"), aten("clamp_max.Tensor"))
def _clamp_max(cx: Emitter, x: Any, high: Any) -> str:
    return _clamp(cx, x, None, high)


# Activations.


@converter(aten("gelu"))
def _gelu(cx: Emitter, x: Any, approximate: str = "none") -> str:
    return cx.op("Gelu", cx.tensor(x), approximate=approximate)


@converter(aten("silu"))
def _silu(cx: Emitter, x: Any) -> str:
    value = cx.tensor(x)
    return cx.op("Mul", value, cx.op("Sigmoid", value))


@converter(aten("hardswish"))
def _hardswish(cx: Emitter, x: Any) -> str:
    return cx.op("HardSwish", cx.tensor(x))


@converter(aten("hardsigmoid"))
def _hardsigmoid(cx: Emitter, x: Any) -> str:
    return cx.op("HardSigmoid", cx.tensor(x), alpha=1 / 6, beta=0.5)


@converter(aten("relu6"))
def _relu6(cx: Emitter, x: Any) -> str:
    return _hardtanh(cx, x, 0, 6)


@converter(aten("leaky_relu"))
def _leaky_relu(cx: Emitter, x: Any, slope: float = 0.01) -> str:
    return cx.op("LeakyRelu", cx.tensor(x), alpha=float(slope))


@converter(aten("elu"))
def _elu(cx: Emitter, x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> str:
    if (scale, input_scale) == (1, 1):
        return cx.op("Elu", cx.tensor(x), alpha=float(alpha))
    if input_scale == 1:  # SELU
        return cx.op("Selu", cx.tensor(x), alpha=float(alpha), gamma=float(scale))
    raise Unsupported("elu with a scaled input")


@converter(aten("celu"))
def _celu(cx: Emitter, x: Any, alpha: float = 1.0) -> str:
    return cx.op("Celu", cx.tensor(x), alpha=float(alpha))


@converter(aten("softplus"))
def _softplus(cx: Emitter, x: Any, beta: float = 1, threshold: float = 20) -> str:
    dtype = cx.out_dtype
    value = cx.tensor(x)
    scaled = value if beta == 1 else cx.op("Mul", value, cx.tensor(float(beta), dtype))
    soft = cx.op("Softplus", scaled)
    soft = soft if beta == 1 else cx.op("Div", soft, cx.tensor(float(beta), dtype))
    return cx.op("Where", cx.op("Greater", scaled, cx.tensor(float(threshold), dtype)), value, soft)


@converter(aten("log_sigmoid_forward"), aten("log_sigmoid"))
def _log_sigmoid(cx: Emitter, x: Any) -> Any:
    result = cx.op("Neg", cx.op("Softplus", cx.op("Neg", cx.tensor(x))))
    return [result, None] if isinstance(value_of(cx.node), (tuple, list)) else result


@converter(aten("prelu"), aten("_prelu_kernel"))
def _prelu(cx: Emitter, x: Any, weight: Any) -> str:
    slope = cx.tensor(weight)
    if cx.node.target is aten("prelu") and cx.rank(x) > 2 and cx.rank(weight) == 1:
        slope = cx.reshape(slope, [*cx.shape(weight), *[1] * (cx.rank(x) - 2)])
    return cx.op("PRelu", cx.tensor(x), slope)


@converter(aten("addcmul"))
def _addcmul(cx: Emitter, x: Any, a: Any, b: Any, value: Any = 1) -> str:
    product = cx.op("Mul", cx.tensor(a, cx.out_dtype), cx.tensor(b, cx.out_dtype))
    if value != 1:
        product = cx.op("Mul", product, cx.tensor(value, cx.out_dtype))
    return cx.op("Add", cx.tensor(x, cx.out_dtype), product)


# Types.


def _is_same_type(cx: Emitter, x: fx.Node) -> bool:
    return cx.dtype(x) == cx.out_dtype


@converter(aten("_to_copy"), aten("to.dtype"), aten("to.device"), aten("to.dtype_layout"), aten("_to_copy.default"))
def _to(cx: Emitter, x: Any, *_: Any) -> str:
    if value_of(x).device != value_of(cx.node).device:
        raise Unsupported("a copy to another device")
    return cx.op("Identity", cx.tensor(x)) if _is_same_type(cx, x) else cx.tensor(x, cx.out_dtype)


@converter(
    aten("clone"),
    aten("alias"),
    aten("detach"),
    aten("contiguous"),
    aten("lift_fresh_copy"),
    aten("lift_fresh"),
    aten("dropout"),
    aten("native_dropout"),
)
def _identity(cx: Emitter, x: Any, *args: Any) -> Any:
    if cx.node.target is aten("dropout") and args[1]:
        raise Unsupported("dropout of a training")
    if cx.node.target is aten("native_dropout"):
        if args[1] is not False:
            raise Unsupported("dropout of a training")
        return [cx.op("Identity", cx.tensor(x)), None]
    return cx.op("Identity", cx.tensor(x))
