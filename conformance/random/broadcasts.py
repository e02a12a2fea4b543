"""Extents of two names that meet: at one size they are equal, at another one of them is 1, and only the run knows which."""
import numpy as np
from onnx import TensorProto

from networks import Skip
from operators import operator, weights


def varying(net, least=1, most=5):
    """A float of which an axis varies; a new one half of the time, so that its name is not in other extents yet."""
    if len(net.sizes) < 2:
        raise Skip

    def make():
        shape = net.shape(net.integer(least, most))
        shape[net.integer(0, len(shape) - 1)] = None
        if np.prod([max(net.sizes) if d is None else d for d in shape]) > net.most_elements // 2:
            raise Skip
        return net.input(shape)

    def fits(v):
        return v.is_float and least <= v.rank <= most and any(v.varies(axis) for axis in range(v.rank))
    return make() if net.chance(0.5) else net.pick(fits, make)


def meeting(net, extents):
    """Extents by size that broadcast against these: the same, 1, now this and now that, or more where they are 1."""
    kind = net.integer(0, 4)
    if kind == 0:
        return list(extents)
    if kind == 1:
        return [1] * len(extents)
    larger = net.integer(2, 6)
    return [(larger if kind == 4 and net.chance(0.7) else 1) if e == 1 else e if net.chance(0.5) else 1 for e in extents]


def partner_of(net, x, dtype=np.float32, axes=None):
    """An input that broadcasts with x, along `axes` or all; the others are x's."""
    axes = range(x.rank) if axes is None else axes
    by_axis = [meeting(net, [s[axis] for s in x.shapes]) if axis in axes else [s[axis] for s in x.shapes] for axis in range(x.rank)]
    shapes = list(zip(*by_axis))
    if any(np.prod(np.maximum(a, b)) > net.most_elements for a, b in zip(shapes, x.shapes)):
        raise Skip
    if axes is None and net.chance(0.2):  # of lower rank
        shapes = [s[1:] for s in shapes]
    return net.input(shapes, dtype)


def either_way(net, a, b):
    return [a, b] if net.chance(0.5) else [b, a]


@operator(3)
def two_extents(net):
    x = varying(net)
    y = net.add(net.choice(("Add", "Sub", "Mul", "Max", "Min")), either_way(net, x, partner_of(net, x)))
    if net.chance(0.4):  # and what meets a broadcast
        y = net.add(net.choice(("Add", "Mul")), either_way(net, y, net.choice((x, partner_of(net, y)))))
    return net.add("Relu", [y]) if net.chance(0.3) else y


@operator(1)
def two_extents_of_a_choice(net):
    x = varying(net)
    other = partner_of(net, x)
    return net.add("Where", [partner_of(net, net.choice((x, other)), np.bool_), *either_way(net, x, other)])


@operator(1)
def expanded_as_another(net):
    x = varying(net)
    y = net.add("Expand", [x, net.add("Shape", [partner_of(net, x)])])
    return net.add("Add", [y, partner_of(net, y)]) if net.chance(0.5) else y


@operator(1.5)
def batches_of_two_extents(net):
    rank = net.integer(3, 4)
    k, n = net.extent(32), net.extent(32)
    a = net.input(leading(net, rank - 2, [net.integer(1, 9), k]))
    if k == 0 or a.is_empty:
        raise Skip
    by_axis = [meeting(net, [s[axis] for s in a.shapes]) for axis in range(rank - 2)]
    b = net.input([(*lead, k, n) for lead in zip(*by_axis)])
    y = net.add("MatMul", [a, b])
    if net.chance(0.5):
        y = net.add("Add", either_way(net, y, partner_of(net, y)))
    return net.add("Relu", [y]) if net.chance(0.3) else y


def leading(net, count, rest):
    """Shapes whose first axes vary or are a number."""
    fixed = [None if net.chance(0.6) else net.integer(1, 4) for _ in range(count)]
    return [(*[size if f is None else f for f in fixed], *rest) for size in net.sizes]


@operator(0.7)
def residual_of_two_batches(net):
    x = varying(net, 2, 4)
    k = x.shape[-1]
    if x.varies(x.rank - 1) or k == 0:
        raise Skip
    y = net.add("MatMul", [x, weights(net, [k, net.integer(1, 24)], k)])
    return net.add("Relu", [net.add("Add", either_way(net, y, partner_of(net, y)))])


@operator(1)
def attention_of_two_batches(net):
    heads, depth = net.choice((1, 2, 4)), net.choice((4, 8, 16))
    queries, keys = net.integer(1, 9), net.integer(1, 9)
    q = net.input([(size, heads, queries, depth) for size in net.sizes])
    if q.is_empty:
        raise Skip
    batch, of_heads = meeting(net, net.sizes), meeting(net, [heads] * len(net.sizes))
    k = net.input([(b, h, keys, depth) for b, h in zip(batch, of_heads)])
    v = net.input([(b, h, keys, depth) for b, h in zip(net.choice((batch, meeting(net, net.sizes))), meeting(net, of_heads))])
    scores = net.add("MatMul", [q, net.add("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = net.add("Mul", [scores, net.constant(np.float32(0.25))])
    for _ in range(net.integer(0, 2)):
        scores = net.add("Add", either_way(net, scores, partner_of(net, scores, axes=(0, 1, 2))))
    return net.add("MatMul", [net.add("Softmax", [scores], axis=-1), v])


@operator(0.5)
def coefficients_of_two_extents(net):
    x = varying(net, 2, 4)
    if net.opset < 17 or x.is_empty:
        raise Skip
    extents = [s[-1] for s in x.shapes]
    scale = net.input([(e if net.chance(0.6) else 1,) for e in extents])
    centred = net.add("LayerNormalization", [x, net.constant(np.ones(extents[0], np.float32))], axis=-1) if not x.varies(x.rank - 1) else x
    y = net.add("Mul", [centred, scale])
    return net.add("Add", [y, partner_of(net, y)])


@operator(0.5)
def joined_behind_a_broadcast(net):
    x = varying(net, 2, 4)
    y = net.add("Add", [x, partner_of(net, x)])
    axis = net.integer(0, y.rank - 1)
    joined = net.add("Concat", [y, net.input([s for s in y.shapes])], axis=axis)
    return net.add("Cast", [net.add("Shape", [joined])], to=TensorProto.FLOAT) if net.chance(0.1) else joined
