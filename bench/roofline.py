"""The least time that a network's contractions need on a GPU, from its ONNX file.

A contraction takes as long as its multiply-adds at the greatest rate, or as its operands and its result take to be moved
once in half precision, whichever is longer. Everything else counts as free: it can be part of a contraction. So can the
operands and the result of products without constants (attention): only their multiply-adds count.
"""
import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

BYTES_A_SECOND, FLOPS_A_SECOND = 4.25e12, 670e12  # a copy, and a product of 8192 x 8192 in FP16, on an H200
BYTES_AN_ELEMENT = 2


@dataclass
class Work:
    flops: float = 0
    bytes: float = 0  # of contractions, each by itself
    ms: float = 0

    def add(self, flops, size):
        self.flops += flops
        self.bytes += size
        self.ms += 1e3 * max(flops / FLOPS_A_SECOND, size / BYTES_A_SECOND)


def with_extents(model, symbols):
    """Names of dimensions become numbers, in the inputs; shapes, and values computed of shapes, follow from there."""
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in symbols:
                dim.dim_value = symbols[dim.dim_param]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    while True:
        del model.graph.value_info[:]
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        if not fold_values(model):
            return model


def fold_values(model, most=100_000):
    """Small values that follow from constants and shapes become constants; whether there were any."""
    shapes, folded = shapes_of(model), False
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer
              if tensor.data_location != onnx.TensorProto.EXTERNAL and math.prod(tensor.dims) <= most}
    for node in list(model.graph.node):
        if node.op_type == "Shape" and node.input[0] in shapes:
            found = [np.array(shapes[node.input[0]], np.int64)[slice_of(node)]]
        elif all(name in values for name in node.input if name):
            try:
                found = ReferenceEvaluator(node).run(None, {name: values[name] for name in node.input if name})
            except (ValueError, TypeError, IndexError, NotImplementedError):
                continue  # what onnx's evaluator cannot do; nothing is lost unless a shape depends on it
        else:
            continue
        model.graph.node.remove(node)
        folded = True
        for name, value in zip(node.output, found):
            values[name] = value
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return folded


def slice_of(node):
    ends = {a.name: a.i for a in node.attribute}
    return slice(ends.get("start"), ends.get("end"))


def shapes_of(model):
    shapes = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        dims = value.type.tensor_type.shape.dim
        if value.type.tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
            shapes[value.name] = [dim.dim_value for dim in dims]
    return shapes


def terms(node, x, w):
    """Terms of the sum that makes one element of the result, or of the input of a transposed convolution."""
    if node.op_type in ("Conv", "ConvTranspose"):
        return math.prod(w[1:])
    transposed = node.op_type == "Gemm" and any(a.name == "transA" and a.i for a in node.attribute)
    return x[-2] if transposed else x[-1]


def work_of(path, symbols):
    """The work of a model whose named dimensions have these extents. Fails where a contraction's shape is unknown."""
    model = with_extents(onnx.load(path, load_external_data=False), symbols)
    shapes = shapes_of(model)
    constants = {tensor.name for tensor in model.graph.initializer}
    total = Work()
    for node in model.graph.node:
        if node.op_type not in ("Conv", "ConvTranspose", "MatMul", "Gemm"):
            continue
        names = (*node.input[:2], node.output[0])
        if unknown := [name for name in names if name not in shapes]:
            raise ValueError(f"{path}: the shape of {unknown[0]!r} is not known")
        x, w, y = (shapes[name] for name in names)
        sums = math.prod(x if node.op_type == "ConvTranspose" else y)
        has_weights = any(name in constants for name in node.input[:2])
        size = BYTES_AN_ELEMENT * (math.prod(x) + math.prod(w) + math.prod(y)) if has_weights else 0
        total.add(2.0 * sums * terms(node, x, w), size)
    return total
