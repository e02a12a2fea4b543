"""Recurrent cells in the bodies of Scan and Loop, in the ways in which they are written; and some that are nearly cells."""
import numpy as np

from bodies import body_of, like, scalar_extent
from networks import Skip
from operators import operator, weights


class Cell:
    """The sums of a cell's gates, each `hidden` wide."""

    def __init__(self, body, x, h, hidden):
        self.body, self.x, self.h, self.hidden = body, x, h, hidden
        self.way = body.choice(("together", "apart", "joined"))
        self.has_bias, self.turned = body.chance(0.8), body.chance(0.4)

    def times(self, x, n):
        k = x.shape[-1]
        if not self.turned:
            return self.body.add("MatMul", [x, weights(self.body, [k, n], k)])
        return self.body.add("MatMul", [x, self.body.add("Transpose", [weights(self.body, [n, k], k)], perm=[1, 0])])

    def sum(self, h, n):
        if self.way == "joined":
            y = self.times(self.body.add("Concat", [self.x, h] if self.body.chance(0.5) else [h, self.x], axis=-1), n)
        else:
            y = self.body.add("Add", [self.times(self.x, n), self.times(h, n)])
        return self.body.add("Add", [y, self.body.constant(self.body.floats([n]))]) if self.has_bias else y

    def parts(self, y, count):
        b, n = self.body, self.hidden
        return [b.add("Slice", [y, b.ints(i * n), b.ints((i + 1) * n), b.ints(-1)]) for i in range(count)]

    def gates(self, count):
        """So many gates, in any order."""
        if self.way == "apart":
            return [self.sum(self.h, self.hidden) for _ in range(count)]
        parts = self.parts(self.sum(self.h, count * self.hidden), count)
        return [parts[i] for i in self.body.rng.permutation(count)]


def swapped(body, a, b):
    return [a, b] if body.chance(0.5) else [b, a]


def lstm(body, cell, c):
    i, f, g, o = cell.gates(4)
    i, f, o = (body.add("Sigmoid", [v]) for v in (i, f, o))
    g = body.add(body.choice(("Tanh", "Tanh", "Relu", "Softsign")), [g])
    c = body.add("Add", swapped(body, body.add("Mul", swapped(body, f, c)), body.add("Mul", swapped(body, i, g))))
    return body.add("Mul", swapped(body, o, body.add("Tanh", [c]))), c


def gru(body, cell, _):
    z, r = (body.add("Sigmoid", [v]) for v in cell.gates(2))
    if body.chance(0.5):
        n = cell.sum(body.add("Mul", swapped(body, r, cell.h)), cell.hidden)
    else:
        state = cell.times(cell.h, cell.hidden)
        if cell.has_bias:
            state = body.add("Add", [state, body.constant(body.floats([cell.hidden]))])
        n = body.add("Add", swapped(body, cell.times(cell.x, cell.hidden), body.add("Mul", swapped(body, r, state))))
    a, b = swapped(body, body.add("Tanh", [n]), cell.h)
    if body.chance(0.5):
        return body.add("Add", swapped(body, a, body.add("Mul", swapped(body, z, body.add("Sub", [b, a]))))), None
    one = body.add("Sub", [body.constant(np.float32(1)), z])
    return body.add("Add", swapped(body, body.add("Mul", swapped(body, one, a)), body.add("Mul", swapped(body, z, b)))), None


def plain(body, cell, _):
    return body.add(body.choice(("Tanh", "Relu", "Sigmoid")), cell.gates(1)), None


def nearly(body, h, new):
    """The new state, or something else that is made of it."""
    kind = body.integer(0, 2)
    if kind == 0:
        return body.add("Where", [body.add("Less", [h, body.constant(np.float32(0.0123))]), h, new])
    return body.add("Mul" if kind == 1 else "Add", [new, body.constant(body.floats(new.shape[-1:], 0.25))])


@operator(3)
def recurrent_cell(net):
    fits = lambda v: v.is_float and 2 <= v.rank <= 3 and not v.is_empty and not v.varies(v.rank - 1) and max(max(s) for s in v.shapes) <= 64  # noqa: E731
    x = net.pick(fits, lambda: net.input([None, net.choice((1, 2, 3)), net.integer(1, 12)]))
    axis, hidden, make = net.integer(0, x.rank - 2), net.integer(1, 9), net.choice((lstm, lstm, gru, gru, plain))
    first = net.add("Gather", [x, net.constant(np.int64(0))], axis=axis)
    states = [net.add("Tanh", [net.add("MatMul", [first, weights(net, [x.shape[-1], hidden], x.shape[-1])])]) for _ in range(2 if make is lstm else 1)]
    rows = [np.take(array, 0, axis) for array in x.arrays]
    by_number = net.chance(0.4)
    number = [("i", [np.array(0, np.int64)] * len(net.sizes)), ("go", [np.array(True)] * len(net.sizes))]
    body = body_of(net, [*number, *like(states)] if by_number else [*like(states), ("e", rows)])
    h, c = [*body.formal[2 if by_number else 0:], None][:2]
    row = body.add("Gather", [x, body.formal[0]], axis=axis) if by_number else body.formal[-1]
    new, memory = make(body, Cell(body, row, h, hidden), c if make is lstm else None)
    if body.chance(0.2):
        new = nearly(body, h, new)
    results = [new, memory] if make is lstm else [new]
    stacked = [body.choice([new, new, new, results[-1]])]
    if body.chance(0.25):  # more than a cell
        stacked.append(body.add("Abs", [body.choice([new, new, h])]))
    count = len(states) + len(stacked)
    if by_number:
        graph, captured = body.close([body.formal[1], *results, *stacked])
        names = [scalar_extent(net, x, axis), None, *states]
        return net.add("Loop", names, count, captured=captured, body=graph)
    if any(array.shape[axis] == 0 for array in x.arrays):
        raise Skip
    graph, captured = body.close([*results, *stacked])
    return net.add("Scan", [*states, x], count, captured=captured, body=graph, num_scan_inputs=1, scan_input_axes=[axis],
                   scan_input_directions=[net.integer(0, 1)], scan_output_directions=[net.integer(0, 1)])
