"""Nodes with bodies, and sizes that data decides: If, Loop and Scan around a few random nodes, NonZero, Compress, TopK.

A body is a network of its own that sees the values around it. Its nodes are run as they are added, too: those of a
loop as its first iteration would run them, until ONNX Runtime runs the whole node.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from networks import Network, Skip, Value, element_type
from operators import OPERATORS, any_float, axis_of, operator

DEEPEST = 2


class Body(Network):
    """`formal` are its own inputs: name and arrays of each."""

    def __init__(self, outer, formal=()):
        root = getattr(outer, "root", outer)
        root.num_bodies += 1
        self.outer, self.root, self.depth = outer, root, getattr(outer, "depth", 0) + 1
        self.prefix = f"b{root.num_bodies}_"
        self.rng, self.opset, self.sizes = outer.rng, outer.opset, outer.sizes
        self.is_large, self.most_elements = outer.is_large, outer.most_elements
        self.float32_constants, self.distinct_symbols = outer.float32_constants, outer.distinct_symbols
        self.inputs, self.constants, self.nodes = [], [], []
        self.formal = [Value(self.prefix + name, arrays) for name, arrays in formal]
        self.values = [*outer.values, *self.formal]

    def input(self, shape, dtype=np.float32):
        raise Skip  # a network's inputs are outside

    def grow(self, count):
        """Adds some random nodes."""
        functions, weights = zip(*OPERATORS.items())
        weights = np.array(weights) / sum(weights)
        for _ in range(3 * count):
            if len(self.nodes) >= count:
                return
            try:
                functions[int(self.rng.choice(len(functions), p=weights))](self)
            except Skip:
                pass

    def own(self, test):
        """A value that the body makes or is given."""
        mine = [x for x in self.values[len(self.outer.values):] if test(x)]
        if not mine:
            raise Skip
        return self.choice(mine)

    def close(self, outputs, lists=()):
        """The graph of the body without the lists that it is given and gives, and what it reads of the values around it."""
        results, names = [], set()
        made = {value.name for _, _, values in self.nodes for value in values}
        for y in outputs:
            if y.name not in made or y.name in names:
                y = self.add("Identity", [y])
            names.add(y.name)
            results.append(y)
        self.drop_unused([*results, *lists])
        if self.chance(0.5):  # captured instead
            self.outer.constants.extend(self.constants)
            self.constants = []
        mine = {value.name for _, _, values in self.nodes for value in values} | {x.name for x in self.formal + self.constants}
        captured = {x.name: x for _, inputs, _ in self.nodes for x in inputs if x.name not in mine and not x.is_list}
        info = lambda x: helper.make_tensor_value_info(x.name, element_type(x.arrays[0]), [] if x in self.formal and x.rank == 0 else None)  # noqa: E731
        graph = helper.make_graph([node for node, _, _ in self.nodes], self.prefix + "body", [info(x) for x in self.formal], [info(y) for y in results],
                                  [numpy_helper.from_array(np.asarray(c.arrays[0], order="C"), c.name) for c in self.constants])
        return graph, list(captured.values())


def body_of(net, formal=()):
    if getattr(net, "depth", 0) >= DEEPEST:
        raise Skip
    return Body(net, formal)


def scalar_extent(net, x, axis):
    return net.add("Gather", [net.add("Shape", [x]), net.constant(np.int64(axis))], axis=0)


def threshold(net):
    """No multiple of 1/64, so that no sum of inputs is equal to it, and a number that BF16 has, too."""
    return net.constant(np.float32(net.integer(-30, 30) / 16 + 1 / 128))


def condition_of(net):
    """A single boolean: of data, of a shape, of an input or a constant."""
    kind = net.integer(0, 7)
    if kind == 0 and not isinstance(net, Body) and len(net.inputs) < 4:
        return net.input([], np.bool_)
    if kind == 1:
        return net.constant(np.bool_(net.chance(0.5)))
    if kind == 2:
        x = net.pick(lambda v: v.rank >= 1)
        return net.add(net.choice(("Less", "Greater")), [scalar_extent(net, x, net.integer(0, x.rank - 1)), net.constant(np.int64(net.integer(1, 8)))])
    numbers = [v for v in net.values if v.is_integer and v.rank == 0]
    if kind == 3 and numbers:
        return net.add("Less", [net.choice(numbers), net.constant(np.array(net.integer(0, 4), net.choice(numbers).dtype))])
    x = any_float(net)
    if x.is_empty:
        raise Skip
    total = net.add(net.choice(("ReduceMax", "ReduceMin", "ReduceMean")), [x], keepdims=0) if x.rank else x
    return net.add(net.choice(("Less", "Greater")), [total, threshold(net)])


def of_rank(body, x, rank):
    """x itself, or all its elements in a list with axes of one element."""
    return x if x.rank == rank else body.add("Reshape", [x, body.ints(*([-1] + [1] * (rank - 1) if rank else []))])


def joined(body, x, may_double=True):
    """x with more, fewer or other elements along an axis."""
    axis = body.integer(0, x.rank - 1)
    kind = body.integer(0 if may_double else 1, 3)
    if kind == 0:
        return body.add("Concat", [x, x], axis=axis)
    if kind == 1:
        return body.add("Slice", [x, body.ints(body.integer(0, 1)), body.ints(body.choice((-1, 2, 2**31 - 1))), body.ints(axis)])
    if kind == 2:
        return selected(body, x, axis)
    return body.add("Pad", [x, body.ints(*[1 if a == axis else 0 for a in range(x.rank)], *[0] * x.rank)])


@operator(6)
def if_(net):
    condition = condition_of(net)
    branches = [body_of(net), body_of(net)]
    for branch in branches:
        branch.grow(net.integer(1, 3))
    outputs = [[], []]
    for _ in range(net.choice((1, 1, 2))):
        x = branches[0].pick(lambda v: v.is_float and not v.is_constant)
        y = branches[1].pick(lambda v: v.is_float and not v.is_constant)
        kind = net.integer(0, 3)
        if kind == 0 and x.rank:  # extents of one value that differ
            outside = [v for v in net.values if v.name == x.name]
            y = joined(branches[1], outside[0] if outside else of_rank(branches[1], y, x.rank))
        elif kind == 1:
            same = [v for v in branches[1].values if v.shapes == x.shapes and v.is_float and not v.is_constant]
            y = net.choice(same) if same else y
        if x.rank == 0 and y.rank:
            x = branches[0].add("Reshape", [x, branches[0].ints(1)])
        outputs[0].append(x)
        outputs[1].append(of_rank(branches[1], y, x.rank))
    (then, read), (otherwise, read_too) = (branch.close(results) for branch, results in zip(branches, outputs))
    captured = {x.name: x for x in read + read_too}.values()
    return net.add("If", [condition], len(outputs[0]), captured=captured, then_branch=then, else_branch=otherwise)


def trip_count(net):
    """The number of iterations, or None where a condition ends the loop."""
    kind = net.integer(0, 5)
    if kind <= 1:
        return net.constant(np.int64(net.integer(0, 6)))
    if kind == 2:
        x = net.pick(lambda v: v.rank >= 1 and max(max(s) for s in v.shapes) <= 40)
        return scalar_extent(net, x, net.integer(0, x.rank - 1))
    if kind == 3 and not isinstance(net, Body) and len(net.inputs) < 4:
        return net.input([], np.int64)
    numbers = [v for v in net.values if v.is_integer and v.rank == 0 and max(int(a) for a in v.arrays) <= 40]
    if kind == 4 and numbers:
        return net.choice(numbers)
    return net.constant(np.int64(net.integer(1, 20)))


def carried_again(body, x, is_counted):
    """What becomes of a carried value in an iteration: of its type and rank, and mostly of its shape."""
    if x.is_integer:
        return body.add(body.choice(("Add", "Sub")), [x, body.constant(np.array(body.integer(0, 3), x.dtype))])
    if x.is_bool:
        return body.add("Not", [x])
    kind = body.integer(0, 7)
    if kind == 0 and x.rank:
        return joined(body, x, may_double=is_counted)  # twice as much each time has no bound otherwise
    if kind == 1:
        return x
    same = [v for v in body.values if v.shapes == x.shapes and v.is_float and not v.is_constant and v.name != x.name]
    y = body.add("Add", [x, body.choice(same)]) if same and kind < 6 else body.add("Mul", [x, body.constant(np.float32(0.75))])
    return body.add(body.choice(("Tanh", "Clip", "Sin")), [y]) if body.chance(0.7) else y


def goes_on(body, number, condition, results):
    """Whether there is another iteration: as there was this one, by the iteration's number, by data, by an extent."""
    kind = body.integer(0, 5)
    if kind == 2 and results:
        return body.add("Less", [body.add("Size", [body.choice(results)]), body.constant(np.int64(body.integer(1, 60)))])
    if kind == 0:
        return body.add("Less", [number, body.constant(np.int64(body.integer(0, 9)))])
    if kind == 1:
        return condition_of(body)
    return condition


