"""kiln.serve: Triton's model repository, versions, loading anew, and models that fail."""

import gc
import json
import pathlib
import shutil
import threading
import time
import weakref

import numpy as np
import pytest
import serving
from google.protobuf import text_format
from serving import connect, get, infer, input_of, make_model_folder, post, rows

import kiln
import kiln_models
from kiln.serve import ServeError, _config
from kiln.serve._instance import Instance
from kiln.serve._config import config_to_json
from kiln.serve._messages import ModelConfig

FLOAT = kiln_models.FLOAT


def scaled(factor):
    """A model, y = x * factor for batches of rows of 4."""
    from onnx import helper

    node = helper.make_node("Mul", ["x", "f"], ["y"])
    weights = [("f", np.array([factor], "f"))]
    return kiln_models.model([node], [("x", FLOAT, ["n", 4])], [("y", FLOAT, ["n", 4])], weights)


def plan_of(factor, most=8):
    return bytes(kiln.compile(scaled(factor), shapes={"x": [(1, 4), (2, 4), (most, 4)]}, **serving.QUICK))


@pytest.fixture(scope="module")
def plans():
    return {factor: plan_of(factor) for factor in (2, 3, 5)}


CONFIG = """
# A comment.
name: "scaled"
platform: "tensorrt_plan"
max_batch_size: 8
input [ { name: "x", data_type: TYPE_FP32, dims: [ 4 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 4 ] } ]
instance_group [ { count: 2 } ]
dynamic_batching { preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 100 }
"""


def factor_of(server, model="scaled", path=""):
    answer = infer(server, model, input_of(np.ones((1, 4), "f")), path=path)
    return answer.json["outputs"][0]["data"][0] if answer.status == 200 else answer.error


def test_a_repository(tmp_path, plans):
    make_model_folder(tmp_path, "scaled", CONFIG, {1: plans[2], 3: plans[3]})
    make_model_folder(tmp_path, "plain", None, {1: plans[5]})
    (tmp_path / ".git").mkdir()
    with serving.serve(repositories=[tmp_path]) as server:
        assert not server.failed
        assert factor_of(server) == 3 and factor_of(server, "plain") == 5  # the latest version by default
        assert get(server, "/v2/models/scaled").json["versions"] == ["3"]
        assert get(server, "/v2/models/scaled").json["platform"] == "tensorrt_plan"
        config = get(server, "/v2/models/scaled/config").json
        assert config["dynamic_batching"]["preferred_batch_size"] == [4, 8]
        (version,) = server.repository.versions("scaled")
        assert len(version._threads) == 2 and version.rules.delay_ns == 100_000
        assert get(server, "/v2/models/plain/config").json["max_batch_size"] == 8


def test_an_onnx_file(tmp_path):
    config = """
    backend: "onnxruntime"
    max_batch_size: 4
    parameters { key: "optimization_level" value { string_value: "0" } }
    parameters { key: "tf32" value { string_value: "false" } }
    """
    make_model_folder(tmp_path, "scaled", config, {1: scaled(7).SerializeToString()}, "onnx")
    path = tmp_path / "single.onnx"
    path.write_bytes(kiln_models.affine()[0].SerializeToString())
    with serving.serve({"single": path}, repositories=[tmp_path], max_batch_size=2) as server:
        assert factor_of(server) == 7
        answer = infer(server, "scaled", input_of(rows(5)))
        assert answer.error.endswith("a batch of 5 was sent; from 1 to 4 are possible")
        (version,) = server.repository.versions("scaled")
        assert not version.rules.joins  # as in Triton: no dynamic_batching, no joining
        assert get(server, "/v2/models/single/config").json["max_batch_size"] == 2


def test_an_onnx_file_whose_requests_are_not_joined(tmp_path):
    """A request may have several rows all the same."""
    path = tmp_path / "scaled.onnx"
    path.write_bytes(scaled(7).SerializeToString())
    with serving.serve({"scaled": path}, max_batch_size=0) as server:
        assert infer(server, "scaled", input_of(rows(8))).status == 200
        assert not server.repository.find("scaled").rules.joins


