"""kiln.serve: the queue's rules, and joined requests."""

import asyncio
import threading
import time

import numpy as np
import pytest
import serving
from onnx import helper
from serving import infer, input_of, rows, wait_for

import kiln
import kiln_models
from kiln._bindings import bindings
from kiln._errors import Message
from kiln.serve import ServeError
from kiln.serve._errors import LoadStopped, Reason
from kiln.serve._batcher import Batcher, Closed, Request, Spans, clock_ns
from kiln.serve._calls import Call, run
from kiln.serve._config import BatchRules
from kiln.serve._trial import _close, why_not_joined

FLOAT = kiln_models.FLOAT


def batcher(spans=((1, 8),), **rules):
    made = BatchRules(**{"most": 8, "joins": True, **rules})
    return Batcher(made, lambda key: Spans(list(spans), made.most))


def put(queue, *sizes, key="k"):
    requests = [Request([], rows, key, None) for rows in sizes]
    for request in requests:
        queue.put(request)
    return requests


def taken(queue):
    return [request.rows for request in queue.take()]


# The queue alone.


def test_takes_what_waits():
    queue = batcher()
    put(queue, 1, 2, 3)
    assert taken(queue) == [1, 2, 3] and queue.length == 0


def test_ends_at_the_largest_batch():
    queue = batcher()
    put(queue, 3, 4, 2, 6)
    assert [taken(queue), taken(queue)] == [[3, 4], [2, 6]]


def test_keys_stay_apart_and_the_oldest_comes_first():
    queue = batcher()
    put(queue, 1, key="a")
    put(queue, 2, key="b")
    put(queue, 3, key="a")
    assert [taken(queue), taken(queue)] == [[1, 3], [2]]


def test_without_a_key_each_runs_alone():
    queue = batcher()
    put(queue, 1, 1, 1, key=None)
    assert [taken(queue) for _ in range(3)] == [[1], [1], [1]]


def test_sizes_between_profiles_are_left_out():
    queue = batcher(spans=[(1, 1), (4, 8)])
    put(queue, 1, 1, 1)
    assert taken(queue) == [1]  # two or three rows are in no profile
    put(queue, 1, 1)
    assert taken(queue) == [1, 1, 1, 1]


def test_waits_for_the_delay_and_no_longer():
    queue = batcher(delay_ns=100_000_000)
    put(queue, 1)
    started = time.monotonic()
    assert taken(queue) == [1]
    assert 0.09 <= time.monotonic() - started < 5


def test_a_delay_beyond_what_a_thread_can_wait():
    queue = batcher(delay_ns=1 << 74)
    put(queue, 1)
    threading.Timer(0.05, lambda: put(queue, 7)).start()
    assert taken(queue) == [1, 7]


def test_requests_do_not_wait_beyond_their_time():
    """Those whose time is over come alone, so that nothing is run for them, and the others wait on."""
    queue = batcher(delay_ns=60_000_000_000)
    put(queue, 1)
    now = clock_ns()
    for rows_of_it, timeout_ns in ((2, 100_000_000), (1, 100_000_000), (3, 60_000_000_000)):
        queue.put(Request([], rows_of_it, "other", timeout_ns))
    assert taken(queue) == [2, 1]
    assert 0.09 <= (clock_ns() - now) / 1e9 < 20 and queue.length == 2 and queue._rows == {"k": 1, "other": 3}


def test_a_full_batch_does_not_wait():
    queue = batcher(delay_ns=60_000_000_000)
    threading.Timer(0.05, lambda: put(queue, 5)).start()
    put(queue, 3)
    assert taken(queue) == [3, 5]


def test_who_joins_a_batch_that_waits_wakes_nobody(monkeypatch):
    """A thread is woken by the first of a batch, whose time it has to know, and by the one that fills it."""
    queue, woken = batcher(delay_ns=60_000_000_000), []
    monkeypatch.setattr(queue._changed, "notify", lambda: woken.append(queue.length))
    put(queue, 2, 2, 2, 2)
    put(queue, 1, key="other")
    assert woken == [1, 4, 5]
    queue, woken[:] = batcher(), []
    monkeypatch.setattr(queue._changed, "notify", lambda: woken.append(queue.length))
    put(queue, 1, 1)
    assert woken == [1, 2]  # nobody waits for more of them


