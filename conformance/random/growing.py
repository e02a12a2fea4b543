"""Sizes without a bound: shapes that are made of numbers of data, and values that grow in loops which a condition ends.

Each loop ends for ONNX Runtime: the number of its iteration is part of the condition, which no size follows from.
"""
import numpy as np
from onnx import TensorProto

from bodies import Body, body_of, carried_again, condition_of, of_rank, scalar_extent, selected, threshold
from networks import Skip
from operators import any_float, axis_of, operator

MOST = 40  # of a number that becomes an extent


def large_elements(net):
    """How many elements of a value are large."""
    x = any_float(net, 1, 4)
    counted = net.add("Cast", [net.add("Greater", [x, threshold(net)])], to=TensorProto.INT64)
    return net.add("ReduceSum", [counted], keepdims=0)


def selected_slices(net):
    x = any_float(net, 1, 4)
    axis = axis_of(net, x) % x.rank
    return scalar_extent(net, selected(net, x, axis), axis)


def rounded_mean(net):
    x = any_float(net)
    if x.is_empty:
        raise Skip
    mean = net.add("ReduceMean", [net.add("Abs", [x])], keepdims=0)
    scaled = net.add("Mul", [mean, net.constant(np.float32(net.integer(1, 160) / 8))])
    return net.add("Cast", [net.add("Add", [scaled, threshold(net)])], to=TensorProto.INT64)


def largest_integer(net):
    def make():
        return net.input(net.shape(net.integer(1, 3)), np.int64)
    x = net.pick(lambda v: v.dtype == np.int64 and v.rank >= 1 and not v.is_empty, make)
    return net.add(net.choice(("ReduceMax", "ReduceMin")), [x], keepdims=0)


def number_of_data(net, least=0):
    """A whole number that only a run knows. Where it would be too large or too small, its last part stands for it."""
    number = net.choice((large_elements, selected_slices, rounded_mean, largest_integer))(net)
    values = [int(a) for a in number.arrays]
    if min(values) < least or max(values) > MOST:
        number = net.add("Add", [net.add("Mod", [number, net.constant(np.int64(net.integer(2, 24)))]), net.constant(np.int64(least))])
    return number


def as_list(net, number):
    return net.add("Unsqueeze", [number, net.ints(0)])


def shape_with(net, x, axis, number):
    """The shape of x with a number of data at `axis`."""
    shape = net.add("Shape", [x])
    parts = [as_list(net, number)]
    if axis > 0:
        parts.insert(0, net.add("Slice", [shape, net.ints(0), net.ints(axis)]))
    if axis + 1 < x.rank:
        parts.append(net.add("Slice", [shape, net.ints(axis + 1), net.ints(x.rank)]))
    return net.add("Concat", parts, axis=0) if len(parts) > 1 else parts[0]


# Shapes of numbers of data.
@operator(1.5)
def range_of_integers(net):
    limit, start = number_of_data(net), net.constant(np.int64(net.integer(-2, 2)))
    if net.chance(0.3):
        start, limit = limit, start
    found = net.add("Range", [start, limit, net.constant(np.int64(net.choice((1, 1, 2, 3, -1, -2))))])
    if net.chance(0.4):
        x = any_float(net, 1, 3)
        return net.add("Gather", [x, found], axis=axis_of(net, x))
    return net.add("Mul", [net.add("Cast", [found], to=TensorProto.FLOAT), net.constant(np.float32(0.125))])


@operator(1)
def range_of_floats(net):
    """Its limit lies between two of its numbers, as far as rounding could move either."""
    limit = net.add("Add", [net.add("Cast", [number_of_data(net)], to=TensorProto.FLOAT), net.constant(np.float32(0.3))])
    found = net.add("Range", [net.constant(np.float32(net.integer(-2, 2))), limit, net.constant(np.float32(net.choice((0.5, 1, 2))))])
    return net.add(net.choice(("Sin", "Tanh", "Neg")), [found])


@operator(2)
def resize_to_data(net):
    x = any_float(net, 3, 4)
    if x.is_empty:
        raise Skip
    sizes = shape_with(net, x, net.integer(2, x.rank - 1), number_of_data(net, least=1))
    mode = net.choice(("nearest", "linear", "cubic") if x.rank == 4 else ("nearest", "linear"))
    rounding = {"nearest_mode": net.choice(("round_prefer_floor", "floor"))} if mode == "nearest" else {}
    coordinates = net.choice(("half_pixel", "pytorch_half_pixel", "asymmetric"))
    return net.add("Resize", [x, None, None, sizes], mode=mode, coordinate_transformation_mode=coordinates, **rounding)


