"""Blocks of real networks, as exporters spell them: what fusions look for, with random extents and small variations."""
import numpy as np
from onnx import TensorProto

from networks import Skip
from operators import any_float, image, operator, weights


def scalar(net, number):
    return net.constant(np.float32(number))


def mean_over(net, x, axes):
    if x.is_empty:
        raise Skip  # ONNX Runtime's shapes are wrong where axes are negative
    return net.add("ReduceMean", [x, net.ints(*axes)]) if net.opset >= 18 else net.add("ReduceMean", [x], axes=axes)


def dense(net, x, n):
    """x W + b over the last axis."""
    k = x.shape[-1]
    return net.add("Add", [net.add("MatMul", [x, weights(net, [k, n], k)]), net.constant(net.floats([n]))])


def tokens(net):
    """[b, s, d] of which b or s may vary."""
    def make():
        which, batch = net.integer(0, 1), net.choice((1, 2, 3))
        d, length = net.sized((8, 16, 24, 32, 64), (64, 128, 192, 384, 768)), net.sized((1, 5, 8, 12, 17, 32), (49, 64, 128, 197, 256))
        return net.input([(size, length, d) if which == 0 else (batch, size, d) for size in net.sizes])
    return net.pick(lambda v: v.is_float and v.rank == 3 and not v.is_empty and not v.varies(2) and v.shape[2] > 1, make)


def layer_norm_of(net, x):
    d = x.shape[-1]
    scale, bias = net.constant(net.floats([d])), net.constant(net.floats([d]))
    if net.opset >= 17 and net.chance(0.5):
        return net.add("LayerNormalization", [x, scale, bias], axis=-1)
    centred = net.add("Sub", [x, mean_over(net, x, [-1])])
    squares = net.add("Pow", [centred, scalar(net, 2)]) if net.chance(0.5) else net.add("Mul", [centred, centred])
    root = net.add("Sqrt", [net.add("Add", [mean_over(net, squares, [-1]), scalar(net, 1e-3)])])
    return net.add("Add", [net.add("Mul", [net.add("Div", [centred, root]), scale]), bias])


def activated(net, x):
    kind = net.integer(0, 5)
    if kind == 0:  # quick gelu
        return net.add("Mul", [x, net.add("Sigmoid", [net.add("Mul", [x, scalar(net, 1.702)])])])
    if kind == 1:  # gelu by tanh
        cube = net.add("Pow", [x, scalar(net, 3)])
        inner = net.add("Mul", [net.add("Add", [x, net.add("Mul", [cube, scalar(net, 0.044715)])]), scalar(net, 0.7978846)])
        return net.add("Mul", [net.add("Mul", [x, scalar(net, 0.5)]), net.add("Add", [net.add("Tanh", [inner]), scalar(net, 1)])])
    if kind == 2:  # hard swish
        gate = net.add("Clip", [net.add("Add", [x, scalar(net, 3)]), scalar(net, 0), scalar(net, 6)])
        return net.add("Mul", [x, net.add("Div", [gate, scalar(net, 6)])])
    if kind == 3:
        return gelu_spelled_out(net, x)
    if kind == 4:
        return net.add("Mul", [x, net.add("Sigmoid", [x])])
    return net.add("Relu", [x])


@operator(1)
def gelu_spelled_out(net, x=None):
    x = x or any_float(net)
    half = net.add("Mul", [x, net.constant(np.float32(0.5))])
    erf = net.add("Erf", [net.add("Div", [x, net.constant(np.float32(1.4142135))])])
    return net.add("Mul", [half, net.add("Add", [erf, net.constant(np.float32(1))])])


