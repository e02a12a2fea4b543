#!/usr/bin/env python3
"""Writes README's coverage table from what the sources answer and the tests confirmed.

usage: coverage.py JUNIT    JUNIT is what `ctest --output-junit` wrote of a whole run
       coverage.py --check  fails if README's table does not say what the sources do (test counts aside)

Nothing is written if a test failed: the table would promise what does not hold.
"""
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
README = os.path.join(ROOT, "README.md")
BEGIN, END = "<!-- coverage:begin -->", "<!-- coverage:end -->"
TEST_ROW = "| tests |"


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def api_sources():
    paths = glob.glob(os.path.join(ROOT, "src", "api", "**", "*"), recursive=True)
    paths += glob.glob(os.path.join(ROOT, "src", "plugin", "**", "*"), recursive=True)
    return "\n".join(read(path) for path in sorted(paths) if path.endswith((".cc", ".h")) and "_test." not in path)


def api_slots():
    """Virtual functions that the API's classes forward to, by class without its V."""
    manifest = json.loads(read("conformance", "abi", "trt-10.16.json"))
    slots = {}
    for name, table in manifest["vtables"].items():
        found = re.fullmatch(r"nvinfer1::apiv::V(\w+)", name)
        if found:
            slots[found[1]] = len([slot for slot in table["slots"] if "~" not in json.dumps(slot)])
    return slots


def api_row(sources):
    """Returns, for each class that something here implements, the slots that do not answer `missing`; none for others."""
    slots = api_slots()
    implemented = set(re.findall(r"apiv::V(\w+)", sources)) & set(slots)
    markers = set(re.findall(r'missing\([^"]*"I?(\w+)::(\w+)"', sources))
    missing = sum(1 for owner, _ in markers if owner in implemented)
    answered = sum(slots[name] for name in implemented) - missing
    return [f"| API calls | {answered} of {sum(slots.values())} virtual functions, of {len(implemented)} of {len(slots)} "
            "classes; the others answer with an error that names them |"]


def layers_row(sources):
    network = read("include", "NvInfer.h")
    body = network[network.index("class INetworkDefinition") :]
    body = body[: body.index("\n};")]
    calls = sorted(set(re.findall(r"\badd([A-Z]\w+)\(", body)) - {"Input"})
    missing = set(re.findall(r'missing\([^"]*"INetworkDefinition::(\w+)"', sources))
    have = [call for call in calls if "add" + call not in missing and re.search(rf"Network::add{call}\b", sources)]
    return [f"| layers | {len(have)} of {len(calls)} calls that add one: {', '.join(have)} |"]


def operators_of_importer_tests():
    """Operators that tests of the importer make nodes of: ONNX has no node test of its own for some."""
    paths = glob.glob(os.path.join(ROOT, "src", "onnx", "**", "*_test.cc"), recursive=True)
    return {name for path in paths for name in re.findall(r'\bnode\("(\w+)"', read(path))}


def operators_row():
    """Operators with an importer and a test that passed: a node test, or one of the importer."""
    imported = re.findall(r"^IMPORT\((\w+),", read("src", "onnx", "importers.def"), re.M)
    tested = set(re.findall(r"^\| (\w+) \| \d+ \|", read("docs", "onnx-operators.md"), re.M))
    tested |= operators_of_importer_tests()
    operators = [name for name in imported if name in tested]
    lines = read("conformance", "onnx", "expected.txt").splitlines()
    passes = [name for line in lines if not line.startswith("#") for name in line.split()]
    return [f"| ONNX operators | {len(operators)}, opset 7 to 24: {', '.join(sorted(operators, key=str.lower))} |",
            f"| ONNX's own node tests | {len(passes)} pass; [the table](docs/onnx-operators.md) says which do not, and why |"]


def flags_row():
    """Flags of trtexec's table that do what they say, and those that are read, checked and then refused by name."""
    table = read("tools", "trtexec", "flag_table.h")
    table = table[table.index("kFlags[]") :]
    have, lacking = re.findall(r'\{"(--?\w+)"', table), re.findall(r'lacking\(\s*"(--?\w+)"', table)
    names = lambda flags: ", ".join(f"`{name}`" for name in flags)
    return [f"| trtexec flags | {len(have)} of {len(have) + len(lacking)}; [docs/trtexec.md](docs/trtexec.md) says what "
            f"each does. Refused by name: {names(lacking)} |"]


def plugins_row():
    """The creators of the standard plugins, from docs/plugins.md's table, which a test compares with the library's."""
    table = read("docs", "plugins.md")
    table = table[table.index("| plugin | versions | fields |") :].split("\n\n")[0]
    names, count = [], 0
    for line in table.splitlines()[2:]:
        plugins, versions = (cell.split(", ") for cell in line.split(" | ")[:2])
        plugins[0] = plugins[0].removeprefix("| ")
        first, _, last = versions[0].partition(" to ")
        count += len(plugins) * (int(last) - int(first) + 1 if last else len(versions))
        names += [name for name in plugins if name not in names]
    return [f"| standard plugins | {len(names)}, as {count} creators of all versions: {', '.join(names)}; "
            "[docs/plugins.md](docs/plugins.md#standard-plugins) has their fields, and what is other than in TensorRT |"]


def tests_row(junit):
    cases = list(xml.etree.ElementTree.parse(junit).getroot().iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    if failed or not cases:
        sys.exit(f"{len(failed)} of {len(cases)} tests failed, so nothing is written: {', '.join(failed[:20])}")
    skipped = sum(case.find("skipped") is not None for case in cases)
    return [f"{TEST_ROW} {len(cases) - skipped} passed, {skipped} skipped |"]


def source_rows():
    sources = api_sources()
    return [*api_row(sources), *layers_row(sources), *operators_row(), *plugins_row(), *flags_row()]


def split_readme():
    text = read("README.md")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:begin], text[begin:end], text[end:]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    before, table, after = split_readme()
    if sys.argv[1] == "--check":
        stale = [row for row in source_rows() if row not in table.splitlines()]
        for row in stale:
            print(f"README lacks: {row}")
        sys.exit(1 if stale else 0)
    rows = ["| what | covered |", "|---|---|", *source_rows(), *tests_row(sys.argv[1])]
    with open(README, "w") as file:
        file.write(before + "\n" + "\n".join(rows) + "\n" + after)


if __name__ == "__main__":
    main()