def test_a_full_batch_of_another_key_goes_ahead():
    queue = batcher(delay_ns=60_000_000_000)
    put(queue, 1, key="a")
    put(queue, 8, key="b")
    assert taken(queue) == [8]


def test_preferred_sizes():
    queue = batcher(delay_ns=60_000_000_000, preferred=(2, 4))
    put(queue, 1, 1, 1, 1, 1)
    assert taken(queue) == [1, 1, 1, 1]  # the largest that there is
    put(queue, 1)
    assert taken(queue) == [1, 1]
    queue = batcher(delay_ns=1_000_000, preferred=(4,))
    put(queue, 1, 1)
    assert taken(queue) == [1, 1]  # the delay is over


def test_preferred_sizes_that_no_profile_has():
    """They are neither run at once nor chosen: the engine would refuse them."""
    queue = batcher(spans=[(1, 2), (4, 8)], delay_ns=200_000_000, preferred=(3, 5))
    put(queue, 1, 1, 1)
    started = time.monotonic()
    assert taken(queue) == [1, 1] and time.monotonic() - started > 0.15
    queue = batcher(spans=[(1, 2), (4, 8)], delay_ns=60_000_000_000, preferred=(3, 5))
    put(queue, 1, 1, 1, 1, 1)
    assert taken(queue) == [1, 1, 1, 1, 1]


def test_a_full_queue_refuses():
    queue = batcher(max_queue=2)
    put(queue, 1, 1)
    with pytest.raises(ServeError, match="the queue is full: 2 requests wait"):
        put(queue, 1)
    taken(queue)
    put(queue, 1)


def test_cancelled_requests_leave_their_place():
    queue = batcher(max_queue=2)
    first, second = put(queue, 1, 2)
    assert first.cancel() and queue.length == 1
    put(queue, 3)
    assert taken(queue) == [2, 3]
    assert second.set_running_or_notify_cancel()


def test_closing_ends_the_delay_and_then_the_threads():
    queue = batcher(delay_ns=60_000_000_000)
    put(queue, 1)
    threading.Timer(0.05, queue.close).start()
    assert taken(queue) == [1] and queue.take() is None
    with pytest.raises(Closed):
        put(queue, 1)


def test_many_threads_lose_nothing():
    queue, seen = batcher(delay_ns=200_000), []

    def work():
        while (batch := queue.take()) is not None:
            assert sum(r.rows for r in batch) <= 8 and len({r.key for r in batch}) == 1
            for request in batch:
                request.set_result(request.rows)

    def send(i):
        seen.extend(put(queue, *[1 + (i + k) % 4 for k in range(200)], key=i % 3))

    workers = [threading.Thread(target=work) for _ in range(3)]
    senders = [threading.Thread(target=send, args=(i,)) for i in range(4)]
    queue._rules = BatchRules(most=8, joins=True, delay_ns=200_000, max_queue=10_000)
    for thread in workers + senders:
        thread.start()
    for thread in senders:
        thread.join()
    assert all(request.result(30) == request.rows for request in seen) and len(seen) == 800
    queue.close()
    for thread in workers:
        thread.join(30)
    assert queue.length == 0 and not queue._groups and not queue._rows


# Whether requests may be joined.


def built(nodes, inputs, outputs, weights=(), most=8):
    model = kiln_models.model(nodes, inputs, outputs, weights)
    shapes = {name: [(1, *shape[1:]), (2, *shape[1:]), (most, *shape[1:])] for name, _, shape in inputs}
    return kiln.compile(model, shapes=shapes, **serving.QUICK)


def test_rows_of_their_own_are_found():
    assert why_not_joined(serving.affine_engine()) is None


X, Y = ("x", FLOAT, ["n", 4]), ("y", FLOAT, ["n", 4])


