#!/usr/bin/env python3
"""What halves' digits alone do to a model: digits.py FOLDER...

Runs FOLDER/model.onnx in ONNX Runtime without its optimisations, as it is and with every FP32 result of a node rounded to
the eleven digits of FP16, which keeps FP32's range, and prints the largest difference by data set as a share of the
output's largest number, with how many numbers differ by more than 3e-2 of it. Behind that is what a factor of 1 + 1e-6
on the FP32 inputs does. A model that these move beyond a tolerance cannot be judged by it. 77, for skipped, where
packages are missing.
"""

import glob
import os
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

TOLERANCE = 3e-2
SPLITTER = 8193  # 2^13 + 1: of FP32's 24 digits Veltkamp's splitting leaves 11
MOST = 1e30  # masks as large as FP32's limits must not overflow when they are split


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def rounding(name):
    """Nodes that round tensor `name` to eleven digits, as NAME_rounded."""
    bounded, product, rest = name + "_bounded", name + "_product", name + "_rest"
    return [
        helper.make_node("Clip", [name, "digits_least", "digits_most"], [bounded]),
        helper.make_node("Mul", [bounded, "digits_splitter"], [product]),
        helper.make_node("Sub", [product, bounded], [rest]),
        helper.make_node("Sub", [product, rest], [name + "_rounded"]),
    ]


def is_sum_of_integers(node, producers):
    """Whether the node converts what MatMulInteger sums up: FP16 builds keep these, and scales, in FP32."""
    return node.op_type == "Cast" and producers.get(node.input[0]) in ("MatMulInteger", "ConvInteger")


def with_few_digits(model):
    graph = model.graph
    inferred = onnx.shape_inference.infer_shapes(model).graph
    types = {value.name: value.type.tensor_type.elem_type for value in inferred.value_info}
    producers = {name: node.op_type for node in graph.node for name in node.output}
    nodes, renamed = [], {}
    for node in graph.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [renamed.get(name, name) for name in node.input]
        nodes.append(copy)
        if node.op_type == "Constant" or is_sum_of_integers(node, producers):
            continue
        for name in node.output:
            if types.get(name) == TensorProto.FLOAT and "scale" not in name.lower():
                nodes.extend(rounding(name))
                renamed[name] = name + "_rounded"
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:], result.graph.value_info[:]
    result.graph.node.extend(nodes)
    numbers = {"digits_least": -MOST, "digits_most": MOST, "digits_splitter": SPLITTER}
    result.graph.initializer.extend(numpy_helper.from_array(np.float32(value), name) for name, value in numbers.items())
    return result


def read_inputs(folder):
    arrays = {}
    for path in sorted(glob.glob(os.path.join(folder, "input_*.pb"))):
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        arrays[tensor.name] = numpy_helper.to_array(tensor)
    return arrays


def of_floats(arrays, change):
    return {name: change(array) if array.dtype == np.float32 else array for name, array in arrays.items()}


def told(found, wanted):
    shares = [np.abs(x - y) / np.abs(y).max() for x, y in zip(found, wanted) if y.dtype == np.float32]
    beyond = sum(int((share > TOLERANCE).sum()) for share in shares)
    return f"{max(share.max() for share in shares):.2%} ({beyond} of {sum(share.size for share in shares)})"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in sys.argv[1:]:
        model = onnx.load(os.path.join(folder, "model.onnx"))
        exact, rounded = session(model), session(with_few_digits(model))
        for data_set in sorted(glob.glob(os.path.join(folder, "test_data_set_*"))):
            arrays = read_inputs(data_set)
            wanted = exact.run(None, arrays)
            halves = rounded.run(None, of_floats(arrays, lambda array: array.astype(np.float16).astype(np.float32)))
            moved = exact.run(None, of_floats(arrays, lambda array: array * np.float32(1 + 1e-6)))
            name = os.path.join(os.path.basename(folder), os.path.basename(data_set))
            print(f"{name}: digits of halves {told(halves, wanted)}, inputs by 1 + 1e-6 {told(moved, wanted)}", flush=True)


if __name__ == "__main__":
    main()
