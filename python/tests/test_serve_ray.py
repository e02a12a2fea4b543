"""The sample for Ray Serve on a local cluster of three nodes: answers, batches, and processes and nodes that end."""

import concurrent.futures
import json
import pathlib
import socket
import sys
import time

import kiln_models
import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[serve]'")
pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install 'ray[serve]'")

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "samples"))

from ray import serve  # noqa: E402
from serve_ray import joining, plans, settings, soak  # noqa: E402
from serve_ray.app import build  # noqa: E402
from serve_ray.settings import SettingsError, read_models  # noqa: E402

import kiln  # noqa: E402

_, W, B = kiln_models.affine()


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
    deploy(affine_settings(files), sums, most_bytes=1 << 20)
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
    status, found = get("/v2/models/affine")
    assert status == 200 and found["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
    assert found["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}]
    assert get("/v2")[1]["version"] == kiln.__version__
    status, found = get("/v2/models/none")
    assert status == 404 and "'affine'" in found["error"]


X = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}


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
        ("affine/infer", b" " * (2 << 20), {}, 413, "bytes"),
    ],
)
def test_bad_requests(served, path, said, headers, status, text):
    found, answer = post(served, f"/v2/models/{path}", said, **headers)
    assert found == status and text in answer["error"], answer
    x = np.ones((1, 4), np.float32)
    assert soak.Client(served).infer("affine", "x", x)[0] == 200


def test_requests_are_joined(served):
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=16)
    time.sleep(4)
    load.stop()
    assert not load.wrong and load.answered > 50, load.wrong[:3]
    assert max(load.rows) > 3 and max(load.rows) <= 8, "runs have rows of several requests, and as many as they may"
    assert len(load.pids) == 2


# What ends, comes and changes meanwhile.


def test_replicas_that_are_killed(served):
    """No request is lost: the gateway asks another replica. The client tries each request once."""
    load = soak.Load(served, "affine", "x", rows_of_numbers, soak.close_to(affine), clients=8)
    killed = []
    for _ in range(4):
        time.sleep(2)
        assert until(lambda: soak.replicas("affine"))
        killed.append(soak.kill_one("affine"))
    assert until(lambda: len(set(soak.replicas("affine")) - set(killed)) == 2), "replicas come back"
    time.sleep(2)
    load.stop()
    assert not load.wrong, load.wrong[:3]
    assert load.answered > 100 and len(load.pids) >= 3, load.summary()
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
    deploy(affine_settings(files, path=str(files / "next.onnx"), version="2"), most_bytes=1 << 20)
    time.sleep(2)
    load.stop()
    assert not load.wrong, load.wrong[:3]
    assert versions == {"1", "2"}
    status, (_, parameters) = soak.Client(served).infer("affine", "x", np.ones((1, 4), np.float32))
    assert status == 200 and parameters["version"] == "2"


def test_a_new_version_that_does_not_load(served, files):
    """The old one serves on."""
    (files / "damaged.onnx").write_bytes(b"no model")
    with pytest.raises(RuntimeError, match="(?s)DEPLOY_FAILED|failed"):
        deploy(affine_settings(files, path=str(files / "damaged.onnx"), version="3"), most_bytes=1 << 20)
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
    deploy(affine_settings(files), body_limit_s=1, most_bytes=1 << 20)
    slow = start_of_a_request(nodes[1], 1000)
    assert post(nodes[1], "/v2/models/affine/infer", {"inputs": [X]})[0] == 200
    answer = slow.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 408") and b"the body did not come within 1 s" in answer
    slow.close()


def test_bodies_of_all_requests_have_a_limit(nodes, files):
    deploy(affine_settings(files), most_bytes=1 << 20, most_bytes_in_flight=100_000)
    status, answer = post(nodes[1], "/v2/models/affine/infer", b" " * 200_000)
    assert status == 503 and "would exceed 100000" in answer["error"]
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


# Without a cluster.


def test_groups_of_requests():
    def request(rows, width=4, dtype="f4"):
        return {"x": np.zeros((rows, width), dtype)}

    requests = [request(2), request(1, 5), request(3), request(4), request(1), request(1, 5), request(1, 4, "f8")]
    assert joining.group(requests, 6) == [[0, 2], [1, 5], [3, 4], [6]]
    parts = joining.part({"y": np.arange(6)}, [1, 3, 2])
    assert [p["y"].tolist() for p in parts] == [[0], [1, 2, 3], [4, 5]]
    with pytest.raises(ValueError, match="its first axis does not count rows"):
        joining.part({"y": np.zeros(5)}, [1, 3])
    with pytest.raises(ValueError, match="differ in their first axis"):
        joining.rows_of({"a": np.zeros((2, 1)), "b": np.zeros((3, 1))})


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"name": ""}, "name is ''"),
        ({"name": "a/b"}, "its name may have"),
        ({"path": "/no/such.onnx"}, "no file '/no/such.onnx'"),
        ({"colour": "red"}, "'colour', which is no setting"),
        ({"max_batch_size": -1}, "max_batch_size is -1"),
        ({"max_batch_size": "8"}, "max_batch_size is '8'; a whole number"),
        ({"instances": 0}, "instances is 0"),
        ({"min_replicas": 3}, "min_replicas is 3, max_replicas 2"),
        ({"target_ongoing_requests": 0}, "has to be more than 0"),
    ],
)
def test_settings(files, changes, text):
    with pytest.raises(SettingsError, match=text):
        read_models([affine_settings(files, **changes)])


def test_the_example_of_a_file():
    yaml = pytest.importorskip("yaml")
    text = (pathlib.Path(settings.__file__).parent / "deploy.yaml").read_text()
    (application,) = serve.schema.ServeDeploySchema(**yaml.safe_load(text)).applications
    assert application.import_path == "serve_ray.app:build"
    for model in application.args["models"]:
        with pytest.raises(SettingsError, match="there is no file '/models/"):  # what comes before is right
            read_models([model])


def test_settings_of_a_plan(files):
    path = files / "fixed.plan"
    path.write_bytes(b"a plan")
    with pytest.raises(SettingsError, match="shapes is for building"):
        read_models([affine_settings(files, path=str(path))])
    with pytest.raises(SettingsError, match="2 models called 'affine'"):
        read_models([affine_settings(files)] * 2)
    with pytest.raises(SettingsError, match="'model' is no argument"):
        build({"model": []})
