"""Converters of operators that reduce, sort or accumulate along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._emitter import Emitter, Unsupported, aten, converter, value_of


def _axes(cx: Emitter, x: Any, dims: Any) -> list[int]:
    rank = cx.rank(x)
    if dims is None or (isinstance(dims, Sequence) and not dims):
        return list(range(rank))
    dims = [dims] if isinstance(dims, int) else dims
    return [cx.axis(d, rank) for d in dims] if rank else []


def _reduce(cx: Emitter, kind: str, name: str, axes: Sequence[int], keep: bool) -> str:
    if not axes:
        return cx.op("Identity", name)
    return cx.op(kind, name, cx.ints(axes), keepdims=int(keep))


@converter(aten("mean.dim"), aten("sum.dim_IntList"))
def _mean_or_sum(cx: Emitter, x: Any, dims: Any = None, keep: bool = False, dtype: Any = None) -> str:
    kind = "ReduceMean" if "mean" in str(cx.node.target) else "ReduceSum"
    return _reduce(cx, kind, cx.tensor(x, cx.out_dtype), _axes(cx, x, dims), keep)


@converter(aten("mean"), aten("sum"), aten("prod"))
def _of_all(cx: Emitter, x: Any, *_: Any) -> str:
    kind = {"mean": "ReduceMean", "sum": "ReduceSum", "prod": "ReduceProd"}[str(cx.node.target).split(".")[1]]
    return _reduce(cx, kind, cx.tensor(x, cx.out_dtype), _axes(cx, x, None), False)


@converter(aten("prod.dim_int"))
def _prod(cx: Emitter, x: Any, dim: int, keep: bool = False, dtype: Any = None) -> str:
    return _reduce(cx, "ReduceProd", cx.tensor(x, cx.out_dtype), _axes(cx, x, dim), keep)


@converter(aten("amax"), aten("amin"))
def _extreme(cx: Emitter, x: Any, dims: Any = (), keep: bool = False) -> str:
    return _reduce(cx, _kind_of_extreme(cx), _ordered(cx, x), _axes(cx, x, dims), keep)


@converter(aten("max"), aten("min"))
def _extreme_of_all(cx: Emitter, x: Any) -> str:
    return _reduce(cx, _kind_of_extreme(cx), _ordered(cx, x), _axes(cx, x, None), False)


def _kind_of_extreme(cx: Emitter) -> str:
    name = str(cx.node.target).split(".")[1]
    return "ReduceMax" if name in ("amax", "max") else "ReduceMin"


def _ordered(cx: Emitter, x: Any) -> str:
    if cx.dtype(x) == "bool":
        raise Unsupported("the largest of bool")
    return cx.tensor(x)


@converter(aten("max.dim"), aten("min.dim"))
def _extreme_and_place(cx: Emitter, x: Any, dim: int, keep: bool = False) -> list[str]:
    largest = str(cx.node.target).split(".")[1] == "max"
    axes = _axes(cx, x, dim)
    if not axes:
        raise Unsupported("max of a scalar along an axis")
    name = _ordered(cx, x)
    value = _reduce(cx, "ReduceMax" if largest else "ReduceMin", name, axes, keep)
    place = cx.op("ArgMax" if largest else "ArgMin", name, axis=axes[0], keepdims=int(keep))
    return [value, place]


@converter(aten("argmax"), aten("argmin"))
def _place(cx: Emitter, x: Any, dim: Any = None, keep: bool = False) -> str:
    kind = "ArgMax" if "argmax" in str(cx.node.target) else "ArgMin"
    if dim is not None:
        if cx.rank(x) == 0:
            raise Unsupported("argmax of a scalar")
        return cx.op(kind, _ordered(cx, x), axis=cx.axis(dim, cx.rank(x)), keepdims=int(keep))
    flat = cx.op("Reshape", _ordered(cx, x), cx.ints([-1]))
    return cx.reshape(cx.op(kind, flat, axis=0, keepdims=0), cx.shape(cx.node))


@converter(aten("any"), aten("all"), aten("any.dim"), aten("all.dim"), aten("any.dims"), aten("all.dims"))
def _any_or_all(cx: Emitter, x: Any, dims: Any = None, keep: bool = False) -> str:
    kind = "ReduceMax" if ".any" in "." + str(cx.node.target).split(".")[1] else "ReduceMin"
    counted = cx.cast(cx.tensor(x, "bool"), "int32")
    return cx.cast(_reduce(cx, kind, counted, _axes(cx, x, dims), keep), "bool")


@converter(aten("var.correction"), aten("std.correction"))
def _var(cx: Emitter, x: Any, dims: Any = None, correction: Any = None, keepdim: bool = False) -> str:
    variance, _ = _moments(cx, x, dims, correction, keepdim)
    return cx.op("Sqrt", variance) if ".std" in "." + str(cx.node.target).split(".")[1] else variance


@converter(aten("var_mean.correction"))
def _var_mean(cx: Emitter, x: Any, dims: Any = None, correction: Any = None, keepdim: bool = False) -> list[str]:
    variance, mean = _moments(cx, x, dims, correction, keepdim)
    return [variance, mean]


def _moments(cx: Emitter, x: Any, dims: Any, correction: Any, keep: bool) -> tuple[str, str]:
    axes = _axes(cx, x, dims)
    if not axes:
        raise Unsupported("the variance of a scalar")
    correction = 1 if correction is None else correction
    name, dtype = cx.tensor(x), cx.dtype(x)
    mean = _reduce(cx, "ReduceMean", name, axes, True)
    apart = cx.op("Sub", name, mean)
    squares = cx.op("Mul", apart, apart)
    if correction == 0:
        variance = _reduce(cx, "ReduceMean", squares, axes, keep)
    else:
        count = 1
        for axis in axes:
            count = count * value_of(x).shape[axis]
        divisor = cx.op("Sub", cx.tensor(count, dtype), cx.tensor(float(correction), dtype))
        variance = cx.op("Div", _reduce(cx, "ReduceSum", squares, axes, keep), divisor)
    if not keep:
        mean = cx.op("Squeeze", mean, cx.ints(axes))
    return variance, mean


@converter(aten("logsumexp"))
def _logsumexp(cx: Emitter, x: Any, dims: Any, keep: bool = False) -> str:
    return _reduce(cx, "ReduceLogSumExp", cx.tensor(x, cx.out_dtype), _axes(cx, x, dims), keep)


@converter(aten("linalg_vector_norm"))
def _vector_norm(cx: Emitter, x: Any, order: Any = 2, dims: Any = None, keep: bool = False, dtype: Any = None) -> str:
    kind = {1: "ReduceL1", 2: "ReduceL2"}.get(order)
    if kind is None:
        raise Unsupported(f"the norm of order {order}")
    return _reduce(cx, kind, cx.tensor(x, cx.out_dtype), _axes(cx, x, dims), keep)


@converter(aten("cumsum"))
def _cumsum(cx: Emitter, x: Any, dim: int, dtype: Any = None) -> str:
    if cx.rank(x) == 0:
        return cx.op("Identity", cx.tensor(x, cx.out_dtype))
    axis = cx.tensor(cx.axis(dim, cx.rank(x)), "int64")
    return cx.op("CumSum", cx.tensor(x, cx.out_dtype), axis)


@converter(aten("topk"))
def _topk(cx: Emitter, x: Any, k: Any, dim: int = -1, largest: bool = True, sort: bool = True) -> list[str]:
    if cx.rank(x) == 0:
        raise Unsupported("topk of a scalar")
    return cx.op("TopK", _ordered(cx, x), cx.extents([k]), outputs=2, axis=cx.axis(dim, cx.rank(x)),
                 largest=int(largest), sorted=1)  # fmt: skip


@converter(aten("sort"), aten("sort.stable"))
def _sort(cx: Emitter, x: Any, *args: Any) -> list[str]:
    dim, descending = args[-2:]
    axis = cx.axis(dim, cx.rank(x))
    if cx.rank(x) == 0:
        raise Unsupported("sort of a scalar")
    extent = cx.shape(x)[axis]
    return cx.op("TopK", _ordered(cx, x), cx.extents([extent]), outputs=2, axis=axis, largest=int(descending),
                 sorted=1)  # fmt: skip
