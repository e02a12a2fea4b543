#!/usr/bin/env python3
"""Quantized models, as ONNX Runtime's tools write them, against ONNX Runtime without its optimisations.

usage: quantized.py RUN_NETWORKS TRTEXEC [NAME...] [--keep FOLDER] [-- FLAG...]

RUN_NETWORKS runs all data sets of a model in one engine; FLAGs are its own. Bytes may be one level off where halves are
rounded. TRTEXEC tells by which tactics an engine runs: on the CPU, products of bytes have to be some of them where a
model's name is in BYTES, and of quantized weights where it is in WEIGHTS. 77, for skipped, where packages or a GPU are
missing.
"""
import logging
import os
import sys
import tempfile
import zlib

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime import quantization
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from model_runs import bounds_of, compare, engine_layers, peaks_of, write_model  # noqa: E402
from quantize import quantize  # noqa: E402

MICROSOFT = "com.microsoft"
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16,
         np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(bool): TensorProto.BOOL}
OPSETS = [helper.make_opsetid("", 13), helper.make_opsetid(MICROSOFT, 1)]


def info(name, array):
    return helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape)


def of_node(op, inputs, constants, output=("y", None), **attributes):
    """A model of one node of com.microsoft. Inputs are arrays by name, constants as well; None stands for a left out one."""
    names = ["" if value is None else name for name, value in [*inputs.items(), *constants.items()]]
    order = attributes.pop("order", names)
    node = helper.make_node(op, order, ["y"], name=op, domain=MICROSOFT, **attributes)
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items() if value is not None]
    kind = output[1] or next(iter(inputs.values())).dtype
    result = helper.make_tensor_value_info("y", TYPES[np.dtype(kind)], None)
    graph = helper.make_graph([node], op, [info(name, value) for name, value in inputs.items()], [result], initializers)
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=8)


def scale(value):
    return np.array(value, np.float32)


def of_bytes(rng, kind, *shape):
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)


def binary(op, kind):
    def make(rng):
        zero = np.array(3, kind)
        inputs = {"a": of_bytes(rng, kind, 2, 5, 7), "b": of_bytes(rng, kind, 5, 7)}
        constants = {"as": scale(0.02), "az": zero, "bs": scale(0.03), "bz": zero, "ys": scale(0.05), "yz": zero}
        return of_node(op, inputs, constants, order=["a", "as", "az", "b", "bs", "bz", "ys", "yz"]), inputs
    return make


def unary(op, kind, shape=(2, 5, 7), y=0.01, **attributes):
    def make(rng):
        zero = np.array(4, kind)
        inputs = {"x": of_bytes(rng, kind, *shape)}
        return of_node(op, inputs, {"xs": scale(0.04), "xz": zero, "ys": scale(y), "yz": zero}, **attributes), inputs
    return make


def concat(rng):
    inputs = {"a": of_bytes(rng, np.uint8, 2, 3, 4), "b": of_bytes(rng, np.uint8, 2, 5, 4)}
    zero = np.array(128, np.uint8)
    constants = {"ys": scale(0.05), "yz": zero, "as": scale(0.02), "az": zero, "bs": scale(0.05), "bz": zero}
    return of_node("QLinearConcat", inputs, constants, order=["ys", "yz", "a", "as", "az", "b", "bs", "bz"], axis=1), inputs


