"""Parts of the sample for Ray Serve, each by itself: no cluster runs."""

import asyncio
import dataclasses
import pathlib
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import kiln_models
import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[serve]'")
pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install 'ray[serve]'")

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "samples"))

from ray import exceptions, serve  # noqa: E402
from ray.serve.exceptions import BackPressureError  # noqa: E402
from serve_ray import gateway, plans, replica, settings  # noqa: E402
from serve_ray.app import build  # noqa: E402
from serve_ray.messages import Refusal, Reply, Request  # noqa: E402
from serve_ray.settings import SettingsError, read_models  # noqa: E402

import kiln  # noqa: E402
from kiln.serve import Reason, ServeError  # noqa: E402


@pytest.fixture
def model(tmp_path):
    (tmp_path / "affine.onnx").write_bytes(kiln_models.affine()[0].SerializeToString())
    (found,) = read_models([{"name": "affine", "path": str(tmp_path / "affine.onnx")}])
    return found


# The application.


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"model": []}, "'model' is no argument"),
        ({"gateways": 0}, "gateways is 0; it may be 1 or more"),
        ({"gateways": "two"}, "gateways is 'two'; a whole number"),
        ({"gateway_cpus": None}, "gateway_cpus is None"),
        ({"time_limit_s": 0}, "time_limit_s is 0; it has to be more"),
        ({"time_limit_s": float("nan")}, "time_limit_s is nan"),
        ({"most_bytes": 0.5}, "most_bytes is 0.5; a whole number"),
        ({"most_bytes_in_flight": -1}, "most_bytes_in_flight is -1"),
        ({"body_s": -1}, "body_s is -1"),
    ],
)
def test_arguments(changes, text):
    with pytest.raises(SettingsError, match=text):
        build({"models": [], **changes})


def test_the_example_of_a_file():
    yaml = pytest.importorskip("yaml")
    text = (pathlib.Path(settings.__file__).parent / "deploy.yaml").read_text()
    (application,) = serve.schema.ServeDeploySchema(**yaml.safe_load(text)).applications
    assert application.import_path == "serve_ray.app:build"
    for given in application.args["models"]:
        with pytest.raises(SettingsError, match="there is no file '/models/"):  # what comes before is right
            read_models([given])


# The gateway.


