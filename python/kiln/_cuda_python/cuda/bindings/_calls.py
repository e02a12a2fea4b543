"""Functions of the C library as functions of Python, made from one line about each."""
import ctypes
import enum
import operator
import pathlib

import numpy as np


def _load():
    # Not libcudart.so.13, whose name PyTorch's runtime has too: whichever came second would be taken for the first.
    package = pathlib.Path(__file__).absolute().parents[3]
    places = [package / "_native/lib/kiln/libkiln_cudart.so", package.parents[1] / "cudart/libkiln_cudart.so"]
    for place in places:
        if place.is_file():
            return ctypes.CDLL(str(place))
    raise ImportError(f"cuda.bindings: Kiln's CUDA runtime is missing; looked for {' and '.join(map(str, places))}")


library = _load()
library.cudaGetErrorName.restype = ctypes.c_char_p
library.cudaGetErrorString.restype = ctypes.c_char_p


class Handle:
    """A stream, an event, a graph: a pointer that only the library looks into."""

    __slots__ = ("_storage",)

    def __init__(self, _ptr=0):
        self._storage = ctypes.c_void_p(operator.index(_ptr))

    def __index__(self):
        return self._storage.value or 0

    __int__ = __index__

    def getPtr(self):
        """The address of the handle itself, for C functions that take a pointer to one."""
        return ctypes.addressof(self._storage)

    def __eq__(self, other):
        return int(self) == int(other) if isinstance(other, Handle) else NotImplemented

    def __hash__(self):
        return hash(int(self))

    def __repr__(self):
        return f"<{type(self).__name__} {int(self):#x}>"


def address(value):
    """The address that a pointer's argument means, and what keeps memory there until the call returns: a bytearray moves
    when it grows, which it refuses to while a view of it lives."""
    if value is None:
        return 0, None
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("the array is not contiguous")
        return value.ctypes.data, value
    try:
        return operator.index(value), None
    except TypeError:
        pass
    if isinstance(value, ctypes._Pointer | ctypes._CFuncPtr):
        return ctypes.cast(value, ctypes.c_void_p).value or 0, value
    try:
        view = np.frombuffer(value, np.uint8)
    except TypeError:
        raise TypeError(f"it is {type(value).__name__}; a pointer is None, an int or an object with the buffer protocol") from None
    return view.ctypes.data, view


def _integer(kind, low, high):
    def convert(value):
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"it is {type(value).__name__}; an integer is required") from None
        if not low <= number <= high:
            raise OverflowError(f"it is {number}, which is not in {low} to {high}")
        return number, None

    return kind, convert


_POINTER = ctypes.c_void_p, address
_INTEGERS = {
    "int": _integer(ctypes.c_int, -(2**31), 2**31 - 1),
    "unsigned": _integer(ctypes.c_uint, 0, 2**32 - 1),
    "byte": _integer(ctypes.c_int, 0, 255),
    "size": _integer(ctypes.c_size_t, 0, 2**64 - 1),
    "flags64": _integer(ctypes.c_ulonglong, 0, 2**64 - 1),
}
_RESULTS = {"float": ctypes.c_float, "pointer": ctypes.c_void_p, **{name: kind for name, (kind, _) in _INTEGERS.items()}}


def _argument_type(name, types):
    """The C type of an argument, and the function that converts one."""
    if name in _INTEGERS:
        return _INTEGERS[name]
    of = types.get(name)
    if isinstance(of, type) and issubclass(of, enum.Enum):
        return _INTEGERS["int"]
    return _POINTER


def _result_type(name, types):
    """A function that makes the C object of a result, and one that reads it."""
    if name in _RESULTS:
        return _RESULTS[name], lambda made: made.value or 0
    named = types[name]
    if issubclass(named, ctypes.Structure):
        return named, lambda made: made
    if issubclass(named, enum.Enum):
        return ctypes.c_int, lambda made: named(made.value)
    return ctypes.c_void_p, lambda made: named(made.value or 0)


def define(line, types, error):
    """The function that a line describes: its name, `name:type` of an argument, `>type` of a result, `=number` of an argument
    that is always the same, as C orders them. `name=other` is the C function `other`, under a name of its own.

    It returns a tuple: the error, and the results, which are None where it failed.
    """
    first, *words = line.split()
    name, _, other = first.partition("=")
    function = getattr(library, other or name)
    arguments, results, values = [], [], [None] * len(words)
    for position, word in enumerate(words):
        if word[0] == ">":
            results.append((position, *_result_type(word[1:], types)))
        elif word[0] == "=":
            values[position] = ctypes.c_int(int(word[1:]))
        else:
            called, _, kind = word.partition(":")
            arguments.append((position, called, *_argument_type(kind, types)))
    names = [called for _, called, _, _ in arguments]

    def call(*given, **others):
        if len(given) + len(others) != len(names) or any(key not in names[len(given):] for key in others):
            raise TypeError(f"{name}() takes {', '.join(names) or 'no arguments'}")
        passed, alive = list(values), []
        for (position, called, kind, convert), value in zip(arguments, [*given, *(others[key] for key in names[len(given):])]):
            try:
                number, holder = convert(value)
            except (TypeError, ValueError, OverflowError) as problem:
                raise type(problem)(f"{name}(): {called}: {problem}") from None
            passed[position] = kind(number)
            alive.append(holder)
        made = [kind() for _, kind, _ in results]
        for (position, _, _), place in zip(results, made):
            passed[position] = ctypes.byref(place)
        status = error(function(*passed))
        if not results:
            return (status,)
        return (status, *(None if status.value else read(place) for (_, _, read), place in zip(results, made)))

    return named(call, name, names)


def named(call, name, names):
    """`call` with a name and a line of help."""
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name}({', '.join(names)})"
    return call


def missing(module):
    """The `__getattr__` of a module of the stand-in."""
    def get(name):
        raise AttributeError(f"Kiln's stand-in for cuda-python has no {module}.{name}: dir({module}) lists what it has, "
                             "which is no kernels, nodes of graphs, textures or virtual memory")

    return get
