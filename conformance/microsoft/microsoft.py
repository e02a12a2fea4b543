#!/usr/bin/env python3
"""Operators of com.microsoft that ONNX Runtime's optimisations and exporters write, against ONNX Runtime.

usage: microsoft.py RUN_NETWORKS TRTEXEC [NAME...] [--keep FOLDER] [-- FLAG...]

RUN_NETWORKS runs all data sets of a model in one engine; FLAGs are its own. TRTEXEC tells by which tactics an engine runs:
none may be the reference. 77, for skipped, where packages or a GPU are missing.
"""
import os
import sys
import zlib

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from model_runs import bounds_of, compare, engine_layers, peaks_of, write_model  # noqa: E402

MICROSOFT = "com.microsoft"
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64}


def tensor_of(value, name):
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), name)


class Case:
    """One node. Inputs are arrays by name, in the node's order: None is left out, what `constants` names is an initializer, which may be
    a TensorProto."""

    def __init__(self, op, inputs, outputs=("y",), constants=(), domain=MICROSOFT, expected=None, **attributes):
        self.inputs = {name: value for name, value in inputs.items() if value is not None and name not in constants}
        self.expected = expected  # where ONNX Runtime has no kernel
        node = helper.make_node(op, ["" if value is None else name for name, value in inputs.items()], outputs, name=op, domain=domain,
                                **attributes)
        weights = [tensor_of(inputs[name], name) for name in constants if inputs.get(name) is not None]
        infos = [helper.make_tensor_value_info(name, TYPES[value.dtype], value.shape) for name, value in self.inputs.items()]
        results = [helper.make_tensor_value_info(name, TensorProto.INT32 if name == "count" else TensorProto.FLOAT, None)
                   for name in outputs if name]
        graph = helper.make_graph([node], op, infos, results, weights)
        self.model = helper.make_model(graph, opset_imports=OPSETS, ir_version=8)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def fused_conv(activation, with_sum=False, **attributes):
    def make(rng):
        inputs = {"x": normal(rng, 2, 6, 9, 9), "w": normal(rng, 8, 3, 3, 3) / 5, "b": normal(rng, 8),
                  "z": normal(rng, 2, 8, 9, 9) if with_sum else None}
        if not with_sum:
            del inputs["z"]
        return Case("FusedConv", inputs, constants=("w", "b"), activation=activation, group=2, pads=[1, 1, 1, 1], **attributes)
    return make


def fused_gemm(rng):
    inputs = {"a": normal(rng, 20, 6), "b": normal(rng, 9, 20) / 4, "c": normal(rng, 9)}
    return Case("FusedGemm", inputs, constants=("b", "c"), activation="LeakyRelu", activation_alpha=0.2, transA=1, transB=1, alpha=0.5)


def fused_product(**attributes):
    def make(rng):
        turned = lambda name, *shape: shape if not attributes.get(name) else (*shape[:-2], shape[-1], shape[-2])  # noqa: E731
        inputs = {"a": normal(rng, *turned("transA", 2, 3, 5, 8)), "b": normal(rng, *turned("transB", 2, 3, 8, 7))}
        return Case("FusedMatMul", inputs, alpha=0.3, **attributes)
    return make


def pointwise(op, bias=None, **attributes):
    def make(rng):
        inputs = {"x": 2 * normal(rng, 2, 5, 24)}
        if bias:
            inputs["b"] = normal(rng, 24)
        return Case(op, inputs, constants=("b",) if bias else (), **attributes)
    return make


def skip(op, with_bias, rows=(2, 5)):
    def make(rng):
        inputs = {"x": normal(rng, 2, 5, 24), "skip": normal(rng, *rows, 24), "gamma": normal(rng, 24)}
        if op == "SkipLayerNormalization":
            inputs["beta"] = normal(rng, 24)
        inputs["bias"] = normal(rng, 24) if with_bias else None
        if not with_bias:
            del inputs["bias"]
        constants = [name for name in inputs if name not in ("x", "skip")]
        return Case(op, inputs, outputs=("y", "", "", "sum"), constants=constants, epsilon=1e-5)
    return make


