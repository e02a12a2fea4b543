"""Calls of an engine of the CPU with numpy's arrays like those of the call before, which go a short way."""

import gc
import threading
import weakref

import kiln_models
import numpy as np
import onnx
import pytest

import kiln

QUICK = {"optimization_level": 0, "progress": False, "device": "cpu"}


@pytest.fixture(scope="module")
def affine():
    model, w, b = kiln_models.affine()
    engine = kiln.compile(model, shapes={"x": [(1, 4), (2, 4), (8, 4)]}, name="affine", **QUICK)
    return engine, lambda x: np.maximum(x @ w + b, 0)


@pytest.fixture(scope="module")
def two():
    return kiln.compile(kiln_models.sum_and_product(), shapes={"a": (3, 2), "b": (3, 2)}, **QUICK)


A, B = np.arange(6, dtype="f").reshape(3, 2), np.full((3, 2), 2, "f")


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 4)).astype("f")


def warm(engine, *arrays):
    """Has the engine go the short way for such arrays."""
    for _ in range(2):
        engine(*arrays)
    assert engine._local.latest.numpy_call is not None


class Looks:
    """Counts the calls whose arrays are looked at as those of a first call."""

    def __init__(self, engine, monkeypatch):
        self.count = 0
        look = engine._view_inputs

        def counted(given):
            self.count += 1
            return look(given)

        monkeypatch.setattr(engine, "_view_inputs", counted)


def test_arrays_like_those_before_are_not_looked_at_again(affine, monkeypatch):
    engine, expected = affine
    warm(engine, rows(2))
    looks = Looks(engine, monkeypatch)
    out = np.zeros((2, 3), "f")
    for i in range(3):
        x = rows(2, i)
        for y in (engine(x), engine(x=x), engine({"x": x}), engine(x, out=out), engine(x, out=[out]), engine(x, out=(None,))):
            assert type(y) is np.ndarray and y.dtype == np.float32
            np.testing.assert_allclose(y, expected(x), rtol=1e-5, atol=1e-6)
        assert engine(x, out=out) is out
    assert looks.count == 0
    engine(rows(3))
    assert looks.count == 1


def test_shapes_that_come_and_go(affine, monkeypatch):
    engine, expected = affine
    engine(rows(1))
    looks = Looks(engine, monkeypatch)
    for n in (2, 2, 2, 3, 2, 3, 3, 3, 8, 8, 8, 2):  # three of them are the third in a row
        np.testing.assert_allclose(engine(rows(n, n)), expected(rows(n, n)), rtol=1e-5, atol=1e-6)
    assert looks.count == 12 - 3


def test_several_inputs_and_outputs(two, monkeypatch):
    warm(two, A, B)
    looks = Looks(two, monkeypatch)
    outs = [np.zeros((3, 2), "f"), np.zeros((3, 2), "f")]
    for both in (two(A, B), two(b=B, a=A), two({"b": B, "a": A}), two(A, B, out=outs), two(A, B, out=(None, outs[1]))):
        assert both.keys() == ("sum", "product")
        np.testing.assert_array_equal(both["sum"], A + B)
        np.testing.assert_array_equal(both[1], A * B)
    assert looks.count == 0
    np.testing.assert_array_equal(two(A, A)["product"], A * A)


def test_results_do_not_share_memory(two):
    warm(two, A, B)
    first, second = two(A, B), two(B, B)
    np.testing.assert_array_equal(first["sum"], A + B)
    np.testing.assert_array_equal(second["sum"], B + B)
    assert not np.shares_memory(first[0], second[0]) and not np.shares_memory(first[0], first[1])


@pytest.mark.parametrize(
    "arrays, named, error, text",
    [
        ((A,), {}, TypeError, "missing input 'b'"),
        ((A,), {"b": B, "c": B}, TypeError, "has no input 'c'"),
        ((A, B), {"b": B}, TypeError, "by position and by name"),
        ((), {"a": A, "c": B}, TypeError, "has no input 'c'"),
        (({"a": A},), {"b": B}, TypeError, "not as both"),
        ((A, B.astype("i")), {}, TypeError, "input 'b' is of int32"),
        ((A, B.astype(">f4")), {}, TypeError, "byte order"),
        ((A, np.asfortranarray(B)), {}, ValueError, "not contiguous"),
        ((A, B[:2]), {}, ValueError, "input 'b' has shape"),
        ((A, None), {}, TypeError, "input 'b' is a NoneType"),
        ((A, B), {"out": A}, TypeError, "has 2 outputs"),
        ((A, B), {"out": [A, None]}, ValueError, "'sum' in out= shares memory with input 'a'"),
        ((A, B), {"out": [None, B]}, ValueError, "'product' in out= shares memory with input 'b'"),
        ((A, B), {"out": [np.zeros((3, 2), "d"), None]}, TypeError, "is of float64"),
        ((A, B), {"stream": "x"}, TypeError, "stream is 'x'"),
    ],
)
def test_wrong_calls_are_told_as_ever(two, arrays, named, error, text):
    warm(two, A, B)
    with pytest.raises(error, match=text):
        two(*arrays, **named)
    np.testing.assert_array_equal(two(A, B)["sum"], A + B)


