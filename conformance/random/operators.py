"""The parts of random networks: a function a kind of node (or a pattern of nodes), with its weight."""
import numpy as np
from onnx import TensorProto

from networks import Skip

OPERATORS = {}


def operator(weight):
    def add(function):
        OPERATORS[function] = weight
        return function
    return add


def any_float(net, least=0, most=6):
    def make():
        return net.input(net.shape(net.integer(least, min(most, 5))))
    return net.pick(lambda v: v.is_float and least <= v.rank <= most, make)


def any_number(net, least=0):
    return any_float(net, least) if net.chance(0.8) else net.pick(
        lambda v: v.is_integer and v.rank >= least, lambda: net.input(net.shape(net.integer(least, 4)), net.choice((np.int32, np.int64))))


def any_bool(net):
    return net.pick(lambda v: v.is_bool, lambda: net.input(net.shape(net.integer(0, 4)), np.bool_))


def image(net, rank=None):
    rank = rank or net.choice((3, 4, 4, 4, 5))

    def make():
        shape = net.shape(rank)
        shape[1] = net.sized((1, 3, 4, 8, 12, 16, 24, 32), (3, 16, 32, 64, 96, 128, 256))
        if shape.count(None) == 0 and len(net.sizes) > 1:
            shape[0] = None
        while np.prod([d or max(net.sizes) for d in shape]) > net.most_elements // 2:
            shape[net.choice((0, 2, rank - 1))] = net.integer(1, 28 if net.is_large else 9)
        return net.input(shape)
    return net.pick(lambda v: v.is_float and v.rank == rank and not v.varies(1) and not v.is_empty, make)


def axis_of(net, x):
    axis = net.integer(0, x.rank - 1)
    return axis - x.rank if net.chance(0.4) else axis


def some_axes(net, rank, among=None):
    among = list(range(rank)) if among is None else among
    count = net.integer(1, max(1, len(among)))
    if len(among) < count:
        raise Skip
    axes = [int(a) for a in net.rng.permutation(among)[:count]]
    return [a - rank if net.chance(0.2) else a for a in axes]


def partner(net, x):
    """Something that x can be combined with: a value of like shape, or a constant or input that is broadcast."""
    def fits(v):
        try:
            return v.dtype == x.dtype and all(np.broadcast_shapes(a, b) is not None for a, b in zip(v.shapes, x.shapes))
        except ValueError:
            return False
    if net.chance(0.45):
        return net.pick(lambda v: fits(v) and v.name != x.name or net.chance(0.02) and v.name == x.name)
    shape = [1 if x.varies(axis) or net.chance(0.3) else extent for axis, extent in enumerate(x.shape)]
    shape = shape[net.integer(0, len(shape)) if net.chance(0.5) else 0:]
    shape = shape if net.chance(0.9) else [1] * net.integer(0, 2) + shape
    if net.chance(0.1):
        return net.input(shape, x.dtype)
    return net.constant(net.numbers(shape, x.dtype))


def positive(net, x):
    return net.add("Add", [net.add("Abs", [x]), net.constant(np.float32(0.25))])


# Pointwise.
@operator(6)
def unary(net):
    x = any_float(net)
    op = net.choice(("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Exp", "Erf", "Sin", "Cos", "Atan", "Asinh", "Floor", "Ceil", "Round", "Sign", "Softplus",
                     "Softsign", "Selu", "HardSwish", "Identity", "Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Celu"))
    alpha = {"alpha": float(net.choice((0.1, 0.5, 1.0, 1.75)))} if op in ("Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Celu") and net.chance(0.7) else {}
    return net.add(op, [x], **alpha)


@operator(1)
def unary_of_positive(net):
    return net.add(net.choice(("Log", "Sqrt", "Reciprocal")), [positive(net, any_float(net))])


@operator(1.5)
def newer_activation(net):
    x = any_float(net)
    if net.opset >= 20 and net.chance(0.6):
        return net.add("Gelu", [x], approximate=net.choice(("none", "tanh")))
    if net.opset >= 18 and net.chance(0.5):
        return net.add("Mish", [x])
    gate = net.add(net.choice(("Sigmoid", "Tanh", "HardSigmoid")), [x])
    return net.add("Mul", [x, gate])


@operator(1)
def clip(net):
    x = any_number(net)
    low, high = sorted((net.numbers([], x.dtype), net.numbers([], x.dtype)))
    return net.add("Clip", [x, net.constant(low) if net.chance(0.7) else None, net.constant(high) if net.chance(0.7) else None])