@pytest.mark.parametrize("nodes, weights, words", [
    ([helper.make_node("Softmax", ["x"], ["y"], axis=0)], (), "rows of output 'y' depend on other rows"),
    ([helper.make_node("CumSum", ["x", "axis"], ["y"])], [("axis", np.array(0))], "depend on"),
    ([helper.make_node("ReduceMean", ["x", "axes"], ["m"]), helper.make_node("Sub", ["x", "m"], ["y"])],
     [("axes", np.array([0]))], "rows of output 'y' depend on other rows"),
])  # fmt: skip
def test_rows_that_know_each_other_are_found(nodes, weights, words):
    assert words in why_not_joined(built(nodes, [X], [Y], weights))


def _beyond(limit, scale=1.0):
    """y = x + relu(scale * max of x over the batch - limit): rows know each other where one has such a number."""
    nodes = [
        helper.make_node("ReduceMax", ["x", "axes"], ["m"]),
        helper.make_node("Mul", ["m", "scale"], ["s"]),
        helper.make_node("Sub", ["s", "limit"], ["d"]),
        helper.make_node("Relu", ["d"], ["r"]),
        helper.make_node("Add", ["x", "r"], ["y"]),
    ]
    weights = [("axes", np.array([0])), ("scale", np.array(scale, "f")), ("limit", np.array(limit, "f"))]
    return built(nodes, [X], [Y], weights)


@pytest.mark.parametrize("limit, scale", [(1.5, 1.0), (100.0, 1.0), (5000.0, 1.0), (100.0, -1.0)])
def test_rows_that_know_each_other_by_large_or_negative_numbers(limit, scale):
    assert why_not_joined(_beyond(limit, scale)) == "rows of output 'y' depend on other rows"


def test_rows_that_know_those_behind_them_are_found():
    """The maximum of what comes before in the batch, above 100."""
    nodes = [
        helper.make_node("Sub", ["x", "limit"], ["d"]),
        helper.make_node("Relu", ["d"], ["r"]),
        helper.make_node("CumSum", ["r", "axis"], ["c"], exclusive=1),
        helper.make_node("Add", ["x", "c"], ["y"]),
    ]
    engine = built(nodes, [X], [Y], [("limit", np.array(100, "f")), ("axis", np.array(0))])
    assert why_not_joined(engine) == "rows of output 'y' depend on other rows"


def test_large_numbers_keep_rows_of_their_own():
    """Sums and exponentials that overflow to infinity and NaN say nothing of other rows."""
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Sub", ["e", "e"], ["n"]),
        helper.make_node("MatMul", ["n", "w"], ["y"]),
    ]
    assert why_not_joined(built(nodes, [X], [Y], [("w", np.eye(4, dtype="f"))])) is None


def test_the_trial_ends_when_loading_is_stopped():
    stop = threading.Event()
    stop.set()
    with pytest.raises(LoadStopped):
        why_not_joined(serving.affine_engine(), stop)


def test_the_trial_leaves_no_context_behind():
    """The first instance runs in the context that the trial has made."""
    engine = serving.affine_engine()
    with serving.serve({"affine": engine}, instances=1, http_port=None, grpc_port=None) as server:
        assert server.infer("affine", {"x": rows(1)})["y"].shape == (1, 3)
        assert server.repository.find("affine").rules.joins and len(engine._all_slots) == 1


def test_axes_that_are_no_batch_are_found():
    fixed = kiln.compile(kiln_models.affine(2)[0], **serving.QUICK)
    assert "is fixed" in why_not_joined(fixed)
    assert "is fixed" in why_not_joined(kiln.compile(kiln_models.non_zero(), **serving.QUICK))
    one = kiln.compile(kiln_models.affine()[0], shapes={"x": [(3, 4), (5, 4)]}, **serving.QUICK)
    assert "takes two requests at once" in why_not_joined(one)


# Joined requests.