def where(rng):
    inputs = {"which": rng.random((2, 1, 7)) < 0.5, "a": of_bytes(rng, np.int8, 2, 5, 7), "b": of_bytes(rng, np.int8, 5, 7)}
    constants = {"as": scale(0.02), "az": np.array(3, np.int8), "bs": scale(0.05), "bz": np.array(-7, np.int8),
                 "ys": scale(0.04), "yz": np.array(1, np.int8)}
    order = ["which", "a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    return of_node("QLinearWhere", inputs, constants, output=("y", np.int8), order=order), inputs


def qgemm(rng):
    inputs = {"a": of_bytes(rng, np.uint8, 6, 20)}
    constants = {"as": scale(0.02), "az": np.array(100, np.uint8), "b": of_bytes(rng, np.int8, 9, 20),
                 "bs": (rng.random(9) * 0.02 + 0.001).astype(np.float32), "bz": np.zeros(9, np.int8),
                 "c": rng.integers(-900, 900, 9).astype(np.int32), "ys": scale(0.3), "yz": np.array(110, np.uint8)}
    return of_node("QGemm", inputs, constants, transB=1, alpha=1.0), inputs


def integer_to_float(rng):
    inputs = {"a": of_bytes(rng, np.uint8, 3, 6, 24)}
    constants = {"b": of_bytes(rng, np.int8, 24, 10), "as": scale(0.02), "bs": (rng.random(10) * 0.02 + 0.001).astype(np.float32),
                 "az": np.array(120, np.uint8), "bz": np.zeros(10, np.int8), "bias": rng.standard_normal(10).astype(np.float32)}
    return of_node("MatMulIntegerToFloat", inputs, constants, output=("y", np.float32)), inputs


def dynamic_product(rng):
    inputs = {"a": rng.standard_normal((3, 6, 24)).astype(np.float32)}
    constants = {"b": of_bytes(rng, np.int8, 24, 10), "bs": scale(0.01), "bz": np.array(0, np.int8),
                 "bias": rng.standard_normal(10).astype(np.float32)}
    return of_node("DynamicQuantizeMatMul", inputs, constants), inputs


def dynamic_lstm(rng):
    """Both directions, a scale for each column of w, one for each direction of r. ONNX Runtime rounds each h to bytes, too."""
    size, hidden = 20, 12
    inputs = {"x": rng.standard_normal((7, 3, size)).astype(np.float32)}
    constants = {"w": of_bytes(rng, np.uint8, 2, size, 4 * hidden), "r": of_bytes(rng, np.uint8, 2, hidden, 4 * hidden),
                 "b": rng.standard_normal((2, 8 * hidden)).astype(np.float32),
                 "ws": (rng.random((2, 4 * hidden)) * 0.004 + 0.001).astype(np.float32), "wz": np.full((2, 4 * hidden), 130, np.uint8),
                 "rs": scale([0.003, 0.004]), "rz": np.array([120, 135], np.uint8)}
    order = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    return of_node("DynamicQuantizeLSTM", inputs, constants, order=order, direction="bidirectional", hidden_size=hidden), inputs


def n_bits(with_zeros=False, rows=(5,), n=12, k=64, size=32, bits=4, signs=False, groups=False, bias=False, kind=np.float32):
    def make(rng):
        blocks = k // size
        inputs = {"a": rng.standard_normal((*rows, k)).astype(kind)}
        scales = (rng.random(n * blocks) * 1.6 / 2 ** bits).astype(kind)
        if signs:  # as the tool writes them, with blocks of zeros
            scales *= rng.choice([-1, 0, 1], len(scales)).astype(kind)
        order = ["a", "b", "s", "z" if with_zeros else "", "g" if groups else "", "bias" if bias else ""]
        constants = {"b": of_bytes(rng, np.uint8, n, blocks, size * bits // 8), "s": scales}
        if with_zeros:
            constants["z"] = of_bytes(rng, np.uint8, n * ((blocks * bits + 7) // 8))
        if groups:
            constants["g"] = rng.permutation(np.repeat(np.arange(blocks), size)).astype(np.int32)
        if bias:
            constants["bias"] = rng.standard_normal(n).astype(kind)
        while not order[-1]:
            order.pop()
        return of_node("MatMulNBits", inputs, constants, order=order, K=k, N=n, bits=bits, block_size=size), inputs
    return make


def weights_only(kind, block=None, turned=False, with_zeros=False, rows=(7,)):
    """DequantizeLinear of constant weights [k, n] (turned: [n, k] behind a Transpose), then MatMul, Add and Relu."""
    def make(rng):
        k, n = 96, 40
        axis = 1 if turned else 0  # along k
        shape = (n, k) if turned else (k, n)
        low, high = {TensorProto.INT4: (-8, 7), TensorProto.UINT4: (0, 15), TensorProto.INT8: (-128, 127)}[kind]
        scales = list(shape)
        scales[axis] = k // block if block else 1
        tensor = lambda name, extents: helper.make_tensor(name, kind, extents, rng.integers(low, high, np.prod(extents), endpoint=True))  # noqa: E731
        if not block:
            scales = [n]
        constants = [tensor("w", shape), numpy_helper.from_array(((rng.random(scales) + 0.1) / high / 4).astype(np.float32), "s"),
                     numpy_helper.from_array(rng.standard_normal(n).astype(np.float32), "bias")]
        if with_zeros:
            constants.append(tensor("z", scales))
        attributes = {"block_size": block, "axis": axis} if block else {"axis": 1 - axis}
        nodes = [helper.make_node("DequantizeLinear", ["w", "s", *(["z"] if with_zeros else [])], ["numbers"], **attributes)]
        if turned:
            nodes.append(helper.make_node("Transpose", ["numbers"], ["b"], perm=[1, 0]))
        nodes += [helper.make_node("MatMul", ["x", "b" if turned else "numbers"], ["m"]), helper.make_node("Add", ["m", "bias"], ["a"]),
                  helper.make_node("Relu", ["a"], ["y"])]
        inputs = {"x": rng.standard_normal((*rows, k)).astype(np.float32)}
        graph = helper.make_graph(nodes, "weights", [info("x", inputs["x"])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), inputs
    return make


class Feeds(quantization.CalibrationDataReader):
    def __init__(self, inputs):
        self.left = [inputs]

    def get_next(self):
        return self.left.pop() if self.left else None


def small_network(rng):
    """Convolutions with a residual, pooling and a product: what image classifiers are made of."""
    weights = lambda *shape: (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)  # noqa: E731
    constants = {"w1": weights(16, 3, 3, 3), "b1": weights(16), "w2": weights(16, 16, 3, 3), "w3": weights(24, 16, 1, 1),
                 "fc": weights(24, 10), "bias": weights(10)}
    node = helper.make_node
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", ["c1"], ["r1"]),
             node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]), node("Add", ["c2", "r1"], ["a"]), node("Relu", ["a"], ["r2"]),
             node("MaxPool", ["r2"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("Conv", ["p", "w3"], ["c3"]),
             node("GlobalAveragePool", ["c3"], ["g"]), node("Flatten", ["g"], ["f"]), node("MatMul", ["f", "fc"], ["m"]),
             node("Add", ["m", "bias"], ["y"])]
    for i, each in enumerate(nodes):
        each.name = f"n{i}"
    inputs = {"x": rng.standard_normal((2, 3, 24, 24)).astype(np.float32)}
    graph = helper.make_graph(nodes, "small", [info("x", inputs["x"])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 10])],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=OPSETS[:1], ir_version=8), inputs


def by_tool(how, **options):
    """The small network, quantized by ONNX Runtime's tool."""
    def make(rng):
        model, inputs = small_network(rng)
        with tempfile.TemporaryDirectory() as folder:
            before, after = (os.path.join(folder, name) for name in ("before.onnx", "after.onnx"))
            onnx.save(model, before)
            if how == "dynamic":
                quantization.quantize_dynamic(before, after, **options)
            else:
                quantization.quantize_static(before, after, Feeds(inputs), **options)
            return onnx.load(after), inputs
    return make


def by_hand(rng):
    """The small network, quantized by quantize.py."""
    model, inputs = small_network(rng)
    return quantize(model, [inputs]), inputs


QDQ, OPERATORS = quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator
S8, U8 = quantization.QuantType.QInt8, quantization.QuantType.QUInt8
MODELS = {
    "add": binary("QLinearAdd", np.uint8), "add_signed": binary("QLinearAdd", np.int8), "mul": binary("QLinearMul", np.uint8),
    "sigmoid": unary("QLinearSigmoid", np.uint8), "leaky_relu": unary("QLinearLeakyRelu", np.int8, y=0.04, alpha=0.2),
    "softmax": unary("QLinearSoftmax", np.uint8, axis=-1, opset=13),
    "softmax_of_many": unary("QLinearSoftmax", np.int8, y=1 / 256, axis=1, opset=12), "where": where,
    "pool": unary("QLinearAveragePool", np.uint8, (2, 5, 6, 7), y=0.05, kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 1]),
    "pool_last": unary("QLinearAveragePool", np.int8, (2, 6, 7, 5), y=0.05, kernel_shape=[2, 3], pads=[1, 1, 0, 1],
                       count_include_pad=1, channels_last=1),
    "average": unary("QLinearGlobalAveragePool", np.uint8, (2, 5, 6, 7)), "concat": concat, "gemm": qgemm,
    "average_last": unary("QLinearGlobalAveragePool", np.uint8, (2, 6, 7, 5), channels_last=1),
    "integer_to_float": integer_to_float, "dynamic_product": dynamic_product, "n_bits": n_bits(), "n_bits_zeros": n_bits(True),
    "n_bits_signs": n_bits(signs=True, rows=(2, 3), k=256, size=128), "n_bits_row": n_bits(True, rows=(1, 1), k=512, n=70, size=16, bias=True),
    "n_bits_many": n_bits(rows=(40,), k=1408, n=300, size=64), "n_bits_groups": n_bits(k=128, groups=True),
    "n_bits_half": n_bits(rows=(2, 3), k=256, bias=True, kind=np.float16), "n_bits_8": n_bits(True, bits=8, size=64, k=128), "weights_i4": weights_only(TensorProto.INT4, 32),
    "weights_u4": weights_only(TensorProto.UINT4, 16, True, True), "weights_i8": weights_only(TensorProto.INT8),
    "weights_i4_turned": weights_only(TensorProto.INT4, 48, True, rows=(2, 3)),
    "qdq": by_tool("static", quant_format=QDQ, activation_type=S8, weight_type=S8, per_channel=True),
    "qdq_unsigned": by_tool("static", quant_format=QDQ, activation_type=U8, weight_type=S8),
    "qdq_unsigned_weights": by_tool("static", quant_format=QDQ, activation_type=U8, weight_type=U8),
    "operators": by_tool("static", quant_format=OPERATORS, activation_type=U8, weight_type=S8, per_channel=True),
    "dynamic": by_tool("dynamic", weight_type=S8), "dynamic_lstm": dynamic_lstm,
    "by_hand": by_hand,
}
BYTES = {"qdq": 4, "by_hand": 4, "qdq_unsigned": 4, "operators": 4, "integer_to_float": 1, "gemm": 1, "dynamic_product": 1}
# Products that read weights as they are.
WEIGHTS = [name for name in MODELS if name.startswith(("n_bits", "weights_"))]
ROUNDED = {"dynamic", "dynamic_lstm"}  # some activations are rounded to bytes elsewhere, or not at all
LEVELS = {"qdq", "qdq_unsigned", "qdq_unsigned_weights", "operators", "by_hand"}  # a level that is off inside moves y by some of its own


def write(folder, name):
    logging.disable(logging.WARNING)  # the tool advises to simplify a model first
    model, inputs = MODELS[name](np.random.default_rng(zlib.crc32(name.encode())))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    data_sets = [(inputs, outputs)]
    peaks = peaks_of(data_sets)
    write_model(folder, model, data_sets, {output: bounds(name, array, peaks[output]) for output, array in outputs.items()})


def bounds(name, array, peak):
    if array.dtype == np.float16:
        single = 4e-3 * (1 + peak)
    elif array.dtype != np.float32:
        return {"single": 0, "half": 1, "bf16": None}
    else:
        single = 0.03 * peak if name in LEVELS or name in ROUNDED else 1e-4 * (1 + peak)
    return {precision: max(single, bound) for precision, bound in {**bounds_of(peak, 0), "single": single}.items()}


def fault_of(trtexec, folder, name):
    used = [layer["TacticName"] for layer in engine_layers(trtexec, folder)]
    for what, expected in (("of bytes", BYTES.get(name)), ("of quantized weights", 1 if name in WEIGHTS else None)):
        found = sum(what in tactic for tactic in used)
        if expected not in (None, found):
            return f"{expected} layers are to be products {what}, not {found}: {used}"
    return None


if __name__ == "__main__":
    sys.exit(compare(__doc__, MODELS, write, fault_of))
