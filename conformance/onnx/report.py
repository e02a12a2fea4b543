#!/usr/bin/env python3
"""Judges ONNX's node tests: runs onnx_node_tests on the data of the onnx package.

usage: report.py check PROGRAM [--gpu]
                                   fails if a case fails that failing.txt lacks, or one of expected.txt no longer passes;
                                   on the GPU, 77 for skipped without one
       report.py update PROGRAM    writes expected.txt (cases that pass), failing.txt and docs/onnx-operators.md
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from gpu import absent_gpu  # noqa: E402
from edges import CONSTANTS, take_apart  # noqa: E402

EXPECTED = os.path.join(HERE, "expected.txt")
FAILING = os.path.join(HERE, "failing.txt")
DOCUMENT = os.path.join(HERE, "..", "..", "docs", "onnx-operators.md")
LEAST_PASSES = 700


def data_folder():
    """The package's node tests; None where the package or its data is not installed."""
    try:
        import onnx
    except ImportError:
        return None
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node")
    return folder if os.path.isdir(folder) else None


def run_cases(program, folder, flags):
    result = subprocess.run([program, folder, *flags], stdout=subprocess.PIPE, text=True, check=True)
    cases = [json.loads(line) for line in result.stdout.splitlines()]
    expected = sorted(name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, "model.onnx")))
    if sorted(case["case"] for case in cases) != expected:
        sys.exit(f"{program} answered for {len(cases)} cases; there are {len(expected)}")
    return sorted(cases, key=lambda case: case["case"])


def read_names(path):
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        return {name for line in file if not line.startswith("#") for name in line.split()}


def write_names(path, comment, names):
    with open(path, "w") as file:
        file.write("\n".join([comment, *textwrap.wrap(" ".join(names), 118, break_on_hyphens=False)]) + "\n")


def by_status(cases, status):
    return [case for case in cases if case["status"] == status]


def shortened(text, limit=300):
    return text if len(text) <= limit else text[: limit - 3] + "..."


def check(cases):
    """Prints what is wrong; returns the exit status."""
    passes = {case["case"] for case in by_status(cases, "pass")}
    failed, lost = by_status(cases, "fail"), sorted(read_names(EXPECTED) - passes)
    known = read_names(FAILING)
    fresh = [case for case in failed if case["case"] not in known]
    for case in failed:
        print(f"{'FAILED' if case in fresh else 'known to fail:'} {case['case']}: {shortened(case['reason'])}")
    reasons = {case["case"]: case["reason"] for case in cases}
    for name in lost:
        print(f"NO LONGER PASSES {name}: {shortened(reasons.get(name, 'there is no such case'))}")
    by_reference = sum(case["by_reference_alone"] for case in by_status(cases, "pass"))
    print(f"{len(cases)} cases: {len(passes)} passed ({by_reference} of them by reference alone), "
          f"{len(by_status(cases, 'unsupported'))} unsupported, {len(failed)} failed")
    new = sorted(passes - read_names(EXPECTED))
    if new:
        print(f"{len(new)} passed that expected.txt lacks (report.py update adds them): {' '.join(new[:10])}")
    return 1 if fresh or lost or len(passes) < LEAST_PASSES else 0


def operator_of(case):
    """The operator that a case is about: of a model of several, the one whose name its own has."""
    ops = [op for op in case["ops"] if op != "Constant"] or case["ops"] or ["(none)"]
    if len(ops) == 1:
        return ops[0]
    name = case["case"].removeprefix("test_").replace("_", "")
    named = [op for op in ops if name.startswith(op.split(".")[-1].lower())]
    return max(named, key=len) if named else "several operators"


def table(cases):
    rows = collections.defaultdict(collections.Counter)
    for case in cases:
        row = rows[operator_of(case)]
        row[case["status"]] += 1
        row["reference"] += case["status"] == "pass" and case["by_reference_alone"]
    lines = ["| operator | passed | unsupported | failed | by reference alone |", "|---|---:|---:|---:|---:|"]
    keys = ("pass", "unsupported", "fail", "reference")
    number = lambda count: str(count) if count else ""
    for operator in sorted(rows, key=str.lower):
        lines.append(f"| {operator} | " + " | ".join(number(rows[operator][key]) for key in keys) + " |")
    totals = sum(rows.values(), collections.Counter())
    lines.append("| **all** | " + " | ".join(str(totals[key]) for key in keys) + " |")
    return lines


