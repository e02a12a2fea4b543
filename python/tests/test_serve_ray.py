"""The sample for Ray Serve on a local cluster of three nodes: answers, batches, and processes and nodes that end."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import socket
import sys
import time

import kiln_models
import numpy as np
import onnx
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[serve]'")
pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install 'ray[serve]'")

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "samples"))

from ray import serve  # noqa: E402
from serve_ray import plans, settings, soak  # noqa: E402
from serve_ray.app import build  # noqa: E402
from serve_ray.settings import read_models  # noqa: E402

import kiln  # noqa: E402

_, W, B = kiln_models.affine()
LIMITS = {"most_bytes": 1 << 20, "most_bytes_in_flight": 3 << 20, "body_s": 3}


def affine(x):
    return np.maximum(x @ W + B, 0)


def doubled_affine():
    """The affine model with weights twice as large: another version."""
    model, _, _ = kiln_models.affine()
    for initializer in model.graph.initializer:
        initializer.raw_data = (2 * np.frombuffer(initializer.raw_data, "f4")).tobytes()
    return model


def rows_of_numbers(rng):
    return rng.random((int(rng.integers(1, 4)), 4), np.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "affine.onnx").write_bytes(kiln_models.affine()[0].SerializeToString())
    (folder / "sums.onnx").write_bytes(kiln_models.sum_and_product().SerializeToString())
    (folder / "slow.onnx").write_bytes(kiln_models.chain(40).SerializeToString())
    return folder


@pytest.fixture(scope="module")
def nodes():
    with soak.local_cluster([2, 2, 2]) as (cluster, port):
        yield cluster, port


def affine_settings(files, **changes):
    found = {
        "name": "affine",
        "path": str(files / "affine.onnx"),
        "shapes": {"x": [(1, 4), (8, 4)]},
        "optimization_level": 0,
        "max_batch_size": 8,
        "min_replicas": 2,
        "max_replicas": 2,
        "num_cpus": 0.5,
        "health_check_period_s": 1,
        "plan_folder": str(files / "plans"),
    }
    return {**found, **changes}


def deploy(*models, **arguments):
    serve.run(build({"models": list(models), "gateway_cpus": 0.25, **arguments}), name="test", route_prefix="/")


def until(holds, seconds=60):
    """Waits for a state of the cluster, and returns whether it came."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.2)
    return False


@pytest.fixture(scope="module")
def served(nodes, files):
    """The port of a server with two replicas of `affine` and one of `sums`, which joins nothing."""
    sums = {
        "name": "sums",
        "path": str(files / "sums.onnx"),
        "shapes": {"a": [(1, 2), (4, 2)], "b": [(1, 2), (4, 2)]},
        "optimization_level": 0,
        "num_cpus": 0.25,
        "plan_folder": str(files / "plans"),
    }
    deploy(affine_settings(files), sums, **LIMITS)
    return nodes[1]


def post(port, path, said, **headers):
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    status, _, content = soak.Client(port).ask("POST", path, body, headers)
    return status, json.loads(content)


# What clients see.


def test_answers_as_json_and_as_bytes(served):
    x = np.random.default_rng(0).random((3, 4), np.float32)
    status, (outputs, _) = soak.Client(served).infer("affine", "x", x)
    assert status == 200
    np.testing.assert_allclose(outputs["y"], affine(x), rtol=1e-5)
    tensor = {"name": "x", "datatype": "FP32", "shape": [3, 4], "data": x.tolist()}
    status, found = post(served, "/v2/models/affine/versions/1/infer", {"id": "seven", "inputs": [tensor]})
    assert status == 200 and found["id"] == "seven" and found["model_name"] == "affine"
    (y,) = found["outputs"]
    assert (y["name"], y["datatype"], y["shape"]) == ("y", "FP32", [3, 3])
    np.testing.assert_allclose(np.reshape(y["data"], (3, 3)), affine(x), rtol=1e-5)