def simplified(rng):
    inputs = {"x": normal(rng, 2, 5, 24), "scale": normal(rng, 24)}
    return Case("SimplifiedLayerNormalization", inputs, constants=("scale",), domain="", axis=-1, epsilon=1e-6, stash_type=1)


def embeddings(rng):
    inputs = {"words": rng.integers(0, 40, (2, 7)).astype(np.int32), "segments": rng.integers(0, 2, (2, 7)).astype(np.int32),
              "of_words": normal(rng, 40, 24), "of_positions": normal(rng, 9, 24), "of_segments": normal(rng, 2, 24),
              "gamma": normal(rng, 24), "beta": normal(rng, 24), "mask": (np.arange(7) < np.array([[7], [4]])).astype(np.int32)}
    return Case("EmbedLayerNormalization", inputs, outputs=("y", "count"), epsilon=1e-5,
                constants=("of_words", "of_positions", "of_segments", "gamma", "beta"))


def attention(mask=None, past=0, bias=False, **attributes):
    def make(rng):
        batch, length, width, heads, total = 2, 6, 32, 4, 6 + past
        masks = {None: None, "keys": (np.arange(total) < np.array([[total], [4 + past]])).astype(np.int32),
                 "lengths": np.array([6, 4], np.int32), "both ends": np.array([6, 5, 0, 2], np.int32),
                 "queries": np.tril(np.ones((batch, length, total), np.int32), past)}
        inputs = {"x": normal(rng, batch, length, width), "w": normal(rng, width, 3 * width) / 4, "b": normal(rng, 3 * width),
                  "mask": masks[mask], "past": normal(rng, 2, batch, heads, past, width // heads) if past else None,
                  "bias": normal(rng, 1, heads, length, total) if bias else None}
        return Case("Attention", inputs, outputs=("y", "present") if past else ("y",), constants=("w", "b"), num_heads=heads, **attributes)
    return make


def attended(q, k, v):
    """Attention of [batch, length, heads, size]."""
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(axis=-1, keepdims=True), v)
    return {"y": y.reshape(*y.shape[:2], -1).astype(np.float32)}


def heads_of(keys=6, packed=None, mask=None, past=0, bias=False, cross=False, **attributes):
    def make(rng):
        batch, length, width, heads, total = 2, 6, 32, 4, keys + past
        size = width // heads
        inputs = {"q": normal(rng, batch, length, width), "k": normal(rng, batch, keys, width), "v": normal(rng, batch, keys, width)}
        if packed == "qkv":
            inputs = {"q": normal(rng, batch, length, heads, 3, size), "k": None, "v": None}
        elif packed == "kv":
            inputs.update(k=normal(rng, batch, keys, heads, 2, size), v=None)
        elif cross:
            inputs.update(k=normal(rng, batch, heads, keys, size), v=normal(rng, batch, heads, keys, size))
        inputs["b"] = normal(rng, 3 * width) if not packed and not cross else None
        inputs["mask"] = None if not mask else (np.arange(total) < np.array([[total], [total - 2]])).astype(np.int32)
        inputs["bias"] = normal(rng, 1, heads, length, total) if bias else None
        inputs["past_k"], inputs["past_v"] = (normal(rng, batch, heads, past, size) if past else None for _ in range(2))
        outputs = ("y", "present_k", "present_v") if past else ("y",)
        apart = lambda x: [x[:, :, :, i] for i in range(x.shape[3])]  # noqa: E731
        expected = {None: lambda: None, "qkv": lambda: attended(*apart(inputs["q"])),
                    "kv": lambda: attended(inputs["q"].reshape(batch, length, heads, size), *apart(inputs["k"]))}[packed]()
        return Case("MultiHeadAttention", inputs, outputs=outputs, constants=("b",), expected=expected, num_heads=heads, **attributes)
    return make


