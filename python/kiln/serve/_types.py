"""Element types: the protocol's names, those of Triton's configuration, and those of engines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import numpy_dtype
from ._errors import invalid

# The protocol's name: the engine's, and the size of an element in bytes.
_KNOWN = {
    "BOOL": ("bool", 1),
    "UINT8": ("uint8", 1),
    "INT8": ("int8", 1),
    "INT32": ("int32", 4),
    "INT64": ("int64", 8),
    "FP16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "FP32": ("float32", 4),
    "FP64": ("float64", 8),
}
OF_ENGINE = {engine: name for name, (engine, _) in _KNOWN.items()}
"""From an engine's name of a type to the protocol's."""
ITEM_BYTES = {name: size for name, (_, size) in _KNOWN.items()}
_FLOATS = ("FP16", "BF16", "FP32", "FP64")
OTHER_TYPES = ("UINT16", "UINT32", "UINT64", "INT16", "BYTES")
"""Types that the protocol has and engines do not."""


def check_bytes(where: str, datatype: str, shape: tuple[int, ...], data: np.ndarray) -> None:
    """Raises ServeError where flat uint8 is no tensor of a type and a shape."""
    size = math.prod(shape) * ITEM_BYTES[datatype]
    if data.size != size:
        raise invalid(f"{where} has {data.size} bytes; {datatype}{list(shape)} has {size}")
    if datatype == "BOOL" and size and int(data.max()) > 1:
        raise invalid(f"{where} has the byte {int(data.max())}; BOOL is 0 or 1")


def numpy_type(name: str) -> np.dtype:
    """numpy's type for one of the protocol's; ml_dtypes' for BF16."""
    return numpy_dtype(_KNOWN[name][0])


def config_type(name: str) -> str:
    """The name of a type in a configuration: TYPE_FP32."""
    return f"TYPE_{name}"


def from_config(name: str) -> str:
    """The protocol's name for a type of a configuration."""
    return "BYTES" if name == "TYPE_STRING" else name.removeprefix("TYPE_")


def array_from_json(data: Any, datatype: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of numbers that JSON has as a flat or a nested list. Raises ValueError with words for the client."""
    if not isinstance(data, list):
        raise ValueError("has no list as its data")
    try:
        found = np.asarray(data)
        kinds = _kinds_in(data)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ValueError("has data whose lists are not alike in length and type") from None
    if type(None) in kinds:
        raise ValueError("has null among its data, which stands for no number")
    if bool in kinds and len(kinds) > 1 and datatype != "BOOL":
        raise ValueError(f"has truth values among numbers as data, which are not of {datatype}")
    if found.ndim != 1 and found.shape != shape:
        raise ValueError(f"has data of shape {list(found.shape)} for the shape {list(shape)}")
    target = numpy_type(datatype)
    if found.dtype == object and kinds <= {int, float} and datatype in _FLOATS:
        try:
            found = found.astype(np.float64)  # whole numbers beyond 64 bits
        except OverflowError:
            raise ValueError(f"has numbers beyond {datatype}") from None
    if found.size:
        _check_kind(found, datatype)
    if target.kind in "iu" and found.size:
        limits = np.iinfo(target)
        if int(found.min()) < limits.min or int(found.max()) > limits.max:
            raise ValueError(f"has data beyond {datatype}: {found.min()} to {found.max()}")
    try:
        with np.errstate(over="raise"):
            return found.astype(target).reshape(-1)
    except FloatingPointError:
        raise ValueError(f"has numbers beyond {datatype}") from None


def _kinds_in(data: list) -> set[type]:
    """The types of the elements of a list, which may be nested."""
    kinds = set(map(type, data))
    if list in kinds:
        kinds = set().union(*(_kinds_in(part) if type(part) is list else {type(part)} for part in data))
    return kinds


def _check_kind(found: np.ndarray, datatype: str) -> None:
    kind = found.dtype.kind
    if datatype == "BOOL":
        good = kind == "b" or (kind == "i" and int(found.min()) >= 0 and int(found.max()) <= 1)
    elif datatype.startswith(("INT", "UINT")):
        good = kind in "iu"
    else:
        good = kind in "fiu"
    if not good:
        mixed = "numbers beyond 64 bits or mixed types"
        words = {"b": "truth values", "U": "texts", "f": "numbers with a fraction", "O": mixed}
        raise ValueError(f"has {words.get(kind, 'other things')} as data, which are not of {datatype}")


def list_for_json(array: np.ndarray) -> list:
    """A flat list of Python's numbers. JSON has no NaN and no infinity: they are written as Python does."""
    flat = array.reshape(-1)
    if flat.dtype.kind not in "biuf":  # of ml_dtypes
        flat = flat.astype(np.float32)
    return flat.tolist()
