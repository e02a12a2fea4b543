#!/usr/bin/env python3
"""The attributes of the operators that Kiln imports, by ONNX's schemas and ONNX Runtime's: src/onnx/attributes.def.

usage: attributes.py check     fails if the file is not what the schemas and the tables of importers say
       attributes.py update    writes it

77, for skipped, where packages are missing. An attribute that no version from opset 7 on has is not in the file.
"""
import os
import re
import sys
import textwrap

try:
    import onnx
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "onnx")
TABLE = os.path.join(SOURCES, "attributes.def")
MICROSOFT = "com.microsoft"
DOMAINS = {"importers.def": "", "importers_microsoft.def": MICROSOFT, "importers_ml.def": "ai.onnx.ml",
           "importers_training.def": "ai.onnx.preview.training"}
OLDEST = 7  # operator set of domain "" that Kiln reads
# Operators that importers.cc enters under a second domain.
TWICE = [(MICROSOFT, "DequantizeLinear"), (MICROSOFT, "QuantizeLinear")]
# Those of onnx 1.23.2 that Kiln reads, beyond the pinned package's.
NEWER = {("", "Attention"): {"left_window_size", "right_window_size"}, ("", "CausalConvWithState"): {"activation"},
         ("", "SpaceToDepth"): {"mode"}, ("", "SwiGLU"): {"alpha"}}
HEAD = """// The attributes that operators have which Kiln imports, of all versions that it reads; written by
// conformance/onnx/attributes.py. ATTRIBUTES(domain, operator, names in alphabetical order, with a space behind each).
"""


def schemas():
    """A set of names by (domain, operator)."""
    versions = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        versions.setdefault((schema.domain, schema.name), []).append((schema.since_version, set(schema.attributes)))
    known = {}
    for key, of in versions.items():
        of.sort(key=lambda each: each[0])
        ends = [since for since, _ in of[1:]] + [float("inf")]
        oldest = OLDEST if key[0] == "" else 0
        known[key] = set().union(*(names for (_, names), end in zip(of, ends) if end > oldest))
    for schema in runtime.get_all_operator_schema():
        if schema.domain == MICROSOFT or (schema.domain == "" and ("", schema.name) not in known):
            known.setdefault((schema.domain, schema.name), set()).update(schema.attributes)
    for key, names in NEWER.items():
        known.setdefault(key, set()).update(names)
    return known


def imported():
    """(domain, operator) of each importer."""
    keys = list(TWICE)
    for name, domain in DOMAINS.items():
        with open(os.path.join(SOURCES, name)) as file:
            keys += [(domain, operator) for operator in re.findall(r"^IMPORT\((\w+),", file.read(), re.M)]
    return sorted(keys)


def text():
    known = schemas()
    unknown = [key for key in imported() if key not in known]
    if unknown:
        sys.exit(f"no schema of {unknown}: are they spelled as ONNX has them, or do they belong to NEWER?")
    rows = []
    for domain, operator in imported():
        lines = textwrap.wrap("".join(f"{name} " for name in sorted(known[domain, operator])), 100, drop_whitespace=False)
        parts = "\n           ".join(f'"{line}"' for line in lines or [""])
        rows.append(f'ATTRIBUTES("{domain}", {operator}, {parts})\n')
    return HEAD + "".join(rows)


def main():
    if sys.argv[1:] not in (["check"], ["update"]):
        sys.exit(__doc__)
    wanted = text()
    if sys.argv[1] == "update":
        with open(TABLE, "w") as file:
            file.write(wanted)
        return
    with open(TABLE) as file:
        found = file.read()
    missing, extra = set(wanted.splitlines()) - set(found.splitlines()), set(found.splitlines()) - set(wanted.splitlines())
    for sign, lines in (("+", missing), ("-", extra)):
        for line in sorted(lines):
            print(sign, line)
    if found != wanted:
        sys.exit("src/onnx/attributes.def is not what the schemas say: attributes.py update")
    print(f"{len(imported())} operators")


if __name__ == "__main__":
    main()
