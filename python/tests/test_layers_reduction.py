"""Layers whose elements depend on many: products, reductions, normalizations, selections."""

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench, Case, check

X = np.array([[3, 1, -2, 0.5], [0, 2, 5, -1], [-4, 0.25, 1, 2]], np.float32)
ORDERED = np.array([[3, 1, -2, 0.5], [7, 2, 5, -1]], np.float32)
R = trt.ReduceOperation
M = trt.MatrixOperation


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normalized(x, axes, epsilon):
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def reduce(op, function, keep):
    return Case(
        f"reduce-{op.name}",
        trt.IReduceLayer,
        lambda bench, x: bench.network.add_reduce(x, R.SUM, 1, False),
        [X],
        [function(X, axis=1, keepdims=keep)],
        {"op": op, "axes": 1 << 1, "keep_dims": keep},
        {"type": trt.LayerType.REDUCE},
        terms=4,
    )


REDUCE = [
    reduce(R.SUM, np.sum, True),
    reduce(R.PROD, np.prod, False),
    reduce(R.MAX, np.max, True),
    reduce(R.MIN, np.min, False),
    reduce(R.AVG, np.mean, True),
]

CASES = [
    Case(
        "matrix_multiply",
        trt.IMatrixMultiplyLayer,
        lambda bench, a, b: bench.network.add_matrix_multiply(a, M.TRANSPOSE, b, M.NONE),
        [X[:, 1:], X[:, :3]],
        [X[:, 1:] @ X[:, :3].T],
        {"op0": M.NONE, "op1": M.TRANSPOSE},
        {"type": trt.LayerType.MATRIX_MULTIPLY},
        terms=4,
    ),
    Case(
        "matrix_multiply-vector",
        trt.IMatrixMultiplyLayer,
        lambda bench, a, b: bench.network.add_matrix_multiply(a, M.TRANSPOSE, b, M.VECTOR),
        [X.T.copy(), ORDERED[0]],
        [X @ ORDERED[0]],
        {},
        {"op0": M.TRANSPOSE, "op1": M.VECTOR},
        terms=4,
    ),
    Case(
        "einsum",
        trt.IEinsumLayer,
        lambda bench, a, b: bench.network.add_einsum([a, b], "ij,kj->ik"),
        [X, ORDERED],
        [(X @ ORDERED.T).T],
        {"equation": "ij,kj->ki"},
        {"type": trt.LayerType.EINSUM},
        terms=4,
    ),
    Case(
        "softmax",
        trt.ISoftMaxLayer,
        lambda bench, x: bench.network.add_softmax(x),
        [X],
        [softmax(X, 1)],
        {"axes": 1 << 1},
        {"type": trt.LayerType.SOFTMAX},
        terms=4,
    ),
    Case(
        "cumulative",
        trt.ICumulativeLayer,
        lambda bench, x: bench.network.add_cumulative(
            x, bench.constant(1, np.int32), trt.CumulativeOperation.SUM, False, False
        ),
        [X],
        [np.stack([[X[r, c + 1 :].sum() for c in range(4)] for r in range(3)])],
        {"op": trt.CumulativeOperation.SUM, "exclusive": True, "reverse": True},
        {"type": trt.LayerType.CUMULATIVE},
        terms=4,
    ),
    Case(
        "normalization",
        trt.INormalizationLayer,
        lambda bench, x: bench.network.add_normalization(
            x, bench.constant(np.full((1, 4), 2)), bench.constant(np.full((1, 4), 0.5)), 1 << 0
        ),
        [X],
        [(2 * normalized(X, 1, 0.01) + 0.5).astype(np.float32)],
        {"epsilon": 0.01, "axes": 1 << 1, "num_groups": 1, "compute_precision": trt.float32},
        {"is_v2": False, "type": trt.LayerType.NORMALIZATION},
        terms=4,
    ),
    Case(
        "topk",
        trt.ITopKLayer,
        lambda bench, x: bench.network.add_topk(x, trt.TopKOperation.MIN, 1, 1 << 0),
        [ORDERED],
        [np.array([[3, 1], [7, 5]], np.float32), np.array([[0, 1], [0, 2]], np.int32)],
        {"op": trt.TopKOperation.MAX, "k": 2, "axes": 1 << 1},
        {"indices_type": trt.int32, "type": trt.LayerType.TOPK},
    ),
    Case(
        "topk-int64",
        trt.ITopKLayer,
        lambda bench, x: bench.network.add_topk(x, trt.TopKOperation.MIN, 1, 1 << 1, trt.int64),
        [ORDERED],
        [np.array([[-2], [-1]], np.float32), np.array([[2], [3]], np.int64)],
        {},
        {"indices_type": trt.int64},
    ),
    Case(
        "non_zero",
        trt.INonZeroLayer,
        lambda bench, x: bench.network.add_non_zero(x),
        [np.array([[0, 2], [3, 0]], np.float32)],
        [np.array([[0, 1], [1, 0]], np.int32)],
        {},
        {"indices_type": trt.int32, "type": trt.LayerType.NON_ZERO},
    ),
    Case(
        "non_zero-int64",
        trt.INonZeroLayer,
        lambda bench, x: bench.network.add_non_zero(x, trt.int64),
        [np.array([0, 2, 0, 3], np.int32)],
        [np.array([[1, 3]], np.int64)],
        {},
        {"indices_type": trt.int64},
    ),
]


@pytest.mark.parametrize("case", REDUCE + CASES, ids=lambda case: case.id)
def test_layer(case):
    check(case)


