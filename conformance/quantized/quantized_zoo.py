#!/usr/bin/env python3
"""Well-known architectures, quantized by hand and by ONNX Runtime's tool, against ONNX Runtime without its optimisations.

usage: quantized_zoo.py [--device cpu|cuda] [--kinds hand,tool,fp8] [--steps] [--cache FOLDER] [NAME...]

Needs the module kiln; KILN_ZOO_DIR has the skeletons and fill_weights.py. A line a model says the least cosine of its
outputs and the largest difference, as a share of the largest number; behind it, what ONNX Runtime's own outputs say where
its input is 1 + 1e-6 times as large (or its words' vectors are off by so much), and what they say with its optimisations,
which choose other kernels: a byte that is rounded to its other side
changes the bytes behind it, and a network that is moved more by that than by Kiln tells nothing by its outputs, only by
its --steps. --steps compares each step, fed with the reference's tensors, with the reference of its operators
(`kiln diff --isolate`): a byte may be one level off, on a thousandth of its tensor's elements. --cache keeps the quantized
models for the next call. Fails where a cosine is below 0.999, or a step is beyond that.
"""
import argparse
import logging
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime import quantization

import kiln
from quantize import quantize, random_feed

CONVOLUTIONS = ("resnet50", "mobilenet_v3_large", "efficientnet_b0", "unet_256")
TRANSFORMERS = ("vit_b_16", "bert_base", "bert_large", "gpt2")
EXTENTS = 1, 32  # of a network's named axes: the batch, the sequence
COSINE, SHARE_OFF = 0.999, 1e-3


class Feeds(quantization.CalibrationDataReader):
    def __init__(self, feeds):
        self.left = iter(feeds)

    def get_next(self):
        return next(self.left, None)


def unoptimised(model):
    return session_of(model, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)


def session_of(model, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def extents_of(model):
    """By axis' name: the batch comes first."""
    names = [dim.dim_param for info in model.graph.input for dim in info.type.tensor_type.shape.dim if dim.dim_param]
    return dict(zip(dict.fromkeys(names), EXTENTS))


def quantized(name, kind, folder):
    """The path of a quantized model and inputs of it; the model is made where the folder has none."""
    path = os.path.join(folder, f"{name}-{kind}.onnx")
    zoo = os.environ["KILN_ZOO_DIR"]
    filled = os.path.join(folder, name, "model.onnx")
    if not os.path.exists(filled):
        subprocess.run([sys.executable, os.path.join(zoo, "fill_weights.py"), os.path.join(zoo, f"{name}.onnx"), folder], check=True,
                       stdout=subprocess.DEVNULL)
    model = onnx.load(filled)
    rng = np.random.default_rng(0)
    feeds = [random_feed(model, extents_of(model), rng) for _ in range(3)]
    if not os.path.exists(path):
        if kind == "tool":
            quantization.quantize_static(filled, path, Feeds(feeds[:2]), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                         activation_type=quantization.QuantType.QInt8, weight_type=quantization.QuantType.QInt8)
        else:
            onnx.save(quantize(model, feeds[:2], "fp8" if kind == "fp8" else "int8"), path)
    return path, feeds[2]


def outputs_compared(path, feed, device):
    """What `distance` says of Kiln's outputs, of ONNX Runtime's of an input a millionth larger, or of words' vectors off by as
    much, and of ONNX Runtime's with its optimisations."""
    session = unoptimised(path)
    expected = session.run(None, feed)
    engine = kiln.compile(path, shapes={name: array.shape for name, array in feed.items()}, device=device, progress=False)
    results = engine(feed)
    moved = unoptimised(disturbed_tables(path)) if all(x.dtype.kind != "f" for x in feed.values()) else session
    larger = {name: (x * (1 + 1e-6)).astype(x.dtype) if x.dtype.kind == "f" else x for name, x in feed.items()}
    return (distance(expected, results if len(expected) > 1 else [results]), distance(expected, moved.run(None, larger)),
            distance(expected, session_of(path).run(None, feed)))


def disturbed_tables(path):
    """The model with what its Gathers pick of, such as words' vectors, off by a millionth."""
    model, rng = onnx.load(path), np.random.default_rng(1)
    tables = {node.input[0] for node in model.graph.node if node.op_type == "Gather"}
    for tensor in model.graph.initializer:
        if tensor.name in tables and tensor.data_type == onnx.TensorProto.FLOAT:
            values = numpy_helper.to_array(tensor)
            noise = 1e-6 * rng.standard_normal(values.shape)  # a normalization would take a common factor back
            tensor.CopyFrom(numpy_helper.from_array((values * (1 + noise)).astype(np.float32), tensor.name))
    return model.SerializeToString()


def distance(expected, results):
    """(least cosine, largest difference as a share of the largest number) over the outputs."""
    cosines, shares = [], []
    for truth, result in zip(expected, results, strict=True):
        truth, result = (np.asarray(array, np.float64).ravel() for array in (truth, result))
        cosines.append(truth @ result / (np.linalg.norm(truth) * np.linalg.norm(result)))
        shares.append(np.abs(truth - result).max() / np.abs(truth).max())
    return min(cosines), max(shares)


def levels_of(path):
    """The scale of each tensor of bytes that has one."""
    model = onnx.load(path)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    scales = {}
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear" and node.input[1] in constants:
            scale = numpy_helper.to_array(constants[node.input[1]])
            if scale.size == 1:
                scales[node.output[0]] = float(scale.item())
    return scales


def steps_compared(path, feed, device):
    """Counts the tensors of bytes that were compared, and lists those that are more than a level, or too often, off."""
    shapes = ",".join(f"{name}:{'x'.join(map(str, array.shape))}" for name, array in feed.items())
    report = kiln.diff(path, path, isolate=True, shapes=shapes, backend=device)
    levels, compared, faults = levels_of(path), 0, []
    for tensor in report["tensors"]:
        level, own = levels.get(tensor["tensor"]), tensor.get("own")
        if level is None or own is None:
            continue
        compared += 1
        if own["max_abs"] > 1.001 * level or own["mean_abs"] > SHARE_OFF * level:
            faults.append(f"{tensor['tensor']}: {own['max_abs'] / level:.2f} levels, {own['mean_abs'] / level:.1e} on average")
    return compared, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--kinds", default="hand,tool,fp8")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--cache")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # the tool advises to simplify a model first
    failed = False
    with tempfile.TemporaryDirectory() as made:
        folder = options.cache or made
        for name in options.names or CONVOLUTIONS + TRANSFORMERS:
            for kind in options.kinds.split(","):
                if (kind == "tool" and name in TRANSFORMERS) or (kind == "fp8" and name in CONVOLUTIONS):
                    continue
                path, feed = quantized(name, kind, folder)
                (cosine, share), (own_cosine, own_share), (optimised, _) = outputs_compared(path, feed, options.device)
                line = (f"{name:20} {kind:5} cosine {cosine:.6f}, {share:.1e} of the largest (own {own_cosine:.6f}, {own_share:.1e}; "
                        f"optimised {optimised:.6f})")
                failed |= cosine < COSINE
                if options.steps:
                    compared, faults = steps_compared(path, feed, options.device)
                    line += f"; {compared} tensors of bytes, {len(faults)} beyond a level or a thousandth"
                    line += "".join(f"\n    {fault}" for fault in faults[:8])
                    failed |= bool(faults) or not compared
                print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
