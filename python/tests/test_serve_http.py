"""kiln.serve: the endpoints of HTTP, by raw requests."""

import concurrent.futures
import gzip
import json
import pathlib
import re
import socket
import zlib

import numpy as np
import pytest
import serving
from onnx import TensorProto, helper
from serving import get, infer, infer_binary, input_of, post, request, rows, split_binary

import kiln
import kiln_models
from kiln.serve._server import _listen

HALF, BF16, FLOAT, BOOL, INT64 = (
    TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
)  # fmt: skip


def doubled(kind, name):
    node = helper.make_node("Add", ["x", "x"], ["y"])
    return kiln_models.model([node], [("x", kind, ["n", 2])], [("y", kind, ["n", 2])], name=name)


def rows_by_index():
    node = helper.make_node("Gather", ["w", "i"], ["y"])
    weights = [("w", np.arange(12, dtype="f").reshape(4, 3))]
    return kiln_models.model([node], [("i", INT64, ["n"])], [("y", TensorProto.FLOAT, ["n", 3])], weights, "rows")


def scalars():
    node = helper.make_node("Add", ["a", "b"], ["y"])
    inputs = [("a", TensorProto.FLOAT, []), ("b", TensorProto.FLOAT, [])]
    return kiln_models.model([node], inputs, [("y", TensorProto.FLOAT, [])], name="scalars")


@pytest.fixture(scope="module")
def engines():
    flags = kiln_models.model(
        [helper.make_node("Not", ["x"], ["y"])], [("x", BOOL, ["n", 3])], [("y", BOOL, ["n", 3])], name="flags"
    )
    build = lambda model, **shapes: kiln.compile(model, shapes=shapes, **serving.QUICK)  # noqa: E731
    both = [(1, 2), (2, 2), (4, 2)]
    sizes = {"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}
    return {
        "affine": serving.affine_engine(),
        "two": build(kiln_models.sum_and_product(), a=both, b=both),
        "places": build(kiln_models.non_zero()),
        "reshape": kiln.compile(kiln_models.reshape_by_input(), values=sizes, **serving.QUICK),
        "half": build(doubled(HALF, "half"), x=both),
        "bf16": build(doubled(BF16, "bf16"), x=both),
        "int64": build(doubled(INT64, "int64"), x=both),
        "rows": build(rows_by_index(), i=[(1,), (2,), (4,)]),
        "scalars": build(scalars()),
        "flags": build(flags, x=[(1, 3), (2, 3), (4, 3)]),
    }


@pytest.fixture(scope="module")
def server(engines):
    with serving.serve(engines, max_request_bytes=1 << 20) as running:
        yield running


def test_health(server):
    for path, told in (
        ("health/live", {"live": True}),
        ("health/ready", {"ready": True}),
        ("models/affine/ready", {"name": "affine", "ready": True}),
        ("models/affine/versions/1/ready", {"name": "affine", "ready": True}),
    ):
        answer = get(server, f"/v2/{path}")
        assert (answer.status, answer.json) == (200, told)
    unknown = get(server, "/v2/models/nobody/ready")
    assert (unknown.status, unknown.error) == (404, "there is no model 'nobody'")


def test_metadata(server):
    told = get(server, "/v2").json
    assert told["name"] == "kiln" and "binary_tensor_data" in told["extensions"]
    assert get(server, "/v2/models/affine").json == {
        "name": "affine",
        "versions": ["1"],
        "platform": "",
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}],
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}],
    }
    places = get(server, "/v2/models/places/versions/1").json
    assert places["inputs"][0]["shape"] == [3, 4] and places["outputs"][0]["shape"] == [2, -1]


def test_config(server):
    told = get(server, "/v2/models/affine/config").json
    assert told["max_batch_size"] == 8 and "dynamic_batching" in told
    assert told["input"] == [{"name": "x", "data_type": "TYPE_FP32", "dims": [4]}]
    alone = get(server, "/v2/models/places/config").json
    assert alone["max_batch_size"] == 0 and "dynamic_batching" not in alone


