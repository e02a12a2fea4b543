"""Small parts that a network computes in DOUBLE, as exporters write positions, angles and losses.

Each is a difference quotient: a chain of functions of x and of x + STEP c, subtracted and divided by STEP. It changes as
little under noise of floats as a derivative does, so that its bound is close, and in floats it would keep one digit."""
import numpy as np
from onnx import TensorProto

from operators import any_float, operator, some_axes

STEP = 1.1234567e-6  # no multiple of what floats are apart: else rounding both sides would not show
UNARY = ("Sigmoid", "Tanh", "Sin", "Cos", "Exp", "Relu", "Abs", "Softmax")


def number(net, array):
    return net.constant(np.asarray(array, np.float64))


def numbers(net, shape):
    """Doubles that floats lack, of magnitudes around 1."""
    return net.rng.uniform(0.3, 1.7, shape) * net.rng.choice((-1.0, 1.0), shape)


def unary(net, x):
    op = net.choice(UNARY)
    attributes = {"axis": net.integer(-x.rank, x.rank - 1)} if op == "Softmax" and x.rank else {}
    return lambda v, _: net.add(op, [v], **attributes)


def of_positive(net, x):
    op, shift = net.choice(("Log", "Sqrt", "Reciprocal")), number(net, 0.3)
    return lambda v, _: net.add(op, [net.add("Add", [net.add("Abs", [v]), shift])])


def clip(net, x):
    """Bounds move with the argument."""
    low, high = sorted(float(n) for n in numbers(net, [2]))
    has_low, has_high = net.choice(((True, False), (False, True), (True, True)))
    return lambda v, by: net.add("Clip", [v, number(net, low + by) if has_low else None, number(net, high + by) if has_high else None])


def with_constant(net, x):
    op = net.choice(("Add", "Sub", "Mul", "Div", "Max", "Min"))
    shape = [1 if x.varies(axis) or net.chance(0.4) else extent for axis, extent in enumerate(x.shape)]
    other = number(net, numbers(net, shape[net.integer(0, len(shape)):]))
    return lambda v, _: net.add(op, [v, other])


def product(net, x):
    if x.rank < 1 or x.varies(x.rank - 1):
        return with_constant(net, x)
    w = number(net, numbers(net, [x.shape[-1], net.choice((1, 2, 7, 16, 33))]) / max(1, x.shape[-1]) ** 0.5)
    return lambda v, _: net.add("MatMul", [v, w])


def product_with_itself(net, x):
    if x.rank < 2:
        return with_constant(net, x)
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    return lambda v, _: net.add("MatMul", [v, net.add("Transpose", [v], perm=order)])


def reduced(net, x):
    if x.rank < 1:
        return with_constant(net, x)
    op = net.choice(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"))
    axes, keep = some_axes(net, x.rank), net.integer(0, 1)
    if op == "ReduceSum" or net.opset >= 18:
        return lambda v, _: net.add(op, [v, net.ints(*axes)], keepdims=keep)
    return lambda v, _: net.add(op, [v], axes=axes, keepdims=keep)


def running(net, x):
    if x.rank < 1:
        return with_constant(net, x)
    axis, flags = net.constant(np.int64(net.integer(0, x.rank - 1))), {"exclusive": net.integer(0, 1), "reverse": net.integer(0, 1)}
    return lambda v, _: net.add("CumSum", [v, axis], **flags)


def moved(net, x):
    if x.rank < 2:
        return with_constant(net, x)
    order = [int(axis) for axis in net.rng.permutation(x.rank)]
    return lambda v, _: net.add("Transpose", [v], perm=order)


PARTS = (unary, unary, unary, of_positive, clip, clip, with_constant, with_constant, product, product_with_itself, reduced, running, moved)


@operator(4)
def quotient(net):
    x = any_float(net)
    # off the multiples of 1/64 that numbers are, where functions have corners
    pair = [net.add("Add", [net.add("Cast", [x], to=TensorProto.DOUBLE), number(net, 0.00437)])]
    pair.append(net.add("Add", [pair[0], number(net, STEP * numbers(net, []))]))
    for _ in range(net.integer(1, 4)):
        part = net.choice(PARTS)(net, pair[0])
        pair = [part(v, by) for v, by in zip(pair, (0.0, STEP))]
    quotient = net.add("Mul", [net.add("Sub", [pair[1], pair[0]]), number(net, 1 / STEP)])
    return net.add("Cast", [quotient], to=TensorProto.FLOAT)