@pytest.mark.parametrize("policy, versions, default", [
    ("", ["4"], 5),
    ("version_policy { latest { num_versions: 2 } }", ["2", "4"], 5),
    ("version_policy { all { } }", ["1", "2", "4"], 5),
    ("version_policy { specific { versions: [ 1, 2 ] } }", ["1", "2"], 3),
])  # fmt: skip
def test_versions(tmp_path, plans, policy, versions, default):
    make_model_folder(tmp_path, "scaled", policy, {1: plans[2], 2: plans[3], 4: plans[5]})
    with serving.serve(repositories=[tmp_path]) as server:
        assert get(server, "/v2/models/scaled").json["versions"] == versions
        assert factor_of(server) == default
        for version, factor in (("1", 2), ("2", 3), ("4", 5)):
            found = factor_of(server, path=f"/versions/{version}")
            assert found == factor if version in versions else "has no version" in found


def test_reshape(tmp_path, plans):
    config = """
    max_batch_size: 8
    input { name: "x" data_type: TYPE_FP32 dims: [ 2, 2 ] reshape { shape: [ 4 ] } }
    output { name: "y" data_type: TYPE_FP32 dims: [ 4, 1 ] reshape { shape: [ 4 ] } }
    dynamic_batching { }
    """
    make_model_folder(tmp_path, "scaled", config, {1: plans[2]})
    with serving.serve(repositories=[tmp_path]) as server:
        x = np.arange(12, dtype="f").reshape(3, 2, 2)
        told = infer(server, "scaled", input_of(x)).json
        assert told["outputs"][0]["shape"] == [3, 4, 1]
        assert told["outputs"][0]["data"] == (2 * x).reshape(-1).tolist()
        assert "[-1, 2, 2] is needed" in infer(server, "scaled", input_of(rows(2))).error
        assert get(server, "/v2/models/scaled").json["inputs"][0]["shape"] == [-1, 2, 2]


WRONG = [
    ("max_batch_size: 9", "max_batch_size is 9, but the engine takes at most 8 rows of input 'x'"),
    ("max_batch_size: -1", "max_batch_size is -1"),
    ("max_batchsize: 1", 'config.pbtxt: 1:1 : Message type "inference.ModelConfig" has no field named "max_batchsize"'),
    ("name: 'other'", "config.pbtxt is of a model 'other'; the folder is called 'scaled'"),
    ("platform: 'pytorch_libtorch'", "not supported: platform 'pytorch_libtorch'"),
    ("backend: 'python'", "not supported: backend 'python'"),
    ("platform: 'onnxruntime_onnx'", "has no model.onnx"),
    ("ensemble_scheduling { step { model_name: 'a' } }", "not supported: ensemble_scheduling"),
    ("sequence_batching { direct { } }", "not supported: sequence_batching"),
    ("model_transaction_policy { decoupled: true }", "not supported: model_transaction_policy.decoupled"),
    ("dynamic_batching { priority_levels: 2 } batch_input { kind: BATCH_ITEM_SHAPE }",
     "not supported: batch_input, dynamic_batching.priority_levels"),
    ("max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 }",
     "max_queue_delay_microseconds is 18446744073709551615; at most 1000000 seconds are possible"),
    ("dynamic_batching { default_queue_policy { timeout_action: DELAY } }", "not supported: timeout_action DELAY"),
    ("max_batch_size: 8 dynamic_batching { preferred_batch_size: 9 }", "preferred_batch_size is [9]; sizes are from 1"),
    ("instance_group { gpus: [ 0, 1 ] }", "not supported: instance_group.gpus [0, 1]"),
    ("instance_group [ { kind: KIND_CPU }, { kind: KIND_GPU } ]", "not supported: instance_group on several devices"),
    ("version_policy { specific { versions: 9 } }", "version_policy names versions that are not there: [9]"),
    ("input { name: 'z' data_type: TYPE_FP32 dims: 4 }", "input 'z' is none of the engine's; there are ['x']"),
    ("max_batch_size: 8 input { name: 'x' data_type: TYPE_INT8 dims: 4 }",
     "is of INT8 in the configuration and of FP32"),
    ("max_batch_size: 8 input { name: 'x' data_type: TYPE_FP32 dims: 5 }", "has shape [-1, 5] in the configuration"),
    ("max_batch_size: 8 input { name: 'x' data_type: TYPE_FP32 dims: 3 reshape { shape: 4 } }",
     "another number of elements"),
    ("output { name: 'y' data_type: TYPE_STRING dims: [ -1, 4 ] }", "is of BYTES in the configuration"),
    ("default_model_filename: '../1/model.plan'", "is a path; a name is needed"),
    ("default_model_filename: 'x.plan'", "has no x.plan"),
]  # fmt: skip