def test_numbers_in_json(server, engines):
    x = rows(2)
    answer = infer(server, "affine", input_of(x), id="a1")
    assert answer.status == 200, answer.body
    told = answer.json
    assert told["model_name"] == "affine" and told["model_version"] == "1" and told["id"] == "a1"
    (y,) = told["outputs"]
    assert (y["name"], y["datatype"], y["shape"]) == ("y", "FP32", [2, 3])
    np.testing.assert_array_equal(np.array(y["data"], "f").reshape(2, 3), engines["affine"](x))


def test_nested_lists(server, engines):
    x = rows(2)
    told = infer(server, "affine", {**input_of(x), "data": x.tolist()}).json
    np.testing.assert_array_equal(np.array(told["outputs"][0]["data"], "f").reshape(2, 3), engines["affine"](x))


def test_binary_both_ways(server, engines):
    x = rows(3)
    head = {
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [3, 4], "parameters": {"binary_data_size": x.nbytes}}],
        "outputs": [{"name": "y", "parameters": {"binary_data": True}}],
    }
    answer = infer_binary(server, "affine", head, x.tobytes())
    assert answer.status == 200, answer.body
    told, data = split_binary(answer)
    assert told["outputs"][0]["parameters"] == {"binary_data_size": 36} and "data" not in told["outputs"][0]
    np.testing.assert_array_equal(np.frombuffer(data, "f").reshape(3, 3), engines["affine"](x))


def test_bytes_at_odd_places(server, engines):
    """The JSON may be of any length, so numbers behind it may be at any address."""
    x = rows(1)
    for blanks in range(4):
        entry = {"name": "x", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 16}}
        head = {"inputs": [entry], "parameters": {"binary_data_output": True}, "id": "i" * blanks}
        _, data = split_binary(infer_binary(server, "affine", head, x.tobytes()))
        np.testing.assert_array_equal(np.frombuffer(data, "f").reshape(1, 3), engines["affine"](x))


def test_bytes_alone(server, engines):
    x = rows(2)
    answer = infer_binary(server, "affine", {}, b"")  # a head of 2 bytes: JSON without inputs
    assert answer.status == 400 and "'inputs' is missing" in answer.error
    headers = {"Inference-Header-Content-Length": "0"}
    answer = request(server, "POST", "/v2/models/affine/infer", x.tobytes(), headers)
    told, data = split_binary(answer)
    assert told["outputs"][0]["shape"] == [2, 3]
    np.testing.assert_array_equal(np.frombuffer(data, "f").reshape(2, 3), engines["affine"](x))
    answer = request(server, "POST", "/v2/models/affine/infer", b"123", headers)
    assert answer.status == 400 and "takes a multiple of 16" in answer.error
    answer = request(server, "POST", "/v2/models/two/infer", b"1234", headers)
    assert answer.status == 400 and "models of one input" in answer.error


def test_two_inputs_and_chosen_outputs(server):
    a, b = rows(2, 1, 2), rows(2, 2, 2)
    told = infer(server, "two", input_of(b, "b"), input_of(a, "a"), outputs=[{"name": "product"}]).json
    assert [o["name"] for o in told["outputs"]] == ["product"]
    np.testing.assert_array_equal(np.array(told["outputs"][0]["data"], "f").reshape(2, 2), a * b)
    told = infer(server, "two", input_of(a, "a"), input_of(b, "b"), outputs=[{"name": "product"}, {"name": "sum"}]).json
    assert [o["name"] for o in told["outputs"]] == ["product", "sum"]


def test_sizes_that_data_decides(server):
    x = np.zeros((3, 4), "f")
    x[1, 2] = x[2, 0] = 5
    told = infer(server, "places", input_of(x)).json
    assert told["outputs"][0]["shape"] == [2, 2] and told["outputs"][0]["data"] == [1, 2, 2, 0]
    told = infer(server, "places", input_of(np.zeros((3, 4), "f"))).json
    assert told["outputs"][0]["shape"] == [2, 0] and told["outputs"][0]["data"] == []


def test_shape_tensors(server):
    x = np.arange(6, dtype="f")
    for shape in ([2, 3], [6, 1], [3, 2]):
        told = infer(server, "reshape", input_of(x), input_of(np.array(shape), "shape", "INT64")).json
        assert told["outputs"][0]["shape"] == shape
    answer = infer(server, "reshape", input_of(x), input_of(np.array([7, 1]), "shape", "INT64"))
    assert answer.status == 400 and "no profile has the shapes" in answer.error


