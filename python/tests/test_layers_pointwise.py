"""Layers that compute every element by itself."""

import math

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench, Case, check

X = np.array([[-3.0, -1.0, -0.5, 0.0], [0.25, 0.5, 1.0, 3.0]], np.float32)
Y = np.array([[1.0, 2.0, -0.5, 4.0], [0.25, -2.0, 1.5, 0.5]], np.float32)
B = np.array([True, False, True, False])
C = np.array([True, True, False, False])
A = trt.ActivationType
E = trt.ElementWiseOperation
U = trt.UnaryOperation


def erf(x):
    return np.vectorize(math.erf)(x)


def activation(kind, function, alpha=0.0, beta=0.0):
    expected = function(X.astype(np.float64)).astype(np.float32)
    return Case(
        f"activation-{kind.name}",
        trt.IActivationLayer,
        lambda bench, x: bench.network.add_activation(x, kind),
        [X],
        [expected],
        {"alpha": alpha, "beta": beta},
        {"type": kind},
    )


ACTIVATIONS = [
    activation(A.RELU, lambda x: np.maximum(x, 0)),
    activation(A.SIGMOID, lambda x: 1 / (1 + np.exp(-x))),
    activation(A.TANH, np.tanh),
    activation(A.LEAKY_RELU, lambda x: np.where(x >= 0, x, 0.25 * x), 0.25),
    activation(A.ELU, lambda x: np.where(x >= 0, x, 0.5 * (np.exp(x) - 1)), 0.5),
    activation(A.SELU, lambda x: np.where(x > 0, 1.5 * x, 1.5 * (0.5 * np.exp(x) - 0.5)), 0.5, 1.5),
    activation(A.SOFTSIGN, lambda x: x / (1 + np.abs(x))),
    activation(A.SOFTPLUS, lambda x: 0.5 * np.log(np.exp(2 * x) + 1), 0.5, 2.0),
    activation(A.CLIP, lambda x: np.clip(x, -0.75, 0.75), -0.75, 0.75),
    activation(A.HARD_SIGMOID, lambda x: np.clip(0.25 * x + 0.5, 0, 1), 0.25, 0.5),
    activation(A.SCALED_TANH, lambda x: 2 * np.tanh(0.5 * x), 2.0, 0.5),
    activation(A.THRESHOLDED_RELU, lambda x: np.where(x > 0.5, x, 0), 0.5),
    activation(A.GELU_ERF, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
    activation(A.GELU_TANH, lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
]


def element_wise(op, function, a=X, b=Y):
    return Case(
        f"elementwise-{op.name}",
        trt.IElementWiseLayer,
        lambda bench, x, y: bench.network.add_elementwise(x, y, op),
        [a, b],
        [function(a, b)],
        {},
        {"op": op, "type": trt.LayerType.ELEMENTWISE, "num_inputs": 2, "num_outputs": 1},
    )


ELEMENT_WISE = [
    element_wise(E.SUM, np.add),
    element_wise(E.PROD, np.multiply),
    element_wise(E.MAX, np.maximum),
    element_wise(E.MIN, np.minimum),
    element_wise(E.SUB, np.subtract),
    element_wise(E.DIV, np.divide),
    element_wise(E.POW, np.power, np.abs(X) + np.float32(0.5), Y),
    element_wise(E.FLOOR_DIV, lambda a, b: a // b, np.array([7, -7, 9], np.int32), np.array([2, 2, -4], np.int32)),
    element_wise(E.AND, np.logical_and, B, C),
    element_wise(E.OR, np.logical_or, B, C),
    element_wise(E.XOR, np.logical_xor, B, C),
    element_wise(E.EQUAL, np.equal, X, np.where(X > 0, X, Y)),
    element_wise(E.GREATER, np.greater),
    element_wise(E.LESS, np.less),
]


def unary(op, function, a=X):
    expected = function(a.astype(np.float64)).astype(a.dtype) if a.dtype.kind == "f" else function(a)
    if op in (U.ISINF, U.ISNAN):
        expected = function(a)
    return Case(
        f"unary-{op.name}",
        trt.IUnaryLayer,
        lambda bench, x: bench.network.add_unary(x, op),
        [a],
        [expected],
        {},
        {"op": op, "type": trt.LayerType.UNARY},
    )


POSITIVE = np.abs(X) + np.float32(0.5)
INSIDE = np.array([-0.75, -0.25, 0.0, 0.5], np.float32)
SPECIAL = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
UNARY = [
    unary(U.EXP, np.exp),
    unary(U.LOG, np.log, POSITIVE),
    unary(U.SQRT, np.sqrt, POSITIVE),
    unary(U.RECIP, lambda x: 1 / x, POSITIVE),
    unary(U.ABS, np.abs),
    unary(U.NEG, np.negative),
    unary(U.SIN, np.sin),
    unary(U.COS, np.cos),
    unary(U.TAN, np.tan),
    unary(U.SINH, np.sinh),
    unary(U.COSH, np.cosh),
    unary(U.ASIN, np.arcsin, INSIDE),
    unary(U.ACOS, np.arccos, INSIDE),
    unary(U.ATAN, np.arctan),
    unary(U.ASINH, np.arcsinh),
    unary(U.ACOSH, np.arccosh, POSITIVE + 1),
    unary(U.ATANH, np.arctanh, INSIDE),
    unary(U.CEIL, np.ceil),
    unary(U.FLOOR, np.floor),
    unary(U.ERF, erf),
    unary(U.NOT, np.logical_not, B),
    unary(U.SIGN, np.sign),
    unary(U.ROUND, np.round),
    unary(U.ISINF, np.isinf, SPECIAL),
    unary(U.ISNAN, np.isnan, SPECIAL),
]

OTHERS = [
    Case(
        "select",
        trt.ISelectLayer,
        lambda bench, c, x, y: bench.network.add_select(c, x, y),
        [X > 0, X, Y],
        [np.where(X > 0, X, Y)],
        {},
        {"type": trt.LayerType.SELECT},
    ),
    Case(
        "identity",
        trt.IIdentityLayer,
        lambda bench, x: bench.network.add_identity(x),
        [X],
        [X],
        {"name": "same", "metadata": "some text"},
        {"type": trt.LayerType.IDENTITY, "num_ranks": 1},
    ),
    Case(
        "cast",
        trt.ICastLayer,
        lambda bench, x: bench.network.add_cast(x, trt.float16),
        [X],
        [X.astype(np.int32)],
        {"to_type": trt.int32},
        {"type": trt.LayerType.CAST},
    ),
]


@pytest.mark.parametrize("case", ACTIVATIONS + ELEMENT_WISE + UNARY + OTHERS, ids=lambda case: case.id)
def test_layer(case):
    check(case)


def test_every_function_has_a_case():
    assert {c.shown["type"] for c in ACTIVATIONS} == set(A)
    assert {c.shown["op"] for c in ELEMENT_WISE} == set(E)
    assert {c.shown["op"] for c in UNARY} == set(U)


def test_functions_are_exchanged():
    bench = Bench()
    x = bench.input("x", X)
    layer = bench.network.add_activation(x, A.RELU)
    layer.type = A.SIGMOID
    assert layer.type is A.SIGMOID
    other = bench.network.add_unary(layer.get_output(0), U.EXP)
    other.op = U.NEG
    last = bench.network.add_elementwise(other.get_output(0), x, E.SUM)
    last.op = E.PROD
    assert (other.op, last.op) == (U.NEG, E.PROD)
    (result,) = bench.run({"x": X}, [last.get_output(0)])
    np.testing.assert_allclose(result, -X / (1 + np.exp(-X)), rtol=1e-6)


def test_assertion():
    bench = Bench()
    x = bench.input("x", B)
    layer = bench.network.add_assertion(x, "no")
    assert type(layer) is trt.IAssertionLayer
    assert layer.message == "no"
    layer.message = "all must hold"
    assert layer.message == "all must hold"
    assert layer.num_outputs == 0
    out = bench.network.add_identity(x).get_output(0)
    with pytest.raises(AssertionError, match="all must hold"):
        bench.run({"x": B}, [out])
    bench.network.unmark_output(out)
    (result,) = bench.run({"x": np.ones(4, np.bool_)}, [out])
    assert result.all()