@operator(1)
def prelu(net):
    x = any_float(net)
    slopes = [1 if x.varies(axis) or net.chance(0.6) else extent for axis, extent in enumerate(x.shape)]
    return net.add("PRelu", [x, net.constant(net.floats(slopes[net.integer(0, len(slopes)):], 0.5))])


@operator(8)
def binary(net):
    x = any_number(net)
    op, y = net.choice(("Add", "Sub", "Mul", "Max", "Min", "Div", "Add", "Mul")), partner(net, x)
    if op == "Div" and x.is_float:
        y = positive(net, y) if not y.is_constant else net.constant(np.abs(y.arrays[0]) + np.float32(0.25))
    elif op == "Div":
        y = net.constant(np.array(net.choice((1, 2, 3, 7)), x.dtype))
    return net.add(op, [y, x] if net.chance(0.4) and op != "Div" else [x, y])


@operator(0.7)
def several(net):
    x = any_float(net)
    return net.add(net.choice(("Sum", "Max", "Min", "Mean")), [x, partner(net, x), partner(net, x)][: net.integer(1, 3)])


@operator(1)
def power(net):
    x = any_float(net)
    if net.chance(0.6):
        return net.add("Pow", [x, net.constant(net.choice((np.float32(2), np.float32(3), np.int64(2), np.int32(3), np.float32(1))))])
    return net.add("Pow", [positive(net, x), net.constant(net.choice((np.float32(0.5), np.float32(-0.5), np.float32(1.5))))])


@operator(0.6)
def modulo(net):
    x = any_number(net)
    if x.is_float:
        return net.add("Mod", [x, net.constant(np.float32(net.choice((0.75, 2, -1.5))))], fmod=1)
    return net.add("Mod", [x, net.constant(np.array(net.choice((2, 3, -5)), x.dtype))], fmod=net.integer(0, 1))


@operator(2)
def comparison(net):
    x = any_number(net)
    ops = ("Less", "Greater", "Equal") + (("LessOrEqual", "GreaterOrEqual") if net.opset >= 16 else ())
    return net.add(net.choice(ops), [x, partner(net, x)])


@operator(1)
def logic(net):
    x = any_bool(net)
    return net.add("Not", [x]) if net.chance(0.3) else net.add(net.choice(("And", "Or", "Xor")), [x, partner(net, x)])


@operator(2)
def where(net):
    condition, x = any_bool(net), any_number(net)
    if net.chance(0.3):
        condition = net.constant(net.numbers([1 if x.varies(a) or net.chance(0.3) else e for a, e in enumerate(x.shape)], np.bool_))
    return net.add("Where", [condition, x, partner(net, x)] if net.chance(0.5) else [condition, partner(net, x), x])


@operator(2)
def cast(net):
    x = net.pick(lambda v: True)
    to = net.choice((TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL))
    return net.add("Cast", [x], to=to)