@pytest.mark.parametrize("model, datatype", [("half", "FP16"), ("bf16", "BF16")])
def test_half_types(server, model, datatype):
    dtype = np.dtype("float16") if model == "half" else np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    x = np.array([[1.5, -2], [0.25, 3]], dtype)
    told = infer(server, model, input_of(x.astype("f"), datatype=datatype)).json
    assert told["outputs"][0]["datatype"] == datatype and told["outputs"][0]["data"] == [3, -4, 0.5, 6]
    head = {"inputs": [{"name": "x", "datatype": datatype, "shape": [2, 2], "parameters": {"binary_data_size": 8}}]}
    head["parameters"] = {"binary_data_output": True}
    _, data = split_binary(infer_binary(server, model, head, x.tobytes()))
    np.testing.assert_array_equal(np.frombuffer(data, dtype), (x + x).reshape(-1))


def test_whole_numbers_and_truth(server):
    big = np.array([[2**61, -5]])
    assert infer(server, "int64", input_of(big, datatype="INT64")).json["outputs"][0]["data"] == [2**62, -10]
    told = infer(server, "flags", {"name": "x", "datatype": "BOOL", "shape": [1, 3], "data": [True, False, True]}).json
    assert told["outputs"][0]["data"] == [False, True, False]


def test_compressed(server, engines):
    x = rows(2)
    body = json.dumps({"inputs": [input_of(x)]}).encode()
    for coding, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        answer = request(server, "POST", "/v2/models/affine/infer", packed, {"Content-Encoding": coding})
        assert answer.status == 200, answer.body
        y = np.array(answer.json["outputs"][0]["data"], "f").reshape(2, 3)
        np.testing.assert_array_equal(y, engines["affine"](x))
    bomb = gzip.compress(b" " * (64 << 20))
    answer = request(server, "POST", "/v2/models/affine/infer", bomb, {"Content-Encoding": "gzip"})
    assert answer.status == 413 and "more bytes; 1048576 are possible" in answer.error
    for packed in (b"not gzip", gzip.compress(body)[:-9]):
        answer = request(server, "POST", "/v2/models/affine/infer", packed, {"Content-Encoding": "gzip"})
        assert answer.status == 400 and "gzip" in answer.error
    answer = request(server, "POST", "/v2/models/affine/infer", body, {"Content-Encoding": "br"})
    assert answer.status == 501 and "'br' is not supported" in answer.error


def test_chunked(server):
    body = json.dumps({"inputs": [input_of(rows(2))]}).encode()
    parts = (body[i : i + 7] for i in range(0, len(body), 7))
    assert request(server, "POST", "/v2/models/affine/infer", parts).status == 200