@pytest.mark.parametrize("config, words", WRONG, ids=[config for config, _ in WRONG])
def test_wrong_configurations(tmp_path, plans, config, words):
    make_model_folder(tmp_path, "scaled", config, {1: plans[2]})
    make_model_folder(tmp_path, "good", None, {1: plans[3]})
    with serving.serve(repositories=[tmp_path], grpc_port=None) as server:
        assert words in server.failed["scaled"]
        told = {row["name"]: row for row in post(server, "/v2/repository/index").json}
        assert told["scaled"]["state"] == "UNAVAILABLE" and words in told["scaled"]["reason"]
        answer = infer(server, "scaled", input_of(rows(1)))
        assert answer.status == 503 and words in answer.error
        answer = get(server, "/v2/models/scaled/ready")
        assert answer.status == 503 and words in answer.error
        assert factor_of(server, "good") == 3
        assert get(server, "/v2/health/ready").status == 200


def test_fields_without_effect_are_named():
    from google.protobuf import text_format

    config = text_format.Parse(
        "optimization { cuda { graphs: true } } model_warmup { name: 'w' } input { format: FORMAT_NCHW }"
        "instance_group { profile: '1' } parameters { key: 'x' value { string_value: '1' } }",
        _config.ModelConfig(),
    )
    told = " ".join(_config.check_supported(config))
    for name in ("optimization", "model_warmup", "input.format", "instance_group.profile", "parameter 'x'"):
        assert f"{name} has no effect" in told


def test_files_that_are_no_models(tmp_path, plans):
    make_model_folder(tmp_path, "damaged", None, {1: plans[2][:1000]})
    make_model_folder(tmp_path, "noise", None, {1: b"not a plan"})
    make_model_folder(tmp_path, "empty", None, {1: b""})
    make_model_folder(tmp_path, "half", "version_policy { all { } }", {1: plans[2], 2: b"not a plan"})
    (tmp_path / "nothing").mkdir()
    (tmp_path / "text.bin").write_text("x")
    files = {"gone": tmp_path / "gone.plan", "text": tmp_path / "text.bin"}
    with serving.serve(files, repositories=[tmp_path]) as server:
        assert set(server.failed) == {"damaged", "noise", "empty", "nothing", "gone", "text"}
        assert "has no folders of versions" in server.failed["nothing"]
        assert "there is no file" in server.failed["gone"]
        assert "text.bin is neither a plan" in server.failed["text"]
        assert factor_of(server, "half") == 2
        assert "version 2 of model 'half' is not ready" in factor_of(server, "half", path="/versions/2")
        told = {(row["name"], row["version"]): row["state"] for row in post(server, "/v2/repository/index").json}
        assert told["half", "1"] == "READY" and told["half", "2"] == "UNAVAILABLE"
        ready = post(server, "/v2/repository/index", {"ready": True}).json
        assert [(row["name"], row["version"]) for row in ready] == [("half", "1")]


def test_unload_and_load(tmp_path, plans):
    make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], model_control=True) as server:
        old = server.repository.find("scaled")
        assert post(server, "/v2/repository/models/scaled/unload").status == 200
        assert old.wait_closed(30)
        with pytest.raises(kiln.Error, match="closed"):
            old.engine(rows(1))
        answer = infer(server, "scaled", input_of(rows(1)))
        assert (answer.status, answer.error) == (503, "model 'scaled' is not ready: unloaded")
        server.repository.rescan()  # what was unloaded stays so
        assert get(server, "/v2/models/scaled/ready").status == 503
        assert post(server, "/v2/repository/models/scaled/load").status == 200
        assert factor_of(server) == 2
        assert post(server, "/v2/repository/models/nobody/load").status == 404
        assert post(server, "/v2/repository/models/nobody/unload").status == 404
        make_model_folder(tmp_path, "later", None, {1: plans[5]})
        assert post(server, "/v2/repository/models/later/load").status == 200
        assert factor_of(server, "later") == 5


