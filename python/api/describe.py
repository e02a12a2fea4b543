#!/usr/bin/env python3
"""Describes a Python module as facts: classes with their bases, methods, properties and constants, enums with their
members, functions with their arguments and defaults, values. Modules of nanobind, of pybind11 and of plain Python are
described alike, so that the descriptions can be compared (check_api.py). No text of a docstring is kept.

    describe.py MODULE...     prints the description of these modules, as JSON
"""
import enum
import importlib
import inspect
import json
import re
import sys
import types

# The parts of a class's description, in their order.
# "annotated" are attributes of objects that a class of plain Python declares.
SECTIONS = ["bases", "constants", "nested", "static", "methods", "writable", "readonly", "annotated"]
# What a class has because of the language or the binding library, not because of the API.
NOT_OF_THE_API = {
    "__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__annotations__", "__abstractmethods__",
    "__parameters__", "__orig_bases__", "__firstlineno__", "__static_attributes__", "__qualname__", "__new__",
    "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__nb_signature__", "__getstate__",
    "__setstate__", "__reduce__", "__reduce_ex__", "__init_subclass__", "__subclasshook__", "__hash__",
    "__class_getitem__", "__getattribute__",
}
# The signature of what does not tell it.
UNKNOWN = "(...)"
# Words that binding libraries and Python's versions spell differently.
SPELLINGS = [
    (r"\b(?:typing|collections\.abc|builtins|types)\.", ""),
    (r"\b(List|Tuple|Dict|Set|Type)\[", lambda match: match[1].lower() + "["),
    (r"\bcapsule\b", "CapsuleType"),
    (r"<(\w+(?:\.\w+)*): [^<>]+>", r"\1"),  # an enum's member as a default
    (r"<([\w.]+) object at 0x[0-9a-f]+>", r"\1()"),
    (r"\b(?:nvinfer1::|nvonnxparser::|v_\d+_\d+::)+", ""),  # pybind11 had no binding of the class yet
    (r"\bIParserError\b", "ParserError"),
    (r"\bdetail::[\w:<>]+", "object"),
    (r"\b(in|from|lambda|is)(?=: )", r"\1_"),  # no name that a call can give
    (r"\s+", " "),
]


def plain(text, module):
    """`text` without the module's name before its classes, and in one spelling. What `self` is goes without saying."""
    if text.startswith("(self: "):
        depth = end = 0
        while depth or text[end] not in ",)":
            end += 1
            depth += (text[end] == "[") - (text[end] == "]")
        text = "(self" + text[end:]
    text = re.sub(rf"\b{re.escape(module.split('.')[0])}\.(?:\w+\.)*(?=[A-Z])", "", text)
    for pattern, spelling in SPELLINGS:
        text = re.sub(pattern, spelling, text)
    return text.strip()


def value_text(value):
    """A constant or a default, as text that is the same for every binding library."""
    if is_enum(type(value)):
        return f"{type(value).__qualname__}.{value.name}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return repr(tuple(value)).replace(",)", ")")
    if isinstance(value, type):
        return value.__qualname__
    try:  # Dims and Permutation: what they hold
        return repr(tuple(value)).replace(",)", ")")
    except TypeError:
        return f"{type(value).__qualname__}()"


def is_enum(kind):
    return isinstance(kind, type) and (issubclass(kind, enum.Enum) or hasattr(kind, "__members__"))


def signatures(function, name, module):
    """The signatures of a function, one text for each overload: "(self, count: int = 1) -> bool"."""
    if hasattr(function, "__nb_signature__"):
        return [nanobind_signature(entry, module) for entry in function.__nb_signature__]
    lines = (getattr(function, "__doc__", None) or "").split("\n")
    if not isinstance(function, types.FunctionType):
        if len(lines) > 1 and lines[1].strip() == "Overloaded function.":
            overloads = [re.match(rf"\d+\. {re.escape(name)}(\(.*)$", line) for line in lines]
            return [plain(match[1], module) for match in overloads if match]
        if match := re.match(rf"{re.escape(name)}(\(.*)$", lines[0]):
            return [plain(match[1], module)]
    if not isinstance(function, types.FunctionType):
        return [UNKNOWN]  # of Python's own types, such as the methods that a class derived from list inherits
    return [python_signature(function, module)]


def nanobind_signature(entry, module):
    text, _, defaults = entry
    text = re.sub(r"^def \w*", "", text)
    values = [value_text(value) for value in defaults or ()]
    text = re.sub(r"\\(\d+)", lambda match: values[int(match[1])], text)
    return plain(text, module)


def python_signature(function, module):
    signature = inspect.signature(function)
    parameters = [
        parameter if parameter.default is parameter.empty else parameter.replace(default=Text(value_text(parameter.default)))
        for parameter in signature.parameters.values()
    ]
    return plain(str(signature.replace(parameters=parameters)), module)


class Text(str):
    """Text that `inspect` prints as it is."""

    __repr__ = str.__str__


def property_type(getter, module):
    """The type that a property's getter says it returns."""
    for signature in signatures(getter, "", module) if getter else []:
        if match := re.search(r"-> ([^>]+)$", signature):
            return match[1].strip()
    return "object"


def describe_enum(kind):
    description = {"members": {name: int_of(member) for name, member in kind.__members__.items()}}
    own = [name for name, value in vars(kind).items() if type(value) is property and not name.startswith("_")]
    own = sorted(set(own) - {"name", "value"} - set(kind.__members__))
    if own:
        description["readonly"] = own
    return description


