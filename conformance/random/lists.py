"""Sequences: those that are known, that loops gather and that branches give, and SequenceMap.

A sequence is no value of a network: what makes one and what takes tensors out of it again are added together, as a
group of nodes that ONNX Runtime runs as one.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bodies import body_of, condition_of, goes_on, like, selected, trip_count
from networks import Skip, Value, element_type, session_of
from operators import operator

MOST_RANK = 4


class List:
    """A sequence: only what knows its name needs it."""

    is_list = True
    is_constant = False

    def __init__(self, name):
        self.name = name


class Group:
    """Nodes of a network or a body with sequences between them."""

    def __init__(self, net):
        self.net, self.entries = net, []

    def add(self, op_type, inputs, is_list=True, captured=(), count=1, **attributes):
        """A node that gives a list, or a tensor whose elements `finish` finds."""
        net = self.net
        number = len(net.nodes) + len(self.entries)
        names = [f"{net.prefix}l{number}_{i}" for i in range(count)]
        flags = [is_list] * count if isinstance(is_list, bool) else is_list
        node = helper.make_node(op_type, [x.name if x else "" for x in inputs], names, f"{net.prefix}{op_type}_{number}", **attributes)
        values = [List(name) if flag else Value(name, [np.zeros(0, np.float32)] * len(net.sizes)) for name, flag in zip(names, flags)]
        present = {x.name: x for x in [*inputs, *captured] if x}
        self.entries.append((node, list(present.values()), values))
        return values[0] if count == 1 else values

    def finish(self):
        """Runs the group, and makes the tensors among what it gives values of the network."""
        net = self.net
        made = {value.name for _, _, values in self.entries for value in values}
        outside = {x.name: x for _, present, _ in self.entries for x in present if x.name not in made}
        tensors = [value for _, _, values in self.entries for value in values if not value.is_list]
        if not tensors:
            raise Skip
        fed = [x for x in outside.values() if not x.is_constant]
        graph = helper.make_graph(
            [node for node, _, _ in self.entries], "group",
            [helper.make_tensor_value_info(x.name, element_type(x.arrays[0]), [None] * x.rank) for x in fed],
            [onnx.ValueInfoProto(name=value.name) for value in tensors],
            [numpy_helper.from_array(x.arrays[0], x.name) for x in outside.values() if x.is_constant])
        try:
            session = session_of(net.model_of(graph))
            results = [session.run(None, {x.name: x.arrays[i] for x in fed}) for i in range(len(net.sizes))]
        except Exception as refusal:
            raise Skip from refusal
        for k, value in enumerate(tensors):
            value.arrays = [at_size[k] for at_size in results]
            value.from_floats = True
            net.accept(value)
        net.nodes.extend(self.entries)
        net.values.extend(tensors)
        return tensors


def list_info(name):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None)


def any_element(net):
    return net.pick(lambda v: v.is_float and not v.is_constant and v.rank <= MOST_RANK and not v.is_empty,
                    lambda: net.input(net.shape(net.integer(0, MOST_RANK))))


def of_shape(net, x):
    """A value of x's shape."""
    same = [v for v in net.values if v.is_float and not v.is_constant and v.shapes == x.shapes]
    if same and net.chance(0.5):
        return net.choice(same)
    return net.add(net.choice(("Sin", "Tanh", "Neg")), [x])


def take_out(group, x, found, length=None):
    """Tensors out of a list of elements like x: joined, single ones, the length."""
    net, taken = group.net, 0
    if net.chance(0.7):
        is_new = net.chance(0.6)
        if is_new or x.rank:
            group.add("ConcatFromSequence", [found], False, axis=net.integer(-x.rank - is_new, x.rank - 1 + is_new), new_axis=int(is_new))
            taken += 1
    if net.chance(0.4):
        group.add("SequenceLength", [found], False)
    if net.chance(0.5) or not taken:
        at = net.integer(-length, length - 1) if length else net.choice((-1, -1, 0, 1))
        group.add("SequenceAt", [found, net.constant(np.int64(at))], False)
    return group.finish()