def test_a_model_that_is_being_loaded(tmp_path, plans, monkeypatch):
    """With a version and without, requests are told to come again, and nothing of an older failure."""
    folder = make_model_folder(tmp_path, "scaled", None, {1: b"damaged"})
    with serving.serve(repositories=[tmp_path], grpc_port=None) as server:
        assert "damaged" in factor_of(server) or "plan" in factor_of(server)
        replace_plan(folder, plans[2])
        begun, release, complete = threading.Event(), threading.Event(), kiln.serve._repository.complete

        def held(*arguments):
            begun.set()
            assert release.wait(30)
            return complete(*arguments)

        monkeypatch.setattr("kiln.serve._repository.complete", held)
        loading = threading.Thread(target=server.repository.load, args=("scaled",))
        loading.start()
        try:
            assert begun.wait(30)
            for path in ("", "/versions/1", "/versions/7"):
                answer = get(server, f"/v2/models/scaled{path}/ready")
                assert (answer.status, answer.error) == (503, "model 'scaled' is not ready: it is being loaded")
            assert get(server, "/v2/models/scaled/versions/x/ready").status == 404
            (row,) = post(server, "/v2/repository/index").json
            assert (row["state"], row["reason"]) == ("LOADING", "")
        finally:
            release.set()
            loading.join(30)
        assert factor_of(server, path="/versions/1") == 2
        assert get(server, "/v2/models/scaled/versions/7/ready").status == 404
        server.repository.unload("scaled")
        for path in ("", "/versions/1"):
            answer = get(server, f"/v2/models/scaled{path}/ready")
            assert (answer.status, answer.error) == (503, "model 'scaled' is not ready: unloaded")


def test_an_interrupted_load_is_over(tmp_path, plans, monkeypatch):
    make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        server.repository.unload("scaled")

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr("kiln.serve._repository.complete", interrupt)
            with pytest.raises(KeyboardInterrupt):
                server.repository.load("scaled")
        with pytest.raises(ServeError, match="model 'scaled' is not ready: its load was interrupted"):
            server.repository.find("scaled")


def test_a_configuration_in_the_load(tmp_path, plans):
    make_model_folder(tmp_path, "scaled", None, {1: plans[2], 2: plans[3]})
    with serving.serve(repositories=[tmp_path], model_control=True) as server:
        def load(**parameters):
            return post(server, "/v2/repository/models/scaled/load", {"parameters": parameters})

        config = {"max_batch_size": 2, "version_policy": {"specific": {"versions": [1]}}}
        assert load(config=json.dumps(config)).status == 200
        assert factor_of(server) == 2 and get(server, "/v2/models/scaled/config").json["max_batch_size"] == 2
        answer = load(config='{"nonsense": 1}')
        assert answer.status == 400 and "nonsense" in answer.error
        answer = load(**{"file:1/model.plan": "AAAA"})
        assert answer.status == 501 and "'file:1/model.plan' of a load is not supported" in answer.error
        assert load(config=3).status == 400
        assert factor_of(server) == 2


def test_clients_may_not_load_unless_they_are_allowed_to(tmp_path, plans):
    make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path]) as server:
        for action in ("load", "unload"):
            answer = post(server, f"/v2/repository/models/scaled/{action}")
            assert answer.status == 501 and "does not let clients" in answer.error
        assert factor_of(server) == 2