def test_bytes_alone(served):
    """A body that is the only input's bytes, as the header says."""
    x = np.ones((2, 4), np.float32)
    path, headers = "/v2/models/affine/infer", {soak.BINARY: "0"}
    status, headers, content = soak.Client(served).ask("POST", path, x.tobytes(), headers)
    assert status == 200
    y = np.frombuffer(content[int(headers[soak.BINARY]) :], "f4").reshape(2, 3)
    np.testing.assert_allclose(y, affine(x), rtol=1e-5)


def test_tritons_client(served):
    client_module = pytest.importorskip("tritonclient.http", reason="tritonclient[http] is not installed")
    with client_module.InferenceServerClient(f"127.0.0.1:{served}") as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("affine")
        assert client.get_model_metadata("affine")["inputs"][0]["name"] == "x"
        x = np.random.default_rng(1).random((2, 4), np.float32)
        given = client_module.InferInput("x", x.shape, "FP32")
        given.set_data_from_numpy(x)
        np.testing.assert_allclose(client.infer("affine", [given]).as_numpy("y"), affine(x), rtol=1e-5)
        given.set_data_from_numpy(x, binary_data=False)
        np.testing.assert_allclose(client.infer("affine", [given]).as_numpy("y"), affine(x), rtol=1e-5)
        with pytest.raises(Exception, match="there is no model 'none'"):
            client.infer("none", [given])


def test_outputs_by_name(served):
    pair = [{"name": n, "datatype": "FP32", "shape": [1, 2], "data": [2, 3]} for n in "ab"]
    status, found = post(served, "/v2/models/sums/infer", {"inputs": pair, "outputs": [{"name": "product"}]})
    assert status == 200
    assert [(o["name"], o["data"]) for o in found["outputs"]] == [("product", [4.0, 9.0])]


