#!/usr/bin/env python3
"""Trains the sample's digit classifier and writes digits.onnx, heldout.bin, heldout.labels and digits.json.

A convolutional network of some 10,000 weights, trained in plain NumPy on the 8x8 digits that scikit-learn ships (DATA.md
has their source and licence). The same seed on the same machine writes the same bytes; what it wrote is checked in, so
nobody needs to run this to use the sample:

    .venv/bin/pip install -r samples/digits/requirements.txt && .venv/bin/python samples/digits/train.py
"""
import json
import os
import pathlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the order of sums, and so the last bits, depend on the thread count

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).resolve().parent
SEED = 20260101
NUM_HELD_OUT = 360
EPOCHS = 60
BATCH = 32
CHANNELS = (16, 32)


# Layers. Images are [n, c, h, w]; each forward returns what its backward needs.


def patches_of(x):
    """The 3x3 neighbourhood of every pixel, zeros outside: [n, c, h, w] to [n * h * w, c * 9]."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))  # [n, c, h, w, 3, 3]
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)


def convolve(x, weights, bias):
    n, _, h, w = x.shape
    patches = patches_of(x)
    y = patches @ weights.reshape(len(weights), -1).T + bias
    return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2), patches


def convolve_backward(dy, x_shape, patches, weights):
    """Gradients with respect to x, weights and bias."""
    n, c, h, w = x_shape
    rows = dy.transpose(0, 2, 3, 1).reshape(-1, len(weights))
    d_weights = (rows.T @ patches).reshape(weights.shape)
    d_patches = (rows @ weights.reshape(len(weights), -1)).reshape(n, h, w, c, 3, 3)
    d_padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            d_padded[:, :, i : i + h, j : j + w] += d_patches[..., i, j].transpose(0, 3, 1, 2)
    return d_padded[:, :, 1:-1, 1:-1], d_weights, rows.sum(axis=0)


def max_pool(x):
    """2x2 windows, stride 2; also the mask of each window's first maximum."""
    n, c, h, w = x.shape
    windows = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    return windows.max(axis=-1), np.eye(4, dtype=np.float32)[windows.argmax(axis=-1)]


def max_pool_backward(dy, mask):
    n, c, h, w = dy.shape
    spread = (dy[..., None] * mask).reshape(n, c, h, w, 2, 2)
    return spread.transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# The network: conv, relu, pool, conv, relu, fully connected, softmax.


def initial_weights(rng):
    def he(*shape):
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    first, second = CHANNELS
    return {
        "conv1.weight": he(first, 1, 3, 3),
        "conv1.bias": np.zeros(first, np.float32),
        "conv2.weight": he(second, first, 3, 3),
        "conv2.bias": np.zeros(second, np.float32),
        "fc.weight": he(10, second * 4 * 4),
        "fc.bias": np.zeros(10, np.float32),
    }


def forward(p, x):
    """Class probabilities [n, 10], and what backward() needs."""
    c1, patches1 = convolve(x, p["conv1.weight"], p["conv1.bias"])
    pooled, mask = max_pool(np.maximum(c1, 0))
    c2, patches2 = convolve(pooled, p["conv2.weight"], p["conv2.bias"])
    flat = np.maximum(c2, 0).reshape(len(x), -1)
    return softmax(flat @ p["fc.weight"].T + p["fc.bias"]), (x, c1, patches1, mask, pooled, c2, patches2, flat)


def backward(p, saved, probabilities, labels):
    """Gradients of the mean cross entropy, by parameter name."""
    x, c1, patches1, mask, pooled, c2, patches2, flat = saved
    d_logits = (probabilities - np.eye(10, dtype=np.float32)[labels]) / len(labels)
    g = {"fc.weight": d_logits.T @ flat, "fc.bias": d_logits.sum(axis=0)}
    d_c2 = (d_logits @ p["fc.weight"]).reshape(c2.shape) * (c2 > 0)
    d_pooled, g["conv2.weight"], g["conv2.bias"] = convolve_backward(d_c2, pooled.shape, patches2, p["conv2.weight"])
    d_c1 = max_pool_backward(d_pooled, mask) * (c1 > 0)
    _, g["conv1.weight"], g["conv1.bias"] = convolve_backward(d_c1, x.shape, patches1, p["conv1.weight"])
    return g


class Adam:
    def __init__(self, parameters):
        self.step_count = 0
        self.mean = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.square = {name: np.zeros_like(value) for name, value in parameters.items()}

    def step(self, parameters, gradients, rate, decay=1e-4):
        self.step_count += 1
        for name, gradient in gradients.items():
            mean, square = self.mean[name], self.square[name]
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            unbiased_mean = mean / (1 - 0.9**self.step_count)
            unbiased_square = square / (1 - 0.999**self.step_count)
            parameters[name] -= rate * (unbiased_mean / (np.sqrt(unbiased_square) + 1e-8) + decay * parameters[name])


# Data and training.


def split_data(rng):
    """(training images, labels), (held-out images, labels): float32 [n, 1, 8, 8] in 0..1 and uint8."""
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    labels = data.target.astype(np.uint8)
    order = rng.permutation(len(images))
    held_out, training = order[:NUM_HELD_OUT], order[NUM_HELD_OUT:]
    return (images[training], labels[training]), (images[held_out], labels[held_out])


def shifted(images, rng):
    """Each image moved by up to one pixel each way, blank where nothing moves in."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(0, 3, (2, len(images)))
    return np.stack([padded[k, :, i : i + 8, j : j + 8] for k, (i, j) in enumerate(zip(rows, columns))])


def train(images, labels, rng):
    p = initial_weights(rng)
    adam = Adam(p)
    for epoch in range(EPOCHS):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for rows in np.array_split(rng.permutation(len(images)), len(images) // BATCH):
            probabilities, saved = forward(p, shifted(images[rows], rng))
            adam.step(p, backward(p, saved, probabilities, labels[rows]), rate)
    return p


def to_onnx(p):
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["conv1"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv1"], ["relu1"], "relu1"),
        helper.make_node("MaxPool", ["relu1"], ["pool1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["pool1", "conv2.weight", "conv2.bias"], ["conv2"], "conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv2"], ["relu2"], "relu2"),
        helper.make_node("Flatten", ["relu2"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value, name) for name, value in p.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="kiln")
    model.doc_string = "8x8 handwritten digits; trained by samples/digits/train.py, data: see samples/digits/DATA.md"
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    rng = np.random.default_rng(SEED)
    (images, labels), (held_images, held_labels) = split_data(rng)
    p = train(images, labels, rng)
    probabilities, _ = forward(p, held_images)
    num_right = int((probabilities.argmax(axis=1) == held_labels).sum())
    top = np.sort(probabilities, axis=1)
    facts = {
        "seed": SEED,
        "training": len(images),
        "held_out": NUM_HELD_OUT,
        "right": num_right,
        "accuracy": round(num_right / NUM_HELD_OUT, 4),
        "smallest_margin": round(float((top[:, -1] - top[:, -2]).min()), 4),  # between a digit's two likeliest classes
    }
    onnx.save(to_onnx(p), FOLDER / "digits.onnx")
    held_images.astype("<f4").tofile(FOLDER / "heldout.bin")
    held_labels.tofile(FOLDER / "heldout.labels")
    (FOLDER / "digits.json").write_text(json.dumps(facts, indent=2) + "\n")
    print(f"trained on {len(images)}; {num_right} of {NUM_HELD_OUT} held-out digits right ({facts['accuracy']:.1%})")


if __name__ == "__main__":
    main()