def initial_values(net, count):
    values = []
    for _ in range(count):
        kind = net.integer(0, 9)
        if kind == 0:
            values.append(net.constant(np.int64(net.integer(-3, 3))))
        elif kind == 1:
            values.append(net.constant(net.floats([net.integer(1, 5)])))
        else:
            values.append(net.pick(lambda v: v.is_float and v.rank <= 4))
    return values


def like(values):
    """Inputs of a body, of these arrays."""
    return [(f"s{i}", value.arrays) for i, value in enumerate(values)]


@operator(9)
def loop(net):
    count = trip_count(net)
    first = condition_of(net) if net.chance(0.15) else None
    carried = initial_values(net, net.choice((0, 1, 1, 2, 3) if first else (1, 1, 2, 3)))
    zero, true = [np.array(0, np.int64)] * len(net.sizes), [np.array(True)] * len(net.sizes)
    body = body_of(net, [("i", zero), ("go", true), *like(carried)])
    body.grow(net.integer(0, 3))
    number, condition, *states = body.formal
    if net.chance(0.4):
        body.add("Cast", [number], to=TensorProto.FLOAT)
    results = [carried_again(body, x, count.is_constant) for x in states]
    results.insert(0, goes_on(body, number, condition, results))
    stacked = [body.own(lambda v: v.rank <= 4 and not v.is_bool) for _ in range(net.integer(0 if carried else 1, 2))]
    if stacked and min(int(a) for a in count.arrays) <= 0 and net.chance(0.8):
        raise Skip  # ONNX Runtime then gives a list of nothing, whatever the rank is
    graph, captured = body.close(results + stacked)
    found = net.add("Loop", [count, first, *carried], len(carried) + len(stacked), captured=captured, body=graph)
    found = found if isinstance(found, list) else [found]
    for value, inside in zip(found[len(carried):], stacked):
        if value.rank != inside.rank + 1 or any(a.ndim != value.rank for a in value.arrays):
            net.values = [v for v in net.values if v not in found]
            net.nodes.pop()
            raise Skip
    return found


