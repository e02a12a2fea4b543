"""An entry of the sweep's tables."""

from typing import Callable, NamedTuple, Optional, Sequence


class Entry(NamedTuple):
    """make() returns a module and its input sets, dicts of tensors. Axes whose extents differ between sets are open."""

    make: Callable
    exporters: Sequence[str] = ("dynamo", "script")
    stirred: bool = True  # whether its weights are replaced (sweep.py's stir)
    gain: float = 1.0  # of those weights: less where a network of many residuals has scores that only rounding tells apart
    convert: Optional[Callable] = None  # what becomes of the module before the export
    finish: Optional[Callable] = None  # finish(path, sets) rewrites the exported file
    tolerance: Optional[float] = None  # of an output's largest number; sweep.py's, if none is given