@operator(4)
def attention(net):
    """Over an input [b, s, d], of which b or s may vary, or none."""
    heads, width = net.sized((1, 2, 4), (2, 4, 12)), net.sized((4, 7, 8, 16, 32), (32, 64, 128))
    d, length = heads * width, net.sized((1, 5, 8, 17, 33, 64), (64, 128, 197, 320))
    which = net.integer(0, 2) if len(net.sizes) > 1 and 0 not in net.sizes else 2
    shapes = [(size if which == 0 else 2, size if which == 1 else length, d) for size in net.sizes]
    x = net.pick(lambda v: v.is_float and v.rank == 3 and v.shapes == shapes, lambda: net.input(shapes))
    source = x if net.chance(0.7) else net.input(shapes)

    def heads_of(v, order):
        projected = net.add("MatMul", [v, weights(net, [d, d], d)])
        if net.chance(0.6):
            projected = net.add("Add", [projected, net.constant(net.floats([d]))])
        return net.add("Transpose", [net.add("Reshape", [projected, net.ints(0, -1, heads, width)])], perm=order)
    q, v = heads_of(x, [0, 2, 1, 3]), heads_of(source, [0, 2, 1, 3])
    k = heads_of(source, [0, 2, 3, 1])
    scale = net.constant(np.float32(2.0 ** -(net.integer(1, 3))))
    where_scaled = net.integer(0, 2)
    if where_scaled == 0:
        q = net.add("Mul", [q, scale])
    scores = net.add("MatMul", [q, k])
    if where_scaled == 1:
        scores = net.add(net.choice(("Mul", "Div")), [scores, scale])
    scores = masked(net, scores, shapes, which)
    weights_of_keys = net.add("Softmax", [scores], axis=net.choice((-1, 3)))
    mixed = net.add("Transpose", [net.add("MatMul", [weights_of_keys, v])], perm=[0, 2, 1, 3])
    y = net.add("MatMul", [net.add("Reshape", [mixed, net.ints(0, 0, d)]), weights(net, [d, d], d)])
    return net.add("Add", [y, x]) if net.chance(0.6) else y


def masked(net, scores, shapes, which):
    kind = net.integer(0, 6)
    if kind == 0 and which != 1:
        length = shapes[0][1]
        causal = np.triu(np.full((length, length), -100, np.float32), 1)
        return net.add("Add", [scores, net.constant(causal)])
    if kind in (1, 2) and len(net.inputs) < 5:
        mask = net.input([(b, 1, s if kind == 1 else 1, s) for b, s, _ in shapes], np.bool_)
        low = net.constant(np.float32(-100))
        return net.add("Where", [mask, scores, low] if net.chance(0.5) else [mask, low, scores])
    if kind == 3 and len(net.inputs) < 5:
        mask = net.input([(b, s) for b, s, _ in shapes], net.choice((np.float32, np.int64, np.bool_)))
        for array in mask.arrays:
            array[...] = net.rng.integers(0, 2, array.shape)
        as_float = net.add("Cast", [net.add("Unsqueeze", [mask, net.ints(1, 2)])], to=TensorProto.FLOAT)
        off = net.add("Sub", [net.constant(np.float32(1)), as_float])
        return net.add("Add", [scores, net.add("Mul", [off, net.constant(np.float32(-100))])])
    if kind == 4 and len(net.inputs) < 5:
        return net.add("Add", [scores, net.input([(b, 1, s, s) for b, s, _ in shapes])])
    return scores


@operator(1.5)
def squeeze_and_excite(net):
    x = image(net, 4)
    mean = net.add("GlobalAveragePool", [x]) if net.chance(0.5) else (
        net.add("ReduceMean", [x, net.ints(2, 3)], keepdims=1) if net.opset >= 18 else net.add("ReduceMean", [x], axes=[2, 3], keepdims=1))
    channels, few = x.shape[1], net.choice((1, 2, 4, 8))
    hidden = net.add(net.choice(("Relu", "HardSwish")), [net.add("Conv", [mean, weights(net, [few, channels, 1, 1], channels), net.constant(net.floats([few]))])])
    gate = net.add(net.choice(("Sigmoid", "HardSigmoid")), [net.add("Conv", [hidden, weights(net, [channels, few, 1, 1], few), net.constant(net.floats([channels]))])])
    return net.add("Mul", [x, gate])