class Replicas:
    """Replicas that answer, or fail as they are told: a handle's method, one item for each call."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), 0

    async def remote(self, *_):
        self.asked += 1
        found = self.answers[min(self.asked, len(self.answers)) - 1]
        if isinstance(found, BaseException):
            raise found
        return found


def gateway_of(time_limit_s=30.0):
    made = object.__new__(gateway.Gateway.func_or_class)
    made._time_limit_s, made._resting = time_limit_s, frozenset()
    return made


def ask(*answers, **limits):
    method = Replicas(*answers)
    return asyncio.run(gateway_of(**limits)._ask(method)), method.asked


def failure_of(*answers):
    with pytest.raises(ServeError) as raised:
        ask(*answers)
    return raised.value


DIED = exceptions.RayActorError()


def test_another_replica_is_asked():
    assert ask(DIED, exceptions.ObjectLostError("1" * 56, None, ""), "an answer") == ("an answer", 3)


def test_a_request_that_ends_each_replica(monkeypatch):
    """It is not handed on until its time is over: a few replicas end by it, and not all of them again and again."""
    monkeypatch.setattr(gateway, "_LONGEST_PAUSE_S", 0.0)
    method = Replicas(DIED)
    with pytest.raises(ServeError, match="8 replicas ended while they had the request") as raised:
        asyncio.run(gateway_of()._ask(method))
    assert raised.value.reason is Reason.INTERNAL and method.asked == 8


def test_a_replica_that_is_found_gone_again(monkeypatch):
    """It counts once: Ray may name it until it has noticed its end."""
    monkeypatch.setattr(gateway, "_LONGEST_PAUSE_S", 0.0)
    ended = [exceptions.ActorDiedError(), exceptions.ActorUnavailableError("no answer", b"1" * 16)]
    ended[0].actor_id = "one"
    wrapped = exceptions.RayTaskError("infer", "", ended[0])
    assert ask(*ended * 10, *[wrapped] * 10, *[DIED] * 1, "an answer") == ("an answer", 32)


@pytest.mark.parametrize(
    "failure, reason, text",
    [
        (Refusal(Reason.INVALID, "wrong"), Reason.INVALID, "wrong"),
        (BackPressureError(num_queued_requests=2, max_queued_requests=1), Reason.FULL, "queue is full"),
        (exceptions.ObjectStoreFullError("no room"), Reason.FULL, "the node has no memory"),
        (exceptions.RayTaskError("infer", "", RuntimeError("of many lines\nthe last")), Reason.INTERNAL, "the last"),
        (exceptions.RayTaskError("infer", "", RuntimeError("")), Reason.INTERNAL, "RuntimeError"),
        (ValueError(), Reason.INTERNAL, "ValueError"),
    ],
)
def test_failures_have_words(failure, reason, text):
    found = failure_of(failure)
    assert found.reason is reason and text in str(found)


def test_a_model_without_replicas_is_ready():
    """If it may have none. It is not asked: that would start one."""
    made, method = gateway_of(), Replicas(DIED)
    made._models = {"affine": type("Handle", (), {"describe": method})}
    made._resting = frozenset({"affine"})
    assert asyncio.run(made._is_ready("affine")) and not method.asked


def test_busy_is_ready(monkeypatch):
    """A node whose queue is full stays in the load balancer; one without replicas does not."""
    made = gateway_of()
    for answer, ready in (
        (BackPressureError(num_queued_requests=2, max_queued_requests=1), True),
        (exceptions.RayTaskError("describe", "", RuntimeError("broken")), False),
        ({}, True),
    ):
        made._models = {"affine": type("Handle", (), {"describe": Replicas(answer)})}
        assert asyncio.run(made._is_ready("affine")) is ready


# A replica.


class Runs:
    """A replica without an engine and without Ray: each run ends by a `go.release()`, and answers with its requests."""

    def __init__(self, most=8):
        self.replica = made = object.__new__(replica.Replica.func_or_class)
        made._most_rows, made._waiting, made._runners, made._room = most, [], set(), asyncio.Semaphore(1)
        made._run = self.run
        self.go, self.begun, self.sizes = asyncio.Semaphore(0), asyncio.Semaphore(0), []

    async def run(self, requests, joined):
        self.sizes.append(len(requests))
        self.begun.release()
        await self.go.acquire()
        return [Reply(request.inputs, "1", {}) for request in requests]

    def put(self, *rows):
        """A batch as `serve.batch` hands it over: (what waits, the task that answers)."""
        loop = asyncio.get_running_loop()
        batch = [replica._Waiting(Request({"x": np.full((n, 1), n)}), loop.create_future()) for n in rows]
        joined = replica.Replica.func_or_class._joined
        answer = getattr(joined, "__wrapped__", joined)(self.replica, batch)
        return batch, asyncio.ensure_future(answer)


def test_a_batch_that_is_cancelled():
    """Others of its run are answered."""

    async def check():
        runs = Runs()
        _, first = runs.put(1)
        await runs.begun.acquire()
        (_, second), (_, third) = runs.put(2), runs.put(3)
        runs.go.release()
        await first
        await runs.begun.acquire()  # a run of both
        second.cancel()
        await asyncio.sleep(0)
        runs.go.release()
        (answer,) = await asyncio.wait_for(third, 5)
        assert answer.outputs["x"].shape == (3, 1) and runs.sizes == [1, 2]
        with pytest.raises(asyncio.CancelledError):
            await second

    asyncio.run(check())


def test_requests_whose_clients_left_do_not_run():
    async def check():
        runs = Runs()
        _, first = runs.put(1)
        await runs.begun.acquire()
        batch, second = runs.put(2, 3)
        batch[0].answer.cancel()
        lonely, third = runs.put(4)
        lonely[0].answer.cancel()
        for _ in range(2):
            runs.go.release()
        await first
        left, answer = await asyncio.wait_for(second, 5)
        assert left.reason is Reason.CANCELLED and answer.outputs["x"].shape == (3, 1)
        await third
        assert runs.sizes == [1, 1] and runs.replica._waiting == [] and not runs.replica._runners

    asyncio.run(check())


def replica_of(engine, most=0):
    made = object.__new__(replica.Replica.func_or_class)
    made._model = settings.Model("m", "m.onnx")
    made._engine, made._most_rows, made._runs, made._who = engine, most, 0, {}
    made._output_names = tuple(tensor.name for tensor in engine.outputs)
    made._threads = ThreadPoolExecutor(1, thread_name_prefix=replica._THREADS)
    made._joined = type("Joined", (), {"set_max_batch_size": lambda _, most: None, "set_batch_wait_timeout_s": lambda _, s: None})()
    return made


def compiled(model, **options):
    return kiln.compile(model, optimization_level=0, progress=False, **options)


def test_a_replica_that_goes_in_a_thread_of_its_own():
    """Its engine is closed also where the last that keeps it is a run."""
    closed, go = threading.Event(), threading.Event()
    made = replica_of(type("Engine", (), {"outputs": (), "close": lambda _: closed.set()})())
    made._threads.submit(lambda _: go.wait(30), made)
    del made
    assert not closed.is_set()
    go.set()
    assert closed.wait(30)


def test_joined_requests_that_meet_another_setting():
    """`reconfigure` may say that nothing is joined while a joined run waits for its thread."""
    with compiled(kiln_models.affine()[0], shapes={"x": [(1, 4), (8, 4)]}) as engine:
        made = replica_of(engine, most=0)
        xs = [np.full((n, 4), n, np.float32) for n in (1, 2)]
        answers = made._run_here([Request({"x": x}) for x in xs], joined=True)
        assert [answer.outputs["y"].shape for answer in answers] == [(1, 3), (2, 3)]


def test_rows_that_data_decides():
    """Noticed when the replica starts, or, where made inputs do not show it, by the run; never parted."""
    config = {"max_batch_size": 8, "batch_wait_ms": 1}
    with compiled(kiln_models.places_of_others(0), shapes={"x": [(1, 1), (8, 1)]}) as engine:
        with pytest.raises(ValueError, match=r"max_batch_size is 8, but output 'places' has shape \(0, 2\) for 8 rows"):
            asyncio.run(replica_of(engine).reconfigure(config))
    with compiled(kiln_models.places_of_others(2), shapes={"x": [(1, 1), (8, 1)]}) as engine:
        made = replica_of(engine)
        asyncio.run(made.reconfigure(config))
        xs = [np.array(x, np.float32).reshape(-1, 1) for x in ([2, 3], [5, 6, 7])]
        fewer, all_of_them = made._run_here([Request({"x": x}) for x in xs], joined=True)
        assert fewer.reason is Reason.INTERNAL and "output 'places' has shape (1, 2) for 2 rows" in fewer.text
        np.testing.assert_array_equal(all_of_them.outputs["places"], [[0, 0], [1, 0], [2, 0]])


def test_inputs_that_are_tuned_for_other_rows(caplog):
    """Made inputs have rows that all inputs take, and no model is refused, or left untried, for want of that."""
    with compiled(kiln_models.sum_and_product(), shapes={"a": [(1, 2), (8, 2), (8, 2)], "b": [(1, 2), (4, 2), (8, 2)]}) as engine:
        asyncio.run(replica_of(engine).reconfigure({"max_batch_size": 6, "batch_wait_ms": 1}))
    assert "do not run" not in caplog.text


@pytest.mark.parametrize(
    "batch, most, text",
    [(2, 2, "input 'x' of the engine has shape .2, 4., whose first extent is fixed"), ("n", 9, "at most 8 rows")],
    ids=["fixed", "small"],
)
def test_batches_that_an_engine_does_not_take(batch, most, text):
    shapes = None if batch == 2 else {"x": [(1, 4), (8, 4)]}
    with compiled(kiln_models.affine(batch)[0], shapes=shapes) as engine:
        with pytest.raises(ValueError, match=f"model 'm': max_batch_size is {most}, but .*{text}"):
            asyncio.run(replica_of(engine).reconfigure({"max_batch_size": most, "batch_wait_ms": 1}))


# Plans.


def test_a_builder_that_died_is_replaced():
    store = plans.PlanStore(claim_s=0.2)
    assert store.ask("k", "a") == ("build", None)
    assert store.ask("k", "b") == ("wait", None)
    time.sleep(0.1)
    store.renew("k", "a")
    time.sleep(0.15)
    assert store.ask("k", "b") == ("wait", None), "a renewed its claim"
    time.sleep(0.25)
    assert store.ask("k", "b") == ("build", None)
    store.give_up("k", "a")  # of an old claim: changes nothing
    assert store.ask("k", "c") == ("wait", None)
    store.give_up("k", "b")
    assert store.ask("k", "c") == ("build", None)


def test_places_of_a_plan():
    store = plans.PlanStore()
    assert store.ask("k", "a") == ("build", None)
    store.have("k", "a", ("one", "/p"))
    store.have("k", "b", ("two", "/p"))
    assert {store.ask("k", "c") for _ in range(100)} == {("at", ("one", "/p")), ("at", ("two", "/p"))}
    store.lost("k", ("one", "/p"))
    assert store.ask("k", "c") == ("at", ("two", "/p"))
    store.lost("k", ("two", "/p"))
    store.lost("k", ("two", "/p"))
    assert store.ask("k", "c") == ("build", None), "the claim of a ended when it had the plan"
    for i in range(100):
        store.have("k", "a", (str(i), "/p"))
    assert len(store._places["k"]) == 16


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to(model, tmp_path, mode):
    folder = tmp_path / "plans"
    mine = dataclasses.replace(model, plan_folder=str(folder))
    assert plans._folder(mine) == folder and folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(mode)
    with pytest.raises(PermissionError, match=rf"model 'affine': plan_folder '.*plans' .* mode {mode:o}.*chmod go-w"):
        plans.load(mine)
    folder.chmod(0o755)
    assert plans._folder(mine) == folder, "others may read"


def test_a_folder_of_somebody_else(model, tmp_path, monkeypatch):
    monkeypatch.setattr(plans.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match=f"belongs to user {tmp_path.stat().st_uid}"):
        plans.load(dataclasses.replace(model, plan_folder=str(tmp_path)))


def test_one_holds_a_lock(tmp_path):
    """Though its file goes with each holder, nobody holds the lock beside another."""
    inside, most = [], []

    def hold():
        for _ in range(50):
            with plans._locked(tmp_path / "lock"):
                inside.append(1)
                most.append(len(inside))
                time.sleep(1e-5)
                inside.pop()

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 200 and set(most) == {1} and not list(tmp_path.iterdir())