def test_metadata_and_health(served):
    def get(path):
        status, _, content = soak.Client(served).ask("GET", path)
        return status, json.loads(content or b"{}")

    assert get("/v2/health/live")[0] == get("/v2/health/ready")[0] == get("/v2/models/affine/ready")[0] == 200
    assert get("/v2/models/affine/ready")[1] == {"name": "affine", "ready": True}
    status, found = get("/v2/models/affine")
    assert status == 200 and found["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
    assert found["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}]
    assert get("/v2")[1]["version"] == kiln.__version__
    status, found = get("/v2/models/none")
    assert status == 404 and "'affine'" in found["error"]


X = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    "method, path, status, text",
    [
        ("GET", "/v2/nothing", 404, "there is no endpoint GET /v2/nothing"),
        ("GET", "/v2/models/affine/infer", 405, "GET /v2/models/affine/infer is not allowed here"),
    ],
)
def test_paths_that_are_not_there(served, method, path, status, text):
    found, _, content = soak.Client(served).ask(method, path)
    assert (found, json.loads(content)) == (status, {"error": text})


@pytest.mark.parametrize(
    "path, said, headers, status, text",
    [
        ("none/infer", {"inputs": [X]}, {}, 404, "'none'"),
        ("affine/versions/7/infer", {"inputs": [X]}, {}, 404, "'7'"),
        ("affine/infer", b"no JSON", {}, 400, "JSON"),
        ("affine/infer", b"[" * 100_000, {}, 400, "JSON"),
        ("affine/infer", [], {}, 400, "object"),
        ("affine/infer", {}, {}, 400, "inputs"),
        ("affine/infer", {"inputs": []}, {}, 400, "'x' is missing"),
        ("affine/infer", {"inputs": [X, {**X, "name": "z"}]}, {}, 400, "no input 'z'"),
        ("affine/infer", {"inputs": [X, X]}, {}, 400, "twice"),
        ("affine/infer", {"inputs": [{**X, "datatype": "FP31"}]}, {}, 400, "FP31"),
        ("affine/infer", {"inputs": [{**X, "datatype": "INT64"}]}, {}, 400, "int64; float32"),
        ("affine/infer", {"inputs": [{**X, "shape": [1, 5]}]}, {}, 400, "5"),
        ("affine/infer", {"inputs": [{**X, "shape": [2, 2]}]}, {}, 400, "(2, 2)"),
        ("affine/infer", {"inputs": [{**X, "shape": [9, 4], "data": [0] * 36}]}, {}, 400, "(9, 4)"),
        ("affine/infer", {"inputs": [{**X, "shape": [-1, 4]}]}, {}, 400, "-1"),
        ("affine/infer", {"inputs": [{**X, "data": [1, 2, 3, "4"]}]}, {}, 400, "input 'x'"),
        ("affine/infer", {"inputs": [X], "outputs": [{"name": "z"}]}, {}, 400, "no output 'z'"),
        ("affine/infer", {"inputs": [X]}, {"Inference-Header-Content-Length": "99999"}, 400, "99999"),
        ("affine/infer", {"inputs": [X]}, {"Inference-Header-Content-Length": "\u00b2"}, 400, "'\u00b2'"),
        ("sums/infer", b"1234", {"Inference-Header-Content-Length": "00"}, 400, "models of one input"),
        ("affine/infer", b"no gzip", {"Content-Encoding": "gzip"}, 400, "not gzip"),
        ("affine/infer", b" " * (2 << 20), {}, 413, "bytes"),
    ],
)
def test_bad_requests(served, path, said, headers, status, text):
    found, answer = post(served, f"/v2/models/{path}", said, **headers)
    assert found == status and text in answer["error"], answer
    x = np.ones((1, 4), np.float32)
    assert soak.Client(served).infer("affine", "x", x)[0] == 200


def test_slow_and_many_bodies(served):
    """Bodies that do not end take their room for `body_s`, and are told so; what else comes meanwhile is refused."""

    def begin(length):
        connection = http.client.HTTPConnection("127.0.0.1", served, timeout=30)
        connection.putrequest("POST", "/v2/models/affine/infer")
        connection.putheader("Content-Length", str(length))
        connection.endheaders(b" " * (length - 1))
        return connection

    slow = [begin(1 << 20) for _ in range(3)]
    body, headers = soak.infer_body("x", np.ones((1, 4), np.float32))
    path = "/v2/models/affine/infer"
    found = []
    large = b" " * 250_000  # more than the room that may be left: a body counts as it comes, and 64 KiB ahead
    assert until(lambda: found.append(soak.Client(served).ask("POST", path, large, {})) or found[-1][0] == 503, 3)
    assert "would exceed 3145728" in json.loads(found[-1][2])["error"] and found[-1][1]["Retry-After"] == "1"
    for connection in slow:
        answer = connection.getresponse()
        assert answer.status == 408 and "within 3 s" in json.loads(answer.read())["error"]
        assert answer.headers["Connection"] == "close"
        connection.close()
    assert soak.Client(served).ask("POST", path, body, headers)[0] == 200


def test_clients_that_leave(served):
    """Requests that wait for a microsecond each, among others: these are answered all the same."""
    said = {"inputs": [X], "parameters": {"timeout": 1}}
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=4)
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda _: post(served, "/v2/models/affine/infer", said)[0], range(200)))
    load.stop()
    assert set(statuses) == {504}
    assert not load.wrong and load.answered > 10, load.wrong[:3]


def test_requests_are_joined(served):
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=16)
    time.sleep(2)
    enough = until(lambda: load.answered > 50 and len(load.pids) == 2)
    load.stop()
    assert enough and not load.wrong, (load.summary(), load.wrong[:3])
    assert max(load.rows) > 3 and max(load.rows) <= 8, "runs have rows of several requests, and as many as they may"


# What ends, comes and changes meanwhile.


def test_replicas_that_are_killed(served):
    """No request is lost: the gateway asks another replica. The client tries each request once."""
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=8)
    killed = []

    def both_answer():
        """One that starts still is not to be killed: Ray takes its end for a failure, and waits longer and longer before
        it starts another."""
        return len((set(soak.replicas("affine")) & load.pids) - set(killed)) == 2

    for _ in range(4):
        assert until(both_answer, 180), (soak.replicas("affine"), load.pids, killed)
        time.sleep(1)
        killed.append(soak.kill_one("affine"))
    came_back = until(both_answer, 180)
    load.stop()
    assert came_back and not load.wrong, (load.summary(), load.wrong[:3])
    assert load.answered > 100 and len(set(killed)) == 4 and len(load.pids) == 6
    print(load.summary())


