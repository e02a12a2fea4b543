#!/usr/bin/env python3
"""Well-known architectures with random weights against ONNX Runtime on the same file: two batch sizes, two sequence
lengths where there are sequences, three seeds of inputs. Prints a table; fails if a difference exceeds its bound.

usage: zoo.py PROGRAM [--gpu] [--configs LIST] [NAME...]

PROGRAM is run_network; KILN_ZOO_DIR has the skeletons and fill_weights.py. One engine has all batches and lengths. --gpu
runs on the GPU, more networks by default; 77, for skipped, without one. LIST names configurations of run_network, with
commas between them: by default noTF32,default, on the GPU noTF32,fp16.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
from batches import write_data_set  # noqa: E402

NETWORKS = ("resnet50", "mobilenet_v3_large", "vit_b_16", "bert_base", "gpt2")
ON_GPU = NETWORKS + ("efficientnet_b0", "convnext_tiny", "unet_256", "bert_large")
BATCHES, LENGTHS, SEEDS = (1, 2), (32, 47), (0, 1, 2)
BOUNDS = {"noTF32": 2e-5, "default": 2e-4, "fp16": 3e-2}  # of the largest output


def extents(shape, batch, length):
    """Returns the extents of an input: numbers stay, the first name is the batch, a second the sequence."""
    named = iter((batch, length))
    return [extent if isinstance(extent, int) else next(named) for extent in shape]


def random_input(info, shape, generator):
    if info.type == "tensor(float)":
        return generator.standard_normal(shape, dtype=np.float32)
    kind = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}[info.type]
    if "mask" in info.name:  # the last positions of every second row are padding
        mask = np.ones(shape, kind)
        mask[::2, -shape[-1] // 4 :] = 0
        return mask
    return generator.integers(0, 2 if "type" in info.name else 1000, shape).astype(kind)


def write_data_sets(model, folder):
    """ONNX Runtime's outputs for every combination; the number of sets."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    shapes = [info.shape for info in session.get_inputs()]
    has_length = any(sum(not isinstance(extent, int) for extent in shape) > 1 for shape in shapes)
    combinations = [(batch, length) for batch in BATCHES for length in (LENGTHS if has_length else LENGTHS[:1])]
    count = 0
    for batch, length in combinations:
        for seed in SEEDS:
            generator = np.random.default_rng([seed, batch, length])
            inputs = [(info.name, random_input(info, extents(info.shape, batch, length), generator))
                      for info in session.get_inputs()]
            outputs = session.run(None, dict(inputs))
            names = [info.name for info in session.get_outputs()]
            write_data_set(os.path.join(folder, f"test_data_set_{count}"), inputs, list(zip(names, outputs)))
            count += 1
    return count


def worst_ratio(text):
    """The largest difference over the largest output, over all lines that run_network printed."""
    pairs = re.findall(r"largest difference (\S+), largest output (\S+)", text)
    return max((float(difference) / float(largest) for difference, largest in pairs), default=float("nan"))


def run_network(program, folder, sets, config, device):
    command = [program, folder, "--config", config, "--sets", sets, "--rel-to-max", str(BOUNDS[config]), *device]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode == 77:
        print(result.stdout)
        sys.exit(77)
    if result.returncode:
        print(result.stdout)
    return result.returncode, worst_ratio(result.stdout)


def run(program, zoo, name, configs, device):
    """Prints rows of the table; whether all passed. Weights are hundreds of megabytes: one network's at a time."""
    fine = True
    with tempfile.TemporaryDirectory() as temporary:
        fill = [sys.executable, os.path.join(zoo, "fill_weights.py"), os.path.join(zoo, name + ".onnx"), temporary]
        subprocess.run(fill, check=True, stdout=subprocess.DEVNULL)
        folder, sets = os.path.join(temporary, name), os.path.join(temporary, "sets")
        count = write_data_sets(os.path.join(folder, "model.onnx"), sets)
        for config in configs:
            status, ratio = run_network(program, folder, sets, config, device)
            verdict = "FAILED" if status else "ok"
            fine = fine and not status
            print(f"{name:20} {config:8} {count:5} {ratio:10.2e} {BOUNDS[config]:8.0e} {verdict}", flush=True)
    return fine


def main():
    arguments = sys.argv[1:]
    device = ["--gpu"] if "--gpu" in arguments else []
    arguments = [word for word in arguments if word != "--gpu"]
    configs, networks = (["noTF32", "fp16"], ON_GPU) if device else (["noTF32", "default"], NETWORKS)
    if arguments[1:2] == ["--configs"] and len(arguments) > 2:
        configs = arguments[2].split(",")
        del arguments[1:3]
    if not arguments or not set(configs) <= set(BOUNDS):
        sys.exit(__doc__)
    zoo = os.environ.get("KILN_ZOO_DIR")
    if not zoo:
        print("SKIP: KILN_ZOO_DIR is not set")
        return 77
    print(f"{'network':20} {'config':8} {'sets':>5} {'worst':>10} {'bound':>8}")
    results = [run(arguments[0], zoo, name, configs, device) for name in arguments[1:] or networks]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
