"""Networks that the parser made: their layers have classes, and weights that Python may read and replace."""

import gc

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest
import tensorrt as trt

from networks import Bench

IMAGE = np.arange(2 * 32 * 32, dtype=np.float32).reshape(1, 2, 32, 32) % 7
KERNEL = np.arange(64 * 2 * 9, dtype=np.float32).reshape(64, 2, 3, 3) % 5 - 2
ADDEND = np.arange(64, dtype=np.float32).reshape(1, 64, 1, 1)


def model():
    """A convolution, a sum with a constant, a pooling, a relu."""
    make, numpy_helper = onnx.helper.make_node, onnx.numpy_helper
    nodes = [
        make("Conv", ["x", "kernel"], ["a"], "conv"),
        make("Add", ["a", "addend"], ["b"], "add"),
        make("MaxPool", ["b"], ["c"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        make("Relu", ["c"], ["y"], "relu"),
    ]
    floats = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("x", floats, IMAGE.shape)],
        [onnx.helper.make_tensor_value_info("y", floats, (1, 64, 15, 15))],
        [numpy_helper.from_array(KERNEL, "kernel"), numpy_helper.from_array(ADDEND, "addend")],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]).SerializeToString()


def expected(kernel):
    views = np.lib.stride_tricks.sliding_window_view(IMAGE, (3, 3), axis=(2, 3))
    y = np.einsum("ncyxhw,ochw->noyx", views, kernel) + ADDEND
    return np.maximum(y.reshape(1, 64, 15, 2, 15, 2).max((3, 5)), 0)


@pytest.fixture
def bench():
    bench = Bench()
    parser = trt.OnnxParser(bench.network, bench.log)
    assert parser.parse(model())
    return bench  # without parser and model


def convolution_of(bench):
    return [layer for layer in bench.network if isinstance(layer, trt.IConvolutionLayer)][0]


def run(bench):
    output = bench.network.get_output(0)
    bench.network.unmark_output(output)
    return bench.run({"x": IMAGE}, [output])[0]


def test_layers_have_classes(bench):
    kinds = [type(layer) for layer in bench.network]
    assert trt.IConvolutionLayer in kinds and trt.IElementWiseLayer in kinds
    types = [layer.type for layer in bench.network]
    assert trt.LayerType.POOLING in types and trt.LayerType.ACTIVATION in types
    np.testing.assert_array_equal(run(bench), expected(KERNEL))


def test_weights_are_copied(bench):
    """Since the layer frees them when it gets others."""
    convolution = convolution_of(bench)
    shown = convolution.kernel
    np.testing.assert_array_equal(shown, KERNEL.reshape(-1))
    convolution.kernel = -KERNEL
    gc.collect()
    noise = [np.full(KERNEL.size, 9, np.float32) for _ in range(8)]
    np.testing.assert_array_equal(shown, KERNEL.reshape(-1))
    np.testing.assert_array_equal(convolution.kernel, -KERNEL.reshape(-1))
    np.testing.assert_array_equal(run(bench), expected(-KERNEL))
    assert len(noise) == 8


def test_weights_are_changed_through_a_property(bench):
    convolution = convolution_of(bench)
    convolution.kernel *= 2
    np.testing.assert_array_equal(run(bench), expected(2 * KERNEL))


def test_constants_are_changed(bench):
    constants = [layer for layer in bench.network if isinstance(layer, trt.IConstantLayer)]
    constant = [layer for layer in constants if tuple(layer.shape) == ADDEND.shape][0]
    np.testing.assert_array_equal(constant.weights, ADDEND.reshape(-1))
    constant.weights = np.full(64, 1000, np.float32)
    assert run(bench).min() >= 700