def test_every_reduction_has_a_case():
    assert {case.set["op"] for case in REDUCE} == set(R) - {R.NONE}


@pytest.mark.parametrize("indices_type", [None, trt.int64])
def test_nms(indices_type):
    """Two classes, three boxes of which two overlap."""
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]]], np.float32)
    scores = np.array([[[0.9, 0.1], [0.8, 0.7], [0.6, 0.2]]], np.float32)
    bench = Bench()
    arguments = (bench.input("boxes", boxes), bench.input("scores", scores), bench.constant(2, np.int32))
    layer = bench.network.add_nms(*arguments, *([indices_type] if indices_type else []))
    assert type(layer) is trt.INMSLayer
    layer.bounding_box_format = trt.BoundingBoxFormat.CORNER_PAIRS
    layer.topk_box_limit = 3
    layer.set_input(3, bench.constant(0.5))
    layer.set_input(4, bench.constant(0.3))
    assert layer.bounding_box_format is trt.BoundingBoxFormat.CORNER_PAIRS
    assert (layer.topk_box_limit, layer.num_inputs, layer.type) == (3, 5, trt.LayerType.NMS)
    assert layer.indices_type == (indices_type or trt.int32)
    chosen, count = bench.run({"boxes": boxes, "scores": scores}, [layer.get_output(0), layer.get_output(1)])
    assert chosen.dtype == np.dtype(trt.nptype(layer.indices_type))
    assert int(count) == 3
    assert sorted(chosen.tolist()) == [[0, 0, 0], [0, 0, 2], [0, 1, 1]]


def test_topk_of_a_tensor():
    bench = Bench()
    layer = bench.network.add_topk(bench.input("x", ORDERED), trt.TopKOperation.MAX, 1, 2)
    layer.set_input(1, bench.constant(3, np.int32))
    assert layer.num_inputs == 2
    (values,) = bench.run({"x": ORDERED}, [layer.get_output(0)])
    np.testing.assert_array_equal(values, -np.sort(-ORDERED)[:, :3])


def test_normalization_v2():
    x = np.arange(24, dtype=np.float32).reshape(2, 6, 2)
    bench = Bench()
    scale, bias = bench.constant(np.arange(6).reshape(1, 6, 1)), bench.constant(np.ones((1, 6, 1)))
    layer = bench.network.add_normalization_v2(bench.input("x", x), scale, bias, 1 << 2)
    assert layer.is_v2 is True
    layer.num_groups = 3
    assert layer.num_groups == 3
    (result,) = bench.run({"x": x}, [layer.get_output(0)])
    grouped = normalized(x.reshape(2, 3, 4), 2, 1e-5).reshape(x.shape)
    expected = grouped * np.arange(6).reshape(1, 6, 1) + 1
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def fill(bench, *arguments):
    layer = bench.network.add_fill(*arguments)
    assert type(layer) is trt.IFillLayer
    return layer


def test_fill_of_reals():
    bench = Bench()
    layer = fill(bench, (2,), trt.FillOperation.RANDOM_UNIFORM, trt.float32)
    layer.shape, layer.operation = (4,), trt.FillOperation.LINSPACE
    layer.alpha, layer.beta = 0.5, 0.25
    assert (layer.alpha, layer.beta, layer.is_alpha_beta_int64()) == (0.5, 0.25, False)
    assert (tuple(layer.shape), layer.operation) == ((4,), trt.FillOperation.LINSPACE)
    assert (layer.to_type, layer.type) == (trt.float32, trt.LayerType.FILL)
    x = bench.input("x", (4,))
    out = bench.network.add_elementwise(layer.get_output(0), x, trt.ElementWiseOperation.SUM).get_output(0)
    (result,) = bench.run({"x": np.ones(4, np.float32)}, [out])
    np.testing.assert_array_equal(result, np.array([1.5, 1.75, 2, 2.25], np.float32))


def test_fill_of_integers():
    bench = Bench()
    layer = fill(bench, (3,), trt.FillOperation.LINSPACE, trt.int32)
    layer.to_type = trt.int64
    layer.alpha, layer.beta = 7, np.int64(-2)
    assert (layer.alpha, layer.beta, layer.is_alpha_beta_int64()) == (7, -2, True)
    assert type(layer.alpha) is int
    assert layer.to_type == trt.int64
    with pytest.raises(TypeError):
        layer.alpha = "seven"
    x = bench.input("x", (3,), trt.int64)
    out = bench.network.add_elementwise(layer.get_output(0), x, trt.ElementWiseOperation.SUM).get_output(0)
    (result,) = bench.run({"x": np.zeros(3, np.int64)}, [out])
    np.testing.assert_array_equal(result, [7, 5, 3])


def test_fill_of_tensors_and_without_a_type():
    bench = Bench()
    layer = fill(bench, (1,), trt.FillOperation.LINSPACE)
    layer.set_input(0, bench.network.add_shape(bench.input("x", (5,))).get_output(0))
    assert layer.num_inputs == 1
    (result,) = bench.run({"x": np.zeros(5, np.float32)}, [layer.get_output(0)])
    np.testing.assert_array_equal(result, np.arange(5, dtype=np.float32))


def test_random_fills_lie_in_their_range():
    bench = Bench()
    layer = fill(bench, (1000,), trt.FillOperation.RANDOM_UNIFORM, trt.float32)
    layer.alpha, layer.beta = 2.0, 3.0
    (result,) = bench.run({}, [layer.get_output(0)])
    assert result.min() >= 2 and result.max() <= 3 and result.std() > 0.2