@operator(2)
def known_list(net):
    """Made, changed, split, mapped and taken apart again."""
    group, x = Group(net), any_element(net)
    if net.chance(0.3) and x.rank:
        axis = net.integer(0, x.rank - 1)
        if x.varies(axis) or net.chance(0.5):
            found, length = group.add("SplitToSequence", [x], axis=axis, keepdims=1), None if x.varies(axis) else x.shape[axis]
            element = Value("", [np.take(a, [0], axis) for a in x.arrays])
        else:
            count = net.integer(1, min(4, x.shape[axis]))
            # ONNX Runtime joins empty parts with whatever there is.
            cuts = sorted(net.rng.choice(np.arange(1, x.shape[axis]), count - 1, replace=False))
            sizes = np.diff([0, *cuts, x.shape[axis]])
            found, length, element = group.add("SplitToSequence", [x, net.ints(*sizes)], axis=axis), count, x
    else:
        elements = [x, *(of_shape(net, x) for _ in range(net.integer(0, 3)))]
        found, length, element = group.add("SequenceConstruct", elements), len(elements), x
    if length and length < 40:
        if net.chance(0.3):
            found = group.add("SequenceInsert", [found, x if element is x else of_shape(net, x), net.constant(np.int64(net.integer(-length, length)))])
            length += 1
        if length > 1 and net.chance(0.3):
            found = group.add("SequenceErase", [found, net.constant(np.int64(net.integer(-length, length - 1)))])
            length -= 1
    elif length:
        raise Skip
    if net.opset >= 17 and net.chance(0.5):
        found = mapped(group, found, element)
    return take_out(group, element, found, length)


def mapped(group, found, element):
    """A SequenceMap with a body that keeps the shape of elements."""
    net = group.net
    body = body_of(net, [("e", element.arrays)])
    y = body.add(net.choice(("Sin", "Tanh", "Neg")), [body.formal[0]])
    if net.chance(0.5):
        y = body.add("Mul", [y, body.constant(np.float32(0.75))])
    graph, captured = body.close([y])
    for value in [*graph.input, *graph.output]:
        value.type.tensor_type.ClearField("shape")
    return group.add("SequenceMap", [found], captured=captured, body=graph)


def number_of(body, v):
    """A float between -1 and 1 that follows from a value."""
    return body.add("Tanh", [body.add("ReduceMean", [v], keepdims=0) if v.rank else v])


def added(body, x, lists, values):
    """Adds an element like x, or two, to the end of a list in a body: in each iteration or in some."""
    mine = [v for v in body.values[len(body.outer.values):] if v.is_float and not v.is_empty]
    e = body.add("Add", [x, number_of(body, body.choice(mine))]) if mine and body.chance(0.8) else body.add("Mul", [x, body.constant(np.float32(0.5))])
    if e.shapes != x.shapes:
        raise Skip
    values.append(e)
    kind = body.integer(0, 5)
    result = insert(body, lists, e) if kind else chosen(body, lists, e)
    return insert(body, result, x) if kind == 1 else result


def insert(body, found, e):
    group = Group(body)
    result = group.add("SequenceInsert", [found, e])
    body.nodes.extend(group.entries)
    return result


def chosen(body, found, e):
    """With the element where a condition holds."""
    condition = condition_of(body)
    branches = []
    for i, op in enumerate(("SequenceInsert", "Identity")):
        name = f"{body.prefix}q{len(body.nodes)}_{i}"
        node = helper.make_node(op, [found.name, e.name] if i == 0 else [found.name], [name])
        branches.append(helper.make_graph([node], "branch", [], [list_info(name)]))
    group = Group(body)
    result = group.add("If", [condition], captured=[found, e], then_branch=branches[0], else_branch=branches[1])
    body.nodes.extend(group.entries)
    return result


def earlier(body, found, arrays):
    """The last element, or one that the iteration's number chooses."""
    number = body.formal[0]
    at = body.constant(np.int64(-1)) if body.chance(0.7) else body.add("Div", [number, body.constant(np.int64(2))])
    group = Group(body)
    value = group.add("SequenceAt", [found, at], False)
    value.arrays, value.from_floats = arrays, True
    body.nodes.extend(group.entries)
    body.values.append(value)
    return value


