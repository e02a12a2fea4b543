"""What of the sample for Ray Serve needs no Ray: settings, the files of a model, and requests joined and parted."""

import hashlib
import pathlib
import sys
import time

import kiln_models
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "samples"))

from serve_ray import joining, onnx_files, soak  # noqa: E402
from serve_ray.settings import SettingsError, read_models  # noqa: E402


@pytest.fixture
def given(tmp_path):
    """Settings of a model whose file is there."""
    path = tmp_path / "affine.onnx"
    path.write_bytes(kiln_models.affine()[0].SerializeToString())
    return {"name": "affine", "path": str(path), "max_replicas": 2}


def test_a_client_of_the_soak_that_ends_is_a_fault(monkeypatch):
    """Also where its thread ends by an exception: the others' answers do not hide it."""

    def infer(client, model, name, array):
        if array[0] == 0:
            raise KeyError("Kiln-Pid")
        return 200, ({"y": array}, {"pid": 1, "rows": 1, "version": "1"})

    monkeypatch.setattr(soak.Client, "infer", infer)
    seeds = iter(range(2))
    load = soak.Load(1, "m", "x", lambda _: np.array([next(seeds, 1)]), lambda *_: None, clients=2)
    for _ in range(1000):
        if load.wrong and load.answered:
            break
        time.sleep(0.01)
    load.stop()
    assert load.wrong == ["a client has ended: KeyError: 'Kiln-Pid'"] and load.answered


def test_groups_of_requests():
    def request(rows, width=4, dtype="f4"):
        return {"x": np.zeros((rows, width), dtype)}

    requests = [request(2), request(1, 5), request(3), request(4), request(1), request(1, 5), request(1, 4, "f8")]
    assert joining.group(requests, 6) == [[0, 2], [1, 5], [3, 4], [6]]
    parts = joining.part({"y": np.arange(6)}, [1, 3, 2])
    assert [p["y"].tolist() for p in parts] == [[0], [1, 2, 3], [4, 5]]
    with pytest.raises(joining.RowsError, match="its first axis does not count rows"):
        joining.part({"y": np.zeros(5)}, [1, 3])
    with pytest.raises(ValueError, match="differ in their first axis"):
        joining.rows_of({"a": np.zeros((2, 1)), "b": np.zeros((3, 1))})
    with pytest.raises(ValueError, match="there are no inputs"):
        joining.rows_of({})


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"name": ""}, "name is ''"),
        ({"name": "a/b"}, "its name may have"),
        ({"name": "a" * 101}, "its name may have"),
        ({"name": "Gateway"}, "give the model another one"),
        ({"path": "/no/such.onnx"}, "no file '/no/such.onnx'"),
        ({"colour": "red"}, "'colour', which is no setting"),
        ({"max_batch_size": -1}, "max_batch_size is -1"),
        ({"max_batch_size": "8"}, "max_batch_size is '8'; a whole number"),
        ({"batch_wait_ms": float("inf")}, "batch_wait_ms is inf; a number"),
        ({"drain_s": float("nan")}, "drain_s is nan; a number"),
        ({"instances": 0}, "instances is 0"),
        ({"plans_kept": 0}, "plans_kept is 0"),
        ({"plan_folder": 5}, "plan_folder is 5; a text is needed"),
        ({"min_replicas": 3}, "min_replicas is 3, max_replicas 2"),
        ({"target_ongoing_requests": 0}, "has to be more than 0"),
    ],
)
def test_settings(given, changes, text):
    with pytest.raises(SettingsError, match=text):
        read_models([given | changes])


def test_settings_of_a_plan(given, tmp_path):
    path = tmp_path / "fixed.plan"
    path.write_bytes(b"a plan")
    with pytest.raises(SettingsError, match="shapes is for building"):
        read_models([given | {"path": str(path), "shapes": {"x": (1, 4)}}])
    with pytest.raises(SettingsError, match="2 models called 'affine'"):
        read_models([given] * 2)


# Files of a model.