@operator(2)
def shape_of_data(net):
    number = number_of_data(net)
    kind = net.choice(("Slice", "Tile", "Pad", "Expand", "ConstantOfShape"))
    if kind == "ConstantOfShape":
        filled = net.add(kind, [net.add("Concat", [as_list(net, number), net.ints(net.integer(1, 5))], axis=0)])
        return net.add("Add", [filled, net.constant(net.floats([]))])
    if kind == "Expand":
        row = net.constant(net.floats([1, net.integer(1, 5)]))
        return net.add(kind, [row, shape_with(net, row, 0, number)])
    x = any_float(net, 1, 4)
    axis = net.integer(0, x.rank - 1)
    if kind == "Slice":
        at = as_list(net, number)
        first, last = (at, net.ints(2**31 - 1)) if net.chance(0.3) else (net.ints(0), at)
        return net.add(kind, [x, first, last, net.ints(axis)])
    if kind == "Tile":
        ones = net.constant(np.ones(x.rank, np.int64))
        return net.add(kind, [x, shape_with(net, net.add("ConstantOfShape", [ones]), axis, number)])
    zeros = [0] * (2 * x.rank - 1)
    at = net.integer(0, len(zeros))
    parts = [net.ints(*part) for part in (zeros[:at], zeros[at:]) if part]
    parts.insert(1 if at else 0, as_list(net, number))
    return net.add(kind, [x, net.add("Concat", parts, axis=0)])


# Values that grow in loops.
def grown(body, x, axis, piece):
    """x with more elements along an axis, or with fewer."""
    kind = body.integer(0, 5)
    if kind == 0:
        return body.add("Slice", [x, body.ints(1), body.ints(2**31 - 1), body.ints(axis)])
    if kind == 1:
        return body.add("Pad", [x, body.ints(*[1 if a == axis else 0 for a in range(2 * x.rank)])])
    if kind == 2:
        piece = body.add("Tanh", [piece])
    elif kind == 3:
        x = body.add("Mul", [x, body.constant(np.float32(0.75))])
    elif kind == 4:
        piece = x
    return body.add("Concat", [x, piece] if body.chance(0.7) else [piece, x], axis=axis)


def wants_more(body, x, axis, limit):
    """Whether the value that grows is to go on: by its extent or by its elements."""
    kind = body.integer(0, 3)
    if kind == 0:
        return body.add("Less", [scalar_extent(body, x, axis), limit])
    if kind == 1:
        return condition_of(body)
    total = body.add("ReduceSum", [body.add("Abs", [x])], keepdims=0)
    return body.add("Less", [total, body.constant(np.float32(body.integer(1, 400) / 8 + 0.0123))])


@operator(5)
def growing_loop(net):
    x = of_rank(net, any_float(net, 0, 3), net.integer(1, 3)) if net.chance(0.2) else any_float(net, 1, 3)
    axis = net.integer(0, x.rank - 1)
    if x.is_empty:
        raise Skip
    piece = net.add("Slice", [x, net.ints(0), net.ints(1), net.ints(axis)])
    limit = number_of_data(net) if net.chance(0.5) else net.constant(np.int64(net.integer(1, MOST)))
    count = net.choice((None, net.constant(np.int64(2**63 - 1)), net.constant(np.int64(net.integer(1, 12)))))
    other = any_float(net, 0, 3) if net.chance(0.4) else None
    changes_places = other is not None and other.rank == x.rank and net.chance(0.5)
    zero, true = [np.array(0, np.int64)] * len(net.sizes), [np.array(True)] * len(net.sizes)
    carried = [x] if other is None else [x, other]
    body = body_of(net, [("i", zero), ("go", true), *((f"s{k}", value.arrays) for k, value in enumerate(carried))])
    number, _, *states = body.formal
    body.grow(net.integer(0, 2))
    results = [grown(body, states[0], axis, piece)]
    if other is not None:
        results.append(carried_again(body, states[1], False))
    if changes_places:
        results.reverse()
    first_iterations = body.add("Less", [number, body.constant(np.int64(net.integer(0, 9)))])
    on = body.add("And", [wants_more(body, results[0], axis, limit), first_iterations]) if results[0].rank == x.rank else first_iterations
    stacked = []
    if net.chance(0.5):
        stacked.append(body.add(net.choice(("ReduceMax", "ReduceMean")), [results[0]], keepdims=0))
    if net.chance(0.3):
        stacked.append(body.own(lambda v: v.rank <= 3 and not v.is_bool))
    graph, captured = body.close([on, *results, *stacked])
    found = net.add("Loop", [count, net.constant(np.bool_(True)), *carried], len(carried) + len(stacked), captured=captured, body=graph)
    return found[0] if isinstance(found, list) else found
