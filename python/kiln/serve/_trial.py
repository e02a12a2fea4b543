"""Finds out whether requests for an engine may be joined along the first axis, by running it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import numpy_dtype
from .._engine import Engine
from .._shapes import Range

# The share of the largest output by which rows may differ when another kernel computes them: TF32 and half round.
_TOLERANCE = 0.02


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


def made_inputs(engine: Engine, profile: int, rows: int, random: np.random.Generator) -> list[np.ndarray]:
    """Inputs of so many rows: random numbers, or zeros and ones that may be places in a table."""
    made = []
    for tensor in engine.inputs:
        shape = (rows, *tensor.ranges[profile].opt[1:])
        dtype = numpy_dtype(tensor.dtype)
        if tensor.dtype in ("bool", "int8", "uint8", "int32", "int64"):
            made.append(random.integers(0, 2, shape).astype(dtype))
        else:
            made.append(random.random(shape).astype(dtype))
    return made


def _run(engine: Engine, arrays: list[np.ndarray]) -> list[np.ndarray]:
    found: Any = engine(*arrays)
    return [found] if len(engine.outputs) == 1 else list(found)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape:
        return False
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(x) & np.isfinite(y)
    largest = np.max(np.abs(y[finite]), initial=0.0)
    near = np.abs(x[finite] - y[finite]) <= _TOLERANCE * largest
    # What is not finite on one side has to be the same on the other.
    return bool(np.all(near)) and np.array_equal(x[~finite], y[~finite], equal_nan=True)


def why_not_joined(engine: Engine) -> str | None:
    """None where rows of a batch do not know of each other, else the reason why requests are not joined.

    Runs batches of two parts. A part's results have to keep every bit when the other part changes. They have to be
    about the same when the parts change places, and when a part runs alone.
    """
    reason = _open_first_axis(engine)
    if reason is not None:
        return reason
    found = _profile_for_two(engine)
    if found is None:
        return "no profile takes two requests at once"
    profile, rows = found
    random = np.random.default_rng(20)
    a, b, c = (made_inputs(engine, profile, rows, random) for _ in range(3))
    join = lambda x, y: _run(engine, [np.concatenate(pair) for pair in zip(x, y)])  # noqa: E731
    ab, ac, ba, alone = join(a, b), join(a, c), join(b, a), _run(engine, a)
    for tensor, *results in zip(engine.outputs, ab, ac, ba, alone):
        if any(result.shape[:1] != (2 * rows,) for result in results[:3]) or results[3].shape[:1] != (rows,):
            return f"output {tensor.name!r} has another number of rows than the inputs"
        first, other, swapped, single = results
        if not _same(first[:rows], other[:rows]):
            return f"rows of output {tensor.name!r} depend on other rows"
        if not _close(first[:rows], swapped[rows:]) or not _close(first[:rows], single):
            return f"rows of output {tensor.name!r} depend on their place in the batch"
    return None