@operator(5)
def gathering_loop(net):
    group = Group(net)
    x = any_element(net)
    count = trip_count(net)
    carried = [of_shape(net, x)] if net.chance(0.4) else []
    num_lists = net.choice((1, 1, 1, 2))
    initial = [[x, *([of_shape(net, x)] if net.chance(0.3) else [])] if net.chance(0.4) else [] for _ in range(num_lists)]
    zero, true = [np.array(0, np.int64)] * len(net.sizes), [np.array(True)] * len(net.sizes)
    body = body_of(net, [("i", zero), ("go", true), *like(carried)])
    number, condition, *states = body.formal
    formals = [List(f"{body.prefix}list{k}") for k in range(num_lists)]
    for formal, elements in zip(formals, initial):
        if elements and net.chance(0.5):
            earlier(body, formal, elements[-1].arrays)
    if net.chance(0.5):
        body.add("Cast", [number], to=TensorProto.FLOAT)
    body.grow(net.integer(0, 2))
    values = []
    lists = [added(body, x, formal, values) for formal in formals]
    results = [goes_on(body, number, condition, states)]
    results += [body.add("Tanh", [body.add("Add", [state, net.choice(values)])]) for state in states]
    graph, captured = body.close(results, lists)
    graph.input.extend(list_info(formal.name) for formal in formals)
    graph.output.extend(list_info(found.name) for found in lists)
    before = [group.add("SequenceConstruct", elements) if elements else group.add("SequenceEmpty", []) for elements in initial]
    first = condition_of(net) if net.chance(0.1) else None
    found = group.add("Loop", [count, first, *carried, *before], [False] * len(carried) + [True] * num_lists, captured,
                      len(carried) + num_lists, body=graph)
    found = found if isinstance(found, list) else [found]
    for behind in found[len(carried):-1]:
        group.add("ConcatFromSequence", [behind], False, axis=0, new_axis=1)
    last = found[-1]
    if net.chance(0.2):
        last = group.add("SequenceInsert", [last, x, net.choice((None, net.constant(np.int64(0))))])
    return take_out(group, x, last)


@operator(2.5)
def list_branches(net):
    """An If whose branches give lists, of one length or not."""
    group, x = Group(net), any_element(net)
    condition = condition_of(net)
    around = group.add("SequenceConstruct", [x]) if net.chance(0.4) else None
    counts = [net.integer(0 if around else 1, 3)] * 2 if net.chance(0.5) else [net.integer(0 if around else 1, 3) for _ in range(2)]
    graphs, captured = [], {}
    for count in counts:
        branch = body_of(net)
        elements = [of_shape(branch, x) for _ in range(count)]
        inner = Group(branch)
        if around:
            found = inner.add("Identity", [around])
            for e in elements:
                found = inner.add("SequenceInsert", [found, e, branch.choice((None, branch.constant(np.int64(0))))])
        else:
            found = inner.add("SequenceConstruct", elements)
        branch.nodes.extend(inner.entries)
        graph, read = branch.close([], [found])
        graph.output.append(list_info(found.name))
        graphs.append(graph)
        captured.update({value.name: value for value in read})
    if around:
        captured[around.name] = around
    found = group.add("If", [condition], captured=captured.values(), then_branch=graphs[0], else_branch=graphs[1])
    return take_out(group, x, found)


@operator(2)
def pieces_of_loops(net):
    """Elements that differ along one axis, joined along it behind the loop."""
    group, count = Group(net), trip_count(net)
    x = net.pick(lambda v: v.is_float and not v.is_constant and 1 <= v.rank <= MOST_RANK and not v.is_empty,
                 lambda: net.input(net.shape(net.integer(1, MOST_RANK))))
    axis = net.integer(0, x.rank - 1)
    zero, true = [np.array(0, np.int64)] * len(net.sizes), [np.array(True)] * len(net.sizes)
    body = body_of(net, [("i", zero), ("go", true)])
    number, condition = body.formal
    formal = List(f"{body.prefix}list")
    if net.chance(0.5):  # as long as the iteration's number
        e = body.add("Slice", [x, body.ints(0), body.add("Unsqueeze", [number, body.ints(0)]), body.ints(axis)])
    else:
        e = selected(body, body.add("Mul", [x, body.add("Sin", [body.add("Cast", [number], to=TensorProto.FLOAT)])]), axis)
    found = insert(body, formal, e)
    if net.chance(0.3):
        found = insert(body, found, x)
    graph, captured = body.close([goes_on(body, number, condition, [])], [found])
    graph.input.append(list_info(formal.name))
    graph.output.append(list_info(found.name))
    before = group.add("SequenceConstruct", [x]) if net.chance(0.6) else group.add("SequenceEmpty", [])
    behind = group.add("Loop", [count, None, before], captured=captured, body=graph)
    group.add("ConcatFromSequence", [behind], False, axis=axis - x.rank if net.chance(0.3) else axis)
    if net.chance(0.4):
        group.add("SequenceLength", [behind], False)
    return group.finish()