def test_joined_answers_are_those_of_the_joined_run():
    """Requests that wait for each other run as one batch, and each gets its rows of exactly that run."""
    engine = serving.affine_engine()
    with serving.serve({"affine": engine}, max_queue_delay_us=2_000_000) as server:
        parts = [rows(2, i) for i in range(4)]
        futures = [server.submit("affine", {"x": part}) for part in parts]
        together = engine(np.concatenate(parts))
        for i, future in enumerate(futures):
            np.testing.assert_array_equal(future.result(30)["y"], together[2 * i : 2 * i + 2])
        (version,) = server.repository.versions("affine")
        assert version.statistics.execution_count == 1 and list(version.statistics.batches) == [8]


def test_metrics_have_the_time_of_a_joined_run_once():
    engine = serving.affine_engine()

    class Slow:
        def __getattr__(self, name):
            return getattr(engine, name)

        def __call__(self, *arrays):
            time.sleep(0.2)
            return engine(*arrays)

    with serving.serve({"affine": engine}, max_queue_delay_us=60_000_000, grpc_port=None) as server:
        for instance in version_instances(server.repository.find("affine")):
            instance._engine = Slow()
        started = time.monotonic()
        for future in [server.submit("affine", {"x": rows(1, i)}) for i in range(8)]:
            future.result(30)
        took = time.monotonic() - started
        found = {}
        for line in serving.get(server, "/metrics").body.decode().splitlines():
            if not line.startswith("#"):
                found[line.partition("{")[0]] = float(line.rpartition(" ")[2])
    assert found["kiln_runs_total"] == 1
    assert 0.2 <= found["kiln_run_seconds_total"] < took
    assert 0 < found["kiln_gather_seconds_total"] + found["kiln_divide_seconds_total"] < took - 0.2


def test_without_joining_answers_have_every_bit():
    engine = serving.affine_engine()
    with serving.serve({"affine": engine}, max_batch_size=0, instances=2) as server:
        parts = [rows(1 + i % 8, i) for i in range(64)]
        futures = [server.submit("affine", {"x": part}) for part in parts]
        for part, future in zip(parts, futures):
            np.testing.assert_array_equal(future.result(30)["y"], engine(part))
        (version,) = server.repository.versions("affine")
        assert version.statistics.execution_count == 64


def test_other_shapes_are_not_joined():
    tanh = helper.make_node("Tanh", ["x"], ["y"])
    model = kiln_models.model([tanh], [("x", FLOAT, ["n", "k"])], [("y", FLOAT, ["n", "k"])])
    engine = kiln.compile(model, shapes={"x": [(1, 1), (2, 4), (8, 8)]}, **serving.QUICK)
    with serving.serve({"m": engine}, max_queue_delay_us=300_000) as server:
        sent = [rows(1, i, 1 + i % 3) for i in range(12)]
        futures = [server.submit("m", {"x": x}) for x in sent]
        for x, future in zip(sent, futures):
            np.testing.assert_allclose(future.result(30)["y"], np.tanh(x), rtol=1e-5)
        (version,) = server.repository.versions("m")
        assert version.statistics.execution_count == 3 and list(version.statistics.batches) == [4]


def test_a_request_at_fault_fails_alone():
    """A joined run that fails is done again, request by request."""
    engine = serving.affine_engine()
    with serving.serve({"affine": engine}, max_queue_delay_us=300_000) as server:
        (version,) = server.repository.versions("affine")
        real, calls = type(engine).__call__, []

        class Faulty:
            """The engine, but for numbers above 1e6."""

            def __getattr__(self, name):
                return getattr(engine, name)

            def __call__(self, *arrays):
                calls.append(arrays[0].shape[0])
                if np.max(arrays[0]) > 1e6:
                    raise kiln.Error("numbers too large")
                return real(engine, *arrays)

        for instance in version_instances(version):
            instance._engine = Faulty()
        good = [rows(1, i) for i in range(3)]
        futures = [server.submit("affine", {"x": x}) for x in good]
        bad = server.submit("affine", {"x": np.full((1, 4), 1e7, "f")})
        for x, future in zip(good, futures):
            np.testing.assert_array_equal(future.result(30)["y"], engine(x))
        with pytest.raises(ServeError, match="numbers too large"):
            bad.result(30)
        assert calls == [4, 1, 1, 1, 1]


