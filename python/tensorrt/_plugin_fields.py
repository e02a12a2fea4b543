"""Collections of plugin attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .tensorrt import PluginField

__all__ = ["PluginFieldCollection", "PluginFieldCollection_"]


def _field(value):
    if not isinstance(value, PluginField):
        raise TypeError(f"a PluginField is needed, not {type(value).__name__}")
    return value


class PluginFieldCollection(list):
    """A list of PluginFields."""

    def __init__(self, fields: Iterable[PluginField] = ()) -> None:
        super().__init__(_field(one) for one in fields)

    def append(self, x: PluginField) -> None:
        """Adds a field at the end."""
        super().append(_field(x))

    def extend(self, L: Iterable[PluginField]) -> None:
        """Adds fields at the end."""
        super().extend([_field(one) for one in L])

    def insert(self, i: int, x: PluginField) -> None:
        """Adds a field before the one at `i`."""
        super().insert(i, _field(x))

    def __setitem__(self, index, new):
        super().__setitem__(index, [_field(one) for one in new] if isinstance(index, slice) else _field(new))

    def __iadd__(self, fields):
        self.extend(fields)
        return self


class PluginFieldCollection_(Sequence):
    """The PluginFields that a creator is given, or names; made of any iterable of fields, and not changed after that."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Iterable[PluginField] = ()) -> None:
        self._fields = tuple(_field(one) for one in fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index: int) -> PluginField:
        return self._fields[index]

    def __repr__(self):
        return f"PluginFieldCollection_({list(self._fields)})"
