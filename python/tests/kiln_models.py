"""Small ONNX models for the tests of the package kiln."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model(nodes, inputs, outputs, initializers=(), name="small"):
    """A model; inputs and outputs are (name, type, shape)."""
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info(*value) for value in inputs],
        [helper.make_tensor_value_info(*value) for value in outputs],
        [numpy_helper.from_array(array, key) for key, array in initializers],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def affine(batch="n"):
    """y = relu(x @ w + b), x [n, 4], y [n, 3]; and its weights."""
    random = np.random.default_rng(1)
    w, b = random.standard_normal((4, 3)).astype("f"), random.standard_normal(3).astype("f")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["xw"]),
        helper.make_node("Add", ["xw", "b"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    made = model(nodes, [("x", FLOAT, [batch, 4])], [("y", FLOAT, [batch, 3])], [("w", w), ("b", b)], "affine")
    return made, w, b


def sum_and_product():
    """Two inputs, two outputs: a + b and a * b."""
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Mul", ["a", "b"], ["product"])]
    shape = ["n", 2]
    inputs = [("a", FLOAT, shape), ("b", FLOAT, shape)]
    return model(nodes, inputs, [("sum", FLOAT, shape), ("product", FLOAT, shape)])


def non_zero():
    """The places of x's elements that are not 0: data decides how many."""
    return model([helper.make_node("NonZero", ["x"], ["places"])], [("x", FLOAT, [3, 4])], [("places", INT64, [2, "k"])])


def places_of_others(value):
    """places [k, 2], those of x's elements that are not `value`: data decides how many. x is [n, 1]."""
    nodes = [
        helper.make_node("Sub", ["x", "value"], ["d"]),
        helper.make_node("NonZero", ["d"], ["by_axis"]),
        helper.make_node("Transpose", ["by_axis"], ["places"]),
    ]
    outputs = [("places", INT64, ["k", 2])]
    return model(nodes, [("x", FLOAT, ["n", 1])], outputs, [("value", np.array(value, "f"))])


def reshape_by_input():
    """x [6] in the shape that a second input says."""
    node = helper.make_node("Reshape", ["x", "shape"], ["y"])
    return model([node], [("x", FLOAT, [6]), ("shape", INT64, [2])], [("y", FLOAT, ["a", "b"])])


def unknown_operator():
    """A model with an operator that nobody has."""
    node = helper.make_node("Frobnicate", ["x"], ["y"], name="the_node")
    return model([node], [("x", FLOAT, [2])], [("y", FLOAT, [2])])


def chain(length):
    """Products one after the other, each of other weights: a build of some time."""
    random = np.random.default_rng(2)
    nodes, weights = [], []
    for i in range(length):
        weights.append((f"w{i}", (random.standard_normal((16, 16)) / 4).astype("f")))
        nodes.append(helper.make_node("MatMul", [f"v{i}" if i else "x", f"w{i}"], [f"p{i}"]))
        nodes.append(helper.make_node("Tanh", [f"p{i}"], [f"v{i + 1}" if i + 1 < length else "y"]))
    return model(nodes, [("x", FLOAT, [3, 16])], [("y", FLOAT, [3, 16])], weights, "chain")
