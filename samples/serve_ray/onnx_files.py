"""The files that an ONNX model consists of: its own, and those that hold its weights' data.

Reads protobuf's wire format, and of it only what leads to tensors, so that a model of gigabytes is not held in memory.
"""

from __future__ import annotations

import mmap
import pathlib
import posixpath
from collections.abc import Iterator

# Numbers of fields in onnx.proto. A path of messages is followed from the model to each tensor.
_TENSOR = "tensor"
_ATTRIBUTE: dict = {}
_NODE = {5: _ATTRIBUTE}
_SPARSE = {1: _TENSOR, 2: _TENSOR}
_GRAPH = {1: _NODE, 5: _TENSOR, 15: _SPARSE}
_FUNCTION = {7: _NODE, 11: _ATTRIBUTE}
_MODEL = {7: _GRAPH, 25: _FUNCTION}
_ATTRIBUTE.update({5: _TENSOR, 6: _GRAPH, 10: _TENSOR, 11: _GRAPH, 22: _SPARSE, 23: _SPARSE})
_EXTERNAL_DATA, _KEY, _VALUE = 13, 1, 2  # of a tensor, and of an entry of its external data

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_BYTES_OF_A_VARINT = 10
_MOST_NESTED = 100


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for i in range(_MOST_BYTES_OF_A_VARINT):
        if at + i >= len(data):
            break
        value |= (data[at + i] & 0x7F) << (7 * i)
        if data[at + i] < 0x80:
            return value, at + i + 1
    raise ValueError("a number is cut off")


def _messages(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Fields of a message that hold bytes, with their numbers. Raises ValueError."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field is of the kind {kind}")
        if size > len(data) - at:
            raise ValueError("a field is cut off")
        if kind == _BYTES:
            yield tag >> 3, data[at : at + size]
        at += size


def _locations(data: memoryview, of: dict | str, depth: int = 0) -> Iterator[str]:
    """Names of the files that tensors in a message have their data in."""
    if depth > _MOST_NESTED:
        raise ValueError(f"graphs are nested {_MOST_NESTED} deep")
    for number, inner in _messages(data):
        if isinstance(of, dict):
            if number in of:
                yield from _locations(inner, of[number], depth + 1)
        elif number == _EXTERNAL_DATA:
            entry = dict(_messages(inner))
            if bytes(entry.get(_KEY, b"")) == b"location":
                yield bytes(entry.get(_VALUE, b"")).decode()


def data_files(path: pathlib.Path) -> list[str]:
    """Names of the files beside an ONNX file that have data of its tensors, relative to its folder, in order.

    Raises ValueError where the file is not ONNX, or names a file outside its folder; OSError where it cannot be read.
    """
    if path.stat().st_size == 0:
        raise ValueError(f"{str(path)!r} is empty")
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        found = sorted(set(_locations(data, _MODEL)))
    except ValueError as failure:  # of Unicode, too
        raise ValueError(f"{str(path)!r} is no ONNX file: {failure}") from None
    for name in found:
        inside = posixpath.normpath(name)
        if not name or "\0" in name or inside.startswith("/") or inside.split("/")[0] == "..":
            raise ValueError(f"{str(path)!r} has data in {name!r}; a file in its own folder is needed")
    return found