def test_a_load_that_fails_names_the_model_once_and_its_file(tmp_path, plans, caplog):
    folder = make_model_folder(tmp_path / "r", "scaled", None, {1: b"damaged", 2: plans[2][:1000]})
    server = serving.kiln.serve.Server(repositories=[tmp_path / "r"], settings=serving.settings(http_port=None, grpc_port=None))
    with server:
        why = server.failed["scaled"]
        assert why.startswith(f"model 'scaled' cannot be loaded: {folder}/2/model.plan:\n") and "truncated" in why, why
        assert why.count("scaled") == 2 and why.count("cannot be loaded") == 1, why
        assert [one.getMessage().count("cannot be loaded") for one in caplog.records if "scaled" in one.getMessage()] == [1]
        (folder / "config.pbtxt").write_text("version_policy { all {} }")
        with pytest.raises(ServeError, match=f"(?s)version 1: {folder}/1/model.plan:.*; version 2: {folder}/2/model.plan:"):
            server.repository.load("scaled")
        (folder / "config.pbtxt").write_text("nonsense: 1")
        with pytest.raises(ServeError, match=f"cannot be loaded: {folder}/config.pbtxt: 1:1 "):
            server.repository.load("scaled")
        (folder / "config.pbtxt").unlink()
        for content, name in ((b"", "is empty"), (plans[2] + b"more", "")):
            (folder / "2" / "model.plan").write_bytes(content)
            with pytest.raises(ServeError, match=f"cannot be loaded: {folder}/2/model.plan.*{name}"):
                server.repository.load("scaled")


def test_one_version_that_fails_anew_stays_as_it_was(tmp_path, plans):
    folder = make_model_folder(tmp_path, "scaled", "version_policy { all { } }", {1: plans[2], 2: plans[3]})
    with serving.serve(repositories=[tmp_path], model_control=True) as server:
        for damaged, renewed in ((2, 1), (1, 2)):
            (folder / str(damaged) / "model.plan").write_bytes(b"damaged")
            (folder / str(renewed) / "model.plan").write_bytes(plans[5])
            assert post(server, "/v2/repository/models/scaled/load").status == 200
            assert factor_of(server, path=f"/versions/{damaged}") == {1: 5, 2: 3}[damaged]  # renewed, and never damaged since
            assert factor_of(server, path=f"/versions/{renewed}") == 5
            found = {row["version"]: row for row in post(server, "/v2/repository/index").json}
            words = f"loading version {damaged} anew failed, the old one is served: "
            assert found[str(damaged)]["state"] == "READY" and found[str(damaged)]["reason"].startswith(words)


def test_loading_anew_that_fails_keeps_the_old(tmp_path, plans):
    folder = make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], model_control=True) as server:
        (folder / "1" / "model.plan").write_bytes(b"damaged")
        answer = post(server, "/v2/repository/models/scaled/load")
        assert answer.status == 400 and "cannot be loaded" in answer.error
        assert factor_of(server) == 2
        (row,) = post(server, "/v2/repository/index").json
        assert row["state"] == "READY" and "the old one is served" in row["reason"]
        (folder / "1" / "model.plan").write_bytes(plans[3])
        assert post(server, "/v2/repository/models/scaled/load").status == 200
        assert factor_of(server) == 3
        assert post(server, "/v2/repository/index").json[0]["reason"] == ""


def replace_plan(folder, data):
    """As a careful program does: the new file takes the old one's name as a whole."""
    beside = folder / "model.new"
    beside.write_bytes(data)
    beside.replace(folder / "1" / "model.plan")


def test_a_load_that_fails_unexpectedly_is_logged_whole(tmp_path, plans, monkeypatch, caplog):
    folder = make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        cause = KeyError("what nobody expects")

        def fail(*_):
            raise cause

        monkeypatch.setattr("kiln.serve._repository.check_supported", fail)
        with pytest.raises(ServeError, match="KeyError") as found:
            server.repository.load("scaled")
        assert found.value.__cause__ is cause
        (record,) = [one for one in caplog.records if "cannot be loaded" in one.getMessage()]
        assert record.exc_info[1] is cause
        caplog.clear()
        shutil.rmtree(folder / "1")
        with pytest.raises(ServeError, match="has no folders of versions"):
            server.repository.load("scaled")
        (record,) = [one for one in caplog.records if "cannot be loaded" in one.getMessage()]
        assert not record.exc_info  # the words say it all


