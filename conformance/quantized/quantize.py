#!/usr/bin/env python3
"""Inserts QuantizeLinear and DequantizeLinear by hand: per-channel scales for weights, one scale for an activation, zero
points of 0. Scales of activations are what ONNX Runtime saw on the inputs given.

usage: quantize.py MODEL.onnx QUANTIZED.onnx [--fp8] [--residuals] [--extents NAME=EXTENT,...]

The inputs are random: standard normal numbers, integers of 0 and 1. NAME is an axis' name; axes not given are 1.
--residuals: what an Add takes beside a convolution's result is quantized, too.
"""
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

PRODUCTS = ("Conv", "MatMul", "Gemm")
LARGEST = {"int8": 127.0, "fp8": 448.0}
ZERO_TYPE = {"int8": TensorProto.INT8, "fp8": TensorProto.FLOAT8E4M3FN}


def channel_axis(node, rank):
    """The axis of a weight along which the channels of the result lie."""
    if node.op_type == "Conv":
        return 0
    transposed = any(a.name == "transB" and a.i for a in node.attribute)
    return rank - 2 if transposed else rank - 1


def ranges_of(model, names, feeds):
    """The largest magnitude of each named tensor over the feeds."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    known = {output.name for output in probe.graph.output}
    inputs = {info.name for info in probe.graph.input}
    probe.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names
                              if name not in known and name not in inputs)
    session = onnxruntime.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    asked = [name for name in names if name not in inputs]
    largest = dict.fromkeys(names, 0.0)
    for feed in feeds:
        for name, value in [*zip(asked, session.run(asked, feed)), *feed.items()]:
            if name in largest:
                largest[name] = max(largest[name], float(np.abs(value).max()))
    return largest


def residuals_of(graph, weights):
    """What each Add of a convolution's result takes beside it: its second operand where both are such results."""
    convolved = {node.output[0] for node in graph.node if node.op_type == "Conv"}
    names = []
    for node in graph.node:
        if node.op_type == "Add" and not weights & set(node.input) and convolved & set(node.input):
            names.append(node.input[1] if node.input[0] in convolved else node.input[0])
    return names


def quantize(model, feeds, kind="int8", residuals=False):
    """A copy of a model whose convolutions and products by constant weights have quantized operands.

    model: an ONNX model with its weights inside, of opset 13 or later (fp8: 19).
    feeds: inputs by name, for the scales of activations.
    kind: "int8" or "fp8" (E4M3).
    residuals: whether what is added to a convolution's result is quantized, too.
    """
    quantized = onnx.ModelProto()
    quantized.CopyFrom(model)
    graph = quantized.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    taken = [node for node in graph.node if node.op_type in PRODUCTS and node.input[1] in weights
             and node.input[0] not in weights]
    added = residuals_of(graph, set(weights)) if residuals else []
    activations = list(dict.fromkeys([*(node.input[0] for node in taken), *added]))
    largest = ranges_of(model, activations, feeds)
    made = []

    def constant(name, value):
        graph.initializer.append(numpy_helper.from_array(value, name))
        return name

    def zeros(name, shape):
        data = np.zeros(int(np.prod(shape)), np.uint8).tobytes()
        graph.initializer.append(helper.make_tensor(name, ZERO_TYPE[kind], shape, data, raw=True))
        return name

    def dequantized(name, scale, axis=None):
        """Adds Quantize and Dequantize of a tensor; the name of the numbers."""
        scale_name, zero = constant(f"{name}_scale", scale), zeros(f"{name}_zero", scale.shape)
        attributes = {} if axis is None else {"axis": axis}
        made.append(helper.make_node("QuantizeLinear", [name, scale_name, zero], [f"{name}_q"], f"{name}_quantize",
                                     **attributes))
        made.append(helper.make_node("DequantizeLinear", [f"{name}_q", scale_name, zero], [f"{name}_dq"],
                                     f"{name}_dequantize", **attributes))
        return f"{name}_dq"

    numbers = {}
    for name in activations:
        numbers[name] = dequantized(name, np.float32(max(largest[name], 1e-6) / LARGEST[kind]))
    for node in graph.node:  # every reader of an activation gets what is quantized
        for i, name in enumerate(node.input):
            if name in numbers:
                node.input[i] = numbers[name]
    for node in taken:
        name = node.input[1]
        if name not in numbers:
            value = numpy_helper.to_array(weights[name])
            axis = channel_axis(node, value.ndim)
            over = tuple(i for i in range(value.ndim) if i != axis)
            scale = np.maximum(np.abs(value).max(axis=over), 1e-6) / LARGEST[kind]
            numbers[name] = dequantized(name, scale.astype(np.float32), axis)
        node.input[1] = numbers[name]
    return sorted_model(quantized, made)


def sorted_model(model, made):
    """The model with nodes that were added, in topological order."""
    graph = model.graph
    waiting = [*made, *graph.node]
    known = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer} | {""}
    ordered = []
    while waiting:
        left = []
        for node in waiting:
            if all(name in known for name in node.input):
                ordered.append(node)
                known.update(node.output)
            else:
                left.append(node)
        if len(left) == len(waiting):
            raise ValueError(f"node '{left[0].name}' reads what no node makes")
        waiting = left
    del graph.node[:]
    graph.node.extend(ordered)
    return model


def random_feed(model, extents, rng):
    """An array for each input; `extents` is by an axis' name."""
    weights = {tensor.name for tensor in model.graph.initializer}
    feed = {}
    for info in model.graph.input:
        if info.name in weights:
            continue
        kind = info.type.tensor_type
        shape = [dim.dim_value or extents.get(dim.dim_param, 1) for dim in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        real = np.issubdtype(dtype, np.floating)
        feed[info.name] = (rng.standard_normal(shape) if real else rng.integers(0, 2, shape)).astype(dtype)
    return feed


def main():
    arguments = sys.argv[1:]
    kind = "fp8" if "--fp8" in arguments else "int8"
    extents = {}
    if "--extents" in arguments:
        at = arguments.index("--extents")
        given = arguments[at + 1].split(",")
        extents = {name: int(extent) for name, extent in (item.split("=") for item in given)}
        del arguments[at:at + 2]
    files = [argument for argument in arguments if argument not in ("--fp8", "--residuals")]
    if len(files) != 2:
        sys.exit(__doc__)
    model = onnx.load(files[0])
    rng = np.random.default_rng(0)
    feeds = [random_feed(model, extents, rng) for _ in range(2)]
    onnx.save(quantize(model, feeds, kind, "--residuals" in arguments), files[1])


if __name__ == "__main__":
    main()
