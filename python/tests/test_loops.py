"""Loops and conditionals."""

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench

E = trt.ElementWiseOperation


def test_loop_of_a_count():
    """Powers of two: x, 2x, 4x; and the slices of a tensor, backwards."""
    bench = Bench()
    net = bench.network
    x, rows = bench.input("x", (2,)), bench.input("rows", (3, 2))
    loop = net.add_loop()
    assert type(loop) is trt.ILoop
    loop.name = "powers"
    assert loop.name == "powers"
    count = bench.constant(3, np.int32)
    limit = loop.add_trip_limit(count, trt.TripLimit.COUNT)
    value = loop.add_recurrence(x)
    row = loop.add_iterator(rows, reverse=True)
    doubled = net.add_elementwise(value.get_output(0), bench.constant([2]), E.PROD).get_output(0)
    value.set_input(1, doubled)
    moved = net.add_identity(row.get_output(0)).get_output(0)
    last = loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)
    all_values = loop.add_loop_output(doubled, trt.LoopOutput.CONCATENATE, axis=1)
    backwards = loop.add_loop_output(moved, trt.LoopOutput.CONCATENATE)
    for output in (all_values, backwards):
        output.set_input(1, count)
    assert [type(layer) for layer in (limit, value, row, last)] == [
        trt.ITripLimitLayer,
        trt.IRecurrenceLayer,
        trt.IIteratorLayer,
        trt.ILoopOutputLayer,
    ]
    assert all(layer.loop is loop for layer in (limit, value, row, last, all_values))
    assert limit.kind is trt.TripLimit.COUNT
    assert (row.axis, row.reverse, all_values.axis) == (0, True, 1)
    assert (last.kind, backwards.kind) == (trt.LoopOutput.LAST_VALUE, trt.LoopOutput.CONCATENATE)
    assert [layer.type for layer in (limit, value, row, last)] == [
        trt.LayerType.TRIP_LIMIT,
        trt.LayerType.RECURRENCE,
        trt.LayerType.ITERATOR,
        trt.LayerType.LOOP_OUTPUT,
    ]
    all_values.axis = 0
    assert all_values.axis == 0
    data = {"x": np.float32([1, 3]), "rows": np.arange(6, dtype=np.float32).reshape(3, 2)}
    results = bench.run(data, [layer.get_output(0) for layer in (last, all_values, backwards)])
    np.testing.assert_array_equal(results[0], [8, 24])
    np.testing.assert_array_equal(results[1], np.outer([2, 4, 8], [1, 3]))
    np.testing.assert_array_equal(results[2], data["rows"][::-1])


def test_loop_with_a_condition():
    """Doubles while below 100."""
    bench = Bench()
    net = bench.network
    loop = net.add_loop()
    value = loop.add_recurrence(initial_value=bench.input("x", ()))
    inside = value.get_output(0)
    goes_on = net.add_elementwise(inside, bench.constant(100), E.LESS).get_output(0)
    limit = loop.add_trip_limit(tensor=goes_on, kind=trt.TripLimit.WHILE)
    assert limit.kind is trt.TripLimit.WHILE
    value.set_input(1, net.add_elementwise(inside, bench.constant(2), E.PROD).get_output(0))
    output = loop.add_loop_output(inside, trt.LoopOutput.LAST_VALUE)
    (result,) = bench.run({"x": np.float32(3)}, [output.get_output(0)])
    assert result == 192


def test_iterator_properties():
    bench = Bench()
    row = bench.network.add_loop().add_iterator(bench.input("x", (2, 3)), 1, False)
    assert (row.axis, row.reverse) == (1, False)
    row.axis, row.reverse = 0, True
    assert (row.axis, row.reverse) == (0, True)


@pytest.mark.parametrize("condition, expected", [(True, [2, 4]), (False, [-1, -2])])
def test_conditional(condition, expected):
    bench = Bench()
    net = bench.network
    conditional = net.add_if_conditional()
    assert type(conditional) is trt.IIfConditional
    conditional.name = "choice"
    assert conditional.name == "choice"
    chosen = conditional.set_condition(bench.input("c", (), trt.bool))
    entry = conditional.add_input(bench.input("x", (2,)))
    x = entry.get_output(0)
    doubled = net.add_elementwise(x, x, E.SUM).get_output(0)
    negative = net.add_unary(x, trt.UnaryOperation.NEG).get_output(0)
    output = conditional.add_output(true_subgraph_output=doubled, false_subgraph_output=negative)
    assert [type(layer) for layer in (chosen, entry, output)] == [
        trt.IConditionLayer,
        trt.IIfConditionalInputLayer,
        trt.IIfConditionalOutputLayer,
    ]
    assert all(isinstance(layer, trt.IIfConditionalBoundaryLayer) for layer in (chosen, entry, output))
    assert all(layer.conditional is conditional for layer in (chosen, entry, output))
    assert [layer.type for layer in (chosen, entry, output)] == [
        trt.LayerType.CONDITION,
        trt.LayerType.CONDITIONAL_INPUT,
        trt.LayerType.CONDITIONAL_OUTPUT,
    ]
    data = {"c": np.array(condition), "x": np.float32([1, 2])}
    (result,) = bench.run(data, [output.get_output(0)])
    np.testing.assert_array_equal(result, expected)


def test_boundaries_of_a_network_that_is_asked_again():
    """Layers found by index know their loop, after the program has let go of everything but the network."""
    bench = Bench()
    loop = bench.network.add_loop()
    loop.name = "the loop"
    loop.add_trip_limit(bench.constant(3, np.int32), trt.TripLimit.COUNT)
    del loop
    limit = [layer for layer in bench.network if isinstance(layer, trt.ILoopBoundaryLayer)][0]
    loop = limit.loop
    del limit, bench
    assert loop.name == "the loop"
