"""What an engine says about its inputs and outputs, and the results of a call."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from ._shapes import Range, Shape

DTYPE_NAMES = {
    "FLOAT": "float32",
    "HALF": "float16",
    "BF16": "bfloat16",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
    "FP8": "float8_e4m3fn",
    "DOUBLE": "float64",
}


_ITEM_BYTES = {
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "bool": 1,
    "float8_e4m3fn": 1,
    "float64": 8,
}


def dtype_name(dtype: Any) -> str:
    """The name that numpy, torch and ml_dtypes have for a `DataType`."""
    return DTYPE_NAMES.get(dtype.name, dtype.name.lower())


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output of an engine."""

    name: str
    dtype: str
    """As numpy and PyTorch call it: 'float32', 'float16', 'bfloat16', 'int64', 'bool', ..."""
    shape: Shape
    """-1 where a call decides the extent."""
    ranges: tuple[Range, ...] = ()
    """The shapes that an input may have, a range for each profile."""
    values: tuple[Range | None, ...] = ()
    """The values that a shape input may have, a range for each profile."""
    on_host: bool = False
    """Whether its memory is the host's, on a GPU too, since its values decide shapes."""

    @property
    def is_dynamic(self) -> bool:
        """Whether a call decides an extent."""
        return -1 in self.shape

    def __str__(self) -> str:
        text = f"{self.name}: {self.dtype}{list(self.shape)}"
        if self.is_dynamic and self.ranges:
            text += " from " + " or ".join(str(r) for r in self.ranges)
        return text


class Outputs(tuple):
    """The outputs of a call: a tuple, whose items are found by their names as well."""

    _names: tuple[str, ...]

    def __new__(cls, arrays: Any, names: tuple[str, ...]) -> Outputs:
        made = super().__new__(cls, arrays)
        made._names = names
        return made

    def __getnewargs__(self) -> tuple:
        return tuple(self), self._names

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            try:
                return super().__getitem__(self._names.index(key))
            except ValueError:
                raise KeyError(f"there is no output {key!r}; there are {list(self._names)}") from None
        return super().__getitem__(key)

    def keys(self) -> tuple[str, ...]:
        """The outputs' names, in their order."""
        return self._names

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names with their arrays."""
        return zip(self._names, self)

    def __repr__(self) -> str:
        return "Outputs(" + ", ".join(f"{name}={array!r}" for name, array in self.items()) + ")"


def is_aligned(pointer: int, shape: Shape, dtype: str) -> bool:
    """Whether elements at an address lie as their type wants it; those of an empty array lie nowhere."""
    return pointer % _ITEM_BYTES.get(dtype, 1) == 0 or 0 in shape


def num_bytes(shape: Shape, dtype: str) -> int:
    """The size of a dense array."""
    return math.prod(shape) * _ITEM_BYTES[dtype]


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of an engine, which may stand for several of the model."""

    name: str
    details: dict[str, Any] = dataclasses.field(default_factory=dict)
    """What the engine tells about it: its type, formats, tactic, and the nodes that it computes."""

    def __str__(self) -> str:
        return self.name


class Layers(tuple):
    """The layers of an engine, in the order in which they run."""

    def __str__(self) -> str:
        return "\n".join(f"{i:4}  {layer.name}" for i, layer in enumerate(self))

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{i}</td><td style='text-align:left'>{html.escape(layer.name)}</td>"
            f"<td style='text-align:left'>{html.escape(str(layer.details.get('LayerType', '')))}</td></tr>"
            for i, layer in enumerate(self)
        )
        return f"<table><thead><tr><th></th><th>layer</th><th>type</th></tr></thead><tbody>{rows}</tbody></table>"