def test_shapes_of_names_that_are_no_inputs(tmp_path, caplog):
    """In a configuration they are an error; those of the command may be for another model of the server."""
    data = scaled(2).SerializeToString()
    own = 'parameters { key: "max_shapes" value { string_value: "z:2x4" } }'
    for name, config in (("scaled", None), ("own", own)):
        make_model_folder(tmp_path, name, config, {1: data}, "onnx")
    with kiln.serve.Server(
        repositories=[tmp_path], settings=serving.settings(http_port=None, grpc_port=None),
        shapes=kiln.serve.BuildShapes(max={"w": (5, 4)}),
    ) as server:  # fmt: skip
        words = "but the inputs of model.onnx are ['x']"
        assert list(server.failed) == ["own"] and f"shapes are given for ['z'], {words}" in server.failed["own"]
        told = [one.levelname for one in caplog.records if one.getMessage() == f"shapes are given for ['w'], {words}"]
        assert told == ["WARNING"]


def test_numbers_of_a_configuration_are_numbers():
    said = """
    max_batch_size: 8
    version_policy { specific { versions: [ 1, 2 ] } }
    dynamic_batching { max_queue_delay_microseconds: 9 default_queue_policy { default_timeout_microseconds: 5000000000 } }
    optimization { cuda { graph_spec { batch_size: 1 input { key: "x" value { dim: [ 4, 5 ] } } } } }
    parameters { key: "tf32" value { string_value: "true" } }
    """
    told = config_to_json(text_format.Parse(said, ModelConfig()))
    assert told["version_policy"] == {"specific": {"versions": [1, 2]}}
    assert told["dynamic_batching"] == {
        "max_queue_delay_microseconds": 9, "default_queue_policy": {"default_timeout_microseconds": 5000000000}
    }  # fmt: skip
    assert told["optimization"]["cuda"]["graph_spec"] == [{"batch_size": 1, "input": {"x": {"dim": [4, 5]}}}]
    assert told["parameters"] == {"tf32": {"string_value": "true"}}


def test_shapes_of_the_command_hold_in_repositories(tmp_path):
    """For models that have a configuration without shapes, and for those that come later; a configuration's come first."""
    data = scaled(2).SerializeToString()
    own = 'parameters { key: "max_shapes" value { string_value: "x:2x4" } }'
    for name, config in (("scaled", None), ("own", own)):
        make_model_folder(tmp_path, name, config, {1: data}, "onnx")
    given = {"x": (5, 4)}
    with kiln.serve.Server(
        repositories=[tmp_path], settings=serving.settings(http_port=None, grpc_port=None),
        shapes=kiln.serve.BuildShapes(min={"x": (3, 4)}, max=given),
    ) as server:  # fmt: skip
        make_model_folder(tmp_path, "later", None, {1: data}, "onnx")
        server.repository.rescan()
        ranges = {name: server.repository.find(name).engine.inputs[0].ranges[0] for name in server.repository.names()}
        found = {name: (its.min[0], its.max[0]) for name, its in ranges.items()}
        assert found == {"scaled": (3, 5), "own": (2, 2), "later": (3, 5)}


def test_rescan(tmp_path, plans):
    folder = make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    make_model_folder(tmp_path, "steady", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path]) as server:
        steady = server.repository.find("steady")
        replace_plan(folder, plans[5])
        make_model_folder(tmp_path, "new", None, {1: plans[3]})
        server.repository.rescan()
        assert factor_of(server) == 5 and factor_of(server, "new") == 3
        assert server.repository.find("steady") is steady  # which has not changed
        shutil.rmtree(folder)
        server.repository.rescan()
        assert infer(server, "scaled", input_of(rows(1))).status == 404


def test_a_timing_cache_in_the_folder_of_its_model(tmp_path):
    """The load writes it, which is no reason to load anew."""
    quick = 'parameters { key: "optimization_level" value { string_value: "0" } }'
    cache = tmp_path / "scaled" / "timing.cache"
    config = f'max_batch_size: 2 {quick} parameters {{ key: "timing_cache" value {{ string_value: "{cache}" }} }}'
    folder = make_model_folder(tmp_path, "scaled", config, {1: scaled(2).SerializeToString()}, "onnx")
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        loaded = server.repository.find("scaled")
        assert cache.is_file()
        (folder / ".timing.cache.x1").write_bytes(b"half of one")
        server.repository.rescan()
        assert server.repository.find("scaled") is loaded
        (folder / "labels.txt").write_text("one")
        server.repository.rescan()
        assert server.repository.find("scaled") is not loaded


