#!/usr/bin/env python3
"""Writes the type stubs of the extension module: make_stubs.py PACKAGES OUTPUT, beside a marker `py.typed`.

nanobind's generator does the work. Here is what it does not know of: enums whose repr() is TensorRT's, methods that
`tensorrt/_additions.py` gives to classes of the extension, arguments with a default before one without, that `bool` is a
DataType in this module, properties of another type than their base's, and what is converted on the way: a sequence where
Dims are asked for, an array for Weights.
"""
import enum
import importlib
import inspect
import json
import pathlib
import re
import sys
import types

from nanobind.stubgen import StubGen

MODULE = "tensorrt.tensorrt"
API = pathlib.Path(__file__).resolve().parent / "api" / "tensorrt-10.16.json"
SPELLINGS = {"list[int]": "collections.abc.Sequence[int]", "numpy.ndarray": "numpy.typing.NDArray[typing.Any]"}
CONVERSIONS = {name: SPELLINGS[kind] for name, kind in json.loads(API.read_text())["conversions"].items() if kind in SPELLINGS}
ARGUMENT = re.compile(rf"(: tensorrt\.tensorrt\.({'|'.join(CONVERSIONS)}))(?=[,)]| = | \| None)")
REQUIRED_BEHIND_DEFAULT = re.compile(r"( = \\\d+)(?:, \w+: [^=()]*? = \\\d+)*, (\w+: [^=,()]+)(?=[,)])")


class Stubs(StubGen):
    """nanobind's generator, for this module."""

    def expr_str(self, e, abbrev=True):
        if isinstance(e, enum.Enum):
            return f"{self.type_str(type(e))}.{e.name}"
        return super().expr_str(e, abbrev)

    def simplify_types(self, s):
        text = super().simplify_types(s)
        if re.search(r"(?<![\w.])bool\b", text):
            self.bind("builtins", "bool", "_bool")
        return re.sub(r"(?<![\w.])bool\b", "_bool", text)

    def bind(self, module, member=None, name=None, export=False):
        if (module, member) == ("collections.abc", "Buffer"):  # from Python 3.12 on; type checkers know this one
            module = "typing_extensions"
        return super().bind(module, member, name, export)

    def put(self, value, name=None, parent=None):
        # Layers have these, so that a program may set `__class__`. In a stub they would say that any name can be set.
        if name in ("__setattr__", "__delattr__", "__nanobind_internals__"):
            return
        if name == "__hash__" and value is None:
            self.write_ln(f"__hash__: {self.bind('typing', 'ClassVar')}[None]  # type: ignore[assignment]\n")
            return
        super().put(value, name, parent)

    def put_property(self, prop, name):
        start = len(self.output)
        super().put_property(prop, name)
        owner = next(value for value in reversed(self.stack[:-1]) if isinstance(value, type))
        if any(isinstance(vars(base).get(name), property) for base in owner.__mro__[1:]):
            text = self.output[start:]
            self._replace_tail(len(text), text.replace("@property\n", "@property  # type: ignore[override]\n", 1))

    def put_function(self, fn, name=None, parent=None):
        if name == "__setattr__":  # for `__class__` alone; shown, it would let type checkers pass any name
            return
        added = isinstance(fn, types.FunctionType) and fn.__module__.split(".")[0] == self.module.__package__
        if not added or self.depth == 0:
            super().put_function(fn, name, parent)
            return
        signature = inspect.signature(fn, eval_str=True)
        self.write_ln(f"def {name or fn.__name__}{self.signature_str(signature)}:")
        self.depth += 1
        self.put_docstr(fn.__doc__ or "")
        self.depth -= 1
        self.write("\n")

    def put_nb_overload(self, fn, sig, name=None, is_classmethod=False):
        text = ARGUMENT.sub(lambda match: f"{match[1]} | {CONVERSIONS[match[2]]}", sig[0])
        super().put_nb_overload(fn, (text, *sig[1:]), name, is_classmethod)

    def put_type(self, tp, name):
        super().put_type(tp, name)
        if name == "IHostMemory":  # which Python shows from 3.12 on only
            self.write_ln("    def __buffer__(self, flags: int, /) -> memoryview: ...\n")

    def put_nb_func(self, fn, name=None, is_classmethod=False):
        signatures = [callable_as for entry in fn.__nb_signature__ for callable_as in expressible(entry)]
        if len(signatures) == len(fn.__nb_signature__):
            super().put_nb_func(fn, name, is_classmethod)
            return
        overload = self.bind("typing", "overload")
        for signature in signatures:
            self.write_ln(f"@{overload}")
            self.put_nb_overload(fn, signature, name, is_classmethod)


def expressible(entry):
    """A signature's entry as Python can write it. C++ allows (shift=None, axis); a call gives both, or axis by its name."""
    text, doc, defaults = entry
    match = REQUIRED_BEHIND_DEFAULT.search(text)
    if not match:
        return [entry]
    by_name = text[: match.start(2)] + "*, " + text[match.start(2) :]
    required = re.sub(r" = \\(\d+)", "", text[: match.end()]) + text[match.end() :]
    left = re.findall(r"\\(\d+)", required)
    return [(by_name, doc, defaults), (required, None, tuple(defaults[int(i)] for i in left))]


def main():
    packages, output = sys.argv[1:]
    sys.path.insert(0, packages)
    stubs = Stubs(importlib.import_module(MODULE))
    stubs.put(stubs.module)
    pathlib.Path(output).write_text(stubs.get())
    pathlib.Path(output).with_name("py.typed").touch()


if __name__ == "__main__":
    main()
