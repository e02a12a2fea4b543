"""Ranges of shapes, as programs write them and as optimization profiles want them."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Range:
    """The least, the usual and the largest shape of an input, or values of a shape input."""

    min: Shape
    opt: Shape
    max: Shape

    def holds(self, shape: Shape) -> bool:
        """Whether `shape` lies within the range."""
        return len(shape) == len(self.min) and all(
            low <= extent <= high for low, extent, high in zip(self.min, shape, self.max)
        )

    @property
    def is_fixed(self) -> bool:
        """Whether there is one shape only."""
        return self.min == self.max

    def __str__(self) -> str:
        return str(self.opt) if self.is_fixed else f"{self.min} to {self.max}, tuned for {self.opt}"


def _extents(value: Any, where: str) -> Shape:
    if isinstance(value, numbers.Integral):
        value = (value,)
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise TypeError(f"{where}: a shape is a tuple of ints, not {value!r}")
    for extent in value:
        if not isinstance(extent, numbers.Integral) or isinstance(extent, bool):
            raise TypeError(f"{where}: a shape is a tuple of ints; {tuple(value)!r} has {extent!r}")
        if not -(2**63) <= int(extent) < 2**63:
            raise ValueError(f"{where}: {extent} in {tuple(value)} does not fit 64 bits")
    return tuple(int(extent) for extent in value)


def make_range(value: Any, where: str, negative: bool = False) -> Range:
    """Reads (1, 3, 8), [(1, 3, 8), (4, 3, 8), (8, 3, 8)], {'min': ..., 'max': ...}; `negative` numbers may be allowed."""
    if isinstance(value, Range):
        parts = [value.min, value.opt, value.max]
    elif isinstance(value, Mapping):
        unknown = set(value) - {"min", "opt", "max"}
        if unknown:
            raise ValueError(f"{where}: a range has 'min', 'opt' and 'max', not {sorted(map(str, unknown))}")
        if "opt" not in value and "max" not in value:
            raise ValueError(f"{where}: a range needs 'opt' or 'max'")
        most = value["max"] if "max" in value else value["opt"]
        usual = value["opt"] if "opt" in value else most
        parts = [value["min"] if "min" in value else usual, usual, most]
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and any(
        isinstance(part, Sequence) and not isinstance(part, str) for part in value
    ):
        if len(value) == 1:
            parts = [value[0]] * 3
        elif len(value) == 2:
            parts = [value[0], value[1], value[1]]
        elif len(value) == 3:
            parts = list(value)
        else:
            raise ValueError(f"{where}: give one shape, (min, max) or (min, opt, max), not {len(value)} shapes")
    else:
        parts = [value] * 3
    low, usual, high = (_extents(part, where) for part in parts)
    if not len(low) == len(usual) == len(high):
        raise ValueError(f"{where}: min {low}, opt {usual} and max {high} differ in their number of axes")
    for axis, (a, b, c) in enumerate(zip(low, usual, high)):
        if not (negative or a >= 0):
            raise ValueError(f"{where}: extent {a} of axis {axis} is negative")
        if not a <= b <= c:
            raise ValueError(f"{where}: axis {axis} has min {a}, opt {b} and max {c}, which do not rise")
    return Range(low, usual, high)


def make_profiles(shapes: Any, argument: str, negative: bool = False) -> list[dict[str, Range]]:
    """Reads a mapping of names to ranges, or a list of such mappings, one a profile."""
    if shapes is None:
        return [{}]
    if isinstance(shapes, Mapping):
        shapes = [shapes]
    if not isinstance(shapes, Sequence) or isinstance(shapes, (str, bytes)) or not shapes:
        raise TypeError(f"{argument} is {shapes!r}; give a dict of names to shapes, or a list of such dicts")
    profiles = []
    for i, profile in enumerate(shapes):
        where = argument if len(shapes) == 1 else f"{argument}[{i}]"
        if not isinstance(profile, Mapping):
            raise TypeError(f"{where} is {profile!r}; give a dict of names to shapes")
        profiles.append({name: make_range(value, f"{where}[{name!r}]", negative) for name, value in profile.items()})
    return profiles


def check_range(name: str, declared: Shape, given: Range) -> None:
    """Raises where a range does not fit the shape that a network declares, in which -1 is any extent."""
    if len(given.min) != len(declared):
        raise ValueError(
            f"input {name!r} has {len(declared)} axes, {declared}; shapes[{name!r}] has {len(given.min)}: {given}"
        )
    for axis, extent in enumerate(declared):
        if extent >= 0 and not given.min[axis] == given.max[axis] == extent:
            raise ValueError(
                f"input {name!r} has extent {extent} at axis {axis} by its model, {declared}; "
                f"shapes[{name!r}] is {given}"
            )
