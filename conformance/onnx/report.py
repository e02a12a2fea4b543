#!/usr/bin/env python3
"""Judges ONNX's node tests: runs onnx_node_tests on the data of the onnx package.

usage: report.py check PROGRAM [--gpu]
                                   fails if a case fails that failing.txt lacks, if one of failing.txt does not fail, or
                                   if one of expected.txt no longer passes;
                                   on the GPU, 77 for skipped without one
       report.py update PROGRAM    writes expected.txt (cases that pass) and docs/onnx-operators.md
       report.py newer PROGRAM FOLDER
                                   prints each case of onnx 1.23.2's data that does not pass, and writes those that do to
                                   newer.txt; its package has no data but makes it: cmd_tools.generate_data of
                                   onnx.backend.test, with the cases of onnx.backend.test.case.node
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from gpu import absent_gpu  # noqa: E402
from edges import CONSTANTS, take_apart  # noqa: E402

EXPECTED = os.path.join(HERE, "expected.txt")
NEWER = os.path.join(HERE, "newer.txt")
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


def read_reasons(path):
    """Returns the reason of each exception: lines of `case: reason`, # in front of comments."""
    with open(path) as file:
        lines = [line.partition(":") for line in file if line.strip() and not line.startswith("#")]
    for name, _, reason in lines:
        if not reason.strip():
            sys.exit(f"{path}: {name.strip()} has no reason")
    return {name.strip(): reason.strip() for name, _, reason in lines}


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
    known = read_reasons(FAILING)
    stale = sorted(known.keys() - {case["case"] for case in failed})
    fresh = [case for case in failed if case["case"] not in known]
    for case in failed:
        print(f"{'FAILED' if case in fresh else 'known to fail:'} {case['case']}: {shortened(case['reason'])}")
    reasons = {case["case"]: case["reason"] for case in cases}
    for name in lost:
        print(f"NO LONGER PASSES {name}: {shortened(reasons.get(name, 'there is no such case'))}")
    for name in stale:
        print(f"NO LONGER FAILS {name}: take it out of failing.txt")
    by_reference = sum(case["by_reference_alone"] for case in by_status(cases, "pass"))
    print(f"{len(cases)} cases: {len(passes)} passed ({by_reference} of them by reference alone), "
          f"{len(by_status(cases, 'unsupported'))} unsupported, {len(failed)} failed")
    new = sorted(passes - read_names(EXPECTED))
    if new:
        print(f"{len(new)} passed that expected.txt lacks (report.py update adds them): {' '.join(new[:10])}")
    return 1 if fresh or lost or stale or len(passes) < LEAST_PASSES else 0


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


# Why cases stay unsupported, by the first of these that is among what they lack.
WHY_ABSENT = {
    "type STRING": "TensorRT's API has no strings, so that no network can take, hold or give them: keep such nodes in front of the network",
    "operator ImageDecoder": "decoding a file wants a library for each format of images: decode in front of the network",
    "operator Bernoulli": "the data holds the numbers of numpy's generator; Kiln draws others (`onnx/import/random.cc`)",
    "operator RandomUniformLike": "the same",
}


# What no node case asks for, and Kiln does not import.
OUT_OF_SCOPE = [
    "- ai.onnx.ml beyond the operators above. CastMap, CategoryMapper, DictVectorizer and ZipMap are of strings or maps, which",
    "  TensorRT's API has not: keep them outside of the network, and convert classifiers with options={'zipmap': False}. So are",
    "  strings as labels, keys and categories: train with integers. SVMRegressor's `post_transform` is not in Kiln.",
    "- What ONNX-ML leaves open is as ONNX Runtime has it: the scores of two classes by one score.",
    "  SOFTMAX, SOFTMAX_ZERO and LOGISTIC of a single target are applied, as the text says and ONNX Runtime",
    "  does not; the parser warns of it. The label of a TreeEnsembleClassifier of two classes that both have weights is that of the",
    "  greater score, where ONNX Runtime gives 1 if the second is above 0, and else 0, whatever the labels are.",
    "  A class to which no leaf of the model gives a weight is not chosen; ONNX Runtime looks at the leaves of each row alone, so that",
    "  a row whose scores are negative may have another label. A target without weights in a row is its `base_values` (0 there). NaN is",
    "  the greatest element of Normalizer's MAX (passed over there) and belongs to OneHotEncoder's category 0 (to none there).",
    "- com.microsoft beyond the operators above, and domain com.microsoft.nchwc: save the model by ONNX Runtime's",
    "  ORT_ENABLE_EXTENDED or lower, or take it as it was exported.",
]


def absent(cases):
    """Returns the unsupported cases by the reason, each named."""
    lines = []
    left = by_status(cases, "unsupported")
    for what, why in WHY_ABSENT.items():
        found = [case for case in left if what in case["reason"].split(", ")]
        left = [case for case in left if case not in found]
        names = ", ".join(f"`{case['case']}`" for case in found)
        lines += textwrap.wrap(f"- **{what}**, {len(found)} cases: {why}. {names}", 118, subsequent_indent="  ", break_on_hyphens=False)
    if left:
        sys.exit("WHY_ABSENT lacks a reason for " + ", ".join(f"{case['case']} ({case['reason']})" for case in left))
    return lines


def operators_in(table):
    """The operators of a domain, from the list of its importers."""
    with open(os.path.join(HERE, "..", "..", "src", "onnx", table)) as file:
        return ", ".join(sorted(re.findall(r"^IMPORT\((\w+),", file.read(), re.M), key=str.lower))


