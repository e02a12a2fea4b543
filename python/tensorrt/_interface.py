"""What the interfaces that programs implement in several parts at once share.

A plugin derives from three or four interfaces, which classes of the extension module cannot do (nanobind knows one
base). These interfaces are Python classes for that reason. The extension puts an adapter in C++ around an object
where the library needs one, and an object of these classes, with a handle in `_native`, around an object of C++.
"""

from __future__ import annotations

import operator

from . import tensorrt as _library

MISSING = object()


class IVersionedInterface:
    """As tensorrt.IVersionedInterface, for interfaces whose parts a program may combine in one class.

    An object is the program's own, with `_native` None, or stands for one of C++.
    """

    __slots__ = ("_native", "__weakref__")

    KIND = ("", 0, 0)

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._native = None
        return self

    def __init__(self, other=None) -> None:
        """Prepares a new object; nothing is copied from `other`, which the parts of a copy may be given."""

    @property
    def api_language(self) -> _library.APILanguage:
        """APILanguage of the implementation: PYTHON, or CPP for an object that the library or a C++ program made."""
        return _library.APILanguage.PYTHON if self._native is None else _library.APILanguage.CPP

    @property
    def interface_info(self) -> _library.InterfaceInfo:
        """InterfaceInfo of the interface: its kind and version."""
        return _library._interface_info(*self.KIND)


def native_of(self, method):
    """The handle of a C++ object whose method is called; an object of Python must have implemented the method itself."""
    if self._native is None:
        raise NotImplementedError(f"{type(self).__name__}.{method} is not implemented")
    return self._native


def only_called_by_the_library(self, method):
    """What a method of a plugin's part raises that the program has not overridden."""
    if self._native is None:
        raise NotImplementedError(f"{type(self).__name__}.{method} is not implemented")
    raise NotImplementedError(f"{method} of a plugin in C++ can be called by the library only")


def int_value(value) -> int:
    """Returns an int, or what has __index__, as int; raises TypeError for others."""
    return operator.index(value)


def str_value(value) -> str:
    """Returns a str; raises TypeError for others."""
    if not isinstance(value, str):
        raise TypeError(f"a str is needed, not {type(value).__name__}")
    return value


def value(name, check, doc, default=MISSING):
    """A property that the program sets on its object and the library reads; a C++ object's is read-only.

    `check` returns what is kept of a value, as its annotation says, or raises TypeError. Without a default, reading before it is set raises
    AttributeError.
    """
    return _property(name, check, doc, default, None)


def value_of_both(name, check, doc):
    """A property as `value` makes it, which the program may set on an object in C++, too."""
    return _property(name, check, doc, MISSING, setattr)


def _property(name, check, doc, default, set_native):
    """`set_native` sets the value of an object in C++; None where that is read-only."""

    def read(self):
        if self._native is not None:
            return getattr(self._native, name)
        found = self.__dict__.get(name, default)
        if found is MISSING:
            raise AttributeError(f"{type(self).__name__}.{name} is not set")
        return found

    def write(self, new):
        if self._native is not None and set_native is None:
            raise AttributeError(f"{name} of an object in C++ is read-only")
        try:
            kept = check(new)
        except TypeError as failure:
            raise TypeError(f"{type(self).__name__}.{name}: {failure}") from None
        if self._native is not None:
            set_native(self._native, name, kept)
        else:
            self.__dict__[name] = kept

    read.__annotations__["return"] = check.__annotations__["return"]
    return property(read, write, doc=doc)