@operator(2)
def mlp(net):
    x = tokens(net)
    y = layer_norm_of(net, x) if net.chance(0.6) else x
    y = dense(net, activated(net, dense(net, y, net.sized((8, 20, 64), (256, 512, 1024)))), x.shape[-1])
    return net.add("Add", [x, y] if net.chance(0.5) else [y, x])


@operator(1.5)
def gated_mlp(net):
    x = tokens(net)
    width = net.choice((8, 16, 32))
    if net.chance(0.5):
        gate, up = net.add("Split", [dense(net, x, 2 * width), net.ints(width, width)], 2, axis=-1)
    else:
        gate, up = dense(net, x, width), dense(net, x, width)
    return dense(net, net.add("Mul", [net.add("Mul", [gate, net.add("Sigmoid", [gate])]), up]), x.shape[-1])


@operator(2)
def packed_attention(net):
    """Queries, keys and values of one product, apart by Split, Slice or Gather; scaled on both sides as PyTorch does."""
    x = tokens(net)
    heads, width = net.sized((1, 2, 3), (4, 6, 12)), net.sized((4, 8, 16, 32), (32, 64))
    d = heads * width
    qkv = dense(net, x, 3 * d)
    kind = net.integer(0, 2)
    if kind == 0:
        parts = net.add("Split", [qkv, net.ints(d, d, d)], 3, axis=2)
        q, k, v = (net.add("Transpose", [net.add("Reshape", [p, net.ints(0, 0, heads, width)])], perm=[0, 2, 1, 3]) for p in parts)
    else:
        five = net.add("Reshape", [qkv, net.ints(0, 0, 3, heads, width)])
        moved = net.add("Transpose", [five], perm=[2, 0, 3, 1, 4])
        if kind == 1:
            q, k, v = (net.add("Gather", [moved, net.constant(np.int64(i))], axis=0) for i in range(3))
        else:
            q, k, v = (net.add("Squeeze", [net.add("Slice", [moved, net.ints(i), net.ints(i + 1), net.ints(0)]), net.ints(0)]) for i in range(3))
    k = net.add("Transpose", [k], perm=[0, 1, 3, 2])
    if net.chance(0.5):
        root = scalar(net, width**-0.25)
        q, k = net.add("Mul", [q, root]), net.add("Mul", [k, root])
        scores = net.add("MatMul", [q, k])
    else:
        scores = net.add("Mul", [net.add("MatMul", [q, k]), scalar(net, width**-0.5)])
    if net.chance(0.5):
        scores = causal(net, scores)
    y = net.add("MatMul", [net.add("Softmax", [scores], axis=-1), v])
    y = net.add("Reshape", [net.add("Transpose", [y], perm=[0, 2, 1, 3]), net.ints(0, 0, d)])
    return dense(net, y, x.shape[-1])


def causal(net, scores):
    """A mask made of the run's length: by Range and a comparison, or by a triangle of ones."""
    length = net.add("Gather", [net.add("Shape", [scores]), net.constant(np.int64(net.choice((2, 3))))], axis=0)
    low = scalar(net, net.choice((-100, -1000)))
    if net.chance(0.5):
        positions = net.add("Range", [net.constant(np.int64(0)), length, net.constant(np.int64(1))])
        rows = net.add("Unsqueeze", [positions, net.ints(1)])
        seen = net.add("Not", [net.add("Greater", [positions, rows])])
        return net.add("Where", [seen, scores, low])
    most = max(shape[2] for shape in scores.shapes)
    table = net.constant(np.tril(np.ones((1, 1, most, most), np.bool_)))
    end = net.add("Unsqueeze", [length, net.ints(0)])
    cut = net.add("Slice", [table, net.ints(0), end, net.ints(2)])
    cut = net.add("Slice", [cut, net.ints(0), end, net.ints(3)])
    return net.add("Where", [cut, scores, low])


