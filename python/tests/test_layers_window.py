"""Layers that move a window over images, and those that scale them."""

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench, Case, check

RANDOM = np.random.default_rng(5)
IMAGE = RANDOM.integers(-8, 8, (1, 4, 5, 6)).astype(np.float32)
KERNEL = RANDOM.integers(-3, 4, (6, 2, 3, 2)).astype(np.float32)  # two groups of the four channels
BIAS = np.arange(6, dtype=np.float32)


def windows(image, window, stride, pads, dilation=(1, 1), value=0.0):
    """[n, c, y, x, window...] of an image that is padded by ((top, bottom), (left, right))."""
    padded = np.pad(image, ((0, 0), (0, 0), *pads), constant_values=value)
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilation)]
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(2, 3))
    return views[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def convolution(image, kernel, bias, stride, pads, dilation, groups):
    views = windows(image, kernel.shape[2:], stride, pads, dilation)
    parts = [
        np.einsum("ncyxhw,ochw->noyx", v, k)
        for v, k in zip(np.split(views, groups, axis=1), np.split(kernel, groups, axis=0))
    ]
    return np.concatenate(parts, axis=1) + bias.reshape(1, -1, 1, 1)


def deconvolution(image, kernel, stride, pads):
    """Of one group, without bias: every element of the image adds its kernel."""
    n, _, height, width = image.shape
    _, maps, kh, kw = kernel.shape
    out = np.zeros((n, maps, (height - 1) * stride[0] + kh, (width - 1) * stride[1] + kw), np.float32)
    for y in range(height):
        for x in range(width):
            part = np.einsum("nc,cohw->nohw", image[:, :, y, x], kernel)
            out[:, :, y * stride[0] : y * stride[0] + kh, x * stride[1] : x * stride[1] + kw] += part
    (top, bottom), (left, right) = pads
    return out[:, :, top : out.shape[2] - bottom, left : out.shape[3] - right]


CASES = [
    Case(
        "convolution_nd",
        trt.IConvolutionLayer,
        lambda bench, x: bench.network.add_convolution_nd(x, 6, (3, 2), KERNEL * 0, BIAS * 0),
        [IMAGE],
        [convolution(IMAGE, KERNEL, BIAS, (2, 1), ((1, 0), (0, 2)), (1, 2), 2)],
        {
            "num_groups": 2,
            "kernel": KERNEL,
            "bias": BIAS,
            "stride_nd": (2, 1),
            "pre_padding": (1, 0),
            "post_padding": (0, 2),
            "dilation_nd": (1, 2),
            "padding_mode": trt.PaddingMode.EXPLICIT_ROUND_DOWN,
        },
        {
            "num_output_maps": 6,
            "kernel_size_nd": (3, 2),
            "padding_nd": (1, 0),
            "type": trt.LayerType.CONVOLUTION,
        },
        terms=12,
    ),
    Case(
        "convolution_nd-same",
        trt.IConvolutionLayer,
        lambda bench, x: bench.network.add_convolution_nd(x, 3, (3, 3), kernel=np.ones((3, 4, 3, 3), np.float32)),
        [IMAGE],
        [
            convolution(
                IMAGE, np.ones((3, 4, 3, 3), np.float32), np.zeros(3, np.float32), (1, 1), ((1, 1), (1, 1)), (1, 1), 1
            )
        ],
        {"padding_mode": trt.PaddingMode.SAME_UPPER},
        {"bias": np.zeros(0, np.float32)},
        terms=36,
    ),
    Case(
        "deconvolution_nd",
        trt.IDeconvolutionLayer,
        lambda bench, x: bench.network.add_deconvolution_nd(x, 3, (3, 2), KERNEL.reshape(4, 3, 3, 2) * 0, trt.Weights()),
        [IMAGE],
        [deconvolution(IMAGE, KERNEL.reshape(4, 3, 3, 2), (2, 1), ((1, 1), (1, 1)))],
        {"kernel": KERNEL.reshape(4, 3, 3, 2), "stride_nd": (2, 1), "padding_nd": (1, 1)},
        {
            "num_output_maps": 3,
            "num_groups": 1,
            "kernel_size_nd": (3, 2),
            "pre_padding": (1, 1),
            "post_padding": (1, 1),
            "dilation_nd": (1, 1),
            "padding_mode": trt.PaddingMode.EXPLICIT_ROUND_DOWN,
            "type": trt.LayerType.DECONVOLUTION,
        },
        terms=24,
    ),
    Case(
        "pooling_nd-max",
        trt.IPoolingLayer,
        lambda bench, x: bench.network.add_pooling_nd(x, trt.PoolingType.AVERAGE, (1, 1)),
        [IMAGE],
        [windows(IMAGE, (3, 2), (2, 1), ((1, 1), (0, 0)), value=-np.inf).max((-2, -1))],
        {"type": trt.PoolingType.MAX, "window_size_nd": (3, 2), "stride_nd": (2, 1), "padding_nd": (1, 0)},
        {"pre_padding": (1, 0), "post_padding": (1, 0)},
    ),
    Case(
        "pooling_nd-average",
        trt.IPoolingLayer,
        lambda bench, x: bench.network.add_pooling_nd(x, trt.PoolingType.AVERAGE, (2, 2)),
        [IMAGE],
        [windows(IMAGE, (2, 2), (2, 2), ((0, 1), (1, 1))).mean((-2, -1))],
        {
            "average_count_excludes_padding": False,
            "stride_nd": (2, 2),
            "pre_padding": (0, 1),
            "post_padding": (1, 1),
            "padding_mode": trt.PaddingMode.EXPLICIT_ROUND_DOWN,
        },
        terms=4,
    ),
    Case(
        "pooling_nd-blend",
        trt.IPoolingLayer,
        lambda bench, x: bench.network.add_pooling_nd(x, trt.PoolingType.MAX_AVERAGE_BLEND, window_size=(2, 2)),
        [IMAGE],
        [
            0.75 * windows(IMAGE, (2, 2), (1, 1), ((0, 0), (0, 0))).max((-2, -1))
            + 0.25 * windows(IMAGE, (2, 2), (1, 1), ((0, 0), (0, 0))).mean((-2, -1))
        ],
        {"blend_factor": 0.25},
        {"type": trt.PoolingType.MAX_AVERAGE_BLEND},
        terms=4,
    ),
    Case(
        "scale",
        trt.IScaleLayer,
        lambda bench, x: bench.network.add_scale(x, trt.ScaleMode.UNIFORM, scale=np.float32([3])),
        [np.abs(IMAGE)],
        [(np.abs(IMAGE) * [[[[1]], [[2]], [[3]], [[4]]]] + 1) ** 2],
        {
            "mode": trt.ScaleMode.CHANNEL,
            "shift": np.ones(4, np.float32),
            "scale": np.float32([1, 2, 3, 4]),
            "power": np.full(4, 2, np.float32),
        },
        {"channel_axis": 1, "type": trt.LayerType.SCALE},
        terms=4,
    ),
    Case(
        "scale_nd",
        trt.IScaleLayer,
        lambda bench, x: bench.network.add_scale_nd(
            x, trt.ScaleMode.CHANNEL, np.arange(5, dtype=np.float32), None, None, 2
        ),
        [IMAGE],
        [IMAGE + np.arange(5).reshape(1, 1, 5, 1).astype(np.float32)],
        {"channel_axis": 2},
        {"scale": np.zeros(0, np.float32)},
    ),
]


def single(case):
    case.expected = [np.asarray(e, np.float32) for e in case.expected]
    return case


@pytest.mark.parametrize("case", [single(case) for case in CASES], ids=lambda case: case.id)
def test_layer(case):
    check(case)


def test_kernels_as_tensors():
    """Where the program gives no weights, they are inputs."""
    bench = Bench()
    x, kernel = bench.input("x", IMAGE), bench.input("kernel", (2, 4, 1, 1))
    layer = bench.network.add_convolution_nd(x, 2, (1, 1), trt.Weights())
    layer.set_input(1, kernel)
    assert layer.num_inputs == 2
    assert layer.kernel.size == 0
    values = np.float32([[1, 0, 0, 0], [0, 0, 1, 1]]).reshape(2, 4, 1, 1)
    (result,) = bench.run({"x": IMAGE, "kernel": values}, [layer.get_output(0)])
    np.testing.assert_array_equal(result, np.einsum("nchw,oc->nohw", IMAGE, values[:, :, 0, 0]))


def test_half_weights():
    bench = Bench()
    kernel = np.ones((2, 4, 1, 1), np.float16)
    layer = bench.network.add_convolution_nd(bench.input("x", IMAGE.astype(np.float16)), 2, (1, 1), kernel)
    assert layer.kernel.dtype == np.float16
    (result,) = bench.run({"x": IMAGE.astype(np.float16)}, [layer.get_output(0)])
    np.testing.assert_array_equal(result, IMAGE.sum(1, keepdims=True).repeat(2, axis=1).astype(np.float16))


@pytest.mark.parametrize("add", ["add_convolution_nd", "add_deconvolution_nd"])
def test_number_of_maps(add):
    bench = Bench()
    layer = getattr(bench.network, add)(bench.input("x", IMAGE), 2, (1, 1), np.ones(8, np.float32))
    layer.num_output_maps = 1
    layer.kernel = np.ones(4, np.float32)
    layer.kernel_size_nd = (1, 1)
    assert layer.num_output_maps == 1
    (result,) = bench.run({"x": IMAGE}, [layer.get_output(0)])
    np.testing.assert_array_equal(result, IMAGE.sum(1, keepdims=True))


def test_arrays_that_are_no_weights():
    bench = Bench()
    x = bench.input("x", IMAGE)
    strided = np.ones((2, 4, 1, 2), np.float32)[..., 0]
    for kernel, error in [
        (strided, ValueError),
        (np.ones(8, np.complex64), ValueError),
        ([1.0] * 8, TypeError),
        (None, TypeError),
        ("kernel", TypeError),
    ]:
        with pytest.raises(error):
            bench.network.add_convolution_nd(x, 2, (1, 1), kernel)
    assert bench.network.num_layers == 0
    assert bench.network.add_convolution_nd(x, 2, (1, 1), np.ones(7, np.float32)) is None
    assert "7" in bench.log.take_errors()