def save_with_data(path, name="weights"):
    """The affine model with its weights in a file beside it."""
    onnx.save_model(
        kiln_models.affine()[0], path, save_as_external_data=True, location=name, size_threshold=0, convert_attribute=True
    )


def test_other_data_is_another_model(given, tmp_path):
    """The graph's file keeps its bytes, and only the weights beside it change."""
    path, weights = tmp_path / "m.onnx", tmp_path / "weights"
    save_with_data(path)
    given["path"] = str(path)
    graph = path.read_bytes()
    (before,), (again,) = read_models([given]), read_models([given])
    assert before.digest == again.digest
    weights.write_bytes(bytes(weights.stat().st_size))
    (after,) = read_models([given])
    assert path.read_bytes() == graph and after.digest != before.digest
    weights.unlink()
    with pytest.raises(SettingsError, match="there is no file '.*/weights', in which m.onnx has data"):
        read_models([given])


def test_data_files_of_nested_graphs(tmp_path):
    """Tensors of branches, of attributes and of functions."""

    def outside(name):
        tensor = TensorProto(name=name, dims=[2], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="offset", value="0")
        tensor.external_data.add(key="location", value=name)
        return tensor

    def graph(name, *nodes):
        return helper.make_graph(nodes, name, [], [], [outside(f"{name}/init")])

    inner = helper.make_node("Constant", [], ["c"], value=outside("attribute"))
    branches = {"then_branch": graph("then", inner), "else_branch": graph("else")}
    outer = graph("outer", helper.make_node("If", ["p"], ["y"], **branches))
    outer.sparse_initializer.add(values=outside("sparse"), indices=outside("sparse"))
    made = helper.make_model(outer)
    made.functions.add(name="f", node=[helper.make_node("Constant", [], ["c"], value=outside("function"))])
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    wanted = ["attribute", "else/init", "function", "outer/init", "sparse", "then/init"]
    assert onnx_files.data_files(tmp_path / "m.onnx") == wanted
    (tmp_path / "plain.onnx").write_bytes(kiln_models.chain(3).SerializeToString())
    assert onnx_files.data_files(tmp_path / "plain.onnx") == []


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../other", "a/../../other"])
def test_data_outside_of_the_folder(tmp_path, name):
    made = kiln_models.affine()[0]
    made.graph.initializer[0].external_data.add(key="location", value=name)
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(ValueError, match="a file in its own folder is needed"):
        onnx_files.data_files(tmp_path / "m.onnx")


def test_data_files_of_what_is_no_model(given, tmp_path):
    """Cut off and changed at every byte: an error with words, or names; nothing else, and never without an end."""
    path = tmp_path / "m.onnx"
    save_with_data(path)
    whole = path.read_bytes()
    refused = 0
    for at in range(0, len(whole), 3):
        for damaged in (whole[:at], whole[:at] + b"\xff" + whole[at + 1 :]):
            path.write_bytes(damaged)
            try:
                onnx_files.data_files(path)
            except ValueError as failure:
                refused += 1
                assert "m.onnx" in str(failure)
    assert refused > 50
    path.write_bytes(b"no model")
    given["path"] = str(path)
    with pytest.raises(SettingsError, match="model 'affine': .* is no ONNX file"):
        read_models([given])
    deep = b""
    for _ in range(200):  # a graph's node's attribute, which is a graph
        deep = _field(1, _field(5, _field(6, deep)))
    path.write_bytes(_field(7, deep))
    with pytest.raises(ValueError, match="nested"):
        onnx_files.data_files(path)


def _field(number, data):
    """A field of protobuf that holds bytes."""
    size, head = len(data), bytes([number << 3 | 2])
    while size > 0x7F:
        head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
    return head + bytes([size]) + data


def test_the_digest_of_a_plain_file(given):
    """That of its bytes, as sha256sum prints it."""
    (model,) = read_models([given])
    assert model.digest == hashlib.sha256(pathlib.Path(given["path"]).read_bytes()).hexdigest()