def version_instances(version):
    """The instances of a version's threads."""
    import gc

    from kiln.serve._instance import Instance

    return [one for one in gc.get_objects() if isinstance(one, Instance) and one._statistics is version.statistics]


def test_a_request_may_wait_for_so_long():
    engine = serving.affine_engine()
    with serving.serve({"affine": engine}, max_queue_delay_us=5_000_000) as server:
        answer = infer(server, "affine", input_of(rows(1)), parameters={"timeout": 100_000})
        assert answer.status == 504 and "took longer than 100 ms" in answer.error
        (version,) = server.repository.versions("affine")
        wait_for(lambda: version.queue_length == 0)  # the queue hears of it behind the answer
        assert version.queue_length == 0 and version.statistics.failures == {"expired": 1}
        answer = infer(server, "affine", input_of(rows(1)), parameters={"timeout": 50})
        assert answer.status == 504 and "took longer than 0.05 ms" in answer.error


def test_the_time_of_a_request_begins_when_all_of_it_has_come():
    """Also where its numbers are read for long, and nothing is left of the time when they are."""
    with serving.serve({"affine": serving.affine_engine()}, http_port=None, grpc_port=None) as server:
        call = Call("affine", "", timeout_ns=5_000_000_000, since_ns=clock_ns() - 6_000_000_000)
        call.add_tensor("x", "FP32", (2, 4), rows(2).reshape(-1).view(np.uint8))
        with pytest.raises(ServeError, match="the request took longer than 5000 ms"):
            asyncio.run(run(server.repository, call, 30))
        its = server.repository.find("affine").statistics
        wait_for(lambda: its.failures == {"expired": 1})
        assert its.execution_count == 0


def test_the_time_of_a_request_of_the_program():
    quiet = {"http_port": None, "grpc_port": None}
    with serving.serve({"affine": serving.affine_engine()}, max_queue_delay_us=60_000_000, **quiet) as server:
        started = time.monotonic()
        with pytest.raises(ServeError, match="the request took longer than 100 ms") as found:
            server.infer("affine", {"x": rows(1)}, timeout=0.1)
        assert found.value.reason is Reason.EXPIRED and time.monotonic() - started < 20
        for endless in (float("inf"), 1e300, None):
            assert server.infer("affine", {"x": rows(8)}, timeout=endless)["y"].shape == (8, 3)  # a full batch
        for wrong in (-1, float("nan")):
            with pytest.raises(ServeError, match="0 or more seconds are needed"):
                server.submit("affine", {"x": rows(1)}, timeout=wrong)


def test_a_time_that_ends_while_all_threads_run_others():
    """The request fails at its deadline, not when a thread is free, and holds nothing."""
    engine = serving.affine_engine()
    held = serving.HeldEngine(engine, 60)

    with serving.serve({"affine": engine}, instances=1, http_port=None, grpc_port=None) as server:
        version = server.repository.find("affine")
        for instance in version_instances(version):
            instance._engine = held
        try:
            first = server.submit("affine", {"x": rows(1)})
            assert held.begun.wait(30)
            late = [server.submit("affine", {"x": rows(1)}, timeout=seconds) for seconds in (30, 0.3, 0.1)]
            with pytest.raises(ServeError, match="the request took longer than 100 ms"):
                late[2].result(20)
            with pytest.raises(ServeError, match="the request took longer than 300 ms"):
                late[1].result(20)
            assert not first.done() and not late[0].done() and version.queue_length == 1
            assert version.statistics.failures == {"expired": 2}
            ending = server.submit("affine", {"x": rows(1)}, timeout=0.2)
            version.close()  # also where the version ends meanwhile
            with pytest.raises(ServeError, match="the request took longer than 200 ms"):
                ending.result(20)
        finally:
            held.release.set()
        assert first.result(30) and late[0].result(30) and version.wait_closed(20)