def test_all_replicas_killed_at_once(served):
    """Requests wait until a replica is there again."""
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=4)
    time.sleep(1)
    before = soak.replicas("affine")
    for _ in before:
        soak.kill_one("affine")
    assert until(lambda: set(soak.replicas("affine")) - set(before))
    time.sleep(3)
    load.stop()
    assert not load.wrong, load.wrong[:3]


def test_a_gateway_that_is_killed(served):
    """What it was about to answer is gone with it: a client repeats the request, as with any server."""
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=4, tries=50)
    time.sleep(1)
    killed = soak.kill_one("Gateway")
    assert killed and until(lambda: set(soak.replicas("Gateway")) - {killed})
    time.sleep(3)
    answered = load.answered
    assert until(lambda: load.answered > answered + 20)
    load.stop()
    assert not load.wrong, load.wrong[:3]


def test_a_new_version_under_load(served, files):
    """Answers are of the old version or of the new one, never an error, and in the end of the new one."""

    def check(x, outputs, parameters):
        wanted = {"1": affine(x), "2": np.maximum(2 * (x @ W + B), 0)}[parameters["version"]]
        return None if np.allclose(outputs["y"], wanted, rtol=1e-4) else f"not of version {parameters['version']}"

    versions = set()

    def count(x, outputs, parameters):
        versions.add(parameters["version"])
        return check(x, outputs, parameters)

    load = soak.Load(served, "affine", "x", rows_of_numbers, count, clients=4)
    time.sleep(2)
    (files / "next.onnx").write_bytes(doubled_affine().SerializeToString())
    deploy(affine_settings(files, path=str(files / "next.onnx"), version="2"), **LIMITS)
    time.sleep(2)
    load.stop()
    assert not load.wrong, load.wrong[:3]
    assert versions == {"1", "2"}
    status, (_, parameters) = soak.Client(served).infer("affine", "x", np.ones((1, 4), np.float32))
    assert status == 200 and parameters["version"] == "2"


def test_a_new_version_that_does_not_load(served, files):
    """The old one serves on."""
    (files / "unknown.onnx").write_bytes(kiln_models.unknown_operator().SerializeToString())
    with pytest.raises(RuntimeError, match="(?s)DEPLOY_FAILED|failed"):
        deploy(affine_settings(files, path=str(files / "unknown.onnx"), version="3"), **LIMITS)
    for _ in range(5):
        status, found = soak.Client(served, tries=20).infer("affine", "x", np.ones((1, 4), np.float32))
        assert status == 200 and found[1]["version"] == "2", found


def slow_settings(files, **changes):
    found = {
        "name": "slow",
        "path": str(files / "slow.onnx"),
        "optimization_level": 0,
        "num_cpus": 0.5,
        "plan_folder": str(files / "plans"),
    }
    return {**found, **changes}


