"""Every public name has a docstring."""

import importlib.util
import inspect

import pytest

#: Constants need none: what they are stands where they are made, and `help()` shows their type's.
CONSTANTS = (bool, int, float, str, bytes, tuple, list, dict, frozenset)


def is_documented(member):
    if isinstance(member, (staticmethod, classmethod)):
        member = member.__func__
    return bool((getattr(member, "__doc__", None) or "").strip())


def undocumented(module):
    """The public names of a module, and of its classes, that have no docstring."""
    found = []
    for name in getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]:
        if hasattr(module, "__path__") and importlib.util.find_spec(f"{module.__name__}.{name}"):
            continue  # a module of the package, which may need packages that are not there
        what = getattr(module, name)
        if inspect.ismodule(what) or isinstance(what, CONSTANTS):
            continue
        if not is_documented(what):
            found.append(name)
        if inspect.isclass(what):
            for key, member in vars(what).items():
                needs_one = callable(member) or inspect.isdatadescriptor(member) or isinstance(member, (staticmethod, classmethod))
                if not key.startswith("_") and needs_one and not is_documented(member):
                    found.append(f"{name}.{key}")
    return found


@pytest.mark.parametrize("name", ["tensorrt", "tensorrt.plugin", "kiln", "kiln.torch"])
def test_docstrings(name):
    if name == "kiln.torch":
        pytest.importorskip("torch")
    assert undocumented(importlib.import_module(name)) == []


def test_what_lacks_one_is_found():
    class Documented:
        """It is."""

        def method(self): ...

        @property
        def value(self): ...

        @classmethod
        def make(cls): ...

    module = type(pytest)("module")
    module.Documented, module.function, module.NUMBER = Documented, lambda: None, 5
    assert undocumented(module) == ["Documented.method", "Documented.value", "Documented.make", "function"]
