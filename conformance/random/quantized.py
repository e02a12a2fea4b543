"""Numbers of 8 bits or less: Quantize and Dequantize alone, around products and convolutions, and around what moves."""
import numpy as np

from networks import Skip
from operators import any_float, image, operator

LEVELS_APART = 2e-4  # least distance of a quotient from where it rounds the other way, unless it is exactly there


def step(net, low=-7, high=-3):
    """A scale. Products of powers of two and small integers are exact in whatever order they are added up."""
    return np.float32(2.0 ** net.integer(low, high))


def check_ties(x, scale):
    """Skips where rounding errors of other kernels would choose another level."""
    for array in x.arrays:
        quotient = np.abs(array.astype(np.float64) / scale)
        quotient = quotient[quotient < 300]
        from_tie = np.abs(quotient - np.floor(quotient) - 0.5)
        if np.any((from_tie > 0) & (from_tie < LEVELS_APART)):
            raise Skip


def kind_of(net):
    return net.choice((np.int8, np.uint8))


def zero_of(net, kind, shape=()):
    if kind == np.uint8:
        return net.rng.integers(100, 156, shape).astype(kind)
    return net.rng.integers(-20, 21, shape).astype(kind) if net.chance(0.3) else np.zeros(shape, kind)


def quantized(net, x, kind=None, scale=None):
    """Returns x as bytes, with the other inputs of its Dequantize."""
    kind = kind or kind_of(net)
    scale = step(net) if scale is None else scale
    check_ties(x, scale)
    others = [net.constant(scale), net.constant(zero_of(net, kind))]
    return net.add("QuantizeLinear", [x, *others]), others


def around(net, x, kind=None):
    """x, rounded to levels."""
    q, others = quantized(net, x, kind)
    return net.add("DequantizeLinear", [q, *others])


def bytes_of_weights(net, shape, channels):
    """A constant matrix or filter of dequantized bytes, with a scale for all or one for each index along `channels`."""
    q = net.constant(net.rng.integers(-127, 128, shape).astype(np.int8))
    if net.chance(0.5):
        inputs = [q, net.constant(step(net, -10, -7))]
    else:
        inputs = [q, net.constant((2.0 ** net.rng.integers(-10, -6, shape[channels])).astype(np.float32))]
    if net.chance(0.2):
        inputs.append(net.constant(np.zeros(inputs[1].shape, np.int8)))
    return net.add("DequantizeLinear", inputs, axis=channels)


def ended(net, y):
    """What exporters write behind a product."""
    if net.chance(0.4):
        y = net.add("Relu", [y])
    elif net.chance(0.3):
        y = net.add("Clip", [y, net.constant(np.float32(0)), net.constant(np.float32(6))])
    if net.chance(0.3):
        like = net.pick(lambda v: v.is_float and v.shapes == y.shapes and v.name != y.name)
        y = net.add("Add", [y, around(net, like) if net.chance(0.7) else like])
    return around(net, y) if net.chance(0.8) else y


@operator(1)
def fake_quantized(net):
    return around(net, any_float(net))


@operator(0.7)
def only_quantized(net):
    return quantized(net, any_float(net))[0]


@operator(0.7)
def quantized_by_channel(net):
    x = any_float(net, 1)
    axis = net.choice(x.fixed_axes() or [None])
    if axis is None:
        raise Skip
    scales = (2.0 ** net.rng.integers(-6, -2, x.shape[axis])).astype(np.float32)
    check_ties(x, scales.reshape([-1 if a == axis else 1 for a in range(x.rank)]))
    kind = kind_of(net)
    others = [net.constant(scales), net.constant(zero_of(net, kind, scales.shape))]
    q = net.add("QuantizeLinear", [x, *others], axis=axis)
    return net.add("DequantizeLinear", [q, *others], axis=axis - x.rank if net.chance(0.3) else axis)


