#!/usr/bin/env python3
"""Compares a module with the manifest of TensorRT's Python API: every class with its bases, methods, arguments, defaults,
properties and constants, every enum with its members, functions and values. differences.json names the differences that
are intended, each with its reason; one that is no longer there fails, too.

    check_api.py [--all] [--only CLASS]    with the module `tensorrt` on PYTHONPATH
"""
import argparse
import ast
import collections
import fnmatch
import importlib
import json
import keyword
import math
import pathlib
import re
import sys

import describe

HERE = pathlib.Path(__file__).resolve().parent
MANIFEST = HERE / "tensorrt-10.16.json"
INTENDED = HERE / "differences.json"

# where: "tensorrt.Builder.build_engine"; part: the row of the table; what: the sentence that says what differs.
Difference = collections.namedtuple("Difference", "where part what")
# Words of annotations that are compared besides the API's own classes; others are spelled in too many ways.
WORDS = {"int", "float", "bool", "str"}
# Anything may stand in ours where TensorRT's module says no more than this.
ANYTHING = {"object", "handle", "Any", "args", "buffer"}


class Comparison:
    """The differences between what is expected and what was found, and how many facts were compared."""

    def __init__(self, expected, found):
        self.expected, self.found = expected, found
        self.differences, self.counts = [], collections.Counter()
        self.api = {name.split(".")[-1] for module in expected.values() for part in ("classes", "enums")
                    for name in module.get(part, {})}

    def run(self):
        for name, module in self.expected.items():
            if name in self.found:
                self.module(name, module, self.found[name])
            else:
                self.note(name, "modules", "is missing")
        return self

    def note(self, where, part, what):
        self.differences.append(Difference(where, part, what))

    def module(self, name, expected, found):
        for kind, members in expected.get("classes", {}).items():
            self.class_(f"{name}.{kind}", members, found.get("classes", {}).get(kind))
        for kind, members in expected.get("enums", {}).items():
            self.enum(f"{name}.{kind}", members, found.get("enums", {}).get(kind))
        for function, overloads in expected.get("functions", {}).items():
            self.callable(f"{name}.{function}", "functions", overloads, found.get("functions", {}).get(function), skip=0)
        for value, text in expected.get("values", {}).items():
            self.same(f"{name}.{value}", "values", text, found.get("values", {}).get(value))
        for part in ("classes", "enums", "functions", "values"):
            for extra in sorted(set(found.get(part, {})) - set(expected.get(part, {}))):
                self.note(f"{name}.{extra}", "extra", f"is not TensorRT's ({part})")

    def class_(self, where, expected, found):
        self.counts["classes"] += 1
        if found is None:
            self.note(where, "classes", "is missing")
            return
        for base in expected["bases"]:
            self.counts["bases"] += 1
            if base not in found["mro"]:
                self.note(where, "bases", f"is not derived from {base}")
        for name, overloads in expected.get("methods", {}).items():
            methods = found.get("methods", {}).get(name) or found.get("static", {}).get(name)
            self.callable(f"{where}.{name}", "methods", overloads, methods, skip=1)
        for name, overloads in expected.get("static", {}).items():
            self.callable(f"{where}.{name}", "methods", overloads, found.get("static", {}).get(name), skip=0)
        for settable in ("writable", "readonly"):
            for name, kind in expected.get(settable, {}).items():
                self.property(f"{where}.{name}", settable, kind, found, name)
        for name, text in expected.get("constants", {}).items():
            constant = found.get("constants", {}).get(name, found.get("nested", {}).get(name))
            self.same(f"{where}.{name}", "constants", text, constant)
        for name in expected.get("nested", {}):
            self.counts["nested"] += 1
            if name not in found.get("nested", {}):
                self.note(f"{where}.{name}", "nested", "is missing")

    def property(self, where, settable, kind, found, name):
        self.counts["properties"] += 1
        if name in found.get("constants", {}) and settable == "writable":
            return  # an attribute of the class, which objects may hide by their own
        own = next((part for part in ("writable", "readonly", "annotated") if name in found.get(part, {})), None)
        if own is None:
            self.note(where, "properties", "is missing")
            return
        if own not in (settable, "annotated"):
            self.note(where, "properties", "cannot be set" if own == "readonly" else "can be set, in TensorRT it cannot")
        if problem := self.type_problem(kind, found[own][name]):
            self.note(where, "types", problem)

    def enum(self, where, expected, found):
        self.counts["enums"] += 1
        if found is None:
            self.note(where, "enums", "is missing")
            return
        for name, value in expected["members"].items():
            self.same(f"{where}.{name}", "enum members", value, found["members"].get(name))
        for name in sorted(set(found["members"]) - set(expected["members"])):
            self.note(f"{where}.{name}", "extra", "is not TensorRT's (member)")
        for name in expected.get("readonly", []):
            self.counts["properties"] += 1
            if name not in found.get("readonly", []):
                self.note(f"{where}.{name}", "properties", "is missing")

    def same(self, where, part, expected, found):
        self.counts[part] += 1
        if found is None:
            self.note(where, part, "is missing")
        elif found != expected:
            self.note(where, part, f"is {found}, in TensorRT {expected}")

    def callable(self, where, part, expected, found, skip):
        """Each overload that is expected must have one that serves it; the differences to the nearest are told."""
        self.counts[part] += 1
        if not found:
            self.note(where, part, "is missing")
            return
        for signature in expected:
            self.counts["signatures"] += 1
            nearest = min((self.signature_problems(signature, own, skip) for own in found), key=len)
            for kind, problem in nearest:
                self.note(where, kind, problem)

    def signature_problems(self, expected, found, skip):
        if describe.UNKNOWN in (expected, found):
            return []
        wanted, given = describe.parameters(expected), describe.parameters(found)
        if wanted is None or given is None:
            return [("signatures", f"is {found}, in TensorRT {expected}")]
        problems = []
        ours, returned = given[0][skip:], given[1]
        theirs = [argument for argument in wanted[0][skip:] if not argument[0].startswith("_")]
        for i, argument in enumerate(theirs):
            if i < len(ours):
                problems += self.argument_problems(argument, ours[i])
            else:
                problems.append(("signatures", f"lacks the argument {argument[0]}"))
        for name, kind, default, _ in ours[len(theirs):]:
            if default is None and kind not in ("star", "stars"):  # else the call without it works as well
                problems.append(("signatures", f"has one argument more: {name}"))
        if problem := self.type_problem(wanted[1], returned):
            problems.append(("types", "returns: " + problem))
        return problems

    def argument_problems(self, expected, found):
        name, kind, default, annotation = expected
        if kind in ("star", "stars"):
            return [] if kind == found[1] else [("signatures", f"lacks *{name}")]
        # A keyword of Python cannot be given by name either; descriptions have an underscore behind it.
        unnamed = kind == "positional" or re.fullmatch(r"arg\d+", name) or keyword.iskeyword(name[:-1])
        if not unnamed and (name != found[0] or found[1] == "positional"):
            what = "by position only" if name == found[0] else f"as {found[0]}"
            return [("signatures", f"takes {name} {what}")]
        problems = []
        if default is not None and not same_default(default, found[2]):
            problems.append(("defaults", f"{name}: the default is {found[2]}, in TensorRT {default}"))
        if problem := self.type_problem(annotation, found[3]):
            problems.append(("types", f"{name}: {problem}"))
        return problems

    def type_problem(self, expected, found):
        """What ours does not mention of the API's classes and the simple types that TensorRT's mentions."""
        wanted = words(expected)
        if wanted & ANYTHING:
            return None
        lacking = ((wanted & self.api) | (wanted & WORDS)) - words(found)
        if "str" in words(found):
            lacking -= {"FallbackString"}  # which a str becomes by itself
        if not lacking or (lacking == {"int"} and words(found) & self.api):
            return None
        return f"{found} does not say {', '.join(sorted(lacking))}, in TensorRT {expected}"


