"""kiln.serve by the public package tritonclient, over both protocols."""

import queue

import numpy as np
import pytest
import serving
from serving import rows

http_client = pytest.importorskip("tritonclient.http", reason="the package tritonclient[all] is not installed")
grpc_client = pytest.importorskip("tritonclient.grpc", reason="the package tritonclient[all] is not installed")

from tritonclient.utils import InferenceServerException  # noqa: E402


@pytest.fixture(scope="module")
def engine():
    return serving.affine_engine()


@pytest.fixture(scope="module")
def server(engine):
    with serving.serve({"affine": engine}, max_request_bytes=1 << 20) as running:
        yield running


@pytest.fixture(params=["http", "grpc"])
def client(request, server):
    """(the client, its module)"""
    module = http_client if request.param == "http" else grpc_client
    made = module.InferenceServerClient(getattr(server, f"{request.param}_address"))
    yield made, module
    made.close()


def input_of(module, x, datatype="FP32", **options):
    made = module.InferInput("x", list(x.shape), datatype)
    made.set_data_from_numpy(x, **options)
    return made


def test_health_and_metadata(client):
    made, module = client
    assert made.is_server_live() and made.is_server_ready()
    assert made.is_model_ready("affine") and made.is_model_ready("affine", "1")
    as_json = {} if module is http_client else {"as_json": True}
    assert made.get_server_metadata(**as_json)["name"] == "kiln"
    assert made.get_model_metadata("affine", **as_json)["inputs"][0]["datatype"] == "FP32"
    config = made.get_model_config("affine", **as_json)
    assert config.get("config", config)["max_batch_size"] == 8
    index = made.get_model_repository_index(**as_json)
    found = index["models"] if isinstance(index, dict) else index
    assert found[0]["name"] == "affine" and found[0]["state"] == "READY"


def test_infer(client, engine):
    made, module = client
    for n in (1, 3, 8):
        x = rows(n, n)
        answer = made.infer("affine", [input_of(module, x)], request_id="r", model_version="1")
        np.testing.assert_array_equal(answer.as_numpy("y"), engine(x))
        wanted = [module.InferRequestedOutput("y")]
        answer = made.infer("affine", [input_of(module, x)], outputs=wanted)
        np.testing.assert_array_equal(answer.as_numpy("y"), engine(x))


def test_http_without_binary_and_compressed(server, engine):
    made = http_client.InferenceServerClient(server.http_address)
    x = rows(2)
    wanted = [http_client.InferRequestedOutput("y", binary_data=False)]
    answer = made.infer("affine", [input_of(http_client, x, binary_data=False)], outputs=wanted)
    np.testing.assert_array_equal(answer.as_numpy("y"), engine(x))
    for coding in ("gzip", "deflate"):
        answer = made.infer(
            "affine",
            [input_of(http_client, x)],
            request_compression_algorithm=coding,
            response_compression_algorithm=coding,
        )
        np.testing.assert_array_equal(answer.as_numpy("y"), engine(x))
    made.close()


def test_many_at_once(server, engine):
    made = http_client.InferenceServerClient(server.http_address, concurrency=16)
    sent = [rows(1 + i % 4, i) for i in range(64)]
    waiting = [made.async_infer("affine", [input_of(http_client, x)]) for x in sent]
    for x, one in zip(sent, waiting):
        np.testing.assert_allclose(one.get_result().as_numpy("y"), engine(x), rtol=1e-6, atol=1e-6)
    made.close()


def test_stream(server, engine):
    made, answers = grpc_client.InferenceServerClient(server.grpc_address), queue.Queue()
    made.start_stream(lambda result, error: answers.put((result, error)))
    for i in range(20):
        made.async_stream_infer("affine", [input_of(grpc_client, rows(1, i))], request_id=str(i))
    for i in range(20):
        result, error = answers.get(timeout=30)
        assert error is None and result.get_response().id == str(i)
        assert result.get_response().parameters["triton_final_response"].bool_param
        np.testing.assert_allclose(result.as_numpy("y"), engine(rows(1, i)), rtol=1e-6, atol=1e-6)
    made.async_stream_infer("nobody", [input_of(grpc_client, rows(1))])
    result, error = answers.get(timeout=30)
    assert result is None and "there is no model 'nobody'" in str(error)
    made.stop_stream()
    made.close()


def test_errors(client):
    made, module = client
    with pytest.raises(InferenceServerException, match="there is no model 'nobody'"):
        made.infer("nobody", [input_of(module, rows(1))])
    with pytest.raises(InferenceServerException, match=r"has shape \[1, 5\]; \[-1, 4\] is needed"):
        made.infer("affine", [input_of(module, rows(1, 0, 5))])
    with pytest.raises(InferenceServerException, match="is of INT32; FP32 is needed"):
        made.infer("affine", [input_of(module, np.zeros((1, 4), np.int32), "INT32")])
    texts = module.InferInput("x", [1, 4], "BYTES")
    texts.set_data_from_numpy(np.full((1, 4), b"a", object))
    with pytest.raises(InferenceServerException, match="is of BYTES, which engines do not have"):
        made.infer("affine", [texts])
    with pytest.raises(InferenceServerException, match="sequence_id of the request is not supported"):
        made.infer("affine", [input_of(module, rows(1))], sequence_id=3)
    with pytest.raises(InferenceServerException, match="1048576 are possible|larger than max"):
        made.infer("affine", [input_of(module, rows(1 << 17))])


def test_statistics(client):
    made, module = client
    as_json = {} if module is http_client else {"as_json": True}
    told = made.get_inference_statistics("affine", **as_json)["model_stats"][0]
    assert told["name"] == "affine" and "inference_stats" in told


def test_load_and_unload(tmp_path, server, client):
    _, module = client
    serving.make_model_folder(tmp_path, "m", None, {1: bytes(serving.affine_engine())})
    with serving.serve(repositories=[tmp_path], model_control=True) as other:
        address = other.http_address if module is http_client else other.grpc_address
        made = module.InferenceServerClient(address)
        made.unload_model("m")
        assert not made.is_model_ready("m")
        made.load_model("m", config='{"max_batch_size": 4}')
        assert made.is_model_ready("m")
        assert other.repository.find("m").rules.most == 4
        with pytest.raises(InferenceServerException, match="not supported"):
            made.load_model("m", config="{}", files={"file:1/model.plan": b"x"})
        made.close()
