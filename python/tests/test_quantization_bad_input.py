"""Quantized models and networks that are wrong: each is an error that says what and where."""

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench
from onnx import TensorProto, helper
from running import Messages, quick

X = np.ones((2, 4), np.float32)


def parse(*, scale=(1.0,), scale_dims=(), zero=(0,), zero_dims=(), zero_type=TensorProto.INT8, raw=None, **attributes):
    """The parser's error for a model of QuantizeLinear and DequantizeLinear; empty where it takes it."""
    tensors = [helper.make_tensor("s", TensorProto.FLOAT, scale_dims, scale)]
    if raw is None:
        point = TensorProto(name="z", data_type=zero_type, dims=zero_dims, int32_data=zero)
    else:
        point = TensorProto(name="z", data_type=zero_type, dims=zero_dims, raw_data=raw)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="quantize", **attributes),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], **attributes),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, X.shape)],
        [*tensors, point],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    logger = Messages()
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    if parser.parse(model.SerializeToString()):
        plan = builder.build_serialized_network(network, quick(builder))
        return "" if plan is not None else logger.all()
    return "\n".join(parser.get_error(i).desc() for i in range(parser.num_errors))


@pytest.mark.parametrize("scale", [0.0, -0.0, -0.5, float("inf"), float("-inf"), float("nan")])
def test_scales_are_finite_and_positive(scale):
    assert f"scale 0 of 1 is {scale:g}; scales are finite and positive" in parse(scale=[scale])
    vector = {"scale": [1, 1, scale, 1], "scale_dims": [4], "zero": [0] * 4, "zero_dims": [4], "axis": 1}
    assert f"scale 2 of 4 is {scale:g}; scales are finite and positive" in parse(**vector)
    bench = Bench()
    x = bench.input("x", X)
    layer = bench.network.add_quantize(x, bench.constant(scale))
    with pytest.raises(AssertionError, match="scales are finite and positive"):
        bench.run({"x": X}, [layer.get_output(0)])


@pytest.mark.parametrize(
    "text, arguments",
    [
        ("does not lie over x", {"scale": [1] * 3, "scale_dims": [3], "zero": [0] * 3, "zero_dims": [3], "axis": 1}),
        ("axis 5 is outside [-2, 2)", {"scale": [1] * 4, "scale_dims": [4], "zero": [0] * 4, "zero_dims": [4], "axis": 5}),
        ("block_size is -1", {"scale": [1] * 4, "scale_dims": [2, 2], "zero": [0] * 4, "zero_dims": [2, 2], "block_size": -1}),
        ("blocks of 1 along axis 0 of x, whose extent is 2", {"scale": [1] * 2, "scale_dims": [1, 2], "zero": [0] * 2, "zero_dims": [1, 2], "block_size": 2}),
        ("block_size is 2 and x f32[2, 4], so that the scale has 2 axes; it is f32[]", {"block_size": 2}),
        ("differ in shape", {"scale": [1] * 4, "scale_dims": [4], "zero": [0] * 3, "zero_dims": [3], "axis": 1}),
        ("differ in shape", {"zero": [0] * 4, "zero_dims": [4], "axis": 1}),
        ("differ in shape", {"scale": [1] * 4, "scale_dims": [4], "zero": [1, 2, 3], "zero_dims": [3], "axis": 1}),
        ("the number 256 does not fit INT8", {"zero": [256]}),
        ("the number -129 does not fit UINT8", {"zero": [-129], "zero_type": TensorProto.UINT8}),
        ("the number 281 does not fit INT4", {"zero": [0x119], "zero_type": TensorProto.INT4}),
        ("the zero point's type is f32", {"raw": b"\0\0\0\0", "zero_type": TensorProto.FLOAT}),
        ("raw_data holds 1 bytes; dims [3] of INT4 need 2", {"raw": b"\0", "zero_dims": [3], "zero_type": TensorProto.INT4}),
    ],
)
def test_models_that_are_wrong(text, arguments):
    assert text in parse(**arguments)


def test_models_that_are_right():
    assert parse() == ""
    assert parse(scale=[1] * 4, scale_dims=[4], zero=[0] * 4, zero_dims=[4], axis=1) == ""
    assert parse(scale=[1] * 4, scale_dims=[2, 2], zero=[0] * 4, zero_dims=[2, 2], axis=1, block_size=2) == ""


def test_blocks_of_layers():
    for scales, block, text in (
        (np.ones((2, 2), np.float32), (1, 3), "blocks of 3"),
        (np.ones((2, 2), np.float32), (2,), "the block has 1 extents"),
    ):
        bench = Bench()
        layer = bench.network.add_quantize(bench.input("x", X), bench.constant(scales), trt.int8)
        layer.block_shape = block
        with pytest.raises(AssertionError, match=text):
            bench.run({"x": X}, [layer.get_output(0)])


def test_int4_weights_of_odd_length():
    """Seven numbers take four bytes."""
    bench = Bench()
    packed = np.array([0x21, 0x43, 0x65, 0x0F], np.uint8)
    q = bench.network.add_constant((7,), trt.Weights(trt.int4, packed.ctypes.data, 7)).get_output(0)
    y = bench.network.add_dequantize(q, bench.constant(1.0), trt.float32).get_output(0)
    x = np.zeros(7, np.float32)
    sum_ = bench.network.add_elementwise(bench.input("x", x), y, trt.ElementWiseOperation.SUM).get_output(0)
    (result,) = bench.run({"x": x}, [sum_])
    np.testing.assert_array_equal(result, [1, 2, 3, 4, 5, 6, -1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_precisions_that_nothing_meets():
    """With OBEY_PRECISION_CONSTRAINTS the error names the layer and why."""
    logger = Messages()
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    x = network.add_input("x", trt.float32, (2, 4))
    w = np.full((4, 4), 0.5, np.float32)
    constant = network.add_constant((4, 4), w)
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, constant.get_output(0), trt.MatrixOperation.NONE)
    product.name = "product"
    relu = network.add_activation(product.get_output(0), trt.ActivationType.RELU)
    relu.name = "relu"
    network.mark_output(relu.get_output(0))
    config = quick(builder)
    config.set_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)

    def error():
        logger.texts.clear()
        return "" if builder.build_serialized_network(network, config) is not None else logger.all()

    product.precision = trt.float16
    assert "layer 'product': precision f16 cannot be had: BuilderFlag::kFP16 is not set" in error()
    product.precision = trt.int8
    assert "layer 'product': precision i8 cannot be had: BuilderFlag::kINT8 is not set" in error()
    config.set_flag(trt.BuilderFlag.INT8)
    assert "layer 'product' stays in float though its precision is INT8: the range of its input is not known" in error()
    x.dynamic_range = (-2, 2)
    constant.precision = trt.int8  # a constant computes nothing
    assert error() == ""
    relu.precision = trt.int8  # in the step of the product's bytes
    assert error() == ""
    softmax = network.add_softmax(relu.get_output(0))
    softmax.name = "softmax"
    network.mark_output(softmax.get_output(0))
    softmax.precision = trt.int8
    assert "layer 'softmax': precision i8 cannot be had: Kiln has no kernels for" in error()