@operator(5)
def scan(net):
    x = net.pick(lambda v: v.is_float and v.rank >= 1 and not v.is_empty and max(max(s) for s in v.shapes) <= 80)
    scanned, axes = [x], [net.integer(0, x.rank - 1)]
    lengths = [s[axes[0]] for s in x.shapes]
    if net.chance(0.4):
        fits = [(v, a) for v in net.values for a in range(v.rank) if [s[a] for s in v.shapes] == lengths and not v.is_bool]
        other, axis = net.choice(fits)
        scanned.append(other)
        axes.append(axis)
    carried = initial_values(net, net.choice((0, 1, 1, 2)))
    slices = [(f"e{k}", [np.take(array, 0, axis) for array in value.arrays]) for k, (value, axis) in enumerate(zip(scanned, axes))]
    body = body_of(net, [*like(carried), *slices])
    same = [v for v in body.formal if v.is_float]
    if len(same) > 1:
        try:
            body.add("Mul", [net.choice(same), net.choice(same)])
        except Skip:
            pass
    body.grow(net.integer(0, 3))
    results = [carried_again(body, state, False) for state in body.formal[: len(carried)]]
    stacked = [body.own(lambda v: v.rank <= 4 and not v.is_bool) for _ in range(net.integer(0 if carried else 1, 2))]
    ways = lambda values: [net.integer(0, 1) for _ in values]  # noqa: E731
    attributes = {"num_scan_inputs": len(scanned), "scan_input_axes": [a - v.rank if net.chance(0.3) else a for a, v in zip(axes, scanned)]}
    if net.chance(0.6):
        attributes["scan_input_directions"] = ways(scanned)
    if stacked and net.chance(0.6):
        attributes["scan_output_directions"] = ways(stacked)
    if stacked and net.chance(0.5):
        attributes["scan_output_axes"] = [net.integer(-y.rank - 1, y.rank) for y in stacked]
    graph, captured = body.close(results + stacked)
    return net.add("Scan", [*carried, *scanned], len(carried) + len(stacked), captured=captured, body=graph, **attributes)


# Sizes that data decides.
def selected(net, x, axis):
    """Some slices of x along an axis: those in which there is a large element, or whose position is odd."""
    if net.chance(0.4) and not x.varies(axis) and not isinstance(net, Body):  # where x may shrink
        mask = net.constant(net.rng.integers(0, 2, x.shape[axis]).astype(np.bool_))
    else:
        others = [a for a in range(x.rank) if a != axis]
        if any(0 in s for s in x.shapes) or not x.is_float:
            raise Skip
        peak = x
        if others:
            peak = net.add("ReduceMax", [x, net.ints(*others)], keepdims=0) if net.opset >= 18 else net.add("ReduceMax", [x], axes=others, keepdims=0)
        mask = net.add("Greater", [peak, threshold(net)])
    return net.add("Compress", [x, mask], axis=axis)


@operator(1.5)
def compress(net):
    x = any_float(net, 1, 4)
    return selected(net, x, axis_of(net, x) % x.rank)


@operator(1.5)
def non_zero(net):
    """Positions of large elements, and mostly the elements there."""
    x = any_float(net, 1, 4)
    found = net.add("NonZero", [net.add("Greater", [x, threshold(net)])])
    if net.chance(0.3):
        return found
    return net.add("GatherND", [x, net.add("Transpose", [found], perm=[1, 0])])


@operator(0.7)
def top_of_shape(net):
    """As many of the largest elements as half an extent, or as a number at most."""
    x = any_float(net, 1, 4)
    axis = axis_of(net, x)
    if x.is_empty:
        raise Skip
    extent = net.add("Gather", [net.add("Shape", [x]), net.ints(axis)], axis=0)
    count = net.add("Min", [extent, net.ints(net.integer(1, 9))]) if net.chance(0.5) else net.add("Div", [extent, net.ints(2)])
    return net.add("TopK", [x, count], 2, axis=axis, largest=net.integer(0, 1))[0]