def start_of_a_request(port, size):
    """A connection with the head of a request whose body does not come."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    head = f"POST /v2/models/affine/infer HTTP/1.1\r\nhost: x\r\ncontent-length: {size}\r\n\r\n"
    connection.sendall(head.encode() + b" " * 10)
    return connection


def test_bodies_that_do_not_come(nodes, files):
    deploy(affine_settings(files), body_s=1, most_bytes=1 << 20)
    slow = start_of_a_request(nodes[1], 1000)
    assert post(nodes[1], "/v2/models/affine/infer", {"inputs": [X]})[0] == 200
    answer = b""
    while part := slow.recv(1 << 16):  # the connection ends behind the answer
        answer += part
    assert answer.startswith(b"HTTP/1.1 408") and b"the body did not come within 1 s" in answer
    slow.close()


def test_bodies_of_all_requests_have_a_limit(nodes, files):
    deploy(affine_settings(files), most_bytes=100_000, most_bytes_in_flight=100_000)
    held = start_of_a_request(nodes[1], 90_000)
    held.sendall(b" " * 80_000)
    found = []
    path = "/v2/models/affine/infer"
    assert until(lambda: found.append(post(nodes[1], path, b" " * 50_000)) or found[-1][0] == 503, 20)
    assert "would exceed 100000" in found[-1][1]["error"]
    held.close()
    assert until(lambda: post(nodes[1], path, {"inputs": [X]})[0] == 200, 20)
    assert post(nodes[1], "/v2/models/affine/infer", {"inputs": [X]})[0] == 200


def test_a_full_queue_and_a_time_limit(nodes, files):
    deploy(slow_settings(files, max_ongoing_requests=1, max_queued_requests=1))
    x = np.zeros((3, 16), np.float32)
    body, headers = soak.infer_body("x", x)

    def ask(_):
        return soak.Client(nodes[1]).ask("POST", "/v2/models/slow/infer", body, headers)

    with concurrent.futures.ThreadPoolExecutor(24) as threads:
        answers = list(threads.map(ask, range(240)))
    statuses = {status for status, _, _ in answers}
    assert statuses == {200, 503}, "some are answered, and some find the queue full"
    refused = next(answer for answer in answers if answer[0] == 503)
    assert "queue is full" in json.loads(refused[2])["error"] and refused[1]["Retry-After"] == "1"
    assert ask(0)[0] == 200
    deploy(slow_settings(files), time_limit_s=1e-4)
    assert until(lambda: ask(0)[0] == 504, seconds=20)


def test_replicas_follow_the_load(nodes, files):
    delays = {"upscale_delay_s": 1, "downscale_delay_s": 2, "target_ongoing_requests": 2}
    deploy(slow_settings(files, min_replicas=1, max_replicas=3, **delays))
    assert len(soak.replicas("slow")) == 1
    load = soak.Load(nodes[1], "slow", "x", lambda rng: rng.random((3, 16), np.float32), lambda *_: None, clients=16)
    grew = until(lambda: len(soak.replicas("slow")) == 3)
    load.stop()
    assert grew and not load.wrong, load.wrong[:3]
    assert until(lambda: len(soak.replicas("slow")) == 1), "one is enough without load"


def test_a_node_that_is_lost(nodes, files):
    """Replicas are on the nodes that are left; what a gateway of the lost node held is repeated by its clients."""
    cluster, port = nodes
    deploy(affine_settings(files, min_replicas=3, max_replicas=3, num_cpus=1))
    load = soak.Load(port, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=4, tries=100)
    time.sleep(2)
    lost = next(iter(cluster.worker_nodes))
    cluster.remove_node(lost, allow_graceful=False)
    assert until(lambda: len(soak.replicas("affine")) == 3), "replicas come back on other nodes"
    time.sleep(2)
    load.stop()
    assert not load.wrong, load.wrong[:3]
    cluster.add_node(num_cpus=2, object_store_memory=128 << 20)


def test_a_configuration_file(nodes, files):
    """As `serve deploy` reads it; another user_config reaches replicas without new processes."""
    serve.delete("test")
    client, port = serve.context._get_global_client(), nodes[1]

    def deploy_file(most):
        config = {
            "name": "file",
            "route_prefix": "/",
            "import_path": "serve_ray.app:build",
            "args": {"models": [affine_settings(files)], "gateway_cpus": 0.25},
            "deployments": [{"name": "affine", "user_config": {"max_batch_size": most, "batch_wait_ms": 1}}],
        }
        client.deploy_apps(serve.schema.ServeDeploySchema(applications=[config]), _blocking=True)

    def rows_of_a_load():
        load = soak.Load(port, "affine", "x", lambda rng: rng.random((1, 4), "f4"), soak.close_to(affine), clients=6)
        time.sleep(2)
        load.stop()
        assert not load.wrong, load.wrong[:3]
        return set(load.rows)

    deploy_file(8)
    before = soak.replicas("affine")
    assert len(before) == 2
    # On a busy machine requests may come one by one for a while.
    assert until(lambda: max(rows_of_a_load()) > 1), "no run had rows of two requests"
    deploy_file(1)
    assert until(lambda: soak.Client(port).infer("affine", "x", np.ones((2, 4), "f4"))[0] == 400)
    assert rows_of_a_load() == {1} and soak.replicas("affine") == before
    serve.delete("file")


# Plans.


def test_a_plan_is_built_once_in_a_cluster(nodes, files, tmp_path):
    """Four processes with folders of their own, as four nodes have them."""
    (model,) = read_models([affine_settings(files, shapes={"x": [(1, 4), (5, 4)]})])

    @ray.remote(num_cpus=0.1)
    def load(model):
        built = []
        build = plans._build
        plans._build = lambda model: built.append(1) or build(model)
        engine = plans.load(model)
        return len(built), engine.inputs[0].ranges[0].max, engine(np.ones((2, 4), np.float32))

    folders = [settings.dataclasses.replace(model, plan_folder=str(tmp_path / str(i))) for i in range(4)]
    found = ray.get([load.remote(each) for each in folders])
    assert sum(built for built, _, _ in found) == 1
    for i, (_, largest, y) in enumerate(found):
        assert largest == (5, 4) and len(list((tmp_path / str(i)).glob("*.plan"))) == 1
        np.testing.assert_allclose(y, affine(np.ones((2, 4), np.float32)), rtol=1e-5)


    for folder in folders:
        assert not list(pathlib.Path(folder.plan_folder).glob(".*.lock"))
    # The cluster itself keeps no plan: behind its files it is gone, and the next one is built.
    for folder in folders:
        for path in pathlib.Path(folder.plan_folder).glob("*.plan"):
            path.unlink()
    assert ray.get(load.remote(folders[0]))[0] == 1


def test_other_data_of_a_model(nodes, files, tmp_path):
    """Weights in a file of their own that change: not the plan of the old ones, and not without another deployment."""
    path = tmp_path / "m.onnx"
    onnx.save_model(doubled_affine(), path, save_as_external_data=True, location="weights", size_threshold=0)
    given = affine_settings(files, path=str(path), plan_folder=str(tmp_path / "plans"))
    x = np.ones((1, 4), np.float32)
    (before,) = read_models([given])
    with plans.load(before) as engine:
        np.testing.assert_allclose(engine(x), np.maximum(2 * (x @ W + B), 0), rtol=1e-5)
    onnx.save_model(kiln_models.affine()[0], tmp_path / "other", save_as_external_data=True, location="w", size_threshold=0)
    (tmp_path / "w").replace(tmp_path / "weights")
    (after,) = read_models([given])
    with plans.load(after) as engine:
        np.testing.assert_allclose(engine(x), affine(x), rtol=1e-5)
    (tmp_path / "plans" / f"affine-{plans.key_of(before)}.plan").unlink()
    with pytest.raises(ValueError, match="or its data, has other bytes on this node"):
        plans.load(before)


def test_old_plans_are_removed(nodes, files, tmp_path):
    given = affine_settings(files, plan_folder=str(tmp_path), plans_kept=2)

    def load(most):
        (model,) = read_models([given | {"shapes": {"x": [(1, 4), (most, 4)]}}])
        plans.load(model).close()
        return tmp_path / f"affine-{plans.key_of(model)}.plan"

    others = [tmp_path / name for name in ("affine-2-0123456789abcdef.plan", "affine.plan")]
    left, being_written = (tmp_path / f".affine-0123456789abcdef.plan.{name}" for name in ("left", "new"))
    for path in (*others, left, being_written):
        path.touch()
    os.utime(left, (0, 0))
    first, second = load(2), load(3)
    load(2)  # used again, so that the other one is the oldest
    third = load(4)
    assert not second.exists() and not left.exists()
    assert sorted(tmp_path.iterdir()) == sorted([first, third, being_written, *others])


def test_a_damaged_plan_is_made_anew(nodes, files, tmp_path):
    (model,) = read_models([affine_settings(files, plan_folder=str(tmp_path))])
    plans.load(model).close()
    (path,) = tmp_path.glob("*.plan")
    path.unlink()
    path.write_bytes(b"no plan")
    assert plans.load(model)(np.ones((1, 4), np.float32)).shape == (1, 3)


def test_a_file_that_differs_on_a_node(nodes, files, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(kiln_models.affine()[0].SerializeToString())
    (model,) = read_models([affine_settings(files, path=str(path), plan_folder=str(tmp_path))])
    path.write_bytes(doubled_affine().SerializeToString())
    with pytest.raises(ValueError, match="other bytes on this node"):
        plans.load(model)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="this node has no file"):
        plans.load(model)


