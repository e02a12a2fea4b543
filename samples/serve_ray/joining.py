"""Requests joined into one run, along the first axis, and the results parted again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Arrays = dict[str, np.ndarray]


class RowsError(RuntimeError):
    """An output has other rows than the inputs, so it cannot be parted among requests."""


def rows_of(inputs: Arrays) -> int:
    """The extent of the first axis of all inputs. Raises ValueError where they differ or one has no axis."""
    if not inputs:
        raise ValueError("there are no inputs whose first axis counts rows")
    counts = {name: array.shape[0] if array.ndim else None for name, array in inputs.items()}
    if None in counts.values() or len(set(counts.values())) != 1:
        listed = ", ".join(f"{name!r} {array.shape}" for name, array in inputs.items())
        raise ValueError(f"inputs differ in their first axis, which counts the rows of a batch: {listed}")
    return next(iter(counts.values()))


def group(requests: Sequence[Arrays], most_rows: int) -> list[list[int]]:
    """Places of requests that can run together: alike in all axes but the first, and at most `most_rows` in all."""
    open_groups: dict[tuple, tuple[list[int], int]] = {}
    made: list[list[int]] = []
    for place, inputs in enumerate(requests):
        likeness = tuple((name, inputs[name].dtype.str, inputs[name].shape[1:]) for name in sorted(inputs))
        rows = rows_of(inputs)
        places, taken = open_groups.get(likeness, ([], most_rows))
        if taken + rows > most_rows:
            places, taken = [], 0
            made.append(places)
        places.append(place)
        open_groups[likeness] = (places, taken + rows)
    return made


def join(requests: Sequence[Arrays]) -> Arrays:
    """The inputs of all requests, one behind the other."""
    if len(requests) == 1:
        return dict(requests[0])
    return {name: np.concatenate([inputs[name] for inputs in requests]) for name in requests[0]}


def part(outputs: Arrays, rows: Sequence[int]) -> list[Arrays]:
    """Each request's rows of the outputs. Raises `RowsError`."""
    total = sum(rows)
    for name, array in outputs.items():
        if not array.ndim or array.shape[0] != total:
            raise RowsError(
                f"output {name!r} has shape {array.shape} for {total} rows: its first axis does not count rows, "
                "so max_batch_size has to be 0"
            )
    if len(rows) == 1:
        return [outputs]
    ends = np.cumsum(rows)
    return [{name: array[end - n : end] for name, array in outputs.items()} for n, end in zip(rows, ends)]