def test_long_texts():
    """Many numbers in JSON, both ways, several at a time."""
    tanh = helper.make_node("Tanh", ["x"], ["y"])
    wide = kiln_models.model([tanh], [("x", FLOAT, ["n", 20_000])], [("y", FLOAT, ["n", 20_000])])
    engine = kiln.compile(wide, shapes={"x": [(1, 20_000), (4, 20_000)]}, **serving.QUICK)
    with serving.serve({"wide": engine}, grpc_port=None) as other:
        inputs = [rows(1, i, 20_000) for i in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for x, answer in zip(inputs, pool.map(lambda x: infer(other, "wide", input_of(x)), inputs)):
                assert answer.status == 200, answer.body[:300]
                np.testing.assert_allclose(np.array(answer.json["outputs"][0]["data"], "f"), np.tanh(x[0]), rtol=1e-5)


X = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}
BAD = [
    ({"inputs": []}, "missing input 'x'"),
    ({"inputs": [X, X]}, "'x' is there twice"),
    ({"inputs": [X, {**X, "name": "z"}]}, "has no input 'z'; its inputs are ['x']"),
    ({"inputs": [{**X, "shape": [1, 5]}]}, "has 4 elements as data; its shape [1, 5] has 5"),
    ({"inputs": [{**X, "shape": [4]}]}, "has shape [4]; [-1, 4] is needed"),
    ({"inputs": [{**X, "shape": [1, -4]}]}, "has the extent -4"),
    ({"inputs": [{**X, "shape": [1, True]}]}, "has the extent True"),
    ({"inputs": [{**X, "shape": [1, 4.0]}]}, "has the extent 4.0"),
    ({"inputs": [{**X, "shape": [0, 4], "data": []}]}, "a batch of 0 was sent; from 1 to 8 are possible"),
    ({"inputs": [{**X, "shape": [9, 4], "data": [0] * 36}]}, "a batch of 9 was sent; from 1 to 8 are possible"),
    ({"inputs": [{**X, "shape": [1 << 62, 1 << 62]}]}, "has 4 elements as data"),
    ({"inputs": [{**X, "shape": [1] * 99}]}, "has 99 axes"),
    ({"inputs": [{**X, "datatype": "INT32"}]}, "is of INT32; FP32 is needed"),
    ({"inputs": [{**X, "datatype": "BYTES", "data": ["a"] * 4}]}, "is of BYTES, which engines do not have"),
    ({"inputs": [{**X, "datatype": "FP33"}]}, "is of 'FP33', which is no type"),
    ({"inputs": [{**X, "data": ["1", "2", "3", "4"]}]}, "has texts as data"),
    ({"inputs": [{**X, "data": [1, None, 3, 4]}]}, "has null among its data, which stands for no number"),
    ({"inputs": [{**X, "data": [[1, 2, 3, None]]}]}, "has null among its data"),
    ({"inputs": [{**X, "data": [True, 1, 2, 3]}]}, "has truth values among numbers as data, which are not of FP32"),
    ({"inputs": [{**X, "data": [[1.5, 1, False, 3]]}]}, "has truth values among numbers"),
    ({"inputs": [{**X, "data": [10**400, 1, 2, 3]}]}, "has numbers beyond FP32"),
    ({"inputs": [{**X, "data": [10**50, 1, 2, 3]}]}, "beyond FP32"),
    ({"inputs": [{**X, "data": [[1, 2], [3]]}]}, "lists are not alike"),
    ({"inputs": [{**X, "data": [[1, 2], [3, 4]]}]}, "has data of shape [2, 2] for the shape [1, 4]"),
    ({"inputs": [{**X, "data": [1e300, 0, 0, 0]}]}, "has numbers beyond FP32"),
    ({"inputs": [{**X, "data": "1234"}]}, "'data' is no list"),
    ({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4]}]}, "'data' is missing"),
    ({"inputs": [{**X, "parameters": {"binary_data_size": 16}}]}, "both data and binary_data_size"),
    ({"inputs": [X], "outputs": [{"name": "z"}]}, "has no output 'z'; its outputs are ['y']"),
    ({"inputs": [X], "outputs": [{"name": "y"}, {"name": "y"}]}, "'y' is asked for twice"),
    ({"inputs": [X], "outputs": 3}, "'outputs' is no list"),
    ({"inputs": [X], "id": 3}, "'id' is no text"),
    ({"inputs": [X], "parameters": {"timeout": -1}}, "parameter timeout is -1"),
    ({"inputs": [3]}, "an input is not an object"),
    ({"inputs": {}}, "'inputs' is no list"),
    ([1], "not an object of JSON"),
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b'{"inputs": ' + b"[" * 100_000, "not JSON"),
    (b"\xff\xfe", "not JSON"),
]


@pytest.mark.parametrize("body, words", BAD, ids=[words for _, words in BAD])
def test_bad_requests(server, body, words):
    answer = post(server, "/v2/models/affine/infer", body)
    assert answer.status == 400, answer.body
    assert words in answer.error
    assert infer(server, "affine", X).status == 200


def test_numbers_beyond_64_bits_of_floats(server):
    """Python reads 1e400 as infinity, which is another number. Who means infinity has a name for it."""
    body = '{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": %s}]}'
    for number in ("1e400", "-1e400", "1" + "0" * 400 + ".0"):
        for data in (f"[1, 2, 3, {number}]", f"[[1, Infinity, 3, {number}]]"):
            answer = post(server, "/v2/models/affine/infer", (body % data).encode())
            told = f"the request has the number {number[:40]}, which is beyond FP64"
            assert (answer.status, answer.error) == (400, told)
    for number in ("Infinity", "-Infinity", "NaN", "1e-400"):
        assert post(server, "/v2/models/affine/infer", (body % f"[1, 2, 1e38, {number}]").encode()).status == 200