@operator(1.5)
def product_of_bytes(net):
    x = around(net, net.pick(lambda v: v.is_float and v.rank >= 2 and not v.varies(v.rank - 1) and not v.is_empty,
                             lambda: net.input(net.shape(net.integer(1, 2))[:2] + [net.sized((1, 3, 8, 17, 64), (64, 96, 256))])))
    k, n = x.shape[-1], net.sized((1, 2, 5, 8, 16, 33, 64), (48, 64, 129, 256))
    y = net.add("MatMul", [x, bytes_of_weights(net, [k, n], 1)])
    if net.chance(0.6):
        y = net.add("Add", [y, net.constant(net.floats([n]))])
    return ended(net, y)


@operator(1)
def product_by_weights(net):
    """Floats by a constant matrix of bytes, with scales for all, a column, or blocks along k; perhaps [n, k] behind a Transpose."""
    x = net.pick(lambda v: v.is_float and v.rank >= 2 and not v.varies(v.rank - 1) and not v.is_empty,
                 lambda: net.input(net.shape(net.integer(1, 2))[:2] + [net.sized((16, 24, 64), (96, 128, 256))]))
    k, n = x.shape[-1], net.sized((1, 2, 5, 8, 16, 33, 64), (48, 64, 129, 256))
    turned, kind = net.chance(0.5), kind_of(net)
    shape, along_k = ([n, k], 1) if turned else ([k, n], 0)
    blocks = [size for size in (2, 8, 16, 32) if k % size == 0 and size < k] if net.opset >= 21 else []
    q = net.constant(net.rng.integers(*((-127, 128) if kind == np.int8 else (0, 256)), shape).astype(kind))
    scales, attributes = [], {}
    if blocks and net.chance(0.6):
        size = net.choice(blocks)
        scales, attributes = list(shape), {"axis": along_k, "block_size": size}
        scales[along_k] = k // size
    elif net.chance(0.6):
        scales, attributes = [n], {"axis": 1 - along_k}
    others = [net.constant((2.0 ** net.rng.integers(-10, -6, scales)).astype(np.float32))]
    if kind == np.uint8 or net.chance(0.4):
        others.append(net.constant(zero_of(net, kind, scales)))
    w = net.add("DequantizeLinear", [q, *others], **attributes)
    y = net.add("MatMul", [x, net.add("Transpose", [w], perm=[1, 0]) if turned else w])
    if net.chance(0.6):
        y = net.add("Add", [y, net.constant(net.floats([n]))])
    return net.add("Relu", [y]) if net.chance(0.3) else y


@operator(1.5)
def convolution_of_bytes(net):
    x = around(net, image(net, 4))
    channels, filters = x.shape[1], net.sized((1, 2, 5, 8, 16, 33), (32, 64, 96))
    groups = channels if net.chance(0.15) else 1
    filters = channels * net.choice((1, 2)) if groups > 1 else filters
    size = [net.choice((1, 1, 3, 3, 5)), net.choice((1, 3, 3))]
    w = bytes_of_weights(net, [filters, channels // groups, *size], 0)
    bias = [net.constant(net.floats([filters]))] if net.chance(0.6) else []
    pads = [net.integer(0, size[i % 2] // 2) for i in range(4)]
    y = net.add("Conv", [x, w, *bias], group=groups, pads=pads, strides=[net.choice((1, 1, 2)) for _ in size],
                dilations=[net.choice((1, 1, 1, 2)) for _ in size])
    return ended(net, y)


@operator(0.7)
def moved_between_levels(net):
    """What moves numbers between two pairs of the same scale."""
    x = any_float(net, 2)
    scale, kind = step(net), kind_of(net)
    q, others = quantized(net, x, kind, scale)
    y = net.add("DequantizeLinear", [q, *others])
    if x.rank == 4 and min(min(shape[2:]) for shape in x.shapes) > 1 and net.chance(0.5):
        y = net.add("MaxPool", [y], kernel_shape=[2, 2], strides=[net.choice((1, 2))] * 2, pads=[0, 0, net.integer(0, 1), net.integer(0, 1)])
    elif net.chance(0.5):
        y = net.add("Transpose", [y], perm=[int(a) for a in net.rng.permutation(x.rank)])
    else:
        y = net.add("Concat", [y, y], axis=net.integer(0, x.rank - 1))
    q = net.add("QuantizeLinear", [y, *others])
    return net.add("DequantizeLinear", [q, *others]) if net.chance(0.7) else q