def test_the_program_chooses_outputs():
    shapes = {name: [(1, 2), (2, 2), (4, 2)] for name in "ab"}
    engine = kiln.compile(kiln_models.sum_and_product(), shapes=shapes, **serving.QUICK)
    with serving.serve({"two": engine}, max_queue_delay_us=300_000, http_port=None, grpc_port=None) as server:
        inputs = {"a": rows(1, 1, 2), "b": rows(1, 2, 2)}
        chosen = (("product",), ("product", "sum"), None)
        futures = [server.submit("two", inputs, outputs=names) for names in chosen]
        assert [tuple(future.result(30)) for future in futures] == [("product",), ("product", "sum"), ("sum", "product")]
        np.testing.assert_allclose(futures[0].result()["product"], inputs["a"] * inputs["b"], rtol=1e-6)


def test_a_thread_that_ends_unasked_leaves_nobody_waiting(monkeypatch):
    engine = serving.affine_engine()
    with serving.serve({"affine": engine}, instances=1, max_queue_delay_us=300_000) as server:
        version = server.repository.find("affine")

        def run(instance, batch):
            put(version._batcher, 1, key=((4,),))
            raise SystemExit("as if of a bug")

        monkeypatch.setattr("kiln.serve._instance.Instance.run", run)
        with pytest.raises(ServeError, match="a thread of it has ended: SystemExit: as if of a bug"):
            server.submit("affine", {"x": rows(1)}).result(30)
        assert version.queue_length == 0 and version.statistics.failures == {"internal": 2}
        (row,) = server.repository.index()
        assert row["state"] == "UNAVAILABLE" and "a thread of it has ended" in row["reason"]
        with pytest.raises(ServeError, match="version 1 of model 'affine' is not ready: a thread") as found:
            server.submit("affine", {"x": rows(1)})
        assert found.value.reason is Reason.UNAVAILABLE
        assert version.wait_closed(20)


@pytest.mark.parametrize("failure, reason, logged", [
    (kiln.ShapeError("no profile has them"), Reason.INVALID, False),
    (ValueError("axes do not match"), Reason.INTERNAL, True),
    (TypeError("an int is not callable"), Reason.INTERNAL, True),
    (ServeError(Reason.FULL, "later"), Reason.FULL, False),
    (kiln.Error("the run failed", [Message("error", "index 9", "INVALID_ARGUMENT")]), Reason.INVALID, False),
    (kiln.Error("the run failed", [Message("error", "enqueueV3: an earlier run failed: step 'y': index 9", "INVALID_ARGUMENT")]),
     Reason.INTERNAL, False),
    (kiln.Error("the run failed", [Message("error", "no memory", "FAILED_ALLOCATION")]), Reason.INTERNAL, False),
])  # fmt: skip
def test_whose_fault_a_failed_run_is(caplog, failure, reason, logged):
    """What nobody expects is the server's fault, and leaves a traceback."""
    engine = serving.affine_engine()

    class Faulty:
        def __getattr__(self, name):
            return getattr(engine, name)

        def __call__(self, *arrays):
            raise failure

    with serving.serve({"affine": engine}, http_port=None, grpc_port=None) as server:
        for instance in version_instances(server.repository.find("affine")):
            instance._engine = Faulty()
        with pytest.raises(ServeError, match=str(failure)) as found:
            server.infer("affine", {"x": rows(1)})
    assert found.value.reason is reason
    assert any(record.exc_info for record in caplog.records) is logged