@operator(1.5)
def grouped_query_attention(net):
    """Rotary positions, keys and values repeated for several heads, a cache in front of them."""
    batch_varies, length = net.chance(0.5), net.choice((1, 4, 9))
    heads, repeats, width = net.choice((1, 2)), net.choice((1, 2, 4)), net.choice((8, 16))
    shapes = [(size if batch_varies else 2, length, heads * repeats * width) for size in net.sizes]
    x = net.input(shapes)

    def part(count):
        projected = net.add("MatMul", [x, weights(net, [shapes[0][2], count * width], shapes[0][2])])
        return net.add("Transpose", [net.add("Reshape", [projected, net.ints(0, -1, count, width)])], perm=[0, 2, 1, 3])
    q, k, v = rotated(net, part(heads * repeats)), rotated(net, part(heads)), part(heads)
    if net.chance(0.6):
        past = [(s[0], heads, size if not batch_varies else 3, width) for s, size in zip(shapes, net.sizes)]
        k, v = (net.add("Concat", [net.input(past), t], axis=2) for t in (k, v))
    if repeats > 1:
        k, v = (repeated(net, t, repeats, heads, width) for t in (k, v))
    scores = net.add("MatMul", [q, net.add("Transpose", [k], perm=[0, 1, 3, 2])])
    y = net.add("MatMul", [net.add("Softmax", [net.add("Div", [scores, scalar(net, width**0.5)])], axis=-1), v])
    return net.add("Reshape", [net.add("Transpose", [y], perm=[0, 2, 1, 3]), net.ints(0, length, -1)])


def rotated(net, x):
    half = x.shape[3] // 2
    angles = np.outer(np.arange(x.shape[2]), 1.0 / 4 ** np.arange(half)).astype(np.float32)
    cos, sin = (net.constant(np.tile(np.round(f(angles) * 64) / 64, 2).astype(np.float32)) for f in (np.cos, np.sin))
    first = net.add("Slice", [x, net.ints(0), net.ints(half), net.ints(3)])
    second = net.add("Slice", [x, net.ints(half), net.ints(2**63 - 1), net.ints(3)])
    turned = net.add("Concat", [net.add("Neg", [second]), first], axis=-1)
    return net.add("Add", [net.add("Mul", [x, cos]), net.add("Mul", [turned, sin])])


def repeated(net, x, times, heads, width):
    wide = net.add("Unsqueeze", [x, net.ints(2)])
    shape = net.add("Shape", [x])
    front = net.add("Slice", [shape, net.ints(0), net.ints(2)])
    back = net.add("Slice", [shape, net.ints(2), net.ints(4)])
    wide = net.add("Expand", [wide, net.add("Concat", [front, net.ints(times), back], axis=0)])
    return net.add("Reshape", [wide, net.ints(0, heads * times, -1, width)])