def rotary(rank=3, offset=False, **attributes):
    def make(rng):
        batch, length, heads, size, turned = 2, 5, 4, 16, attributes.get("rotary_embedding_dim", 16)
        shape = (batch, length, heads * size) if rank == 3 else (batch, heads, length, size)
        angles = np.outer(np.arange(20), 1 / 10 ** (np.arange(turned // 2) / 4)).astype(np.float32)
        positions = np.array([3], np.int64) if offset else rng.integers(0, 20, (batch, length)).astype(np.int64)
        inputs = {"x": normal(rng, *shape), "positions": positions, "cos": np.cos(angles), "sin": np.sin(angles)}
        return Case("RotaryEmbedding", inputs, constants=("cos", "sin"), **attributes)
    return make


def grouped(length=5, past=0, lengths=None, packed=False, capacity=None, sink=False, bias=False, **attributes):
    def make(rng):
        batch, heads, of_keys, size = (2 if lengths is None else len(lengths)), 4, 2, 16
        total = past + length
        ends = np.array([total] * batch if lengths is None else lengths, np.int32)
        width = (heads + 2 * of_keys) * size if packed else heads * size
        new = lambda: None if packed else normal(rng, batch, length, of_keys * size)  # noqa: E731
        before = (ends - length)[:, None, None, None]  # rows that a sample has; ONNX Runtime gives zeros behind them
        cache = lambda: normal(rng, batch, of_keys, capacity or past, size) * np.float32(np.arange(capacity or past)[:, None] < before) if past else None  # noqa: E731,E501
        angles = np.outer(np.arange(24), 1 / 10 ** (np.arange(size // 2) / 4)).astype(np.float32)
        turns = attributes.get("do_rotary")
        inputs = {"q": normal(rng, batch, length, width), "k": new(), "v": new(), "past_k": cache(), "past_v": cache(),
                  "ends": ends - 1, "total": np.array(ends.max(), np.int32), "cos": np.cos(angles) if turns else None,
                  "sin": np.sin(angles) if turns else None, "positions": None,
                  "bias": normal(rng, 1, heads, length, total) if bias else None, "sink": normal(rng, heads) if sink else None}
        while list(inputs.values())[-1] is None:
            inputs.popitem()
        return Case("GroupQueryAttention", inputs, outputs=("y", "present_k", "present_v"), constants=("cos", "sin", "total"),
                    num_heads=heads, kv_num_heads=of_keys, **attributes)
    return make


def distance_bias(both_ways):
    def make(rng):
        buckets, heads, longest, length = 16, 3, 40, 50
        table = normal(rng, buckets, heads)
        ahead = np.arange(length)[None, :] - np.arange(length)[:, None]
        count = buckets // 2 if both_ways else buckets
        distance = np.abs(ahead) if both_ways else np.maximum(-ahead, 0)
        near = count // 2
        far = near + (np.log(np.maximum(distance, 1) / near) / np.log(longest / near) * (count - near)).astype(int)
        bucket = np.where(distance < near, distance, np.minimum(far, count - 1)) + (both_ways * count * (ahead > 0))
        inputs = {"table": table, "queries": np.array([length], np.int64), "keys": np.array([length], np.int64)}
        return Case("RelativePositionBias", inputs, constants=("queries", "keys"), expected={"y": table[bucket].transpose(2, 0, 1)[None]},
                    is_bidirectional=int(both_ways), max_distance=longest)
    return make


def quantized_attention(past=None, by_column=False, **attributes):
    def make(rng):
        heads, size, rows, length = 4, 8, 2, 5
        channels = heads * size
        inputs = {"x": rng.integers(0, 256, (rows, length, channels), dtype=np.uint8),
                  "w": rng.integers(-127, 128, (channels, 3 * channels), dtype=np.int8), "b": normal(rng, 3 * channels),
                  "x_scale": np.float32(0.01), "w_scale": np.full(3 * channels, 0.002, np.float32) if by_column else np.float32(0.003),
                  "mask": np.array([length, 3], np.int32) if past is None else None,
                  "x_zero": np.uint8(120), "w_zero": np.zeros(3 * channels, np.int8) if by_column else np.int8(0),
                  "past": None if past is None else normal(rng, 2, rows, heads, past, size)}
        if past is None:
            del inputs["past"]
        constants = ("w", "b", "x_scale", "w_scale", "x_zero", "w_zero")
        return Case("QAttention", inputs, ("y",) if past is None else ("y", "present"), constants, num_heads=heads, **attributes)
    return make


def quantized_embeddings(segments=True, mask=True):
    def make(rng):
        table = lambda *shape: rng.integers(0, 256, shape, dtype=np.uint8)  # noqa: E731
        given = lambda value, wanted: value if wanted else None  # noqa: E731
        inputs = {"words": rng.integers(0, 40, (2, 7)).astype(np.int32),
                  "segments": given(rng.integers(0, 2, (2, 7)).astype(np.int32), segments), "of_words": table(40, 24),
                  "of_positions": table(9, 24), "of_segments": given(table(2, 24), segments), "gamma": table(24), "beta": table(24),
                  "mask": given((np.arange(7) < np.array([[7], [4]])).astype(np.int32), mask)}
        names = ("words", "positions", "segments", "gamma", "beta")
        for name, scale in zip(names, (0.02, 0.01, 0.03, 0.01, 0.005)):
            inputs[name + "_scale"] = given(np.float32(scale), segments or name != "segments")
        for name, zero in zip(names, (120, 130, 128, 60, 127)):
            inputs[name + "_zero"] = given(np.uint8(zero), segments or name != "segments")
        constants = [name for name in inputs if name not in ("words", "segments", "mask")]
        return Case("QEmbedLayerNormalization", inputs, outputs=("y", "count"), constants=constants, epsilon=1e-5)
    return make


def inverse(*shape):
    return lambda rng: Case("Inverse", {"x": normal(rng, *shape) + 2 * np.eye(shape[-1], dtype=np.float32)})


def crops(mode, rows, columns):
    def make(rng):
        boxes = rng.random((5, 4)).astype(np.float32)
        boxes[0], boxes[1], boxes[2] = (0, 0, 1, 1), (0.9, 0.8, 0.1, 0.2), (-0.2, 0.3, 0.7, 1.3)
        inputs = {"x": normal(rng, 2, 3, 7, 9), "rois": boxes, "images": np.array([0, 1, 1, 0, 1], np.int32),
                  "size": np.array([rows, columns], np.int32)}
        return Case("CropAndResize", inputs, constants=("size",), mode=mode, extrapolation_value=0.5)
    return make


def padded(mode, pads, value=None):
    def make(rng):
        inputs = {"x": normal(rng, 4, 5), "pads": np.array(pads, np.int64), "value": value}
        return Case("Pad", {name: array for name, array in inputs.items() if array is not None}, constants=("pads", "value"), mode=mode)
    return make


def transposed(pads, with_bias=True, **attributes):
    def make(rng):
        inputs = {"x": normal(rng, 2, 4, 5, 6), "w": normal(rng, 4, 3, 3, 3) / 3, "pads": np.array(pads, np.int64),
                  "b": normal(rng, 3) if with_bias else None}
        if not with_bias:
            del inputs["b"]
        return Case("ConvTransposeWithDynamicPads", inputs, constants=("w", "pads", "b"), kernel_shape=[3, 3], **attributes)
    return make


def gathered(kind, shape, zeros=True, block=16, rows=(2, 3), gather=0, quantized=-1, outside=False):
    """Of a table of numbers whose `shape` is that of numbers, not of bytes; `kind` is a type of 4 bits, or the bits in bytes."""
    def make(rng):
        bits = kind if isinstance(kind, int) else 4
        blocks = [-(-extent // block) if i == quantized % len(shape) else extent for i, extent in enumerate(shape)]
        least, end = (-8, 8) if kind == "INT4" else (0, 2**bits)
        scale = rng.random(blocks).astype(np.float32) - np.float32(0.3)

        def table(extents, name):
            numbers = rng.integers(least, end, extents)
            if kind in ("INT4", "UINT4"):
                return helper.make_tensor(name, getattr(TensorProto, kind), extents, numbers.ravel())
            in_byte = 8 // bits
            numbers = np.pad(numbers, [(0, 0)] * (len(extents) - 1) + [(0, -extents[-1] % in_byte)])
            fields = numbers.reshape(*extents[:-1], -1, in_byte) << (bits * np.arange(in_byte))
            return fields.sum(axis=-1).astype(np.uint8)
        indices = rng.integers(-shape[gather], shape[gather], rows)
        if outside:
            indices.flat[0], indices.flat[-1] = shape[gather], -shape[gather] - 1
        inputs = {"data": table(shape, "data"), "i": indices, "scale": scale, "zero": table(blocks, "zero") if zeros else None}
        if not zeros:
            del inputs["zero"]
        attributes = {"bits": bits} if isinstance(kind, int) else {}
        return Case("GatherBlockQuantized", inputs, constants=("data", "scale", "zero"), block_size=block, gather_axis=gather,
                    quantize_axis=quantized, **attributes)
    return make


def distances(metric):
    return lambda rng: Case("CDist", {"a": normal(rng, 9, 3), "b": normal(rng, 7, 3)}, metric=metric)


MODELS = {
    "distances": distances("euclidean"),
    "distances_squared": distances("sqeuclidean"),
    "axis": lambda rng: Case("ExpandDims", {"x": normal(rng, 4, 6), "axis": np.array([-1], np.int32)}, constants=("axis",)),
    "rows": lambda rng: Case("GatherND", {"x": normal(rng, 4, 6), "i": np.array([[1, 5], [3, 0]], np.int64)}),
    "range": lambda rng: Case("Range", {name: np.array(value, np.float32) for name, value in (("start", 1), ("limit", 7), ("delta", 2))},
                              constants=("limit", "delta")),
    "range_by_one": lambda rng: Case("Range", {"start": np.array(1, np.float32), "limit": np.array(4.5, np.float32)}, constants=("limit",)),
    "embeddings_bytes": quantized_embeddings(),
    "embeddings_bytes_plain": quantized_embeddings(segments=False, mask=False),
    "inverse": inverse(5, 5),
    "inverse_batches": inverse(2, 3, 4, 4),
    "inverse_one": inverse(3, 1, 1),
    "crops": crops("bilinear", 4, 5),
    "crops_one": crops("bilinear", 1, 3),
    "crops_nearest": crops("nearest", 5, 4),
    "padded": padded("constant", [0, 2, 1, -1], np.array([0.5], np.float32)),
    "padded_zeros": padded("constant", [[1, 0, 0, 3]]),
    "padded_reflect": padded("reflect", [1, 2, 3, 0]),
    "padded_edge": padded("edge", [1, 2, 0, 0]),
    "transposed": transposed([1, 0, 1, 2], strides=[2, 2]),
    "transposed_plain": transposed([0, 0, 0, 0], with_bias=False, dilations=[1, 2], output_padding=[0, 1], strides=[1, 2]),
    "gathered_bytes": gathered(8, (20, 32)),
    "gathered_packed": gathered(4, (20, 48), rows=(7,)),
    "gathered_packed_plain": gathered(4, (20, 32), zeros=False),
    "gathered_short_block": gathered(4, (20, 40), block=32),
    "gathered_two_bits": gathered(2, (20, 64)),
    "gathered_two_bits_plain": gathered(2, (20, 64), zeros=False),
    "gathered_int4": gathered("INT4", (20, 32)),
    "gathered_int4_plain": gathered("INT4", (20, 32), zeros=False),
    "gathered_uint4": gathered("UINT4", (20, 48)),
    "gathered_uint4_plain": gathered("UINT4", (20, 48), zeros=False),
    "gathered_columns": gathered("UINT4", (3, 20, 32), gather=1, quantized=0),
    "gathered_last": gathered("INT4", (20, 32), gather=1, quantized=0),
    "gathered_along_blocks": gathered("INT4", (40, 8), quantized=0),
    "gathered_outside": gathered(4, (20, 32), outside=True),
    "sampled": lambda rng: Case("GridSample", {"x": normal(rng, 2, 3, 6, 7), "grid": 1.2 * normal(rng, 2, 4, 5, 2)},
                                mode="bilinear", padding_mode="border"),
    "triangle": lambda rng: Case("Trilu", {"x": normal(rng, 2, 4, 6), "k": np.array(1, np.int64)}, constants=("k",), upper=0),
    "attention_bytes": quantized_attention(),
    "attention_bytes_past": quantized_attention(past=3, by_column=True, unidirectional=1),
    "conv_relu": fused_conv("Relu"),
    "conv_sum_clip": fused_conv("Clip", True, activation_params=[-0.5, 0.7]),
    "conv_hard_sigmoid": fused_conv("HardSigmoid", activation_params=[0.3, 0.4]),
    "gemm": fused_gemm,
    "product": fused_product(),
    "product_turned": fused_product(transA=1, transB=1),
    "bias_gelu": pointwise("BiasGelu", True),
    "fast_gelu": pointwise("FastGelu", True),
    "quick_gelu": pointwise("QuickGelu", alpha=1.3),
    "gelu": pointwise("Gelu"),
    "skip": skip("SkipLayerNormalization", False),
    "skip_bias": skip("SkipLayerNormalization", True, (5,)),
    "skip_simplified": skip("SkipSimplifiedLayerNormalization", True),
    "simplified": simplified,
    "embeddings": embeddings,
    "attention": attention(),
    "attention_keys": attention("keys"),
    "attention_lengths": attention("lengths"),
    "attention_both_ends": attention("both ends"),
    "attention_queries": attention("queries", past=3),
    "attention_past": attention("keys", past=3, unidirectional=1),
    "attention_bias": attention(bias=True, scale=0.2),
    "heads": heads_of(),
    "heads_cross": heads_of(keys=9, cross=True),
    "heads_keys": heads_of(keys=8, mask=True, bias=True),
    "heads_packed": heads_of(packed="qkv"),
    "heads_packed_keys": heads_of(keys=7, packed="kv"),
    "heads_past": heads_of(past=4, unidirectional=1),
    "rotary": rotary(),
    "rotary_offset": rotary(rank=4, offset=True, interleaved=1),
    "rotary_part": rotary(rotary_embedding_dim=8, num_heads=4),
    "grouped_prompt": grouped(do_rotary=1),
    "grouped_token": grouped(length=1, past=7, do_rotary=1, rotary_interleaved=1),
    "grouped_lengths": grouped(length=1, past=7, lengths=[8, 5], do_rotary=1, capacity=12),
    "grouped_packed": grouped(packed=True, do_rotary=1),
    "grouped_window": grouped(length=9, local_window_size=4, softcap=3.0),
    "grouped_sink": grouped(length=6, sink=True, bias=True),
    "grouped_smooth": grouped(length=6, smooth_softmax=1),
    "distance_bias": distance_bias(True),
    "distance_bias_one_way": distance_bias(False),
}


def write(folder, name):
    case = MODELS[name](np.random.default_rng(zlib.crc32(name.encode())))
    outputs = case.expected
    if not outputs:
        session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, case.inputs)))
    data_sets = [(case.inputs, outputs)]
    write_model(folder, case.model, data_sets, {output: bounds_of(peak, 2e-5) for output, peak in peaks_of(data_sets).items()})


def fault_of(trtexec, folder, name):
    found = [layer["Name"] for layer in engine_layers(trtexec, folder) if layer["TacticName"].startswith("reference")]
    return f"by reference: {found}" if found else None


if __name__ == "__main__":
    sys.exit(compare(__doc__, MODELS, write, fault_of))