@pytest.mark.parametrize("a, b, close", [
    ([1, np.inf], [1, np.inf], True),
    ([1, np.nan], [1, np.nan], True),
    ([1, np.inf], [1, 3], False),
    ([1, 3], [1, -np.inf], False),
    ([1, np.inf], [1, -np.inf], False),
    ([1, np.inf], [1, np.nan], False),
    ([1, np.nan], [1, 3], False),
    ([100, 1], [101, 1], True),
    ([100, 1], [103, 1], False),
])  # fmt: skip
def test_what_is_about_the_same(a, b, close):
    assert _close(np.array(a, "f"), np.array(b, "f")) is close


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_request_whose_time_ends_while_it_runs(protocol):
    """It is counted once, as expired, and its bytes count until the run has ended."""
    engine = serving.affine_engine()
    held = serving.HeldEngine(engine, 30)

    with serving.serve({"affine": engine}) as server:
        version = server.repository.find("affine")
        for instance in version_instances(version):
            instance._engine = held
        try:
            if protocol == "http":
                answer = infer(server, "affine", input_of(rows(1)), parameters={"timeout": 300_000})
                assert answer.status == 504 and "took longer than 300 ms" in answer.error
            else:
                import grpc

                from kiln.serve._messages import MESSAGES

                request = MESSAGES["ModelInferRequest"](
                    model_name="affine",
                    inputs=[{"name": "x", "datatype": "FP32", "shape": [1, 4]}],
                    raw_input_contents=[bytes(16)],
                )
                request.parameters["timeout"].int64_param = 300_000
                with grpc.insecure_channel(server.grpc_address) as channel:
                    call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
                    with pytest.raises(grpc.RpcError) as found:
                        call(request.SerializeToString(), timeout=30)
                    assert found.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            assert held.begun.is_set()
            time.sleep(0.2)  # what the server does behind its answer
            assert server.budget.used > 16
        finally:
            held.release.set()
        wait_for(lambda: server.budget.used == 0)
        its = version.statistics
        wait_for(lambda: its.execution_count == 1)
        assert its.failures == {"expired": 1}
        assert its.durations["success"].count == 0 and its.durations["fail"].count == 1


def test_answers_go_with_their_last_reference():
    """Nothing waits for the garbage collector, which comes late for a server of large arrays."""
    import gc
    import weakref

    with serving.serve({"affine": serving.affine_engine()}) as server:
        gc.collect()
        gc.disable()
        try:
            found = server.infer("affine", {"x": rows(2)})
            kept = [weakref.ref(found["y"])]
            call = Call("affine", "")
            call.add_tensor("x", "FP32", (2, 4), rows(2).reshape(-1).view(np.uint8))
            found = asyncio.run(run(server.repository, call, 30))[1]
            kept.append(weakref.ref(found["y"]))
            del found
            time.sleep(0.1)  # a thread lets go of its batch
            assert [one() for one in kept] == [None, None]
        finally:
            gc.enable()


# Copies.


def test_bytes_are_gathered_in_their_order():
    """Of many sizes, none among them, and of enough bytes for several threads, whose shares end inside of arrays."""
    gather = bindings().tensorrt._kiln_gather
    random = np.random.default_rng(3)
    for sizes in ((), (0,), (5,), (0, 1, 3, 602_113, 5_000_001, 0, 7), (3_000_000,) * 5):
        parts = [random.integers(0, 256, size, np.uint8) for size in sizes]
        for part in parts:
            part.flags.writeable = False  # as bytes of a request are
        into = np.zeros(sum(sizes) + 2, np.uint8)
        gather(into[1:-1], parts)
        np.testing.assert_array_equal(into[1:-1], np.concatenate([np.empty(0, np.uint8), *parts]))
        assert into[0] == into[-1] == 0


def test_wrong_gathers():
    gather = bindings().tensorrt._kiln_gather
    part, into = np.zeros(4, np.uint8), np.zeros(8, np.uint8)
    with pytest.raises(ValueError, match="arrays of 4 bytes do not fill 8"):
        gather(into, [part])
    with pytest.raises(ValueError, match="arrays of 12 bytes do not fill 8"):
        gather(into, [part] * 3)
    with pytest.raises(ValueError, match="contiguous"):
        gather(into, [np.zeros(16, np.uint8)[::2]])
    with pytest.raises((ValueError, BufferError)):
        gather(bytes(4), [part])
    with pytest.raises((TypeError, BufferError)):
        gather(into, [3])
