"""Converters of operators that move elements: views, slices, joins, gathers, constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from ._emitter import FLOATS, Emitter, Unsupported, aten, converter, expression, is_symbolic, value_of

_LARGEST = (1 << 63) - 1


# Views.


@converter(aten("view"), aten("_unsafe_view"), aten("reshape"), aten("unsqueeze"), aten("squeeze"), aten("squeeze.dim"),
           aten("squeeze.dims"), aten("flatten.using_ints"), aten("_reshape_alias"), aten("view_copy"), aten("_reshape_copy"),
           aten("unflatten.int"))  # fmt: skip
def _reshape(cx: Emitter, x: Any, *_: Any) -> str:
    return cx.reshape(cx.tensor(x), cx.shape(cx.node))


@converter(aten("permute"), aten("permute_copy"))
def _permute(cx: Emitter, x: Any, dims: Sequence[int]) -> str:
    return cx.op("Transpose", cx.tensor(x), perm=[cx.axis(d, cx.rank(x)) for d in dims])


@converter(aten("t"), aten("numpy_T"))
def _t(cx: Emitter, x: Any) -> str:
    return cx.op("Transpose", cx.tensor(x), perm=list(range(cx.rank(x)))[::-1])


@converter(aten("transpose.int"))
def _transpose(cx: Emitter, x: Any, a: int, b: int) -> str:
    order = list(range(cx.rank(x)))
    a, b = cx.axis(a, cx.rank(x)), cx.axis(b, cx.rank(x))
    if not order:
        return cx.op("Identity", cx.tensor(x))
    order[a], order[b] = order[b], order[a]
    return cx.op("Transpose", cx.tensor(x), perm=order)


@converter(aten("expand"), aten("expand_copy"), aten("broadcast_to"))
def _expand(cx: Emitter, x: Any, *_: Any) -> str:
    return cx.op("Expand", cx.tensor(x), cx.extents(cx.shape(cx.node)))


@converter(aten("expand_as"))
def _expand_as(cx: Emitter, x: Any, _: Any) -> str:
    return _expand(cx, x)


@converter(aten("as_strided"), aten("as_strided_copy"))
def _as_strided(cx: Emitter, x: Any, size: Sequence[Any], stride: Sequence[Any], offset: Any = None) -> str:
    """Only what leaves elements where they are: strides of axes with one element do not count."""
    given = value_of(x)
    same = [expression(e) for e in size] == [expression(e) for e in given.shape]
    moved = [
        axis
        for axis, (new, old) in enumerate(zip(stride, given.stride()))
        if expression(given.shape[axis]) != 1 and expression(new) != expression(old)
    ]
    if not same or moved or offset not in (None, 0):
        raise Unsupported("as_strided that moves elements")
    return cx.op("Identity", cx.tensor(x))


@converter(aten("slice.Tensor"), aten("slice_copy.Tensor"))
def _slice(cx: Emitter, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> str:
    rank = cx.rank(x)
    extent = cx.shape(x)[dim]
    if _covers(start, end, step, extent):
        return cx.op("Identity", cx.tensor(x))
    ends = cx.ints([_LARGEST]) if end is None else cx.extents([end])
    starts = cx.extents([0 if start is None else start])
    return cx.op("Slice", cx.tensor(x), starts, ends, cx.ints([cx.axis(dim, rank)]), cx.extents([step]))


def _covers(start: Any, end: Any, step: Any, extent: Any) -> bool:
    """Whether a slice is all of an axis."""
    if not (start in (None, 0) and step == 1):
        return False
    if end is None or expression(end) == expression(extent):
        return True
    return isinstance(end, int) and end >= (extent if isinstance(extent, int) else 1 << 60)


@converter(aten("select.int"), aten("select_copy.int"))
def _select(cx: Emitter, x: Any, dim: int, index: Any) -> str:
    at = cx.tensor(index, "int64")
    return cx.op("Gather", cx.tensor(x), at, axis=cx.axis(dim, cx.rank(x)))


@converter(aten("flip"))
def _flip(cx: Emitter, x: Any, dims: Sequence[int]) -> str:
    axes = [cx.axis(d, cx.rank(x)) for d in dims]
    if not axes:
        return cx.op("Identity", cx.tensor(x))
    many = len(axes)
    return cx.op("Slice", cx.tensor(x), cx.ints([-1] * many), cx.ints([-_LARGEST] * many), cx.ints(axes),
                 cx.ints([-1] * many))  # fmt: skip


@converter(aten("roll"))
def _roll(cx: Emitter, x: Any, shifts: Sequence[int], dims: Sequence[int] = ()) -> str:
    if not dims or any(not isinstance(s, int) for s in shifts):
        raise Unsupported("roll over all axes, or by a number that a run decides")
    value, shape = cx.tensor(x), cx.shape(x)
    for shift, dim in zip(shifts, dims):
        axis = cx.axis(dim, cx.rank(x))
        extent = shape[axis]
        if isinstance(extent, int):
            shift = shift % extent if extent else 0
        if shift == 0:
            continue
        axes = cx.ints([axis])
        tail = cx.op("Slice", value, cx.ints([-shift]), cx.ints([_LARGEST]), axes)
        head = cx.op("Slice", value, cx.ints([0]), cx.ints([-shift]), axes)
        value = cx.op("Concat", tail, head, axis=axis)
    return cx.op("Identity", value)


@converter(aten("pixel_shuffle"))
def _pixel_shuffle(cx: Emitter, x: Any, factor: int) -> str:
    if cx.rank(x) != 4:
        raise Unsupported("pixel_shuffle of other than four axes")
    return cx.op("DepthToSpace", cx.tensor(x), blocksize=factor, mode="CRD")


@converter(aten("repeat"))
def _repeat(cx: Emitter, x: Any, repeats: Sequence[Any]) -> str:
    shape = [1] * (len(repeats) - cx.rank(x)) + list(cx.shape(x))
    value = cx.tensor(x) if len(shape) == cx.rank(x) else cx.reshape(cx.tensor(x), shape)
    return cx.op("Tile", value, cx.extents(repeats))


# Joins and splits.


@converter(aten("cat"))
def _cat(cx: Emitter, tensors: Sequence[Any], dim: int = 0) -> str:
    # PyTorch lets lists of no elements be joined with anything.
    parts = [t for t in tensors if not (cx.rank(t) == 1 and cx.shape(t)[0] == 0)]
    if not parts:
        raise Unsupported("a join of nothing")
    names = [cx.tensor(t, cx.out_dtype) for t in parts]
    if len(names) == 1:
        return cx.op("Identity", names[0])
    return cx.op("Concat", *names, axis=cx.axis(dim, cx.rank(cx.node)))


@converter(aten("stack"))
def _stack(cx: Emitter, tensors: Sequence[Any], dim: int = 0) -> str:
    axis = cx.axis(dim, cx.rank(cx.node))
    names = [cx.op("Unsqueeze", cx.tensor(t, cx.out_dtype), cx.ints([axis])) for t in tensors]
    return cx.op("Concat", *names, axis=axis)


@converter(aten("split.Tensor"), aten("split_with_sizes"), aten("chunk"), aten("split_copy.Tensor"),
           aten("split_with_sizes_copy"))  # fmt: skip
def _split(cx: Emitter, x: Any, _: Any, dim: int = 0) -> list[str]:
    axis = cx.axis(dim, cx.rank(x))
    parts = value_of(cx.node)
    if len(parts) == 1:
        return [cx.op("Identity", cx.tensor(x))]
    sizes = cx.extents([part.shape[axis] for part in parts])
    return cx.op("Split", cx.tensor(x), sizes, outputs=len(parts), axis=axis)


@converter(aten("unbind.int"))
def _unbind(cx: Emitter, x: Any, dim: int = 0) -> list[str]:
    axis = cx.axis(dim, cx.rank(x))
    count = len(value_of(cx.node))
    return [cx.op("Gather", cx.tensor(x), cx.tensor(i, "int64"), axis=axis) for i in range(count)]


# Gathers and scatters.


@converter(aten("embedding"))
def _embedding(cx: Emitter, weight: Any, indices: Any, *_: Any) -> str:
    return cx.op("Gather", cx.tensor(weight), cx.tensor(indices), axis=0)


@converter(aten("index_select"))
def _index_select(cx: Emitter, x: Any, dim: int, index: Any) -> str:
    if cx.rank(x) == 0:
        raise Unsupported("index_select of a scalar")
    return cx.op("Gather", cx.tensor(x), cx.tensor(index), axis=cx.axis(dim, cx.rank(x)))


@converter(aten("gather"))
def _gather(cx: Emitter, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> str:
    if cx.rank(x) == 0 or cx.rank(index) == 0:
        raise Unsupported("gather of a scalar")
    return cx.op("GatherElements", cx.tensor(x), cx.tensor(index), axis=cx.axis(dim, cx.rank(x)))


@converter(aten("index.Tensor"), aten("_unsafe_index.Tensor"))
def _index(cx: Emitter, x: Any, indices: Sequence[Any]) -> str:
    """Indices along axes that are side by side."""
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    if any(cx.dtype(indices[axis]) in ("bool", "uint8") for axis in axes):
        raise Unsupported("an index by a mask: the result's size depends on data")
    if not axes:
        return cx.op("Identity", cx.tensor(x))
    if len(axes) == 1:
        return cx.op("Gather", cx.tensor(x), cx.tensor(indices[axes[0]]), axis=axes[0])
    if axes != list(range(axes[0], axes[0] + len(axes))):
        raise Unsupported("indices along axes that are apart")
    rank = cx.rank(x)
    wanted = torch.broadcast_shapes(*(cx.shape(indices[axis]) for axis in axes))
    columns = []
    for axis in axes:  # negative indices count from the end, in GatherND as well
        expanded = cx.op("Expand", cx.tensor(indices[axis], "int64"), cx.extents(wanted))
        columns.append(cx.reshape(expanded, [*wanted, 1]))
    joined = cx.op("Concat", *columns, axis=len(wanted))
    order = axes + [axis for axis in range(rank) if axis not in axes]
    moved = cx.tensor(x) if order == list(range(rank)) else cx.op("Transpose", cx.tensor(x), perm=order)
    taken = cx.op("GatherND", moved, joined)
    first, many = axes[0], len(wanted)
    if first == 0:
        return taken
    # The axes of the indices stand in front; they belong where the indexed axes were.
    back = [many + i for i in range(first)] + list(range(many)) + [many + i for i in range(first, rank - len(axes))]
    return cx.op("Transpose", taken, perm=back)


@converter(aten("scatter.src"), aten("scatter.value"))
def _scatter(cx: Emitter, x: Any, dim: int, index: Any, source: Any) -> str:
    return _scatter_elements(cx, x, dim, index, source, None)


@converter(aten("scatter_add"))
def _scatter_add(cx: Emitter, x: Any, dim: int, index: Any, source: Any) -> str:
    return _scatter_elements(cx, x, dim, index, source, "add")


def _scatter_elements(cx: Emitter, x: Any, dim: int, index: Any, source: Any, reduction: str | None) -> str:
    if cx.rank(x) == 0 or cx.rank(index) == 0:
        raise Unsupported("scatter into a scalar")
    if isinstance(source, fx.Node) and not is_symbolic(source):
        updates = cx.tensor(source, cx.out_dtype)
        if cx.rank(source) and tuple(map(expression, cx.shape(source))) != tuple(map(expression, cx.shape(index))):
            many = cx.rank(index)
            updates = cx.op("Slice", updates, cx.ints([0] * many), cx.extents(cx.shape(index)), cx.ints(range(many)))
        elif not cx.rank(source):
            updates = cx.op("Expand", updates, cx.extents(cx.shape(index)))
    else:
        updates = cx.op("Expand", cx.tensor(source, cx.out_dtype), cx.extents(cx.shape(index)))
    return cx.op("ScatterElements", cx.tensor(x), cx.tensor(index), updates, axis=cx.axis(dim, cx.rank(x)),
                 reduction=reduction)  # fmt: skip


@converter(aten("scatter_reduce.two"))
def _scatter_reduce(cx: Emitter, x: Any, dim: int, index: Any, source: Any, reduce: str,
                    include_self: bool = True) -> str:  # fmt: skip
    kind = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}.get(reduce)
    if kind is None or not include_self:
        raise Unsupported(f"scatter_reduce by {reduce}, include_self={include_self}")
    return _scatter_elements(cx, x, dim, index, source, kind)


@converter(aten("index_put"), aten("_unsafe_index_put"))
def _index_put(cx: Emitter, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> str:
    given = [index for index in indices if index is not None]
    dtype, rank = cx.out_dtype, cx.rank(x)
    if len(given) == 1 and cx.dtype(given[0]) == "bool":
        return _put_by_mask(cx, x, indices, values, accumulate)
    if list(indices[: len(given)]) != given or any(cx.dtype(index) in ("bool", "uint8") for index in given):
        raise Unsupported("index_put by masks, or by lists behind axes without one")
    wanted = torch.broadcast_shapes(*(cx.shape(index) for index in given))
    columns = [
        cx.reshape(cx.op("Expand", cx.tensor(index, "int64"), cx.extents(wanted)), [*wanted, 1]) for index in given
    ]
    places = columns[0] if len(columns) == 1 else cx.op("Concat", *columns, axis=len(wanted))
    shape = [*wanted, *cx.shape(x)[len(given) : rank]]
    updates = cx.op("Expand", cx.tensor(values, dtype), cx.extents(shape))
    return cx.op("ScatterND", cx.tensor(x), places, updates, reduction="add" if accumulate else None)


def _put_by_mask(cx: Emitter, x: Any, indices: Sequence[Any], values: Any, accumulate: bool) -> str:
    """One number wherever a mask is set."""
    mask = indices[0]
    if accumulate or mask is None or cx.rank(values) > 0:
        raise Unsupported("index_put of several numbers by a mask")
    condition = cx.tensor(mask)
    if cx.rank(mask) < cx.rank(x):
        condition = cx.reshape(condition, [*cx.shape(mask), *[1] * (cx.rank(x) - cx.rank(mask))])
    return cx.op("Where", condition, cx.tensor(values, cx.out_dtype), cx.tensor(x))


@converter(aten("copy"))
def _copy(cx: Emitter, x: Any, source: Any, *_: Any) -> str:
    return cx.op("Expand", cx.tensor(source, cx.out_dtype), cx.extents(cx.shape(cx.node)))


@converter(aten("slice_scatter"))
def _slice_scatter(cx: Emitter, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None,
                   step: Any = 1) -> str:  # fmt: skip
    axis = cx.axis(dim, cx.rank(x))
    extent = cx.shape(x)[axis]
    if _covers(start, end, step, extent):
        return cx.op("Expand", cx.tensor(source, cx.out_dtype), cx.extents(cx.shape(cx.node)))
    if step != 1:
        raise Unsupported("slice_scatter with a step")
    start, length = start or 0, cx.shape(source)[axis]
    if isinstance(start, int) and start < 0:
        start = start + extent  # the extent may be symbolic: then so is the start
    value, axes = cx.tensor(x), cx.ints([axis])
    begin = cx.extents([start])
    after = cx.op("Add", begin, cx.extents([length]))
    head = cx.op("Slice", value, cx.ints([0]), begin, axes)
    tail = cx.op("Slice", value, after, cx.ints([_LARGEST]), axes)
    return cx.op("Concat", head, cx.tensor(source, cx.out_dtype), tail, axis=axis)


@converter(aten("select_scatter"))
def _select_scatter(cx: Emitter, x: Any, source: Any, dim: int, index: Any) -> str:
    axis = cx.axis(dim, cx.rank(x))
    extent = cx.shape(x)[axis]
    if isinstance(index, int) and index < 0 and isinstance(extent, int):
        index += extent
    if not isinstance(index, int) or index < 0:
        raise Unsupported("select_scatter at a place that a run decides")
    value, axes = cx.tensor(x), cx.ints([axis])
    head = cx.op("Slice", value, cx.ints([0]), cx.ints([index]), axes)
    tail = cx.op("Slice", value, cx.ints([index + 1]), cx.ints([_LARGEST]), axes)
    middle = cx.op("Unsqueeze", cx.tensor(source, cx.out_dtype), axes)
    return cx.op("Concat", head, middle, tail, axis=axis)


# Padding.


def _onnx_pads(pads: Sequence[Any], rank: int) -> list[Any]:
    """From PyTorch's order, the last axis first, to ONNX's: all begins, then all ends."""
    begins, ends = [0] * rank, [0] * rank
    for i in range(len(pads) // 2):
        begins[rank - 1 - i], ends[rank - 1 - i] = pads[2 * i], pads[2 * i + 1]
    return begins + ends


@converter(aten("constant_pad_nd"))
def _constant_pad(cx: Emitter, x: Any, pads: Sequence[Any], value: Any = 0) -> str:
    amounts = cx.extents(_onnx_pads(pads, cx.rank(x)))
    return cx.op("Pad", cx.tensor(x), amounts, cx.tensor(value, cx.out_dtype), mode="constant")


@converter(*(aten(f"{kind}_pad{n}d") for kind in ("reflection", "replication") for n in (1, 2, 3)))
def _pad(cx: Emitter, x: Any, pads: Sequence[Any]) -> str:
    mode = "reflect" if "reflection" in str(cx.node.target) else "edge"
    return cx.op("Pad", cx.tensor(x), cx.extents(_onnx_pads(pads, cx.rank(x))), None, mode=mode)


# Constants.


def _filled(cx: Emitter, value: Any) -> str:
    return cx.op("Expand", cx.tensor(value, cx.out_dtype), cx.extents(cx.shape(cx.node)))


@converter(aten("full"))
def _full(cx: Emitter, _: Any, value: Any, *__: Any) -> str:
    return _filled(cx, value)


@converter(aten("full_like"))
def _full_like(cx: Emitter, _: Any, value: Any, *__: Any) -> str:
    return _filled(cx, value)


@converter(aten("zeros"), aten("zeros_like"), aten("new_zeros"))
def _zeros(cx: Emitter, *_: Any) -> str:
    return _filled(cx, 0)


@converter(aten("ones"), aten("ones_like"), aten("new_ones"))
def _ones(cx: Emitter, *_: Any) -> str:
    return _filled(cx, 1)


@converter(aten("new_full"))
def _new_full(cx: Emitter, _: Any, __: Any, value: Any, *___: Any) -> str:
    return _filled(cx, value)


@converter(aten("fill.Scalar"), aten("fill.Tensor"))
def _fill(cx: Emitter, _: Any, value: Any) -> str:
    return _filled(cx, value)


@converter(aten("scalar_tensor"))
def _scalar_tensor(cx: Emitter, value: Any, *_: Any) -> str:
    return cx.op("Identity", cx.tensor(value, cx.out_dtype))


@converter(aten("arange.start_step"))
def _arange_step(cx: Emitter, start: Any, end: Any, step: Any = 1, *_: Any) -> str:
    return _range(cx, start, end, step)


@converter(aten("arange.start"))
def _arange_start(cx: Emitter, start: Any, end: Any, *_: Any) -> str:
    return _range(cx, start, end, 1)


@converter(aten("arange"))
def _arange(cx: Emitter, end: Any, *_: Any) -> str:
    return _range(cx, 0, end, 1)


def _range(cx: Emitter, start: Any, end: Any, step: Any) -> str:
    dtype = cx.out_dtype
    if any(isinstance(n, float) and not n.is_integer() for n in (start, end, step)):
        if any(is_symbolic(n) for n in (start, end, step)):
            raise Unsupported("a range of fractions that a run decides")
        import numpy as np

        count = int(cx.shape(cx.node)[0])
        numbers = start + step * np.arange(count, dtype=np.float64)
        return cx.graph.constant(numbers, dtype)
    wide = "int64" if dtype in FLOATS else dtype
    numbers = cx.op("Range", *(cx.tensor(int(n) if isinstance(n, float) else n, wide) for n in (start, end, step)))
    return numbers if wide == dtype else cx.cast(numbers, dtype)


@converter(aten("tril"))
def _tril(cx: Emitter, x: Any, diagonal: int = 0) -> str:
    return _trilu(cx, x, diagonal, 0)


@converter(aten("triu"))
def _triu(cx: Emitter, x: Any, diagonal: int = 0) -> str:
    return _trilu(cx, x, diagonal, 1)


def _trilu(cx: Emitter, x: Any, diagonal: Any, upper: int) -> str:
    return cx.op("Trilu", cx.tensor(x), cx.tensor(diagonal, "int64"), upper=upper)