def test_whole_numbers_beyond_64_bits(server, engines):
    """JSON has one kind of number."""
    big = 100_000_000_000_000_000_000
    for data in ([big, 1, 2, 3], [[big, 1.5, -big, 3]]):
        answer = infer(server, "affine", {**X, "data": data})
        wanted = engines["affine"](np.asarray(data, "f").reshape(1, 4))
        np.testing.assert_allclose(answer.json["outputs"][0]["data"], wanted.reshape(-1), rtol=1e-6)
    whole = {"name": "x", "datatype": "INT64", "shape": [1, 2], "data": [big, 1]}
    assert "numbers beyond 64 bits" in infer(server, "int64", whole).error


def test_values_that_a_run_refuses(server):
    """An index beyond its axis is the client's fault."""
    answer = infer(server, "rows", {"name": "i", "datatype": "INT64", "shape": [1], "data": [99]})
    words = "index 99 is outside the data" if server.repository.find("rows").engine.device.startswith("cuda") else (
        "index 99 is outside [-4, 4) of its axis"
    )
    assert answer.status == 400 and words in answer.error
    assert infer(server, "rows", {"name": "i", "datatype": "INT64", "shape": [1], "data": [-1]}).status == 200


@pytest.mark.parametrize("priority, words", [(3, ""), (0, ""), (-1, "priority is -1"), ("high", "priority is 'high'")])
def test_priorities(server, priority, words):
    """Models have no priority levels, so a request's priority means nothing, as in Triton."""
    answer = infer(server, "affine", input_of(rows(1)), parameters={"priority": priority})
    assert answer.status == (400 if words else 200) and words in str(answer.json.get("error", ""))


def test_large_json(engines):
    with serving.serve(engines, max_json_bytes=1000, model_control=True, grpc_port=None) as server:
        for path in ("models/affine/infer", "repository/index", "repository/models/affine/load"):
            answer = request(server, "POST", f"/v2/{path}", b" " * 1001)
            assert answer.status == 413 and "the JSON of the request has 1001 bytes" in answer.error
        head = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [8, 4], "parameters": {"binary_data_size": 128}}]}
        assert infer_binary(server, "affine", head, bytes(128)).status == 200


def test_types_keep_their_limits(server):
    flags = {"name": "x", "datatype": "BOOL", "shape": [1, 3], "data": [0, 1, 2]}
    assert "not of BOOL" in infer(server, "flags", flags).error
    fraction = {"name": "x", "datatype": "INT64", "shape": [1, 2], "data": [1, 1.5]}
    assert "numbers with a fraction" in infer(server, "int64", fraction).error
    head = {"inputs": [{"name": "x", "datatype": "BOOL", "shape": [1, 3], "parameters": {"binary_data_size": 3}}]}
    assert "has the byte 7; BOOL is 0 or 1" in infer_binary(server, "flags", head, b"\0\1\7").error


@pytest.mark.parametrize("size, words", [
    (12, "4 bytes of the body belong to no input"),
    (20, "has 20 bytes by binary_data_size; 16 are left"),
    (-1, "has -1 bytes by binary_data_size"),
    (1 << 70, "bytes by binary_data_size"),
    ("16", "'binary_data_size' is no whole number"),
])  # fmt: skip
def test_bad_binary(server, size, words):
    head = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": size}}]}
    answer = infer_binary(server, "affine", head, bytes(16))
    assert answer.status == 400
    assert words in answer.error


@pytest.mark.parametrize("length", ["-1", "x", "99999", "", "1" * 30])
def test_bad_header_length(server, length):
    answer = request(server, "POST", "/v2/models/affine/infer", b"{}", {"Inference-Header-Content-Length": length})
    assert answer.status == 400 and "inference-header-content-length" in answer.error


def test_what_is_not_supported_is_named(server):
    for name, value in (("sequence_id", 7), ("sequence_start", True)):
        answer = infer(server, "affine", X, parameters={name: value})
        assert answer.status == 501 and f"parameter {name} of the request is not supported" in answer.error
    shared = {**X, "parameters": {"shared_memory_region": "r"}}
    assert "shared_memory_region of input 'x' is not supported" in infer(server, "affine", shared).error
    answer = infer(server, "affine", X, outputs=[{"name": "y", "parameters": {"classification": 3}}])
    assert "classification of output 'y' is not supported" in answer.error
    assert infer(server, "affine", X, parameters={"sequence_id": 0, "priority": 0, "else": 1}).status == 200