def test_outputs_that_share_memory(two):
    warm(two, A, B)
    memory = np.zeros((4, 2), "f")
    with pytest.raises(ValueError, match="'sum' and 'product' in out= share memory"):
        two(A, B, out=[memory[:3], memory[1:]])


class Shifted(np.ndarray):
    """An array that answers something of its own."""

    @property
    def __array_interface__(self):
        return (np.asarray(self) + 1).__array_interface__


def test_arrays_of_derived_classes_are_looked_at(two, monkeypatch):
    warm(two, A, B)
    looks = Looks(two, monkeypatch)
    two(A.view(np.memmap), B)
    two(A.view(Shifted), B)
    assert looks.count == 2


def test_a_dict_that_changes_meanwhile(two):
    """Another thread puts other arrays into the dict while a run reads those that were there."""
    warm(two, A, B)
    inputs, is_over = {"a": A.copy(), "b": B.copy()}, threading.Event()

    def change():
        while not is_over.is_set():
            inputs["a"] = A.copy()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(2000):
            np.testing.assert_array_equal(two(inputs)["sum"], A + B)
    finally:
        is_over.set()
        thread.join()


def test_an_engine_that_reading_the_arguments_closes():
    engine = kiln.compile(kiln_models.sum_and_product(), shapes={"a": (3, 2), "b": (3, 2)}, **QUICK)
    warm(engine, A, B)

    class Closing:
        """Stands in a dict for the name "a", and closes the engine when it is compared with it."""

        def __hash__(self):
            return hash("a")

        def __eq__(self, other):
            engine.close()
            return other == "a"

    with pytest.raises(kiln.Error, match="was closed"):
        engine({Closing(): A, "b": B})


@pytest.mark.parametrize("what", ["close", "call"])
def test_finalizers_that_use_the_engine(what):
    """Garbage is collected while a call makes its results, and a finalizer closes the engine or calls it otherwise."""
    model, w, b = kiln_models.affine()
    engine = kiln.compile(model, shapes={"x": [(1, 4), (2, 4), (4096, 4)]}, **QUICK)
    warm(engine, rows(2))
    is_over = []

    class Last:
        def __del__(self):
            engine.close() if what == "close" else engine(rows(4096))
            is_over.append(True)

    thresholds = gc.get_threshold()
    try:
        while not is_over:
            last = Last()
            last.cycle = last
            del last
            gc.set_threshold(1)  # the next container that is made collects
            try:
                np.testing.assert_allclose(engine(rows(2)), np.maximum(rows(2) @ w + b, 0), rtol=1e-5, atol=1e-6)
            except kiln.Error as error:
                assert what == "close" and "was closed" in str(error)
    finally:
        gc.set_threshold(*thresholds)


def test_an_engine_without_inputs_takes_no_arguments():
    nodes = [onnx.helper.make_node("Neg", ["c"], ["y"])]
    engine = kiln.compile(kiln_models.model(nodes, [], [("y", kiln_models.FLOAT, A.shape)], [("c", A)]), **QUICK)
    for _ in range(3):
        np.testing.assert_array_equal(engine(), -A)
        for arrays, named in (((A,), {}), ((), {"x": A})):
            with pytest.raises(TypeError):
                engine(*arrays, **named)


def test_a_closed_engine_goes_no_way():
    engine = kiln.compile(kiln_models.affine(2)[0], name="gone", **QUICK)
    warm(engine, rows(2))
    call, context = engine._local.latest.numpy_call, weakref.ref(engine._local.latest._context)
    engine.close()
    assert call.run((rows(2),), {}, None) is None and context() is None
    with pytest.raises(kiln.Error, match="gone was closed"):
        engine(rows(2))


def test_an_engine_that_is_closed_while_threads_call_it():
    for _ in range(20):
        engine = kiln.compile(kiln_models.affine(2)[0], name="gone", **QUICK)
        others, starts = [], threading.Barrier(3)

        def work(engine=engine, starts=starts, others=others):
            warm(engine, rows(2))
            starts.wait()
            try:
                while True:
                    engine(rows(2))
            except kiln.Error as error:
                others.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        starts.wait()
        engine.close()
        for thread in threads:
            thread.join()
        assert others == ["gone was closed"] * 2


def test_a_run_that_fails(monkeypatch):
    """It raises what the context reported, and the next call is looked at again."""
    failing = kiln_models.model(
        [kiln_models.helper.make_node("Gather", ["t", "i"], ["y"])],
        [("i", kiln_models.INT64, [2])],
        [("y", kiln_models.FLOAT, [2])],
        [("t", np.arange(3, dtype="f"))],
    )
    engine = kiln.compile(failing, name="gather", **QUICK)
    good, bad = np.array([0, 2]), np.array([0, 3])
    warm(engine, good)
    with pytest.raises(kiln.Error, match="gather: the run failed") as raised:
        engine(bad)
    assert raised.value.messages
    looks = Looks(engine, monkeypatch)
    np.testing.assert_array_equal(engine(good), [0, 2])
    assert looks.count == 1
