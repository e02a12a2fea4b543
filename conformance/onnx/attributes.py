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
    import numpy
    import onnx
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "onnx")
TABLE = os.path.join(SOURCES, "attributes.def")
MICROSOFT = "com.microsoft"
DOMAINS = {"importers.def": "", "importers_microsoft.def": MICROSOFT, "importers_ml.def": "ai.onnx.ml",
           "importers_preview.def": "ai.onnx.preview", "importers_training.def": "ai.onnx.preview.training"}
OLDEST = 7  # operator set of domain "" that Kiln reads
# Operators that importers.cc enters under a second domain.
TWICE = [(MICROSOFT, "DequantizeLinear"), (MICROSOFT, "QuantizeLinear")]
# Those of onnx 1.23.2 that Kiln reads, beyond the pinned package's.
NEWER = {("", "Attention"): {"left_window_size", "right_window_size"}, ("", "BitCast"): {"to"},
         ("", "CausalConvWithState"): {"activation"}, ("", "CumProd"): {"exclusive", "reverse"},
         ("", "LinearAttention"): {"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"},
         ("", "SpaceToDepth"): {"mode"}, ("", "SwiGLU"): {"alpha"},
         ("ai.onnx.preview", "FlexAttention"): {"prob_mod", "scale", "score_mod", "softmax_precision"}}
HEAD = """// The attributes that operators have which Kiln imports, of all versions that it reads; written by
// conformance/onnx/attributes.py. ATTRIBUTES(domain, operator, names in alphabetical order with =DEFAULT where the
// newest version has one that is no list, and a space behind each).
"""


def default_of(attribute):
    """A default as Kiln writes it, in the fewest digits; None where there is none, or it is a list."""
    if attribute.type == onnx.AttributeProto.FLOAT:
        return str(numpy.float32(attribute.f)).removesuffix(".0")
    if attribute.type == onnx.AttributeProto.INT:
        return str(attribute.i)
    return attribute.s.decode() if attribute.type == onnx.AttributeProto.STRING else None


def schemas():
    """By (domain, operator), the default of each attribute by its name; None where it has none."""
    versions = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        names = {name: default_of(attribute.default_value) for name, attribute in schema.attributes.items()}
        versions.setdefault((schema.domain, schema.name), []).append((schema.since_version, names))
    known = {}
    for key, of in versions.items():
        of.sort(key=lambda each: each[0])
        ends = [since for since, _ in of[1:]] + [float("inf")]
        oldest = OLDEST if key[0] == "" else 0
        known[key] = {}
        for (_, names), end in zip(of, ends):  # the newest version's default holds
            known[key] |= names if end > oldest else {}
    for schema in runtime.get_all_operator_schema():
        if schema.domain == MICROSOFT or (schema.domain == "" and ("", schema.name) not in known):
            names = {name: default_of(onnx.AttributeProto.FromString(attribute._default_value))
                     for name, attribute in schema.attributes.items()}
            known[schema.domain, schema.name] = names | known.get((schema.domain, schema.name), {})
    for key, names in NEWER.items():
        known.setdefault(key, {}).update({name: None for name in names})
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
        words = (name if value is None else f"{name}={value}" for name, value in sorted(known[domain, operator].items()))
        lines = textwrap.wrap("".join(f"{word} " for word in words), 100, drop_whitespace=False)
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
