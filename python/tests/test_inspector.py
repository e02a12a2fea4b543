"""The engine inspector's JSON, as tools read it: keys, types and numbers of TensorRT's."""
import json

import numpy as np
import pytest
import tensorrt as trt
from running import Messages

NONE, TRANSPOSE = trt.MatrixOperation.NONE, trt.MatrixOperation.TRANSPOSE


def layers_of(build, **shapes):
    """The layers of a network of one input x, by name; `build` adds its layers and answers its output."""
    logger = Messages()
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, shapes.get("x", (1, 4, 8, 8)))
    network.mark_output(build(network, x))
    config = builder.create_builder_config()
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    plan = builder.build_serialized_network(network, config)
    assert plan is not None, logger.errors()
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    whole = json.loads(engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON))
    assert whole["Bindings"] == [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    return {layer["Name"]: layer for layer in whole["Layers"]}


def the_layer(layers, parameter_type):
    found = [layer for layer in layers.values() if layer.get("ParameterType") == parameter_type]
    assert len(found) == 1, layers
    return found[0]


def includes(layer, **expected):
    assert {key: layer.get(key) for key in expected} == expected


def weights(*shape):
    return trt.Weights(np.full(shape, 0.5, np.float32))


def convolution(network, x):
    layer = network.add_convolution_nd(x, 8, (3, 3), weights(8, 2, 3, 3), weights(8))
    layer.stride_nd, layer.pre_padding, layer.post_padding, layer.num_groups = (2, 2), (1, 1), (0, 1), 2
    layer.name = "conv"
    relu = network.add_activation(layer.get_output(0), trt.ActivationType.RELU)
    relu.name = "relu"
    return relu.get_output(0)


def test_a_layer_has_all_keys():
    layer = the_layer(layers_of(convolution), "Convolution")
    for key in ("Name", "LayerType", "Inputs", "Outputs", "TacticName", "TacticValue", "StreamId", "Metadata"):
        assert key in layer
    assert [sorted(t) for t in layer["Inputs"]] == [["Dimensions", "Format/Datatype", "Location", "Name"]]
    assert [t["Dimensions"] for t in layer["Inputs"]] == [[1, 4, 8, 8]]
    assert [t["Dimensions"] for t in layer["Constants"]] == [[8, 2, 3, 3], [8]]
    assert layer["TacticValue"].startswith("0x") and int(layer["TacticValue"], 16) > 0
    assert list(layer).index("Outputs") < list(layer).index("ParameterType") < list(layer).index("TacticName")


def test_convolution():
    layer = the_layer(layers_of(convolution), "Convolution")
    includes(layer, Kernel=[3, 3], Stride=[2, 2], Dilation=[1, 1], OutMaps=8, Groups=2)
    includes(layer, PaddingMode="kEXPLICIT_ROUND_DOWN", PrePadding=[1, 1], PostPadding=[0, 0])
    includes(layer, Weights={"Type": "Float", "Count": 144}, Bias={"Type": "Float", "Count": 8})
    includes(layer, HasBias=1, HasReLU=1, Activation="RELU", HasResidual=0, HasDynamicFilter=0)


def test_deconvolution():
    def build(network, x):
        layer = network.add_deconvolution_nd(x, 2, (3, 3), weights(4, 2, 3, 3), None)
        layer.stride_nd, layer.padding_nd = (2, 2), (1, 1)
        return layer.get_output(0)

    layer = the_layer(layers_of(build), "Deconvolution")
    includes(layer, Kernel=[3, 3], Stride=[2, 2], PrePadding=[1, 1], OutMaps=2, Groups=1, HasBias=0, Activation="NONE")


@pytest.mark.parametrize("kind, name", [(trt.PoolingType.MAX, "MAX"), (trt.PoolingType.AVERAGE, "AVERAGE")])
def test_pooling(kind, name):
    def build(network, x):
        layer = network.add_pooling_nd(x, kind, (3, 2))
        layer.stride_nd, layer.pre_padding, layer.post_padding = (2, 1), (1, 0), (0, 1)
        return layer.get_output(0)

    layer = the_layer(layers_of(build), "Pooling")
    includes(layer, PoolingType=name, WindowSize=[3, 2], Stride=[2, 1], PrePadding=[1, 0], PostPadding=[0, 1])
    includes(layer, AverageCountExcludesPadding=1, BlendFactor=0)


def test_product():
    layers = layers_of(
        lambda network, x: network.add_matrix_multiply(x, NONE, x, TRANSPOSE).get_output(0), x=(32, 16)
    )
    includes(the_layer(layers, "MatrixMultiply"), MatrixOpA="kNONE", MatrixOpB="kTRANSPOSE", HasDynamicFilter=1)


def test_resize():
    def build(network, x):
        layer = network.add_resize(x)
        layer.scales, layer.resize_mode = [1, 1, 2, 3], trt.InterpolationMode.LINEAR
        return layer.get_output(0)

    layer = the_layer(layers_of(build), "Resize")
    includes(layer, ResizeMode="kLINEAR", ResizeScales=[1, 1, 2, 3], ResizeSelector="kFORMULA")


def test_softmax_and_reduce():
    def build(network, x):
        softmax = network.add_softmax(x)
        softmax.axes = 1 << 1
        return network.add_reduce(softmax.get_output(0), trt.ReduceOperation.MAX, 1 << 3, False).get_output(0)

    layers = layers_of(build)
    includes(the_layer(layers, "SoftMax"), Axes=[1])
    includes(the_layer(layers, "Reduce"), Axes=[3], Operation="kMAX")


def test_pointwise():
    def build(network, x):
        two = network.add_elementwise(x, x, trt.ElementWiseOperation.SUM).get_output(0)
        return network.add_unary(two, trt.UnaryOperation.EXP).get_output(0)

    layer = the_layer(layers_of(build), "PointWise")
    assert layer["NbOperations"] == len(layer["Operations"]) >= 1 and layer["NbOutputVars"] == 1


def test_unknown_shapes_are_told_apart():
    """Padding that extents decide is left out until a context knows them."""
    logger = Messages()
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (1, 4, -1, 8))
    network.mark_output(convolution(network, x))
    config = builder.create_builder_config()
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4, 4, 8), (1, 4, 8, 8), (1, 4, 16, 8))
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    inspector = engine.create_engine_inspector()

    def convolutions():
        layers = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]
        return the_layer({layer["Name"]: layer for layer in layers}, "Convolution")

    assert "PostPadding" not in convolutions() and convolutions()["Inputs"][0]["Dimensions"] == [1, 4, -1, 8]
    context = engine.create_execution_context()
    assert context.set_input_shape("x", (1, 4, 8, 8))
    assert context.infer_shapes() == []
    inspector.execution_context = context
    includes(convolutions(), PrePadding=[1, 1], PostPadding=[0, 0])