def absent(cases):
    """Returns what unsupported cases lack, with how many cases lack it."""
    counts = collections.Counter(what for case in by_status(cases, "unsupported") for what in case["reason"].split(", "))
    return [f"| {what} | {count} |" for what, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def document(cases, taken_apart):
    import onnx

    passes = by_status(cases, "pass")
    by_reference = sum(case["by_reference_alone"] for case in passes)
    return "\n".join([
        "# ONNX operators",
        "",
        f"What becomes of the {len(cases)} node tests of onnx {onnx.__version__}, which its specification is made of, on",
        "the CPU: each model goes through the parser, is built, and runs on the test's data, whose shapes, axes and counts",
        "are inputs like any other. `conformance/onnx/report.py update` writes this page; a test fails if a case that",
        "passed no longer does.",
        "",
        f"**{len(passes)} pass**, {by_reference} of them by an operator's reference alone (correct and slow);",
        f"{len(by_status(cases, 'unsupported'))} need an operator or a type that Kiln has not; "
        f"{len(by_status(cases, 'fail'))} fail. A case of a composite operator that ONNX gives as a",
        "model of simpler ones (\"expanded\") counts under the operator if that is in the model, else as several operators.",
        "",
        f"{len(taken_apart)} cases have sequences or optionals at their edges, which networks of TensorRT cannot have. They run with an input or",
        "an output for each element: nodes of ONNX make the sequence of these and take it apart (`conformance/onnx/edges.py`).",
        f"{sum(case['case'] in taken_apart for case in passes)} of them pass. In {len(CONSTANTS)} of them a count, a position or a condition, which says what is in a sequence, is a",
        "constant.",
        "",
        "Floats that decide shapes come at run time, too, though TensorRT takes them as constants only. A one-hot's depth",
        "and a range's limits are shape tensors, whose values must be whole numbers: binding others is an error. A resize's",
        "scales are data if the model states the shape that they make; a run whose scales make another fails.",
        "",
        *table(cases),
        "",
        "## What the unsupported cases lack",
        "",
        "Types that inputs, outputs and casts may have: FLOAT, FLOAT16, BFLOAT16, FLOAT8E4M3FN, INT8, UINT8, INT32, INT64",
        "and BOOL. DOUBLE inputs and outputs are FLOAT for programs, with a warning; FP64 exists inside networks only, and the",
        "cases with DOUBLE data count as unsupported. Types of four bits and FLOAT8E8M0 are not in Kiln yet.",
        "",
        "| lacking | cases |",
        "|---|---:|",
        *absent(cases),
        "",
    ])


def update(cases, taken_apart):
    write_names(EXPECTED, "# ONNX node tests that pass. Written by report.py update; a test fails if one no longer does.",
                sorted(case["case"] for case in by_status(cases, "pass")))
    write_names(FAILING, "# ONNX node tests of operators that Kiln has and that fail all the same. Written by report.py update;\n"
                         "# a test fails if another one joins them.",
                sorted(case["case"] for case in by_status(cases, "fail")))
    with open(DOCUMENT, "w") as file:
        file.write(document(cases, taken_apart))


def main():
    flags = sys.argv[3:]
    if len(sys.argv) < 3 or sys.argv[1] not in ("check", "update") or flags not in ([], ["--gpu"]):
        sys.exit(__doc__)
    folder = data_folder()
    if not folder:
        print("SKIP: the onnx package with its test data is not installed; './dev venv' does")
        return 77
    if flags and absent_gpu():
        print("SKIP: no GPU:", absent_gpu())
        return 77
    with tempfile.TemporaryDirectory() as copies:
        taken_apart = take_apart(folder, copies)
        cases = run_cases(sys.argv[2], copies, flags)
    if sys.argv[1] == "update":
        update(cases, taken_apart)
    return check(cases)


if __name__ == "__main__":
    sys.exit(main())