def int_of(member):
    return member.value if isinstance(member, enum.Enum) else int(member)


def describe_class(kind, module, inherited=False):
    """What `kind` itself defines; with `inherited`, what its bases define, too."""
    own = {}
    for base in reversed(kind.__mro__ if inherited else [kind]):
        if base is not object and base.__name__ not in ("pybind11_object", "nb_object"):
            own.update(vars(base))
    description = {"bases": [b.__name__ for b in kind.__bases__ if b.__name__ not in ("pybind11_object", "object")]}
    for name in sorted(own):
        if name in NOT_OF_THE_API or (name.startswith("_") and not name.startswith("__")):
            continue
        if (entry := describe_member(kind, name, own[name], module)) is not None:
            section, value = entry
            description.setdefault(section, {})[name] = value
    for base in reversed(kind.__mro__ if inherited else [kind]):
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_") and name not in own:
                text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
                description.setdefault("annotated", {})[name] = plain(text, module)
    return {section: description[section] for section in SECTIONS if section in description}


def describe_member(kind, name, member, module):
    """(section, facts) of one attribute of a class; None where it belongs to no section."""
    if isinstance(member, (staticmethod, classmethod)):
        return "static", signatures(member.__func__, name, module)
    if type(member).__name__ in ("nb_static_property", "pybind11_static_property"):
        value = getattr(kind, name)
        return "constants", value_text(value) if isinstance(value, (int, float, str)) else type(value).__name__
    if type(member) is property:
        return "writable" if member.fset else "readonly", property_type(member.fget, module)
    if isinstance(member, type):
        return "nested", member.__qualname__
    if type(member).__name__ == "nb_func":
        return "static", signatures(member, name, module)
    if name == "__init__" and isinstance(member, types.WrapperDescriptorType):
        return None  # no constructor of its own
    if callable(member):
        return "methods", signatures(member, name, module)
    if type(member).__name__ in ("member_descriptor", "getset_descriptor"):
        return "writable", "object"
    if name.startswith("__"):
        return None
    return "constants", value_text(member)


def describe_module(module, inherited=False):
    """The public names of a module; the classes and functions of other packages that it imported are left out."""
    found = {"classes": {}, "enums": {}, "functions": {}, "values": {}}
    package = module.__name__.split(".")[0]
    for name, value in sorted(vars(module).items()):
        if isinstance(value, types.ModuleType) or (name.startswith("_") and name != "__version__"):
            continue
        if isinstance(value, type):
            if value.__module__.split(".")[0] == package:
                add_class(found, name, value, module.__name__, inherited)
        elif callable(value) and not is_enum(type(value)):
            if not type(value).__module__.startswith("typing") and value.__module__.split(".")[0] in (package, "nanobind"):
                found["functions"][name] = signatures(value, name, module.__name__)
        else:
            found["values"][name] = "str" if name == "__version__" else value_text(value)
    return {section: facts for section, facts in found.items() if facts}


def add_class(found, name, kind, module, inherited):
    if is_enum(kind):
        found["enums"][name] = describe_enum(kind)
        return
    found["classes"][name] = describe_class(kind, module, inherited)
    for inner, value in sorted(vars(kind).items()):
        if isinstance(value, type) and value.__qualname__ == f"{kind.__qualname__}.{inner}":
            add_class(found, f"{name}.{inner}", value, module, inherited)


def describe(names, inherited=False):
    return {name: describe_module(importlib.import_module(name), inherited) for name in names}


def parameters(signature):
    """[(name, kind, default or None, type or None)] and the returned type of a signature's text, or None where it has no
    parameters to read. Kinds: "positional", "any", "star", "named", "stars"."""
    match = re.fullmatch(r"\((.*)\)(?: -> (.*))?", signature, re.S)
    if not match or signature == UNKNOWN:
        return None
    found, kind = [], "any"
    for text in split(match[1]):
        if text == "/":
            found = [(name, "positional", default, annotation) for name, _, default, annotation in found]
        elif text == "*":
            kind = "named"
        else:
            head, _, default = text.partition(" = ") if " = " in text else text.partition("=")
            name, _, annotation = head.partition(":")
            stars = {"*": "star", "**": "stars"}.get(name[: len(name) - len(name.lstrip("*"))], kind)
            found.append((name.strip("* "), stars, default.strip() or None, annotation.strip() or None))
            kind = "named" if stars == "star" else kind
    return found, match[2]


def split(text):
    """The parts of `text` between the commas that stand in no bracket and no quotes."""
    parts, depth, quote = [""], 0, None
    for character in text:
        if quote:
            quote = None if character == quote else quote
        elif character in "'\"":
            quote = character
        depth += (character in "([{") - (character in ")]}") if not quote else 0
        if character == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def to_json(value, indent=""):
    """JSON with a line for each fact, and small lists and tables on one line."""
    line = json.dumps(value)
    deeper = indent + " "
    if isinstance(value, list) and len(value) > 1 and len(line) > 100:
        return "[\n" + ",\n".join(deeper + json.dumps(inner) for inner in value) + f"\n{indent}]"
    if not isinstance(value, dict) or not value or (len(line) + len(indent) < 100 and not nested(value)):
        return line
    rows = [f"{deeper}{json.dumps(key)}: {to_json(inner, deeper)}" for key, inner in value.items()]
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def nested(value):
    return any(isinstance(inner, (dict, list)) for inner in value.values())


if __name__ == "__main__":
    print(to_json(describe(sys.argv[1:] or ["tensorrt"])))
