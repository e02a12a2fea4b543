#!/usr/bin/env python3
"""Compares a runtime's classes of the held-out digits with ONNX Runtime's.

    compare_ort.py             ONNX Runtime's accuracy is the one that digits.json records
    compare_ort.py CLASSES     and CLASSES (a class a line, from `digits --classes-out`) agrees with it digit by digit

Exits with 1 at any difference, with 77 (skipped) where ONNX Runtime is not installed.
"""
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def onnxruntime_classes(np, onnxruntime):
    images = np.fromfile(FOLDER / "heldout.bin", "<f4").reshape(-1, 1, 8, 8)
    session = onnxruntime.InferenceSession(str(FOLDER / "digits.onnx"), providers=["CPUExecutionProvider"])
    (probabilities,) = session.run(["probabilities"], {"image": images})
    return probabilities.argmax(axis=1).tolist()


def accuracy_problem(classes):
    labels = list((FOLDER / "heldout.labels").read_bytes())
    facts = json.loads((FOLDER / "digits.json").read_text())
    right = sum(a == b for a, b in zip(classes, labels))
    if (len(classes), len(labels), right) == (facts["held_out"], facts["held_out"], facts["right"]):
        return None
    return f"ONNX Runtime gets {right} of {len(classes)} right; digits.json says {facts['right']} of {facts['held_out']}"


def differences(ours, theirs):
    if len(ours) != len(theirs):
        return [f"{len(ours)} classes given for {len(theirs)} digits"]
    return [f"digit {i}: {a} given, ONNX Runtime says {b}" for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]


def main(arguments):
    try:
        import numpy as np
        import onnxruntime
    except ImportError as missing:
        print(f"SKIP: {missing}; `./dev venv` installs it")
        return SKIPPED
    classes = onnxruntime_classes(np, onnxruntime)
    problems = [p for p in [accuracy_problem(classes)] if p]
    if arguments:
        ours = [int(line) for line in pathlib.Path(arguments[0]).read_text().split()]
        problems += differences(ours, classes)
    print("\n".join(problems) if problems else f"{len(classes)} digits, the same class for every one of them")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
