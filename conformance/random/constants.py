"""Constants that grow with the run: tables that are cut, padded, repeated or resampled to a size that the inputs decide.
Nothing folds them, so steps read constants in whatever formats they like best."""
import numpy as np

from networks import Skip
from operators import operator, weights


def extent_of_run(net):
    """An extent that varies, as a vector of one number; with its values."""
    x = net.pick(lambda v: any(v.varies(axis) for axis in range(v.rank)))
    axis = net.choice([axis for axis in range(x.rank) if x.varies(axis)])
    return net.add("Gather", [net.add("Shape", [x]), net.ints(axis)], axis=0), [shape[axis] for shape in x.shapes]


def with_axis(net, rank, axis, vector, others):
    """`others` with the run's number at `axis`."""
    parts = [net.ints(*others[:axis]), vector, net.ints(*others[axis + 1 : rank])]
    return net.add("Concat", [part for part in parts if part.shape[0]], axis=0)


def cut(net, shape, axis, extent, sizes):
    shape[axis] = max(sizes) + net.integer(0, 3)
    table = net.constant(net.floats(shape))
    if net.chance(0.3):  # backwards: the last ones
        return net.add("Slice", [table, net.add("Neg", [extent]), net.ints(2**31 - 1), net.ints(axis)])
    return net.add("Slice", [table, net.ints(0), extent, net.ints(axis), net.ints(1) if net.chance(0.5) else None])


def padded(net, shape, axis, extent, _):
    rank = len(shape)
    pads = with_axis(net, 2 * rank, axis + rank * net.integer(0, 1), extent, [0] * (2 * rank))
    return net.add("Pad", [net.constant(net.floats(shape)), pads, net.constant(net.floats([])) if net.chance(0.5) else None])


def repeated(net, shape, axis, extent, _):
    shape[axis] = net.integer(1, 3)
    return net.add("Tile", [net.constant(net.floats(shape)), with_axis(net, len(shape), axis, extent, [1] * len(shape))])


def resampled(net, shape, axis, extent, _):
    if axis < 2:
        raise Skip
    mode = net.choice(("nearest", "linear", "linear", "cubic") if len(shape) == 4 else ("nearest", "linear"))
    coordinates = net.choice(("half_pixel", "pytorch_half_pixel", "asymmetric"))
    rounding = {"nearest_mode": net.choice(("round_prefer_floor", "floor"))} if mode == "nearest" else {}
    sizes = with_axis(net, len(shape), axis, extent, shape)
    return net.add("Resize", [net.constant(net.floats(shape)), None, None, sizes], mode=mode, coordinate_transformation_mode=coordinates, **rounding)


def expanded(net, shape, axis, extent, _):
    shape[axis] = 1
    return net.add("Expand", [net.constant(net.floats(shape)), with_axis(net, len(shape), axis, extent, shape)])


def gathered(net, shape, axis, extent, sizes):
    shape[axis] = max(sizes) + net.integer(1, 3)
    number = net.add("Squeeze", [extent, net.ints(0)])
    rows = net.add("Range", [net.constant(np.int64(0)), number, net.constant(np.int64(1))])
    return net.add("Gather", [net.constant(net.floats(shape)), rows], axis=axis)


def table(net):
    """A constant of which one axis has an extent of the run; never that of the channels."""
    extent, sizes = extent_of_run(net)
    rank = net.choice((2, 3, 4, 4, 4, 5))
    axis = net.choice([a for a in range(rank) if a != 1 or rank == 2])
    shape = [net.integer(1, 7) for _ in range(rank)]
    shape[0], shape[1] = net.choice((1, 1, 2)), net.choice((1, 3, 4, 8, 12, 16))
    return net.choice((cut, cut, padded, repeated, resampled, resampled, expanded, gathered))(net, shape, axis, extent, sizes)


def moved(net, x):
    order = [0, *range(2, x.rank), 1] if net.chance(0.5) else [int(a) for a in net.rng.permutation(x.rank)]
    return net.add("Transpose", [x], perm=order)


def convolved(net, x):
    if x.rank < 3 or x.varies(1):
        raise Skip
    outputs, taps = net.choice((1, 3, 8, 16)), [net.choice((1, 3)) for _ in range(x.rank - 2)]
    w = weights(net, [outputs, x.shape[1], *taps], x.shape[1] * int(np.prod(taps)))
    return net.add("Conv", [x, w, net.constant(net.floats([outputs])) if net.chance(0.5) else None], pads=[t // 2 for t in taps] * 2, kernel_shape=taps)


def pooled(net, x):
    if x.rank < 3:
        raise Skip
    taps = [net.choice((1, 2, 3)) for _ in range(x.rank - 2)]
    return net.add(net.choice(("MaxPool", "AveragePool")), [x], kernel_shape=taps, pads=[t // 2 for t in taps] * 2)


def multiplied(net, x):
    if x.varies(x.rank - 1):
        raise Skip
    return net.add("MatMul", [x, weights(net, [x.shape[-1], net.choice((1, 5, 16))], x.shape[-1])])


def activated(net, x):
    return net.add(net.choice(("Relu", "Sigmoid", "Softmax")), [x])


@operator(10)
def constant_of_run(net):
    x = table(net)
    if net.chance(0.3):  # one such step behind another
        x = net.choice((moved, activated))(net, x)
    return net.choice((moved, convolved, convolved, pooled, multiplied, activated, lambda _, y: y))(net, x)