def words(annotation):
    return set(re.findall(r"[A-Za-z_]\w*", annotation or ""))


def same_default(expected, found):
    """Whether two defaults are equal. Floats may have been rounded to 32 bits."""
    if expected == found or (expected and found and found.endswith("." + expected)):  # ILogger.Severity.WARNING
        return True
    try:
        left, right = ast.literal_eval(expected), ast.literal_eval(found)
    except (ValueError, SyntaxError, TypeError):
        return False
    if isinstance(left, float) or isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-6)
    return left == right


def found_modules(names):
    """The descriptions of the modules under test, classes with what they inherit; those that cannot be imported lack."""
    found = {}
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            print(f"import {name}: {error}", file=sys.stderr)
            continue
        found[name] = describe.describe_module(module, inherited=True)
        for kind, facts in found[name].get("classes", {}).items():
            facts["mro"] = [base.__name__ for base in attribute(module, kind).__mro__]
    return found


def attribute(module, path):
    for name in path.split("."):
        module = getattr(module, name)
    return module


def without_intended(differences, intended):
    """(differences that nobody intended, entries of `intended` that match nothing)."""
    used, left = set(), []
    for difference in differences:
        text = f"{difference.where}: {difference.what}"
        matching = [pattern for pattern in intended if fnmatch.fnmatchcase(text, pattern)]
        used.update(matching)
        if not matching:
            left.append(difference)
    return left, sorted(set(intended) - used)


def table(comparison, left):
    """A line for each kind of fact: how many there are, and how many differ."""
    differing = collections.Counter(difference.part for difference in left)
    rows = [f"{'':14}{'facts':>7}{'differ':>8}"]
    for part in sorted(set(comparison.counts) | set(differing)):
        rows.append(f"{part:14}{comparison.counts[part] or '':>7}{differing[part]:>8}")
    return "\n".join(rows)


def check(manifest, found, intended):
    """(the comparison, differences that nobody intended, intended ones that are not there)."""
    comparison = Comparison(manifest["modules"], found).run()
    return comparison, *without_intended(comparison.differences, intended)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="print every difference, not the first 40")
    parser.add_argument("--only", metavar="CLASS", help="print the differences of names that begin so")
    arguments = parser.parse_args()
    manifest = json.loads(MANIFEST.read_text())
    intended = json.loads(INTENDED.read_text())
    comparison, left, unused = check(manifest, found_modules(manifest["modules"]), intended)
    shown = [d for d in left if not arguments.only or d.where.split(".", 1)[-1].startswith(arguments.only)]
    for difference in shown if arguments.all or arguments.only else shown[:40]:
        print(f"{difference.where}: {difference.what}")
    for pattern in unused:
        print(f"differences.json: no difference is like '{pattern}'")
    print(table(comparison, left))
    print(f"check_api: {len(left) + len(unused)} differences")
    return 1 if left or unused else 0


if __name__ == "__main__":
    sys.exit(main())
