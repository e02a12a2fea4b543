"""Plugins in Python for nodes of ONNX models."""

import numpy as np
import onnx
import pytest
import tensorrt as trt
import tensorrt.plugin as trtp
from networks import Bench
from onnx import TensorProto, helper
from plugins import Scale, ScaleCreator

REGISTRY = trt.get_plugin_registry()
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def model_of(operator, **attributes):
    """The bytes of a model of one node, y = operator(x)."""
    node = helper.make_node(operator, ["x"], ["y"], name="the node")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "graph", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnx.ModelProto.SerializeToString(model)


def parsed(bench, model):
    parser = trt.OnnxParser(bench.network, bench.log)
    return parser, parser.parse(model)


@pytest.fixture
def scale():
    Scale.failing, Scale.calls = None, []
    creator = ScaleCreator()
    assert REGISTRY.register_creator(creator, "tests")
    yield creator
    Scale.failing = None
    assert REGISTRY.deregister_creator(creator)


def ran(bench):
    plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
    assert plan is not None, bench.log.take_errors()
    context = trt.Runtime(bench.log).deserialize_cuda_engine(plan).create_execution_context()
    y = np.empty_like(X)
    assert context.execute_v2([X.ctypes.data, y.ctypes.data])
    return y


def test_plugin_of_version_3(scale):
    bench = Bench()
    _, is_parsed = parsed(bench, model_of("PythonScale", plugin_namespace="tests", factor=[2.5]))
    assert is_parsed, bench.log.take_errors()
    assert isinstance(bench.network.get_layer(0).plugin, Scale)
    np.testing.assert_array_equal(ran(bench), X * np.float32(2.5))
    assert scale.phases == [trt.TensorRTPhase.BUILD, trt.TensorRTPhase.RUNTIME]


def test_creator_that_raises(scale):
    bench = Bench()
    Scale.failing = "create_plugin"
    parser, is_parsed = parsed(bench, model_of("PythonScale", plugin_namespace="tests", factor=[2.5]))
    assert not is_parsed and parser.num_errors == 1
    text = bench.log.take_errors()
    assert "create_plugin raised ValueError: no create_plugin today" in text
    assert "the node" in text


@trtp.register("onnx_tests::affine")
def affine(x: trtp.TensorDesc, factor: float, offset: int, name: str) -> trtp.TensorDesc:
    return x.like()


@trtp.impl("onnx_tests::affine")
def affine_impl(x, factor, offset, name, outputs, stream):
    assert (type(factor), type(offset), name) == (float, int, "some text")
    np.asarray(outputs[0])[...] = np.asarray(x) * factor + offset


def test_quick_plugin():
    bench = Bench()
    model = model_of("affine", plugin_namespace="onnx_tests", factor=1.5, offset=-3, name="some text")
    _, is_parsed = parsed(bench, model)
    assert is_parsed, bench.log.take_errors()
    np.testing.assert_allclose(ran(bench), X * 1.5 - 3, rtol=1e-6)