@operator(1)
def window_attention(net):
    """Swin's windows: shifted by slices that are joined again, cut by a reshape of six axes."""
    window, across, width = net.choice((2, 4, 7)), net.choice((1, 2, 3)), net.choice((8, 16))
    side = window * across
    x = net.input([(size, side, side, width) for size in net.sizes])
    shift = net.choice((0, 1, window // 2))
    rolled = x
    for axis in (1, 2) if shift else ():
        tail = net.add("Slice", [rolled, net.ints(shift), net.ints(2**63 - 1), net.ints(axis)])
        rolled = net.add("Concat", [tail, net.add("Slice", [rolled, net.ints(0), net.ints(shift), net.ints(axis)])], axis=axis)
    cut = net.add("Reshape", [rolled, net.ints(-1, across, window, across, window, width)])
    windows = net.add("Reshape", [net.add("Transpose", [cut], perm=[0, 1, 3, 2, 4, 5]), net.ints(-1, window * window, width)])
    scores = net.add("MatMul", [windows, net.add("Transpose", [windows], perm=[0, 2, 1])])
    scores = net.add("Add", [net.add("Mul", [scores, scalar(net, width**-0.5)]), net.constant(net.floats([1, window**2, window**2]))])
    y = net.add("MatMul", [net.add("Softmax", [scores], axis=-1), windows])
    back = net.add("Transpose", [net.add("Reshape", [y, net.ints(-1, across, across, window, window, width)])], perm=[0, 1, 3, 2, 4, 5])
    return net.add("Reshape", [back, net.ints(-1, side, side, width)])


@operator(1)
def patches(net):
    """A picture as tokens, a class token in front, positions added."""
    size, d, channels = net.choice((2, 4)), net.choice((8, 32)), net.choice((1, 3))
    side = size * net.choice((2, 3, 4))
    x = net.input([(batch, channels, side, side) for batch in net.sizes])
    w = weights(net, [d, channels, size, size], channels * size * size)
    y = net.add("Conv", [x, w, net.constant(net.floats([d]))], strides=[size, size], kernel_shape=[size, size])
    count = (side // size) ** 2
    y = net.add("Transpose", [net.add("Reshape", [y, net.ints(0, d, count)])], perm=[0, 2, 1])
    batch = net.add("Gather", [net.add("Shape", [y]), net.ints(0)], axis=0)
    token = net.add("Expand", [net.constant(net.floats([1, 1, d])), net.add("Concat", [batch, net.ints(1, d)], axis=0)])
    y = net.add("Concat", [token, y], axis=1)
    y = layer_norm_of(net, net.add("Add", [y, net.constant(net.floats([1, count + 1, d]))]))
    return net.add("Gather", [y, net.constant(np.int64(0))], axis=1) if net.chance(0.4) else y


def group_norm_by_shape(net, x):
    """GroupNorm as torch.onnx writes it: the norm of a view, and back to what Shape says."""
    channels = x.shape[1]
    groups = net.choice([g for g in (1, 2, 3, 4, 8, channels) if channels % g == 0])
    view = net.add("Reshape", [x, net.ints(0, groups, -1)])
    ones, zeros = net.constant(np.ones(groups, np.float32)), net.constant(np.zeros(groups, np.float32))
    y = net.add("Reshape", [net.add("InstanceNormalization", [view, ones, zeros], epsilon=1e-3), net.add("Shape", [x])])
    coefficients = [net.constant(net.floats([channels] + [1] * (x.rank - 2))) for _ in range(2)]
    return net.add("Add", [net.add("Mul", [y, coefficients[0]]), coefficients[1]])


@operator(1)
def normed_image(net):
    return activated(net, group_norm_by_shape(net, image(net, net.choice((3, 4)))))


def extent_of(net, x, axis):
    return net.add("Gather", [net.add("Shape", [x]), net.ints(axis)], axis=0)


@operator(2)
def frames_of_a_wave(net):
    """Strided convolutions over a length that varies, norms between them, then heads of what is left, as wav2vec2 has."""
    batch, least, step = net.choice((1, 2)), net.integer(60, 90), net.choice((1, 3, 7))
    which = net.integer(0, 2)
    x = net.input([(size if which == 0 else batch, 1, least if which == 0 else least + step * size) for size in net.sizes])
    channels, y = net.choice((4, 8, 16)), x
    for layer in range(net.integer(1, 4)):
        extent, stride = net.choice(((10, 5), (5, 2)) if layer == 0 else ((3, 2), (2, 2), (3, 1)))
        w = weights(net, [channels, y.shape[1], extent], y.shape[1] * extent)
        y = net.add("Conv", [y, w], kernel_shape=[extent], strides=[stride])
        y = gelu_spelled_out(net, group_norm_by_shape(net, y) if net.chance(0.7) else y)
    if net.chance(0.5):  # positions by a convolution of an even extent, one frame too many
        w = weights(net, [channels, channels // 2, 4], channels // 2 * 4)
        more = net.add("Conv", [y, w], kernel_shape=[4], pads=[2, 2], group=2)
        more = net.add("Slice", [more, net.ints(0), net.ints(-1), net.ints(2)])
        y = net.add("Add", [y, more])
    rows = net.add("Transpose", [y], perm=[0, 2, 1])
    count = extent_of(net, rows, 1)
    to = [extent_of(net, rows, 0), count, net.ints(2, -1)] if net.chance(0.5) else [net.ints(0), count, net.ints(-1, channels // 2)]
    heads = net.add("Transpose", [net.add("Reshape", [rows, net.add("Concat", to, axis=0)])], perm=[0, 2, 1, 3])
    flat = net.add("Reshape", [heads, net.add("Concat", [net.ints(-1), count, net.ints(channels // 2)], axis=0)])
    scores = net.add("Softmax", [net.add("MatMul", [flat, net.add("Transpose", [flat], perm=[0, 2, 1])])], axis=-1)
    y = net.add("Reshape", [net.add("MatMul", [scores, flat]), net.add("Shape", [heads])])
    y = net.add("Reshape", [net.add("Transpose", [y], perm=[0, 2, 1, 3]), net.add("Shape", [rows])])
    return net.add("Add", [rows, y])


@operator(1)
def split_by_arithmetic(net):
    """Halves, remainders and paddings of an axis that varies, computed from its extent."""
    x = net.pick(lambda v: v.is_float and v.rank >= 2 and not v.is_empty and min(s[0] for s in v.shapes) > 0,
                 lambda: net.input([(size + 1, net.extent(9)) for size in net.sizes]))
    n, k = extent_of(net, x, 0), net.choice((2, 3, 4))
    half = net.add("Div", [n, net.ints(k)])
    rest = net.add("Sub", [n, net.add("Mul", [half, net.ints(k)])]) if net.chance(0.5) else net.add("Mod", [n, net.ints(k)])
    if net.chance(0.5):  # padded to a multiple of k, then cut to pieces of k
        more = net.add("Mod", [net.add("Sub", [net.ints(k), rest]), net.ints(k)])
        pads = net.add("Concat", [net.ints(*[0] * x.rank), more, net.ints(*[0] * (x.rank - 1))], axis=0)
        padded = net.add("Pad", [x, pads])
        pieces = net.add("Div", [extent_of(net, padded, 0), net.ints(k)])
        return net.add("Reshape", [padded, net.add("Concat", [pieces, net.ints(k, -1)], axis=0)])
    first = net.add("Slice", [x, net.ints(0), half, net.ints(0)])
    others = net.add("Slice", [x, half, n, net.ints(0)])
    return net.add("Concat", [others, first], axis=0)


def conv_block(net, x, outputs, extent=3, stride=1, groups=1, act=True):
    channels, pad = x.shape[1], extent // 2
    w = weights(net, [outputs, channels // groups, extent, extent], channels // groups * extent * extent)
    y = net.add("Conv", [x, w, net.constant(net.floats([outputs]))] if net.chance(0.5) else [x, w], kernel_shape=[extent, extent],
                strides=[stride, stride], pads=[pad] * 4, group=groups)
    if net.chance(0.6):
        y = net.add("BatchNormalization", [y, *(net.constant(net.floats([outputs])) for _ in range(3)),
                                           net.constant(np.abs(net.floats([outputs])) + np.float32(0.5))])
    return activated(net, y) if act else y


@operator(2)
def inverted_residual(net):
    x = image(net, 4)
    wide, stride = net.sized((8, 16, 24), (64, 144, 256)), net.choice((1, 1, 2))
    y = conv_block(net, x, wide, 1)
    y = conv_block(net, y, wide, net.choice((3, 5)), stride, wide)
    if net.chance(0.4):
        gate = net.add("GlobalAveragePool", [y])
        gate = net.add("Conv", [net.add("Relu", [net.add("Conv", [gate, weights(net, [4, wide, 1, 1], wide)])]), weights(net, [wide, 4, 1, 1], 4)])
        y = net.add("Mul", [y, net.add(net.choice(("Sigmoid", "HardSigmoid")), [gate])])
    y = conv_block(net, y, x.shape[1], 1, act=False)
    return net.add("Add", [x, y]) if stride == 1 else y


@operator(2)
def joined_branches(net):
    """Branches of different kernels, one of another extent resized, joined along channels and read by a convolution."""
    x = image(net, 4)
    outputs = net.sized((3, 8, 16, 32), (64, 96, 128))
    parts = [conv_block(net, x, outputs, 1), conv_block(net, x, net.choice((5, 8, 64)), 3)]
    if net.chance(0.5):
        parts.append(x)
    if net.chance(0.3) and np.min(x.shapes, axis=0)[2:].min() > 1:
        small = net.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        parts.append(net.add("Resize", [small, None, net.constant(np.array([1, 1, 2, 2], np.float32), keeps_type=True)], mode="nearest",
                             coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    y = net.add("Concat", parts, axis=1)
    if net.chance(0.4) and not y.varies(1) and y.shape[1] % 2 == 0:  # channel shuffle
        h, w = (net.add("Gather", [net.add("Shape", [y]), net.ints(a)], axis=0) for a in (2, 3))
        halves = net.add("Reshape", [y, net.add("Concat", [net.ints(-1, 2, y.shape[1] // 2), h, w], axis=0)])
        y = net.add("Reshape", [net.add("Transpose", [halves], perm=[0, 2, 1, 3, 4]), net.add("Concat", [net.ints(-1, y.shape[1]), h, w], axis=0)])
    return conv_block(net, y, net.choice((4, 16)), net.choice((1, 3)))


@operator(1)
def channels_last_block(net):
    """ConvNeXt's: depthwise, then norm and products with channels last, scaled and added."""
    x = image(net, 4)
    channels = x.shape[1]
    extent = net.choice((3, 7))
    w = weights(net, [channels, 1, extent, extent], extent * extent)
    y = net.add("Conv", [x, w, net.constant(net.floats([channels]))], kernel_shape=[extent, extent], pads=[extent // 2] * 4, group=channels)
    y = layer_norm_of(net, net.add("Transpose", [y], perm=[0, 2, 3, 1]))
    y = dense(net, activated(net, dense(net, y, 2 * channels)), channels)
    y = net.add("Mul", [y, net.constant(net.floats([channels]))])
    return net.add("Add", [x, net.add("Transpose", [y], perm=[0, 3, 1, 2])])


@operator(1)
def classifier(net):
    x = image(net, 4)
    mean = net.add("GlobalAveragePool", [x]) if net.chance(0.5) else mean_over(net, x, [2, 3])
    flat = net.add("Flatten", [mean], axis=1) if net.chance(0.5) else net.add("Reshape", [mean, net.ints(-1, x.shape[1])])
    n = net.choice((1, 10, 37))
    w, trans = (weights(net, [n, x.shape[1]], x.shape[1]), 1) if net.chance(0.5) else (weights(net, [x.shape[1], n], x.shape[1]), 0)
    y = net.add("Gemm", [flat, w, net.constant(net.floats([n]))], transB=trans)
    return net.add("Softmax", [y], axis=1) if net.chance(0.5) else y


@operator(1)
def embedding(net):
    """Rows of a table by ids of the run, with positions, normalised."""
    rows, d, length = net.choice((5, 30)), net.choice((8, 16, 48)), net.choice((1, 7, 16))
    varying = net.integer(0, 1)
    ids = net.input([(size, length) if varying == 0 else (2, size) for size in net.sizes], net.choice((np.int64, np.int32)))
    for array in ids.arrays:
        array[...] = net.rng.integers(0, rows, array.shape)
    y = net.add("Gather", [net.constant(net.floats([rows, d])), ids], axis=0)
    if net.chance(0.6):
        most = max(shape[1] for shape in ids.shapes)
        end = net.add("Gather", [net.add("Shape", [ids]), net.ints(1)], axis=0)
        y = net.add("Add", [y, net.add("Slice", [net.constant(net.floats([1, most, d])), net.ints(0), end, net.ints(1)])])
    return layer_norm_of(net, y)


@operator(1)
def relative_to_one(net):
    """A series less its last (or first) entry, of as many as come."""
    x = any_float(net, 2, 4)
    axis = net.integer(0, x.rank - 1)
    begin, end = net.choice(((-1, 2**63 - 1), (0, 1), (-2, -1)))
    if min(shape[axis] for shape in x.shapes) < 2:
        raise Skip
    one = net.add("Slice", [x, net.ints(begin), net.ints(end), net.ints(axis)])
    return net.add(net.choice(("Sub", "Div") if net.chance(0.2) else ("Sub",)), [x, one])
