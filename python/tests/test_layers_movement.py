"""Layers that move elements and compute none."""

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench, Case, check

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
IMAGE = np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3)


def with_axis(layer, axis):
    layer.axis = axis
    return layer


CASES = [
    Case(
        "shuffle",
        trt.IShuffleLayer,
        lambda bench, x: bench.network.add_shuffle(x),
        [X],
        [X.transpose(1, 0, 2).reshape(3, 8).T],
        {"first_transpose": (1, 0, 2), "reshape_dims": (0, -1), "second_transpose": (1, 0), "zero_is_placeholder": True},
        {"type": trt.LayerType.SHUFFLE},
    ),
    Case(
        "slice",
        trt.ISliceLayer,
        lambda bench, x: bench.network.add_slice(x, (0, 0, 0), (1, 1, 1), (1, 1, 1)),
        [X],
        [X[0:2, 2:0:-1, 1:4:2]],
        {"start": (0, 2, 1), "shape": (2, 2, 2), "stride": (1, -1, 2), "mode": trt.SampleMode.STRICT_BOUNDS},
        {"type": trt.LayerType.SLICE},
    ),
    Case(
        "slice-wrap",
        trt.ISliceLayer,
        lambda bench, x: bench.network.add_slice(x, (0, 0, 2), (2, 3, 6), (1, 1, 1)),
        [X],
        [np.take(X, np.arange(2, 8) % 4, axis=2)],
        {"mode": trt.SampleMode.WRAP},
    ),
    Case(
        "slice-of-axes",
        trt.ISliceLayer,
        lambda bench, x: bench.network.add_slice(x, (1,), (2,), (1,)),
        [X],
        [X[:, 1:3]],
        {"axes": (1,)},
    ),
    Case(
        "concatenation",
        trt.IConcatenationLayer,
        lambda bench, x, y: bench.network.add_concatenation([x, y, x]),
        [X, X[:, :1] + 100],
        [np.concatenate([X, X[:, :1] + 100, X], axis=1)],
        {"axis": 1},
        {"num_inputs": 3, "type": trt.LayerType.CONCATENATION},
    ),
    Case(
        "gather",
        trt.IGatherLayer,
        lambda bench, x, i: bench.network.add_gather(x, i, 0),
        [X, np.array([2, 0], np.int32)],
        [np.take(X, [2, 0], axis=1)],
        {"axis": 1, "num_elementwise_dims": 0, "mode": trt.GatherMode.DEFAULT},
        {"type": trt.LayerType.GATHER},
    ),
    Case(
        "gather_v2-element",
        trt.IGatherLayer,
        lambda bench, x, i: bench.network.add_gather_v2(x, i, trt.GatherMode.ELEMENT),
        [X, np.ones((2, 1, 4), np.int32)],
        [X[:, 1:2]],
        {"axis": 1},
        {"mode": trt.GatherMode.ELEMENT},
    ),
    Case(
        "gather_v2-nd",
        trt.IGatherLayer,
        lambda bench, x, i: bench.network.add_gather_v2(x, i, trt.GatherMode.ND),
        [X, np.array([[1, 2], [0, 1]], np.int32)],
        [X[[1, 0], [2, 1]]],
        {},
        {"mode": trt.GatherMode.ND},
    ),
    Case(
        "scatter-element",
        trt.IScatterLayer,
        lambda bench, x, i, u: bench.network.add_scatter(x, i, u, trt.ScatterMode.ELEMENT),
        [X[0], np.array([[3, 0], [2, 1], [0, 1]], np.int32), np.full((3, 2), -1, np.float32)],
        [np.array([[-1, 1, 2, -1], [4, -1, -1, 7], [-1, -1, 10, 11]], np.float32)],
        {"axis": 1},
        {"mode": trt.ScatterMode.ELEMENT, "type": trt.LayerType.SCATTER},
    ),
    Case(
        "scatter-nd",
        trt.IScatterLayer,
        lambda bench, x, i, u: bench.network.add_scatter(x, i, u, trt.ScatterMode.ND),
        [X[0], np.array([[2], [0]], np.int32), -X[0, :2]],
        [np.stack([-X[0, 1], X[0, 1], -X[0, 0]])],
        {},
        {"mode": trt.ScatterMode.ND},
    ),
    Case(
        "resize-nearest",
        trt.IResizeLayer,
        lambda bench, x: bench.network.add_resize(x),
        [IMAGE],
        [IMAGE.repeat(2, axis=2).repeat(2, axis=3)],
        {
            "shape": (1, 2, 6, 6),
            "resize_mode": trt.InterpolationMode.NEAREST,
            "coordinate_transformation": trt.ResizeCoordinateTransformation.ASYMMETRIC,
            "nearest_rounding": trt.ResizeRoundMode.FLOOR,
            "selector_for_single_pixel": trt.ResizeSelector.UPPER,
        },
        {"scales": [], "type": trt.LayerType.RESIZE},
    ),
    Case(
        "resize-linear",
        trt.IResizeLayer,
        lambda bench, x: bench.network.add_resize(x),
        [IMAGE],
        [np.stack([np.add.outer(3 * np.linspace(0, 2, 5), np.linspace(0, 2, 5)) + 9 * c for c in range(2)])[None].astype(np.float32)],
        {
            "shape": (1, 2, 5, 5),
            "resize_mode": trt.InterpolationMode.LINEAR,
            "coordinate_transformation": trt.ResizeCoordinateTransformation.ALIGN_CORNERS,
            "cubic_coeff": -0.5,
            "exclude_outside": False,
        },
    ),
    Case(
        "resize-scales",
        trt.IResizeLayer,
        lambda bench, x: bench.network.add_resize(x),
        [IMAGE],
        [IMAGE.repeat(3, axis=3)],
        {"scales": [1.0, 1.0, 1.0, 3.0]},
    ),
    Case(
        "padding_nd",
        trt.IPaddingLayer,
        lambda bench, x: bench.network.add_padding_nd(x, (0, 0), (0, 0)),
        [IMAGE],
        [np.pad(IMAGE, ((0, 0), (0, 0), (1, 0), (0, 2)))[:, :, :-1]],
        {"pre_padding_nd": (1, 0), "post_padding_nd": (-1, 2)},
        {"type": trt.LayerType.PADDING},
    ),
    Case(
        "shape",
        trt.IShapeLayer,
        lambda bench, x: bench.network.add_shape(x),
        [X],
        [np.array([2, 3, 4], np.int64)],
        {},
        {"type": trt.LayerType.SHAPE},
    ),
    Case(
        "squeeze",
        trt.ISqueezeLayer,
        lambda bench, x: bench.network.add_squeeze(x, bench.constant([1], np.int64)),
        [X[:, :1]],
        [X[:, 0]],
        {},
        {"type": trt.LayerType.SQUEEZE},
    ),
    Case(
        "unsqueeze",
        trt.IUnsqueezeLayer,
        lambda bench, x: bench.network.add_unsqueeze(x, bench.constant([0, 2], np.int64)),
        [X],
        [X[None, :, None]],
        {},
        {"type": trt.LayerType.UNSQUEEZE},
    ),
    Case(
        "grid_sample",
        trt.IGridSampleLayer,
        lambda bench, x, grid: bench.network.add_grid_sample(x, grid),
        [IMAGE, np.array([[[[-1, -1], [1, 1]], [[0, 0], [0.5, -1]]]], np.float32)],
        [np.array([[[[0, 8], [4, 1.5]], [[9, 17], [13, 10.5]]]], np.float32)],
        {
            "interpolation_mode": trt.InterpolationMode.LINEAR,
            "align_corners": True,
            "sample_mode": trt.SampleMode.CLAMP,
        },
        {"type": trt.LayerType.GRID_SAMPLE},
        terms=4,
    ),
    Case(
        "one_hot",
        trt.IOneHotLayer,
        lambda bench, i: bench.network.add_one_hot(
            i, bench.constant([-1, 5]), bench.constant(4, np.int32), 0
        ),
        [np.array([3, 1, 0], np.int32)],
        [np.where(np.arange(4) == np.array([3, 1, 0])[:, None], 5, -1).astype(np.float32)],
        {"axis": 1},
        {"type": trt.LayerType.ONE_HOT},
    ),
    Case(
        "reverse_sequence",
        trt.IReverseSequenceLayer,
        lambda bench, x, lengths: bench.network.add_reverse_sequence(x, lengths),
        [X[0], np.array([2, 4, 1], np.int32)],
        [np.array([[1, 0, 2, 3], [7, 6, 5, 4], [8, 9, 10, 11]], np.float32)],
        {"batch_axis": 0, "sequence_axis": 1},
        {"type": trt.LayerType.REVERSE_SEQUENCE},
    ),
    Case(
        "constant",
        trt.IConstantLayer,
        lambda bench, x: bench.network.add_constant((6, 4), -X),
        [X],
        [-X],
        {"shape": (2, 3, 4), "weights": X * -1},
        {"type": trt.LayerType.CONSTANT, "num_inputs": 0},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_layer(case):
    check(case)


def test_shapes_as_tensors():
    """Layers that take their extents as a second input."""
    bench = Bench()
    x = bench.input("x", X)
    shuffle = bench.network.add_shuffle(x)
    shuffle.set_input(1, bench.constant([4, 6], np.int64))
    assert shuffle.num_inputs == 2
    piece = bench.network.add_slice(shuffle.get_output(0), (0, 0), (1, 1), (1, 1))
    for index, values in enumerate([[1, 2], [2, 3], [1, 1]], 1):
        piece.set_input(index, bench.constant(values, np.int64))
    resize = bench.network.add_resize(piece.get_output(0))
    resize.set_input(1, bench.constant([2, 6], np.int64))
    assert [layer.num_inputs for layer in (piece, resize)] == [4, 2]
    squeeze = bench.network.add_squeeze(resize.get_output(0), bench.constant([0], np.int64))
    assert bench.log.take_errors() != ""  # extent 2
    assert squeeze is None
    (result,) = bench.run({"x": X}, [resize.get_output(0)])
    np.testing.assert_array_equal(result, X.reshape(4, 6)[1:3, 2:5].repeat(2, axis=1))


def test_permutations_read_back():
    bench = Bench()
    layer = bench.network.add_shuffle(bench.input("x", X))
    layer.first_transpose = trt.Permutation([2, 0, 1])
    layer.second_transpose = [1, 0, 2]
    assert list(layer.first_transpose)[:3] == [2, 0, 1]
    assert list(layer.second_transpose)[:3] == [1, 0, 2]
    layer.zero_is_placeholder = False
    assert layer.zero_is_placeholder is False
    with pytest.raises(TypeError):
        layer.first_transpose = "012"