def paragraph(text):
    return textwrap.wrap(text, 118, break_on_hyphens=False)


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
        "Cases that fail, and why that stays so (`conformance/onnx/failing.txt`):",
        "",
        *(f"- `{name}`: {reason}" for name, reason in sorted(read_reasons(FAILING).items())),
        "",
        "Floats that decide shapes come at run time, too, though TensorRT takes them as constants only. A one-hot's depth",
        "and a range's limits are shape tensors, whose values must be whole numbers: binding others is an error. A resize's",
        "scales are data if the model states the shape that they make; a run whose scales make another fails.",
        "",
        "## Types that TensorRT's API lacks",
        "",
        f"{sum(case['other_types_in_network'] for case in passes)} of the cases that pass have inputs or outputs of such types. A program sees them as a type that has all of",
        "their numbers, with a warning of the parser; inside of the network they mean what ONNX says: integers wrap to their",
        "width, UINT64 is unsigned, FP8 is rounded. The numbers that a program gives must be numbers of the model's type.",
        "",
        "| in the model | for programs |",
        "|---|---|",
        "| INT16, UINT16, UINT4, INT2, UINT2 | INT32 |",
        "| UINT32 | INT64 |",
        "| UINT64 | INT64 with the same bits |",
        "| FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT8E4M3FNUZ | FLOAT |",
        "| DOUBLE | FLOAT; networks compute in FP64; normalization, convolution, pooling, resizing, TopK and reducing scatters by references |",
        "",
        "Which operators take the first four rows' types: `onnx/import/carried_nodes.cc`. Others say that they do not",
        "([ADR 28](adr/0028-types-that-the-api-lacks-are-carried.md)).",
        "",
        "## Operators",
        "",
        *table(cases),
        "",
        "## Other domains",
        "",
        "Of domain com.microsoft, which ONNX Runtime's optimisations, quantization tools and exporters write; compared with",
        "ONNX Runtime by `conformance/microsoft` and `conformance/quantized`:",
        "",
        *paragraph(operators_in("importers_microsoft.def") + ", and the ONNX operators DequantizeLinear and QuantizeLinear."),
        "",
        "DynamicQuantizeLSTM is an LSTM of floats by the weights that its bytes stand for. Its x is rounded to bytes as ONNX Runtime",
        "does it; ONNX Runtime rounds each h besides, so that results differ (in one test of random weights by 0.3 % of the largest).",
        "",
        *paragraph(f"Of domain ai.onnx.ml, compared with ONNX Runtime by `conformance/machine_learning`: "
                   f"{operators_in('importers_ml.def')}. Of domain ai.onnx.preview: {operators_in('importers_preview.def')}. "
                   f"Of domain ai.onnx.preview.training: {operators_in('importers_training.def')}."),
        "",
        *paragraph("Of domain trt, as ModelOpt and Transformer Engine write it: QuantizeLinear and DequantizeLinear as ONNX "
                   f"has them, and {operators_in('importers_trt.def')}, of which TRT_FP4QDQ is refused: it is what "
                   "ModelOpt replaces when it writes a file. Their scales and FP8 weights may be bytes (UINT8), since "
                   "files have no E8M0."),
        "",
        "## What is out of scope",
        "",
        *OUT_OF_SCOPE,
        "",
        "## Newer versions of ONNX",
        "",
        "A model of an operator set beyond 24 is taken as one of 24, with a warning. Kiln knows these changes all the same:",
        "two-bit integers, BitShift of signed integers, Mod of floats without fmod, SpaceToDepth's mode, SwiGLU,",
        "CausalConvWithState, BitCast, CumProd, LinearAttention, FlexAttention, Attention's windows, and DFT's inverse to real",
        "numbers. BitCast takes whole bytes, and neither FP8 types that Kiln's kernels lack nor those of four and two bits.",
        "LinearAttention is a loop over tokens in FP32 (`chunk_size` is not read); of one token it needs no loop.",
        "",
        "In each version of Attention a softcap comes before masks, and a query that sees no key gives zeros, as newer texts of",
        "versions 23 and 24 have it, too. Of the {1} node cases of onnx 1.23.2, {0} pass (`conformance/onnx/newer.txt`).".format(*newer_counts()),
        "",
        "## What the unsupported cases lack",
        "",
        *absent(cases),
        "",
    ])


def update(cases, taken_apart):
    write_names(EXPECTED, "# ONNX node tests that pass. Written by report.py update; a test fails if one no longer does.",
                sorted(case["case"] for case in by_status(cases, "pass")))
    with open(DOCUMENT, "w") as file:
        file.write(document(cases, taken_apart))


def judge_newer(program, folder):
    """Prints what becomes of node tests of a newer version, of which nothing is expected, and keeps those that pass."""
    with tempfile.TemporaryDirectory() as copies:
        take_apart(folder, copies)
        cases = run_cases(program, copies, [])
    for status in ("fail", "unsupported"):
        for case in by_status(cases, status):
            print(f"{status}: {case['case']}: {shortened(case['reason'])}")
    print(f"{len(cases)} cases: " + ", ".join(f"{len(by_status(cases, status))} {status}" for status in ("pass", "unsupported", "fail")))
    write_names(NEWER, f"# ONNX node tests of onnx 1.23.2 that pass, of {len(cases)}. Written by report.py newer.",
                sorted(case["case"] for case in by_status(cases, "pass")))
    return 0


def newer_counts():
    """How many of the newer node tests passed when they ran last, and how many there were."""
    with open(NEWER) as file:
        return len(read_names(NEWER)), re.search(r"of (\d+)\.", file.readline()).group(1)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "newer":
        return judge_newer(sys.argv[2], sys.argv[3])
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
