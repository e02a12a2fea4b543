"""Which types and formats a quick plugin takes, and by which tactics."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable

from ._parent import trt

_TYPES = {"FP32": trt.DataType.FLOAT, "FP16": trt.DataType.HALF}


def _type_of(word):
    found = _TYPES[word] if word in _TYPES else trt.DataType.__members__.get(word)
    if found is None:
        raise ValueError(f"'{word}' is no type: FP32, FP16, or a name of DataType")
    return found


def _format_of(word):
    found = trt.TensorFormat.__members__.get(word)
    if found is None:
        raise ValueError(f"'{word}' is no format: a name of TensorFormat")
    return found


def _expand(words):
    """All lists that the positions' words describe.

    'A|B' stands for A or B, the same choice in all positions that have '|'; 'A*B' for A or B by itself. The choices of
    '|' come first, then those of '*' of the first position, and so on.
    """
    together = 1
    for word in words:
        if word is None:
            raise ValueError("a position has no types: pos() or the constructor names them for each input and output")
        if "|" in word and "*" in word:
            raise ValueError(f"'{word}' has both '|' and '*'")
        count = len(word.split("|"))
        if count > 1 and together > 1 and count != together:
            raise ValueError(f"'{', '.join(words)}': where '|' is in several positions, each has as many choices")
        together = together if count == 1 else count

    alone = [[choice.strip() for choice in word.split("*")] if "*" in word else [None] for word in words]
    for choices in itertools.product(*reversed(alone)):
        for i in range(together):
            yield [
                choice or (word.split("|")[i].strip() if "|" in word else word.strip())
                for word, choice in zip(words, reversed(choices))
            ]


class AutoTuneCombination:
    """Types and formats that a plugin's inputs and outputs may have together, and its tactics for them.

    Types are written like "FP32|FP16, FP32|FP16" (both are FP32, or both FP16) or "FP32*FP16, FP32" (the first is
    either, whatever the others are), a position for each input and then each output: "FP32", "FP16" or a name of
    DataType. Formats are written likewise, by names of TensorFormat; one alone is for all positions.
    """

    def __init__(
        self, io_types: str | None = None, layouts: str | None = None, tactics: Iterable[int] | None = None
    ) -> None:
        """io_types, layouts: str; layouts is "LINEAR" if it is None. tactics: ints above 0; none: 0 alone."""
        self._tactics = None
        if tactics is not None:
            self.tactics(tactics)
        self.io_types = []
        self.layouts = []
        if io_types is None:
            return
        self.io_types = [word.strip() for word in io_types.split(",")]
        self.layouts = [word.strip() for word in (layouts or "LINEAR").split(",")]
        if len(self.layouts) == 1:
            self.layouts *= len(self.io_types)
        if len(self.layouts) != len(self.io_types):
            raise ValueError(f"'{io_types}' has {len(self.io_types)} positions, and '{layouts}' {len(self.layouts)}")

    def pos(self, pos: int | Iterable[int], io_types: str, layouts: str = "LINEAR") -> None:
        """Says the types and formats of a position, or of each of several (an int, or ints).

        ValueError where one was said already.
        """
        positions = [operator.index(pos)] if hasattr(pos, "__index__") else [operator.index(one) for one in pos]
        for one in positions:
            missing = one + 1 - len(self.io_types)
            self.io_types.extend([None] * missing)
            self.layouts.extend([None] * missing)
            if self.io_types[one] is not None or self.layouts[one] is not None:
                raise ValueError(f"types and formats of position {one} were said already")
            self.io_types[one], self.layouts[one] = io_types, layouts

    def tactics(self, tactics: Iterable[int]) -> None:
        """Says the tactics: ints above 0."""
        found = [operator.index(one) for one in tactics]
        if any(one <= 0 for one in found):
            raise ValueError(f"tactics are above 0; {found} are not")
        self._tactics = found

    def _combinations(self, num_tensors):
        """Yields types, formats and tactics of each combination."""
        if len(self.io_types) != num_tensors:
            raise ValueError(
                f"an AutoTuneCombination has {len(self.io_types)} positions; the plugin has {num_tensors} inputs and outputs"
            )
        for types in _expand(self.io_types):
            for formats in _expand(self.layouts):
                yield tuple(map(_type_of, types)), tuple(map(_format_of, formats)), self._tactics or []
