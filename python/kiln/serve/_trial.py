"""Finds out whether requests for an engine may be joined along the first axis, by running it."""

from __future__ import annotations

import concurrent.futures
import dataclasses
from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np

from .._arrays import numpy_dtype
from .._engine import Engine
from .._errors import Error
from .._shapes import Range
from ._errors import LoadStopped

# The share of the largest output by which rows may differ when another kernel computes them: TF32 and half round.
_TOLERANCE = 0.02
_SMALLEST, _LARGEST = 1e-3, 1e4  # magnitudes of floats; FP16 ends at 65504

_Random = np.random.Generator
_Floats = Callable[[_Random, tuple[int, ...]], np.ndarray]


def _unit(random: _Random, shape: tuple[int, ...]) -> np.ndarray:
    return random.random(shape)


def _normal(random: _Random, shape: tuple[int, ...]) -> np.ndarray:
    return random.standard_normal(shape)


def _wide(random: _Random, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of both signs and all magnitudes alike."""
    exponents = random.uniform(np.log(_SMALLEST), np.log(_LARGEST), shape)
    return np.exp(exponents) * random.choice([-1.0, 1.0], shape)


def _below(random: _Random, shape: tuple[int, ...]) -> np.ndarray:
    """Large negative numbers alone."""
    return -_LARGEST * random.random(shape)


def _peaks(random: _Random, shape: tuple[int, ...]) -> np.ndarray:
    """Zeros, and in each row one large number."""
    made = np.zeros((shape[0], int(np.prod(shape[1:]))))
    if made.size:
        at = random.integers(0, made.shape[1], shape[0])
        made[np.arange(shape[0]), at] = _LARGEST * random.choice([-1.0, 1.0], shape[0])
    return made.reshape(shape)


# Floats of the part whose results are watched, and of those beside it. What makes rows depend on each other may do so
# for large numbers only, or for negative ones.
_DRAWS: tuple[tuple[_Floats, _Floats], ...] = ((_normal, _normal), (_wide, _wide), (_normal, _peaks), (_below, _below))


def _open_first_axis(engine: Engine) -> str | None:
    if not engine.inputs:
        return "it has no inputs"
    for tensor in (*engine.inputs, *engine.outputs):
        if tensor.on_host:
            return f"the values of {tensor.name!r} decide shapes"
        if not tensor.shape or tensor.shape[0] != -1:
            return f"the first extent of {tensor.name!r}, of shape {list(tensor.shape)}, is fixed"
    return None


def _profile_for_two(engine: Engine) -> tuple[int, int] | None:
    """A profile, and the number of rows of which it takes once and twice as many."""
    for profile in range(engine.num_profiles):
        ranges: list[Range] = [tensor.ranges[profile] for tensor in engine.inputs]
        rows = max(1, *(limits.min[0] for limits in ranges))
        if all(limits.max[0] >= 2 * rows for limits in ranges):
            return profile, rows
    return None


def made_inputs(
    engine: Engine, profile: int, rows: int, random: _Random, floats: _Floats = _unit
) -> list[np.ndarray]:
    """Inputs of so many rows: floats as they are drawn, or zeros and ones that may be places in a table."""
    made = []
    for tensor in engine.inputs:
        shape = (rows, *tensor.ranges[profile].opt[1:])
        dtype = numpy_dtype(tensor.dtype)
        if tensor.dtype in ("bool", "int8", "uint8", "int32", "int64"):
            made.append(random.integers(0, 2, shape).astype(dtype))
        else:
            made.append(floats(random, shape).astype(dtype))
    return made


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays have the same bits. All NaN are alike: what their bits are says nothing of other rows."""
    if a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind in "biu":
        return False
    numbers = ~(np.isnan(a) & np.isnan(b))
    return a[numbers].tobytes() == b[numbers].tobytes()


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape:
        return False
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(x) & np.isfinite(y)
    largest = np.max(np.abs(y[finite]), initial=0.0)
    near = np.abs(x[finite] - y[finite]) <= _TOLERANCE * largest
    # What is not finite on one side has to be the same on the other.
    return bool(np.all(near)) and np.array_equal(x[~finite], y[~finite], equal_nan=True)


@dataclasses.dataclass(frozen=True)
class _Trial:
    """An engine whose batches of two parts are run."""

    engine: Engine
    rows: int
    """Of a part."""
    stop: Event | None

    def run(self, *parts: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs of parts that are one batch."""
        if self.stop is not None and self.stop.is_set():
            raise LoadStopped
        arrays = [np.concatenate(pieces) for pieces in zip(*parts)]
        found: Any = self.engine(*arrays)
        return [found] if len(self.engine.outputs) == 1 else list(found)

    def _has_rows(self, outputs: list[np.ndarray], parts: int) -> str | None:
        for tensor, result in zip(self.engine.outputs, outputs):
            if result.shape[:1] != (parts * self.rows,):
                return f"output {tensor.name!r} has another number of rows than the inputs"
        return None

    def places(self, a: list[np.ndarray], b: list[np.ndarray]) -> str | None:
        """Why results depend on where a part is; None where they do not."""
        ab, ba, alone = self.run(a, b), self.run(b, a), self.run(a)
        reason = self._has_rows(ab, 2) or self._has_rows(ba, 2) or self._has_rows(alone, 1)
        if reason is not None:
            return reason
        for tensor, first, swapped, single in zip(self.engine.outputs, ab, ba, alone):
            own = first[: self.rows]
            if not _close(own, swapped[self.rows :]) or not _close(own, single):
                return f"rows of output {tensor.name!r} depend on their place in the batch"
        return None

    def neighbours(self, a: list[np.ndarray], b: list[np.ndarray], c: list[np.ndarray]) -> str | None:
        """Why results of `a` depend on what is behind it, or those of `b` on what is before; None where they do not."""
        ab, ac, cb = self.run(a, b), self.run(a, c), self.run(c, b)
        reason = self._has_rows(ab, 2) or self._has_rows(ac, 2) or self._has_rows(cb, 2)
        if reason is not None:
            return reason
        rows = self.rows
        for tensor, x, y, z in zip(self.engine.outputs, ab, ac, cb):
            if not _same(x[:rows], y[:rows]) or not _same(x[rows:], z[rows:]):
                return f"rows of output {tensor.name!r} depend on other rows"
        return None


def why_not_joined(engine: Engine, stop: Event | None = None) -> str | None:
    """None where no run shows that rows of a batch know of each other, else the reason why requests are not joined.

    Runs batches of two parts. A part's results have to keep every bit when the other part changes, whatever the
    magnitudes and signs of both. They have to be about the same when the parts change places, and when a part runs
    alone. Raises `LoadStopped` when `stop` is set meanwhile.

    The runs have a thread of their own. The engine's next thread takes over its execution context when it has ended.
    """
    with concurrent.futures.ThreadPoolExecutor(1, "kiln-trial") as pool:
        return pool.submit(_why_not_joined, engine, stop).result()


def _why_not_joined(engine: Engine, stop: Event | None) -> str | None:
    reason = _open_first_axis(engine)
    if reason is not None:
        return reason
    found = _profile_for_two(engine)
    if found is None:
        return "no profile takes two requests at once"
    profile, rows = found
    random = np.random.default_rng(20)
    trial = _Trial(engine, rows, stop)
    a, b, c = (made_inputs(engine, profile, rows, random, _unit) for _ in range(3))
    reason = trial.neighbours(a, b, c) or trial.places(a, b)
    for own, others in _DRAWS:
        if reason is not None:
            break
        a, b, c = (made_inputs(engine, profile, rows, random, floats) for floats in (own, others, others))
        try:
            reason = trial.neighbours(a, b, c)
        except Error:  # values that the engine refuses say nothing of rows
            pass
    return reason
