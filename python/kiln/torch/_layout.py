"""How a result lies in memory: engines write dense rows, and PyTorch's operators leave other orders, which others rely on."""

from __future__ import annotations

import dataclasses
import math

import sympy
import torch

from ._emitter import expression


@dataclasses.dataclass(frozen=True)
class Layout:
    """A tensor whose axes lie in another order than theirs, or with gaps, or on one another, as in a view."""

    shape: tuple[sympy.Expr, ...]
    strides: tuple[sympy.Expr, ...]
    order: tuple[int, ...]
    """The axes from the outermost in memory to the innermost: an engine writes its result in this order."""
    is_dense: bool
    """Whether the elements fill the memory in that order. Otherwise they are copied to where they belong."""

    @property
    def is_fixed(self) -> bool:
        """Whether no extent and no stride is left to a call."""
        return all(number.is_Integer for number in (*self.shape, *self.strides))

    def place(self, made: torch.Tensor, symbols: dict[sympy.Symbol, int]) -> torch.Tensor:
        """What an engine made, whose axes are in `order`, as the tensor."""
        if self.is_dense and not self.is_fixed:
            return made.permute([self.order.index(axis) for axis in range(len(self.order))])
        shape, strides = ([int(e.subs(symbols)) for e in exprs] for exprs in (self.shape, self.strides))
        if self.is_dense:
            return made.as_strided(shape, strides)
        made = made.permute([self.order.index(axis) for axis in range(len(self.order))])
        single = [1 if stride == 0 else extent for extent, stride in zip(shape, strides)]
        for axis, extent in enumerate(single):
            made = made.narrow(axis, 0, min(extent, made.shape[axis]))
        placed = torch.empty_strided(single, strides, dtype=made.dtype, device=made.device)
        return placed.copy_(made).as_strided(shape, strides)


def _sample(expr: sympy.Expr, symbols: list[sympy.Symbol]) -> int:
    """A value by which extents and strides are ordered: as if each symbol were a large number of its own."""
    return int(expr.subs({symbol: 1009 + 4 * i for i, symbol in enumerate(symbols)}))


def layout_of(fake: torch.Tensor) -> Layout | None:
    """The layout that tracing has found for a result; None for dense rows, as engines write them."""
    shape, strides = (tuple(map(expression, numbers)) for numbers in (fake.shape, fake.stride()))
    symbols = sorted(set().union(*(e.free_symbols for e in (*shape, *strides))), key=str)
    extents, steps = ([_sample(e, symbols) for e in exprs] for exprs in (shape, strides))
    if steps == _dense_steps(extents):
        return None
    # Axes of extent 1 lie anywhere: they keep their places behind the axis before them.
    keys, key = [], math.inf
    for extent, step in zip(extents, steps):
        key = key if extent == 1 else step
        keys.append(key)
    order = tuple(sorted(range(len(shape)), key=lambda axis: -keys[axis]))
    dense = _dense_steps([extents[axis] for axis in order])
    pairs = [(steps[axis], step) for axis, step in zip(order, dense) if extents[axis] != 1]
    return Layout(shape, strides, order, 0 in extents or all(step == wanted for step, wanted in pairs))


def _dense_steps(extents: list[int]) -> list[int]:
    """The strides of dense rows."""
    steps = [1] * len(extents)
    for axis in reversed(range(len(extents) - 1)):
        steps[axis] = steps[axis + 1] * max(extents[axis + 1], 1)
    return steps
