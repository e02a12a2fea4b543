"""Writes ONNX models, without the package onnx: a graph of nodes, and its bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

OPSET = 24
_IR_VERSION = 11

# Numbers of ONNX's element types.
DTYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "bfloat16": 16,
    "float8_e4m3fn": 17,
}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are ten bytes long
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _attribute(name: str, value: Any) -> bytes:
    head = _text(1, name)
    if isinstance(value, (bool, int, np.integer)):
        return head + _number(20, 2) + _number(3, int(value))
    if isinstance(value, float):
        return head + _number(20, 1) + _float(2, value)
    if isinstance(value, str):
        return head + _number(20, 3) + _text(4, value)
    if isinstance(value, Sequence) and all(isinstance(v, float) for v in value) and value:
        return head + _number(20, 6) + b"".join(_float(7, v) for v in value)
    if isinstance(value, Sequence) and all(isinstance(v, (int, np.integer)) for v in value):
        return head + _number(20, 7) + b"".join(_number(8, int(v)) for v in value)
    raise TypeError(f"attribute {name!r} is {value!r}")


def _tensor(name: str, dtype: str, shape: Sequence[int], raw: bytes | None) -> bytes:
    out = b"".join(_number(1, extent) for extent in shape) + _number(2, DTYPES[dtype]) + _text(8, name)
    return out + (_bytes(9, raw) if raw is not None else b"")


def _value_info(name: str, dtype: str, shape: Sequence[int | str | None]) -> bytes:
    dims = b""
    for extent in shape:
        if extent is None:
            dims += _bytes(1, b"")
        else:
            dims += _bytes(1, _text(2, extent) if isinstance(extent, str) else _number(1, extent))
    tensor = _number(1, DTYPES[dtype]) + _bytes(2, dims)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


class OnnxGraph:
    """A graph that grows node by node. Values are known by their names."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._initializers: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._constants: dict[tuple, str] = {}
        self._count = 0
        self._taken: set[str] = set()
        self.weights: dict[str, tuple[int, int]] = {}
        """Initializers whose elements are not copied: their addresses and sizes."""
        self.keep: list[Any] = []
        """What owns that memory."""
        self.scope = ""
        """The name of the nodes that are added next."""

    def new_name(self, hint: str = "v") -> str:
        self._count += 1
        return self.free_name(f"{hint}_{self._count}")

    def free_name(self, name: str) -> str:
        """The name, or one like it if a value has it already. It is taken from now on."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def op(self, kind: str, *inputs: str | None, outputs: int = 1, **attributes: Any) -> Any:
        """Adds a node. Returns the name of its output, or the names where `outputs` is not 1. None leaves an input out."""
        names = [self.new_name(kind) for _ in range(outputs)]
        self._node(kind, inputs, names, attributes)
        return names[0] if outputs == 1 else names

    def _node(self, kind: str, inputs: Sequence[str | None], outputs: Sequence[str], attributes: dict) -> None:
        given = [name or "" for name in inputs]
        while given and not given[-1]:
            given.pop()
        out = b"".join(_text(1, name) for name in given) + b"".join(_text(2, name) for name in outputs)
        out += _text(3, f"{self.scope}/{outputs[0]}") + _text(4, kind)
        for name, value in attributes.items():
            if value is not None:
                out += _bytes(5, _attribute(name, value))
        self._nodes.append(out)

    def constant(self, value: Any, dtype: str) -> str:
        """A small constant; equal ones are shared."""
        shape, raw = np.shape(value), _encode(value, dtype)
        name = self._constants.get((dtype, shape, raw))
        if name is None:
            name = self._constants[dtype, shape, raw] = self.new_name("c")
            self._initializers.append(_tensor(name, dtype, shape, raw))
        return name

    def ints(self, values: Sequence[int]) -> str:
        """A list of int64."""
        return self.constant(np.asarray(list(values), np.int64), "int64")

    def weight(self, name: str, dtype: str, shape: Sequence[int], address: int, size: int, keep: Any) -> str:
        """A constant whose elements stay where they are until the model is parsed."""
        if size == 0:
            self._initializers.append(_tensor(name, dtype, shape, b""))
            return name
        self._initializers.append(_tensor(name, dtype, shape, None))
        self.weights[name] = (address, size)
        self.keep.append(keep)
        return name

    def input(self, name: str, dtype: str, shape: Sequence[int | str | None]) -> str:
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def output(self, name: str, value: str, dtype: str, shape: Sequence[int | str | None]) -> None:
        """Makes a value an output. An Identity gives it the name."""
        self._node("Identity", [value], [name], {})
        self._outputs.append(_value_info(name, dtype, shape))

    def serialize(self) -> bytes:
        """The bytes of a ModelProto, without the elements of `weights`."""
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _text(2, "kiln")
        graph += b"".join(_bytes(5, tensor) for tensor in self._initializers)
        graph += b"".join(_bytes(11, value) for value in self._inputs)
        graph += b"".join(_bytes(12, value) for value in self._outputs)
        return _number(1, _IR_VERSION) + _text(2, "kiln") + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, OPSET))


def _encode(value: Any, dtype: str) -> bytes:
    """The elements as ONNX stores them."""
    if dtype == "bfloat16":  # numpy has none: the upper half of a float, rounded to even
        bits = np.asarray(value, np.float32).reshape(-1).view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).tobytes()
    return np.asarray(value, dtype).tobytes()
