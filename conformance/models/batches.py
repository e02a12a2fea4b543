#!/usr/bin/env python3
"""Runs a model with a dynamic batch at 1, 3 and 8 different inputs in one engine, against ONNX Runtime.

usage: batches.py PROGRAM MODEL [--gpu] [CONFIG...]     PROGRAM is run_network, MODEL a folder of KILN_MODELS_DIR
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

BATCHES = (3, 1, 8)  # the first is the profile's optimum


def read_tensor(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


def write_data_set(folder, inputs, outputs):
    """`inputs` and `outputs` are lists of (name, array)."""
    os.makedirs(folder)
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, (name, array) in enumerate(tensors):
            with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())


def rows(folder, index):
    """Every row of input `index` over all data sets of the model."""
    arrays = []
    while os.path.isdir(data_set := os.path.join(folder, f"test_data_set_{len(arrays)}")):
        arrays.append(read_tensor(os.path.join(data_set, f"input_{index}.pb")))
    return np.concatenate(arrays)


def batch_of(some_rows, batch, seed):
    """`batch` rows, no two alike: those there are, and shifted ones. Shifts keep the values' range and type."""
    picked = [np.roll(some_rows[(seed + i) % len(some_rows)], 7 * seed + 13 * i) for i in range(batch)]
    return np.stack(picked)


def write_batches(model_folder, folder):
    path = os.path.join(model_folder, "model.onnx")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for i, batch in enumerate(BATCHES):
        inputs = [(x.name, batch_of(rows(model_folder, k), batch, i)) for k, x in enumerate(session.get_inputs())]
        outputs = session.run(None, dict(inputs))
        names = [y.name for y in session.get_outputs()]
        write_data_set(os.path.join(folder, f"test_data_set_{i}"), inputs, list(zip(names, outputs)))


def main():
    program, model, configs = sys.argv[1], sys.argv[2], sys.argv[3:]
    device = ["--gpu"] if "--gpu" in configs else []
    configs = [config for config in configs if config != "--gpu"] or ["noTF32", "default"]
    collection = os.environ.get("KILN_MODELS_DIR")
    if not collection:
        print("SKIP: KILN_MODELS_DIR is not set")
        return 77
    model_folder = os.path.join(collection, model)
    with tempfile.TemporaryDirectory() as folder:
        write_batches(model_folder, folder)
        runs = [subprocess.run([program, model_folder, "--config", config, "--sets", folder, *device])
                for config in configs]
    codes = {run.returncode for run in runs}
    return 77 if codes == {77} else int(codes != {0})


if __name__ == "__main__":
    sys.exit(main())
