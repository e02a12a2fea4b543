#!/usr/bin/env python3
"""Products by quantized weights beside products of floats: a chain of products, so that no weights come from a cache.

usage: weight_only.py TRTEXEC [--rows 1,16] [--size 4096] [--megabytes 500] [--block 128] [--flags=FLAGS] [CASE...]

CASE is fp32, fp16, int4, int4z (with zero points) or int8; without any, all of them. A network multiplies x [rows, size] by
so many matrices [size, size] that each case reads that many megabytes of weights, each with another bias behind it. trtexec
builds an engine and runs it; a line a case tells the time of a product, its rate in bytes of weights and scales, and how
much faster it is than the first case of so many rows. fp16 adds --fp16 (on the CPU weights then may be halves), and so do
the quantized cases where FLAGS have it. --flags: for all of trtexec's calls, with spaces between them.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = ("fp32", "fp16", "int4", "int4z", "int8")


def weight_bytes(case, size, block):
    """Of a matrix with its scales and zero points."""
    scales = size * (size // block)
    return {"fp32": 4 * size * size, "fp16": 2 * size * size, "int4": size * size // 2 + 4 * scales,
            "int4z": size * size // 2 + 4 * scales + scales // 2, "int8": size * size + 4 * scales}[case]


def chain(case, rows, size, block, count):
    rng = np.random.default_rng(1)
    nodes, constants, x = [], [], "x"
    for i in range(count):
        bias = numpy_helper.from_array(rng.standard_normal(size).astype(np.float32), f"bias{i}")
        constants.append(bias)
        if case in ("fp32", "fp16"):
            w = (rng.standard_normal((size, size), dtype=np.float32) / np.sqrt(size)).astype(np.float16)  # exact as halves
            constants.append(numpy_helper.from_array(w.astype(np.float32), f"w{i}"))
            nodes.append(helper.make_node("MatMul", [x, f"w{i}"], [f"m{i}"]))
        else:
            bits = 8 if case == "int8" else 4
            blocks = size // block
            numbers = rng.integers(0, 256, (size, blocks, block * bits // 8), dtype=np.uint8)
            spread = 2**bits / np.sqrt(12) * (np.sqrt(2) if case == "int4z" else 1)  # of a number less its zero point
            scales = np.full(size * blocks, 1 / (np.sqrt(size) * spread), np.float32)
            constants += [numpy_helper.from_array(numbers, f"w{i}"), numpy_helper.from_array(scales, f"s{i}")]
            inputs = [x, f"w{i}", f"s{i}"]
            if case == "int4z":
                zeros = rng.integers(0, 256, size * ((blocks + 1) // 2), dtype=np.uint8)
                constants.append(numpy_helper.from_array(zeros, f"z{i}"))
                inputs.append(f"z{i}")
            nodes.append(helper.make_node("MatMulNBits", inputs, [f"m{i}"], domain="com.microsoft", N=size, K=size, bits=bits,
                                          block_size=block))
        x = f"x{i}"
        nodes.append(helper.make_node("Add", [f"m{i}", f"bias{i}"], [x]))
    shape = [rows, size]
    graph = helper.make_graph(nodes, case, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def measure(trtexec, case, rows, size, block, count, flags, folder):
    """Milliseconds of a run: the median."""
    path = os.path.join(folder, "model.onnx")
    onnx.save(chain(case, rows, size, block, count), path, save_as_external_data=True, location="weights.bin")
    half = ["--fp16"] if case == "fp16" and "--fp16" not in flags else []
    command = [trtexec, f"--onnx={path}", "--useCudaGraph", "--noDataTransfers", "--warmUp=300", "--duration=2", *half, *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"GPU Compute Time:.* median = ([0-9.]+) ms", done.stdout)
    os.remove(os.path.join(folder, "weights.bin"))
    if done.returncode or not found:
        sys.exit(done.stdout[-2000:])
    return float(found.group(1))


def main():
    rest, options = [], {"rows": "1,16", "size": "4096", "megabytes": "500", "block": "128", "flags": ""}
    arguments = sys.argv[1:]
    while arguments:
        argument = arguments.pop(0)
        name, _, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--"):
            rest.append(argument)
        elif name not in options:
            sys.exit(__doc__)
        else:
            options[name] = value or arguments.pop(0)
    if not rest:
        sys.exit(__doc__)
    size, block = int(options["size"]), int(options["block"])
    for rows in map(int, options["rows"].split(",")):
        first = None
        for case in rest[1:] or CASES:
            each = weight_bytes(case, size, block)
            count = max(2, int(options["megabytes"]) * 10**6 // each)
            with tempfile.TemporaryDirectory() as folder:
                us = measure(rest[0], case, rows, size, block, count, options["flags"].split(), folder) * 1e3 / count
            first = first or us
            print(f"{rows} x {size} x {size} {case}: {us:.1f} us a product, {each / us / 1e3:.1f} GB/s of weights, {first / us:.2f} of {rest[1] if len(rest) > 1 else CASES[0]}'s speed", flush=True)


if __name__ == "__main__":
    main()