def test_rescan_goes_by_what_clients_did_not_by_words(tmp_path, plans, monkeypatch):
    folder = make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        repository = server.repository
        with monkeypatch.context() as broken:
            broken.setattr("kiln.serve._repository.complete", lambda *_: (_ for _ in ()).throw(ValueError("unloaded")))
            repository.unload("scaled")
            with pytest.raises(ServeError, match="cannot be loaded: unloaded"):
                repository.load("scaled")
        replace_plan(folder, plans[3])
        repository.rescan()
        assert server.infer("scaled", {"x": np.ones((1, 4), "f")})["y"][0, 0] == 3
        repository.unload("scaled")
        replace_plan(folder, plans[5])
        repository.rescan()
        assert not repository.is_ready("scaled")


@pytest.mark.parametrize("what", ["an instance", "a thread"])
def test_a_version_that_fails_to_start_is_closed_once_and_last(tmp_path, plans, monkeypatch, what):
    """Its threads use the engine, so they have ended when it is closed."""
    make_model_folder(tmp_path, "broken", "instance_group { count: 3 }", {1: plans[2]})
    begun, closed = [], []
    start, close, begin = Instance.start, kiln.Engine.close, threading.Thread.start

    def started(self):
        begun.append(self)
        if what == "an instance" and len(begun) == 2:
            raise MemoryError("as if there were none")
        time.sleep(0.3)
        start(self)

    def closing(self):
        if not threading.current_thread().name.startswith("scaled-"):  # of an earlier test
            closed.append([one.name for one in threading.enumerate() if one.name.startswith("broken-")])
        close(self)

    def beginning(self):
        if what == "a thread" and self.name == "broken-2":
            raise RuntimeError("can't start new thread")
        begin(self)

    monkeypatch.setattr(Instance, "start", started)
    monkeypatch.setattr(kiln.Engine, "close", closing)
    monkeypatch.setattr(threading.Thread, "start", beginning)
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        assert ("as if there were none" if what == "an instance" else "can't start new thread") in server.failed["broken"]
        assert closed == [[]]
    assert closed == [[]] and not [one for one in threading.enumerate() if one.name.startswith("broken-")]