def test_unknown_models_versions_and_paths(server):
    answer = infer(server, "nobody", X)
    assert (answer.status, answer.error) == (404, "there is no model 'nobody'")
    answer = infer(server, "affine", X, path="/versions/7")
    assert (answer.status, answer.error) == (404, "model 'affine' has no version '7'; ready are [1]")
    assert infer(server, "affine", X, path="/versions/one").status == 404
    answer = get(server, "/v2/elsewhere")
    assert (answer.status, answer.error) == (404, "there is no endpoint GET /v2/elsewhere")
    answer = get(server, "/v2/")  # a redirection would be of 307, to the host that the client names
    assert (answer.status, answer.error) == (404, "there is no endpoint GET /v2/")
    assert post(server, "/v2/models/affine/infer/", {"inputs": [X]}).status == 404
    answer = get(server, "/v2/models/affine/infer")
    assert (answer.status, answer.error) == (405, "GET /v2/models/affine/infer is not allowed here")


def test_statistics_and_metrics(server):
    def counts():
        (told,) = get(server, "/v2/models/affine/stats").json["model_stats"]
        stages = told["inference_stats"]
        return stages["success"]["count"], told["inference_count"], stages["fail"]["count"]

    before = counts()
    assert infer(server, "affine", input_of(rows(3))).status == 200
    assert infer(server, "affine", {**X, "datatype": "INT32"}).status == 400
    after = counts()
    assert [b - a for a, b in zip(before, after)] == [1, 3, 1]
    assert {one["name"] for one in get(server, "/v2/models/stats").json["model_stats"]} >= {"affine", "two"}
    answer = get(server, "/metrics")
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain")
    text = answer.body.decode()
    assert f'kiln_requests_total{{model="affine",outcome="success",version="1"}} {after[0]}.0' in text
    assert 'kiln_requests_total{model="affine",outcome="invalid",version="1"}' in text
    assert f'kiln_request_seconds_count{{model="affine",version="1"}} {after[0]}.0' in text
    assert "kiln_request_bytes 0.0" in text  # nothing is held when nothing runs


def test_index(server):
    found = post(server, "/v2/repository/index").json
    assert {"name": "affine", "version": "1", "state": "READY", "reason": ""} in found
    assert post(server, "/v2/repository/index", {"ready": True}).json == found
    assert "not JSON" in post(server, "/v2/repository/index", b"{").error


def test_in_the_program(server, engines):
    x = rows(2)
    np.testing.assert_array_equal(server.infer("affine", {"x": x})["y"], engines["affine"](x))
    futures = [server.submit("affine", {"x": rows(1, i)}) for i in range(50)]
    for i, future in enumerate(futures):
        np.testing.assert_allclose(future.result(30)["y"], engines["affine"](rows(1, i)), rtol=1e-6)
    y = server.infer("scalars", {"a": 1.5 * np.ones((), "f"), "b": np.float32(2)})["y"]
    assert y.shape == () and y == 3.5
    np.testing.assert_array_equal(server.infer("affine", {"x": np.asfortranarray(x)})["y"], engines["affine"](x))
    import kiln.serve

    with pytest.raises(kiln.serve.ServeError, match="is of INT64; FP32 is needed"):
        server.infer("affine", {"x": np.zeros((1, 4), np.int64)})
    with pytest.raises(kiln.serve.ServeError, match="is an array of complex128"):
        server.infer("affine", {"x": np.zeros((1, 4), complex)})


def test_the_document_runs(engines, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    engines["affine"].save("model.plan")
    document = (pathlib.Path(__file__).parents[2] / "docs" / "serving.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", document, re.M | re.S)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/serving.md", "exec"), names)
    assert len(blocks) == 1 and names["future"].result(30)["y"].shape == (1, 3)
    assert capsys.readouterr().out.startswith("[[")


def test_a_body_does_not_wait_for_the_client_to_acknowledge_the_head():
    """asyncio sets TCP_NODELAY on sockets that know their protocol alone: others take 40 ms an answer."""
    with _listen("HTTP", "127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