# Reductions and what is normalised.
@operator(5)
def reduce(net):
    x = any_number(net, 1)
    if x.is_empty:
        raise Skip  # ONNX Runtime's shapes are wrong where axes are negative
    ops = ("ReduceSum", "ReduceMax", "ReduceMin") if x.is_integer else (
        "ReduceSum", "ReduceMean", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
    op, keeps, axes = net.choice(ops), net.integer(0, 1), some_axes(net, x.rank)
    if net.chance(0.1):
        return net.add(op, [x], keepdims=keeps)
    if op == "ReduceSum" or net.opset >= 18:
        return net.add(op, [x, net.ints(*axes)], keepdims=keeps)
    return net.add(op, [x], axes=axes, keepdims=keeps)


@operator(1)
def arg_max(net):
    x = any_number(net, 1)
    if x.is_empty:
        raise Skip
    return net.add(net.choice(("ArgMax", "ArgMin")), [x], axis=axis_of(net, x), keepdims=net.integer(0, 1), select_last_index=net.integer(0, 1))


@operator(0.7)
def top_k(net):
    x = any_number(net, 1)
    axis = axis_of(net, x)
    if net.opset < 11 or x.is_empty:
        raise Skip
    k = net.integer(1, min(20, int(np.min(x.shapes, axis=0)[axis])))
    values, indices = net.add("TopK", [x, net.ints(k)], 2, axis=axis, largest=net.integer(0, 1))
    return net.choice((values, indices))


def largest_is_clear(x, axis):
    """Whether the last bit of a computed number cannot decide which one is the largest."""
    for array in x.arrays:
        if array.size and array.shape[axis] > 1:
            second, largest = np.moveaxis(np.sort(array, axis), axis, 0)[-2:]
            if np.any((largest - second < 1e-4) & (largest != 0)):
                return False
    return True


@operator(4)
def softmax(net):
    x = any_float(net, 1)
    op, axis = net.choice(("Softmax", "Softmax", "Softmax", "LogSoftmax", "Hardmax")), axis_of(net, x)
    if op == "Hardmax" and not largest_is_clear(x, axis):
        raise Skip
    return net.add(op, [x], axis=axis)


@operator(3)
def layer_norm(net):
    x = any_float(net, 2)
    if x.is_empty:
        raise Skip
    axis = net.integer(max(0, x.rank - 3), x.rank - 1)
    while axis < x.rank and any(x.varies(a) for a in range(axis, x.rank)):
        axis += 1
    if axis == x.rank:
        raise Skip
    shape, epsilon = x.shape[axis:], float(net.choice((1e-5, 1e-3, 0.1)))
    scale, bias = net.constant(net.floats(shape)), net.constant(net.floats(shape)) if net.chance(0.7) else None
    if net.opset >= 23 and net.chance(0.4):
        return net.add("RMSNormalization", [x, scale], axis=axis - x.rank, epsilon=epsilon)
    if net.opset >= 17 and net.chance(0.6):
        return net.add("LayerNormalization", [x, scale, bias], axis=axis - x.rank if net.chance(0.5) else axis, epsilon=epsilon)
    axes = list(range(axis, x.rank))
    mean = lambda v: net.add("ReduceMean", [v, net.ints(*axes)]) if net.opset >= 18 else net.add("ReduceMean", [v], axes=axes)
    centred = net.add("Sub", [x, mean(x)])
    square = net.add("Pow", [centred, net.constant(np.float32(2))]) if net.chance(0.5) else net.add("Mul", [centred, centred])
    deviation = net.add("Sqrt", [net.add("Add", [mean(square), net.constant(np.float32(epsilon))])])
    y = net.add("Mul", [net.add("Div", [centred, deviation]), scale])
    return net.add("Add", [y, bias]) if bias else y


@operator(2)
def norm_of_channels(net):
    x = image(net)
    channels = x.shape[1]
    vector = lambda scale=1.0: net.constant(net.floats([channels], scale))
    kind = net.integer(0, 3)
    if kind == 0:
        return net.add("BatchNormalization", [x, vector(), vector(), vector(), net.constant(np.abs(net.floats([channels])) + np.float32(0.25))])
    if kind == 1:
        return net.add("InstanceNormalization", [x, vector(), vector()], epsilon=float(net.choice((1e-5, 0.1))))
    if kind == 2 and net.opset >= 18:
        groups = net.choice([g for g in range(1, channels + 1) if channels % g == 0])
        length = channels if net.opset >= 21 else groups
        return net.add("GroupNormalization", [x, *(net.constant(net.floats([length])) for _ in range(2))], num_groups=groups)
    if kind == 3 and net.chance(0.5):
        mean = lambda v: net.add("ReduceMean", [v, net.ints(1)]) if net.opset >= 18 else net.add("ReduceMean", [v], axes=[1])
        centred = net.add("Sub", [x, mean(x)])
        root = net.add("Sqrt", [net.add("Add", [mean(net.add("Mul", [centred, centred])), net.constant(np.float32(1e-3))])])
        scale = net.constant(net.floats([channels] + [1] * (x.rank - 2)))
        return net.add("Mul", [net.add("Div", [centred, root]), scale])
    return net.add("LRN", [x], size=net.choice((1, 3, 5)), alpha=0.5, beta=0.75)


@operator(0.6)
def other_norm(net):
    x = any_float(net, 1)
    if net.chance(0.5):
        return net.add("LpNormalization", [positive(net, x)], axis=axis_of(net, x), p=net.integer(1, 2))
    return net.add("MeanVarianceNormalization", [x], axes=sorted(a % x.rank for a in some_axes(net, x.rank)))


# Operators that move elements.
@operator(4)
def transpose(net):
    x = net.pick(lambda v: v.rank >= 2)
    return net.add("Transpose", [x], perm=[int(a) for a in net.rng.permutation(x.rank)])


@operator(4)
def reshape(net):
    x = net.pick(lambda v: v.rank >= 1 and sum(v.varies(a) for a in range(v.rank)) <= 1 and not v.is_empty)
    dims = [-1 if x.varies(a) else e for a, e in enumerate(x.shape)]
    for _ in range(net.integer(1, 2)):
        at = net.integer(0, len(dims) - 1)
        if net.chance(0.5) and len(dims) > 1 and at + 1 < len(dims):
            a, b = dims[at : at + 2]
            dims[at : at + 2] = [-1 if -1 in (a, b) else a * b]
        elif dims[at] > 1:
            divisor = net.choice([d for d in range(1, dims[at] + 1) if dims[at] % d == 0])
            dims[at : at + 1] = [dims[at] // divisor, divisor]
    if -1 not in dims and net.chance(0.4):
        dims[net.integer(0, len(dims) - 1)] = -1
    dims = [0 if at < x.rank and d == x.shape[at] and not x.varies(at) and net.chance(0.3) else d for at, d in enumerate(dims)]
    return net.add("Reshape", [x, net.ints(*dims)])


@operator(2)
def reshape_by_shape(net):
    x = net.pick(lambda v: v.rank >= 2 and not v.is_empty)
    shape = net.add("Shape", [x])
    split = net.integer(1, x.rank - 1)
    parts = [net.add("Gather", [shape, net.ints(a)] if net.chance(0.5) else [shape, net.ints(a)], axis=0) for a in range(split)]
    if net.chance(0.3):
        parts = [net.add("Slice", [shape, net.ints(0), net.ints(split)])]
    elif len(parts) > 1 and net.chance(0.4):
        parts = [net.add("Mul", parts[:2]), *parts[2:]]
    parts.append(net.ints(-1))
    if x.shape[-1] % 2 == 0 and not x.varies(x.rank - 1) and net.chance(0.3):
        parts.append(net.ints(2))
    return net.add("Reshape", [x, net.add("Concat", parts, axis=0)], allowzero=0) if net.opset >= 14 else net.add(
        "Reshape", [x, net.add("Concat", parts, axis=0)])


@operator(1.5)
def of_shapes(net):
    x = any_float(net, 1)
    shape = net.add("Shape", [x])
    kind = net.integer(0, 4)
    if kind == 0:
        tail = [1 if x.varies(a) else e for a, e in enumerate(x.shape)]
        small = net.constant(net.floats([1 if net.chance(0.5) else e for e in tail]))
        return net.add("Expand", [small, shape])
    if kind == 1:
        filled = net.add("Cast", [net.add("ConstantOfShape", [shape])], to=TensorProto.FLOAT)
        return net.add("Add", [x, filled])
    axis = net.integer(0, x.rank - 1)
    extent = net.add("Gather", [shape, net.constant(np.int64(axis))], axis=0)
    if kind == 2:
        return net.add("Range", [net.constant(np.int64(0)), extent, net.constant(np.int64(net.choice((1, 1, 2))))])
    half = net.add("Unsqueeze", [net.add("Div", [extent, net.constant(np.int64(2))]), net.ints(0)])
    if kind == 3:
        return net.add("Slice", [x, net.ints(0), half, net.ints(axis)])
    return net.add("Mul", [x, net.add("Cast", [net.add("Cast", [extent], to=TensorProto.FLOAT)], to=TensorProto.FLOAT)])


@operator(2)
def squeeze(net):
    x = net.pick(lambda v: v.rank <= 4)
    ones = [a for a in range(x.rank) if x.shape[a] == 1 and not x.varies(a)]
    if ones and net.chance(0.6):
        return net.add("Squeeze", [x, net.ints(*some_axes(net, x.rank, ones))])
    if x.rank and net.chance(0.25):
        return net.add("Flatten", [x], axis=net.integer(0, x.rank))
    rank = x.rank + net.integer(1, 2)
    return net.add("Unsqueeze", [x, net.ints(*sorted(int(a) for a in net.rng.permutation(rank)[: rank - x.rank]))])


@operator(5)
def slice_(net):
    x = net.pick(lambda v: v.rank >= 1)
    axes = some_axes(net, x.rank)
    starts, ends, steps = [], [], []
    for axis in axes:
        least = min(shape[axis] for shape in x.shapes)
        step = net.choice((1, 1, 1, 2, 3, -1, -1, -2))
        begin, end = sorted((net.integer(-least - 2, least + 2), net.choice((net.integer(-least, least), 2**31 - 1, 2**63 - 1))))
        starts.append(begin if step > 0 else net.choice((-1, least - 1, 2**31 - 1)))
        ends.append(end if step > 0 else net.choice((-(2**63), -(2**31), -least - 1, 0)))
        steps.append(step)
    has_steps = steps != [1] * len(steps) or net.chance(0.3)
    return net.add("Slice", [x, net.ints(*starts), net.ints(*ends), net.ints(*axes), net.ints(*steps) if has_steps else None])


@operator(3)
def gather(net):
    x = net.pick(lambda v: v.rank >= 1 and not v.is_empty)
    axis = net.integer(0, x.rank - 1)
    extent = min(shape[axis] for shape in x.shapes)
    shape = [net.integer(1, 9) for _ in range(net.integer(0, 2))]
    dtype, low = net.choice((np.int64, np.int32)), net.choice((0, -extent))
    kind = net.integer(0, 5)
    if kind == 0:
        shape = [net.integer(1, e) if a == axis or not x.varies(a) else min(s[a] for s in x.shapes) for a, e in enumerate(min(x.shapes))]
        return net.add("GatherElements", [x, net.constant(net.rng.integers(low, extent, shape).astype(dtype))], axis=axis)
    if kind == 1:
        least = np.min(x.shapes, axis=0)
        depth = net.integer(1, x.rank)
        return net.add("GatherND", [x, net.constant(net.rng.integers(0, least[:depth], (*shape, depth)).astype(np.int64))])
    if kind == 2 and len(net.inputs) < 4:
        indices = net.input([1], dtype)
        for array in indices.arrays:
            array[...] = net.integer(low, extent - 1)
    else:
        indices = net.constant(net.rng.integers(low, extent, shape).astype(dtype))
    return net.add("Gather", [x, indices], axis=axis - x.rank if net.chance(0.3) else axis)


@operator(4)
def concat(net):
    x = net.pick(lambda v: v.rank >= 1)
    axis = net.integer(0, x.rank - 1)
    fits = lambda v: v.dtype == x.dtype and v.rank == x.rank and all(
        a[:axis] + a[axis + 1 :] == b[:axis] + b[axis + 1 :] for a, b in zip(v.shapes, x.shapes))
    parts = [x]
    for _ in range(net.integer(1, 3)):
        if net.chance(0.6) or any(x.varies(a) for a in range(x.rank) if a != axis):
            parts.append(net.pick(fits))
        else:
            shape = list(x.shape)
            shape[axis] = net.integer(1, 9)
            parts.append(net.constant(net.numbers(shape, x.dtype)))
    return net.add("Concat", [parts[i] for i in net.rng.permutation(len(parts))], axis=axis - x.rank if net.chance(0.3) else axis)


@operator(2)
def split(net):
    x = net.pick(lambda v: v.rank >= 1 and any(e > 1 and not v.varies(a) for a, e in enumerate(v.shape)))
    axis = net.choice([a for a, e in enumerate(x.shape) if e > 1 and not x.varies(a)])
    first = net.integer(1, x.shape[axis] - 1)
    if net.opset >= 18 and net.chance(0.4):
        parts = net.choice([count for count in (2, 3, 4) if count <= x.shape[axis]])
        return net.add("Split", [x], parts, axis=axis, num_outputs=parts)
    return net.add("Split", [x, net.ints(first, x.shape[axis] - first)], 2, axis=axis)


@operator(2)
def pad(net):
    x = any_float(net, 1, 5)
    mode = net.choice(("constant", "constant", "reflect", "edge"))
    least = np.min(x.shapes, axis=0)
    most = [min(4, int(e) - 1) if mode == "reflect" else 3 for e in least]
    pads = [net.integer(-1 if mode == "constant" and least[i % x.rank] > 3 and net.chance(0.2) else 0, max(0, most[i % x.rank])) if net.chance(0.6) else 0
            for i in range(2 * x.rank)]
    return net.add("Pad", [x, net.ints(*pads), net.constant(net.floats([])) if mode == "constant" and net.chance(0.5) else None], mode=mode)


@operator(1)
def tile(net):
    x = net.pick(lambda v: 1 <= v.rank <= 5)
    return net.add("Tile", [x, net.ints(*[net.choice((1, 1, 2, 3)) for _ in range(x.rank)])])


@operator(1)
def expand(net):
    x = net.pick(lambda v: v.rank <= 4)
    shape = [1 if x.varies(a) else (net.integer(1, 9) if e == 1 and net.chance(0.6) else e) for a, e in enumerate(x.shape)]
    return net.add("Expand", [x, net.ints(*[net.integer(1, 4) for _ in range(net.integer(0, 1))], *shape)])


@operator(1)
def depth_to_space(net):
    x = image(net, 4)
    if net.chance(0.5):
        return net.add("DepthToSpace", [x], blocksize=2, mode=net.choice(("DCR", "CRD")))
    return net.add("SpaceToDepth", [x], blocksize=2)


@operator(0.7)
def triangle(net):
    x = any_number(net, 2)
    if net.opset < 14:
        raise Skip
    return net.add("Trilu", [x, net.constant(np.int64(net.integer(-3, 3)))] if net.chance(0.6) else [x], upper=net.integer(0, 1))


@operator(0.7)
def cumulative_sum(net):
    x = any_number(net, 1)
    return net.add("CumSum", [x, net.constant(np.int64(axis_of(net, x)))], exclusive=net.integer(0, 1), reverse=net.integer(0, 1))


@operator(0.4)
def reverse_sequence(net):
    x = any_number(net, 2)
    batch, time = net.choice(((0, 1), (1, 0)))
    if net.opset < 10 or x.is_empty or x.varies(batch):
        raise Skip
    least = int(np.min(x.shapes, axis=0)[time])
    lengths = net.constant(np.array([net.integer(1, least) for _ in range(x.shape[batch])], np.int64))
    return net.add("ReverseSequence", [x, lengths], batch_axis=batch, time_axis=time)


@operator(0.5)
def one_hot(net):
    x = net.pick(lambda v: v.is_integer and v.rank <= 3, lambda: net.input(net.shape(net.integer(0, 3)), np.int64))
    return net.add("OneHot", [x, net.constant(np.int64(net.integer(1, 12))), net.constant(net.floats([2]))], axis=net.choice((-1, 0)))


# Contractions.
def weights(net, shape, length):
    return net.constant(net.floats(shape, 2.0 ** -round(np.log2(max(1, length)) / 2)))


@operator(8)
def product(net):
    x = any_float(net, 1)
    if x.is_empty and net.chance(0.7) or x.varies(x.rank - 1):
        raise Skip
    k, n = x.shape[-1], net.extent()
    kind = net.integer(0, 5)
    if kind <= 1:
        y = net.add("MatMul", [x, weights(net, [k, n], k)])
        return net.add("Add", [y, net.constant(net.floats([n]))]) if net.chance(0.5) else y
    if kind == 2:
        batch = [1 if x.varies(a) or net.chance(0.4) else e for a, e in enumerate(x.shape[:-2])]
        return net.add("MatMul", [x, weights(net, [*batch[net.integer(0, len(batch)) :], k, n], k)])
    if kind == 3:
        return net.add("MatMul", [x, weights(net, [k], k)])
    if kind == 4:
        other = net.pick(lambda v: v.is_float and v.rank >= 1)
        return net.add("MatMul", [x, other] if net.chance(0.5) else [other, x])
    other = net.pick(lambda v: v.is_float and v.rank >= 2)
    order = [*range(other.rank - 2), other.rank - 1, other.rank - 2]
    y = net.add("MatMul", [x, net.add("Transpose", [other], perm=order)])
    return net.add("Mul", [y, net.constant(np.float32(net.choice((0.125, 0.5))))])


@operator(2)
def product_from_the_left(net):
    x = any_float(net, 2)
    if x.varies(x.rank - 2) or x.is_empty:
        raise Skip
    return net.add("MatMul", [weights(net, [net.extent(), x.shape[-2]], x.shape[-2]), x])


@operator(3)
def gemm(net):
    x = any_float(net, 2, 2)
    trans_a, trans_b = net.integer(0, 1), net.integer(0, 1)
    inner = 0 if trans_a else 1
    if x.varies(inner):
        raise Skip
    k, n = x.shape[inner], net.extent()
    b = weights(net, [n, k] if trans_b else [k, n], k)
    m = 1 if x.varies(1 - inner) else x.shape[1 - inner]
    c = net.choice((None, [n], [1, n], [m, 1], [1], [m, n], []))
    alpha, beta = float(net.choice((1, 0.5, -0.25))), float(net.choice((1, 2, 0.5, 0)))
    if k == 0:
        beta = 1.0  # ONNX Runtime 1.31 forgets it where nothing is multiplied
    return net.add("Gemm", [x, b, net.constant(net.floats(c)) if c is not None else None], transA=trans_a, transB=trans_b, alpha=alpha, beta=beta)


@operator(0.7)
def einsum(net):
    x = any_float(net, 2, 4)
    if x.varies(x.rank - 1):
        raise Skip
    letters = "abcd"[: x.rank]
    n = net.extent(20)
    return net.add("Einsum", [x, weights(net, [x.shape[-1], n], x.shape[-1])], equation=f"{letters},{letters[-1]}n->" + net.choice((letters[:-1] + "n", "n" + letters[:-1])))


GATE_FUNCTIONS = ("Sigmoid", "Tanh", "Relu", "LeakyRelu", "Elu", "Softsign", "Softplus", "HardSigmoid")


@operator(2)
def recurrence(net):
    """LSTM, GRU or RNN over [time, batch, input], in which any of the first two may vary."""
    x = any_float(net, 3, 3)
    if x.varies(2) or x.is_empty:
        raise Skip
    kind, gates = net.choice((("LSTM", 4), ("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    direction = net.choice(("forward", "reverse", "bidirectional"))
    directions, (time, batch, size) = 1 + (direction == "bidirectional"), x.shape
    hidden = net.sized((1, 3, 8, 16, 17, 24), (48, 64, 130, 200))
    attributes = {"direction": direction, "hidden_size": hidden}
    functions = {"LSTM": 3, "GRU": 2, "RNN": 1}[kind] * directions
    if net.chance(0.3):
        attributes["activations"] = [net.choice(GATE_FUNCTIONS) for _ in range(functions)]
    if net.chance(0.2):
        attributes["clip"] = float(net.choice((0.5, 2)))
    if kind == "GRU":
        attributes["linear_before_reset"] = net.integer(0, 1)
    state = lambda: None if x.varies(1) or net.chance(0.4) else net.constant(net.floats([directions, batch, hidden]))  # noqa: E731
    lengths = None if x.varies(0) or x.varies(1) or net.chance(0.7) else net.constant(net.rng.integers(1, time + 1, batch).astype(np.int32))
    inputs = [x, weights(net, [directions, gates * hidden, size], size), weights(net, [directions, gates * hidden, hidden], hidden),
              None if net.chance(0.2) else net.constant(net.floats([directions, 2 * gates * hidden], 0.25)), lengths, state()]
    if kind == "LSTM":
        inputs += [state(), net.constant(net.floats([directions, 3 * hidden], 0.25)) if net.chance(0.2) else None]
    outputs = net.add(kind, inputs, count=3 if kind == "LSTM" else 2, **attributes)
    return outputs[0]


def window(net, x, num_axes, most=5):
    """Kernel, strides, dilations and pads that fit every size."""
    least = np.min(x.shapes, axis=0)[2:]
    kernel, dilations = [], []
    pads = [0] * (2 * num_axes)
    for axis in range(num_axes):
        dilation = net.choice((1, 1, 1, 2, 3))
        pad_low, pad_high = (net.integer(0, 2), net.integer(0, 2)) if net.chance(0.5) else (1, 1) if net.chance(0.5) else (0, 0)
        longest = (int(least[axis]) + pad_low + pad_high - 1) // dilation + 1
        extent = min(net.choice((1, 2, 3, 3, 3, most)), longest)
        if extent < 1:
            raise Skip
        kernel.append(extent)
        dilations.append(dilation if extent > 1 else 1)
        pads[axis], pads[axis + num_axes] = pad_low, pad_high
    strides = [net.choice((1, 1, 2, 3)) for _ in range(num_axes)]
    if net.chance(0.6):
        strides = [strides[0]] * num_axes
    return kernel, strides, dilations, pads


@operator(9)
def convolution(net):
    x = image(net)
    channels, num_axes = x.shape[1], x.rank - 2
    kernel, strides, dilations, pads = window(net, x, num_axes, 7)
    groups = net.choice((1, 1, 1, channels, net.choice([g for g in range(1, channels + 1) if channels % g == 0])))
    outputs = groups * net.choice((1, 1, 2, 3, 4, 8, 16)) if groups > 1 else net.sized((1, 3, 5, 8, 16, 24, 32, 64), (32, 64, 128, 144, 256))
    w = weights(net, [outputs, channels // groups, *kernel], channels // groups * int(np.prod(kernel)))
    b = net.constant(net.floats([outputs])) if net.chance(0.6) else None
    padding = {"pads": pads} if net.chance(0.8) else {"auto_pad": net.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))}
    if "auto_pad" in padding:
        dilations = [1] * num_axes
    y = net.add("Conv", [x, w, b], kernel_shape=kernel, strides=strides, dilations=dilations, group=groups, **padding)
    if net.chance(0.3):
        y = net.add("BatchNormalization", [y, *(net.constant(net.floats([outputs])) for _ in range(3)), net.constant(np.abs(net.floats([outputs])) + np.float32(0.5))])
    if net.chance(0.5):
        y = net.add(net.choice(("Relu", "Sigmoid", "LeakyRelu", "HardSwish", "Tanh", "Elu")), [y])
    if net.chance(0.3):
        other = net.pick(lambda v: v.is_float and v.shapes == y.shapes and v.name != y.name)
        y = net.add("Add", [y, other])
    return y


@operator(3)
def transposed_convolution(net):
    x = image(net)
    channels, num_axes = x.shape[1], x.rank - 2
    kernel = [net.choice((1, 2, 3, 4)) for _ in range(num_axes)]
    strides = [net.choice((1, 2, 2, 3)) for _ in range(num_axes)]
    dilations = [net.choice((1, 1, 1, 2)) for _ in range(num_axes)]
    groups = net.choice((1, 1, net.choice([g for g in range(1, channels + 1) if channels % g == 0])))
    outputs = net.choice((1, 2, 3, 8, 16))
    w = weights(net, [channels, outputs, *kernel], channels // groups * int(np.prod(kernel)))
    b = net.constant(net.floats([outputs * groups])) if net.chance(0.6) else None
    more = [net.integer(0, s - 1) if net.chance(0.3) else 0 for s in strides]
    padding = {"pads": [net.integer(0, 1) for _ in range(2 * num_axes)]} if net.chance(0.8) else {"auto_pad": net.choice(("SAME_UPPER", "SAME_LOWER"))}
    if "auto_pad" in padding and any((k - 1) * d + 1 < s for k, d, s in zip(kernel, dilations, strides)):
        raise Skip  # ONNX Runtime's result is not as large as the specification says
    return net.add("ConvTranspose", [x, w, b], kernel_shape=kernel, strides=strides, dilations=dilations, group=groups, output_padding=more, **padding)


@operator(4)
def pool(net):
    x = image(net)
    if net.chance(0.25):
        return net.add(net.choice(("GlobalAveragePool", "GlobalMaxPool")), [x])
    kernel, strides, dilations, pads = window(net, x, x.rank - 2)
    pads = [min(p, k - 1) for p, k in zip(pads, kernel * 2)]
    common = {"kernel_shape": kernel, "strides": strides, "ceil_mode": net.integer(0, 1)}
    common.update({"pads": pads} if net.chance(0.85) else {"auto_pad": net.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))})
    if common.get("auto_pad") == "VALID" and any(k > e for k, e in zip(kernel, np.min(x.shapes, axis=0)[2:])):
        raise Skip
    kind = net.integer(0, 4)
    if kind == 0:
        if net.opset < 18 or any(x.varies(a) for a in range(2, x.rank)):
            del common["ceil_mode"]
        return net.add("LpPool", [x], p=net.integer(1, 2), **common)
    if kind <= 2:
        return net.add("AveragePool", [x], count_include_pad=net.integer(0, 1), **common)
    return net.add("MaxPool", [x], **common, dilations=dilations if "pads" in common else [1] * len(kernel))


@operator(3)
def resize(net):
    x = image(net, net.choice((3, 4, 4, 4, 5)))
    mode = net.choice(("nearest", "linear", "linear", "cubic") if x.rank == 4 else ("nearest", "linear"))
    coordinates = net.choice(("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"))
    rounding = {"nearest_mode": net.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))} if mode == "nearest" else {}
    scales = [net.choice((1.0, 2.0, 0.5, 1.5, 3.0)) for _ in range(x.rank - 2)]
    if coordinates == "align_corners":  # what a fraction of a pixel means there, ONNX Runtime and ONNX disagree about
        scales = [float(int(scale) or 1) for scale in scales]
    if net.chance(0.6) or any(x.varies(a) for a in range(2, x.rank)):
        sizing = [net.constant(np.array([1, 1, *scales], np.float32), keeps_type=True)]
    elif x.varies(0):
        shape = net.add("Slice", [net.add("Shape", [x]), net.ints(0), net.ints(2)])
        sizing = [None, net.add("Concat", [shape, net.ints(*[max(1, int(e * s)) for e, s in zip(x.shape[2:], scales)])], axis=0)]
    else:
        sizing = [None, net.ints(*x.shape[:2], *[net.integer(1, 20) for _ in scales])]
    return net.add("Resize", [x, None, *sizing], mode=mode, coordinate_transformation_mode=coordinates, **rounding)