def test_an_interrupted_start_leaves_nothing(tmp_path, plans, monkeypatch):
    make_model_folder(tmp_path, "a", None, {1: plans[2]})
    make_model_folder(tmp_path, "b", None, {1: plans[2]})
    server = kiln.serve.Server(repositories=[tmp_path], settings=serving.settings())
    load, found = server.repository.load, []

    def interrupted(name):
        if name == "b":
            raise KeyboardInterrupt
        load(name)
        found.append(server.repository.find(name))

    monkeypatch.setattr(server.repository, "load", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server.start()
    assert not server.is_ready and found[0].wait_closed(0)
    with pytest.raises(OSError):
        connect(server)
    assert server.stop() == 0


@pytest.mark.parametrize("when", ["another version is loaded", "the old one is closed", "the load is logged"])
def test_an_interrupted_load_leaves_no_threads(tmp_path, plans, monkeypatch, when):
    """Either the old versions are served or the new ones; the threads of the others end."""
    folder = make_model_folder(tmp_path, "placed", 'version_policy { all { } } instance_group { count: 2 }', {1: plans[2], 2: plans[3]})
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        old = server.repository.versions("placed")
        module, made = "kiln.serve._repository", []
        version, close, info = kiln.serve._repository.Version, kiln.serve._repository.Version.close, kiln.serve._repository.log.info

        def making(*arguments):
            if when == "another version is loaded" and made:
                raise KeyboardInterrupt
            made.append(version(*arguments))
            return made[-1]

        def closing(self):
            close(self)
            if when == "the old one is closed" and self is old[0]:
                raise KeyboardInterrupt

        def telling(*words, **more):
            if when == "the load is logged":
                raise KeyboardInterrupt
            info(*words, **more)

        replace_plan(folder, plans[5])
        with monkeypatch.context() as changed:
            changed.setattr(version, "close", closing)
            changed.setattr(f"{module}.Version", making)
            changed.setattr(f"{module}.log.info", telling)
            with pytest.raises(KeyboardInterrupt):
                server.repository.load("placed")
        served = server.repository.versions("placed")
        assert served == (old if when == "another version is loaded" else made)
        for one in {*old, *made} - {*served}:
            assert one.wait_closed(20)
        assert server.infer("placed", {"x": np.ones((1, 4), "f")})["y"].shape == (1, 4)
        assert len([one for one in threading.enumerate() if one.name.startswith("placed-")]) == 2 * 3


def test_loading_anew_loses_no_request(tmp_path, plans):
    """Clients keep asking while the model is replaced again and again: all are answered by one of the two."""
    folder = make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], model_control=True, max_queue_delay_us=500) as server:
        stop, seen, failures = threading.Event(), set(), []

        def ask(seed):
            x = rows(1 + seed % 3, seed)
            while not stop.is_set():
                try:
                    y = server.infer("scaled", {"x": x}, timeout=30)["y"]
                    seen.add(float(np.round((y / x).mean(), 3)))
                except Exception as failure:
                    failures.append(failure)

        askers = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
        for thread in askers:
            thread.start()
        engines = []
        for i in range(12):
            engines.append(weakref.ref(server.repository.find("scaled").engine))
            replace_plan(folder, plans[(2, 3)[i % 2]])
            assert post(server, "/v2/repository/models/scaled/load").status == 200
        stop.set()
        for thread in askers:
            thread.join(30)
        assert not failures and seen == {2.0, 3.0}
        last = server.repository.find("scaled").engine
    del last
    gc.collect()
    assert not any(engine() for engine in engines)  # replaced engines are gone


def test_names():
    with pytest.raises(ValueError, match="is no name for a model"):
        kiln.serve.Server({"a/b": pathlib.Path("x.plan")})
    with pytest.raises(ValueError, match="there is no folder"):
        kiln.serve.Server(repositories=["nowhere"])


def test_a_request_that_meets_a_replaced_version_goes_to_the_new_one(tmp_path, plans, monkeypatch):
    folder = make_model_folder(tmp_path, "scaled", None, {1: plans[2]})
    with serving.serve(repositories=[tmp_path], http_port=None, grpc_port=None) as server:
        repository = server.repository
        old, find = repository.find("scaled"), repository.find
        replace_plan(folder, plans[3])
        repository.load("scaled")
        found = [old]  # as if the request had looked before the load and asks behind it
        monkeypatch.setattr(repository, "find", lambda *which: found.pop() if found else find(*which))
        assert server.infer("scaled", {"x": np.ones((1, 4), "f")})["y"][0, 0] == 3 and not found


def test_statistics_of_a_model_that_is_not_served(tmp_path):
    """Are an error that says why, as those of an unknown one are; all models' are of those that are served."""
    serving.make_model_folder(tmp_path, "broken", None, {1: b"no plan"})
    with serving.serve({"affine": serving.affine_engine()}, repositories=[tmp_path]) as server:
        why = server.failed["broken"].partition("cannot be loaded: ")[2]
        for path in ("/v2/models/broken/stats", "/v2/models/broken/versions/1/stats"):
            answer = get(server, path)
            assert answer.status == 503 and answer.error.endswith(f"is not ready: {why}"), answer.body
        assert get(server, "/v2/models/nobody/stats").status == 404
        assert [one["name"] for one in get(server, "/v2/models/stats").json["model_stats"]] == ["affine"]
        grpc = pytest.importorskip("grpc")
        from kiln.serve._messages import MESSAGES

        with grpc.insecure_channel(server.grpc_address) as channel:
            ask = channel.unary_unary("/inference.GRPCInferenceService/ModelStatistics")
            with pytest.raises(grpc.RpcError) as found:
                ask(MESSAGES["ModelStatisticsRequest"](name="broken").SerializeToString(), timeout=30)
            assert found.value.code() is grpc.StatusCode.UNAVAILABLE and why in found.value.details()
