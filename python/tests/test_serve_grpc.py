"""kiln.serve: the service of gRPC, by raw calls."""

import logging

import numpy as np
import pytest
import serving
from serving import rows

grpc = pytest.importorskip("grpc")

import kiln  # noqa: E402
import kiln_models  # noqa: E402
from kiln.serve import _fields  # noqa: E402
from kiln.serve._log import _calm, log_to_stderr  # noqa: E402
from kiln.serve._messages import MESSAGES  # noqa: E402

SERVICE = "/inference.GRPCInferenceService/"


@pytest.fixture(scope="module")
def engines():
    shapes = {"a": [(1, 2), (2, 2), (4, 2)], "b": [(1, 2), (2, 2), (4, 2)]}
    two = kiln.compile(kiln_models.sum_and_product(), shapes=shapes, **serving.QUICK)
    return {"affine": serving.affine_engine(), "two": two}


@pytest.fixture(scope="module")
def server(engines):
    with serving.serve(engines, max_request_bytes=1 << 20) as running:
        yield running


@pytest.fixture(scope="module")
def channel(server):
    with grpc.insecure_channel(server.grpc_address) as made:
        yield made


def call(channel, method, _timeout=30, **fields):
    answer = MESSAGES.get(f"{method}Response")
    request = MESSAGES[f"{method}Request"](**fields)
    made = channel.unary_unary(SERVICE + method, lambda m: m.SerializeToString(), answer.FromString)
    return made(request, timeout=_timeout)


def failure(channel, method, **fields):
    with pytest.raises(grpc.RpcError) as found:
        call(channel, method, **fields)
    return found.value.code(), found.value.details()


def raw_input(*arrays, names=("x",)):
    tensors = [{"name": n, "datatype": "FP32", "shape": a.shape} for n, a in zip(names, arrays)]
    return {"inputs": tensors, "raw_input_contents": [a.tobytes() for a in arrays]}


def test_health(channel):
    assert call(channel, "ServerLive").live
    assert call(channel, "ServerReady").ready
    assert call(channel, "ModelReady", name="affine").ready
    assert not call(channel, "ModelReady", name="nobody").ready
    assert not call(channel, "ModelReady", name="affine", version="7").ready
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    assert check(b"", timeout=30) == b"\x08\x01"
    assert check(b"\x0a\x1e" + b"inference.GRPCInferenceService", timeout=30) == b"\x08\x01"
    for request, code in ((b"\x0a\x03abc", grpc.StatusCode.NOT_FOUND), (b"\xff", grpc.StatusCode.INVALID_ARGUMENT)):
        with pytest.raises(grpc.RpcError) as found:
            check(request, timeout=30)
        assert found.value.code() is code


def test_metadata_and_config(channel):
    assert call(channel, "ServerMetadata").name == "kiln"
    told = call(channel, "ModelMetadata", name="affine")
    assert list(told.versions) == ["1"] and list(told.inputs[0].shape) == [-1, 4] and told.inputs[0].datatype == "FP32"
    config = call(channel, "ModelConfig", name="affine").config
    assert config.max_batch_size == 8 and list(config.input[0].dims) == [4]


def test_infer_by_bytes(channel, engines):
    x = rows(3)
    told = call(channel, "ModelInfer", model_name="affine", id="7", **raw_input(x))
    assert (told.model_name, told.model_version, told.id) == ("affine", "1", "7")
    assert list(told.outputs[0].shape) == [3, 3] and told.outputs[0].datatype == "FP32"
    np.testing.assert_array_equal(np.frombuffer(told.raw_output_contents[0], "f").reshape(3, 3), engines["affine"](x))


def test_infer_by_numbers(channel, engines):
    x = rows(2)
    tensor = {"name": "x", "datatype": "FP32", "shape": [2, 4], "contents": {"fp32_contents": x.reshape(-1)}}
    told = call(channel, "ModelInfer", model_name="affine", inputs=[tensor])
    np.testing.assert_array_equal(np.frombuffer(told.raw_output_contents[0], "f").reshape(2, 3), engines["affine"](x))


def test_chosen_outputs(channel):
    a, b = rows(2, 1, 2), rows(2, 2, 2)
    told = call(channel, "ModelInfer", model_name="two", outputs=[{"name": "product"}], **raw_input(b, a, names="ba"))
    assert [o.name for o in told.outputs] == ["product"]
    np.testing.assert_array_equal(np.frombuffer(told.raw_output_contents[0], "f").reshape(2, 2), a * b)


X = rows(1)
ONE = {"name": "x", "datatype": "FP32", "shape": [1, 4]}
BAD = [
    ({"inputs": []}, "missing input 'x'"),
    ({"inputs": [ONE], "raw_input_contents": [b"123"]}, "has 3 bytes; FP32[1, 4] has 16"),
    ({"inputs": [ONE], "raw_input_contents": [bytes(16)] * 2}, "raw_input_contents has 2 entries for 1 inputs"),
    ({"inputs": [ONE, ONE], "raw_input_contents": [bytes(16)] * 2}, "'x' is there twice"),
    ({"inputs": [ONE]}, "has 0 elements in fp32_contents"),
    ({"inputs": [{**ONE, "contents": {"int_contents": [1] * 4}}]}, "has int_contents; fp32_contents is needed"),
    ({"inputs": [{**ONE, "contents": {"fp32_contents": [1]}}], "raw_input_contents": [bytes(16)]},
     "contents beside raw"),
    ({"inputs": [{**ONE, "datatype": "FP16"}]}, "of FP16 has to come in raw_input_contents"),
    ({"inputs": [{**ONE, "datatype": "BYTES"}], "raw_input_contents": [b""]}, "is of BYTES, which engines do not have"),
    ({"inputs": [{**ONE, "shape": [-1, 4]}], "raw_input_contents": [b""]}, "has the extent -1"),
    ({"inputs": [ONE], "raw_input_contents": [bytes(16)], "outputs": [{"name": "z"}]}, "has no output 'z'"),
]  # fmt: skip


@pytest.mark.parametrize("fields, words", BAD, ids=[words for _, words in BAD])
def test_bad_requests(channel, fields, words):
    code, details = failure(channel, "ModelInfer", model_name="affine", **fields)
    assert code is grpc.StatusCode.INVALID_ARGUMENT and words in details
    assert call(channel, "ModelInfer", model_name="affine", **raw_input(X)).outputs


def test_unknown_models_and_methods(channel):
    assert failure(channel, "ModelInfer", model_name="nobody")[0] is grpc.StatusCode.NOT_FOUND
    assert failure(channel, "ModelInfer", model_name="affine", model_version="7")[0] is grpc.StatusCode.NOT_FOUND
    made = channel.unary_unary(SERVICE + "SystemSharedMemoryStatus")
    with pytest.raises(grpc.RpcError) as found:
        made(b"", timeout=30)
    assert found.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert found.value.details() == "SystemSharedMemoryStatus is not supported"
    code, details = failure(
        channel, "ModelInfer", model_name="affine", parameters={"sequence_id": {"int64_param": 3}}, **raw_input(X)
    )
    assert code is grpc.StatusCode.UNIMPLEMENTED and "sequence_id" in details


def test_too_large(channel):
    large = {"inputs": [ONE], "raw_input_contents": [bytes(2 << 20)]}
    code, details = failure(channel, "ModelInfer", model_name="affine", **large)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED and "1048576" in details


def test_malformed(channel):
    made = channel.unary_unary(SERVICE + "ModelInfer")
    with pytest.raises(grpc.RpcError) as found:
        made(b"\xff\xff\xff", timeout=30)
    assert found.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "the request is no ModelInferRequest" in found.value.details()
    assert call(channel, "ModelInfer", model_name="affine", **raw_input(X)).outputs


def test_stream(channel, engines):
    made = channel.stream_stream(
        SERVICE + "ModelStreamInfer", lambda m: m.SerializeToString(), MESSAGES["ModelStreamInferResponse"].FromString
    )
    kind = MESSAGES["ModelInferRequest"]
    sent = [kind(model_name="affine", id=str(i), **raw_input(rows(1, i))) for i in range(100)]
    sent[50] = kind(model_name="affine", id="50")
    for i, answer in enumerate(made(iter(sent), timeout=60)):
        assert answer.infer_response.id == str(i)
        assert answer.infer_response.parameters["triton_final_response"].bool_param
        if i == 50:
            assert "missing input 'x'" in answer.error_message
            continue
        y = np.frombuffer(answer.infer_response.raw_output_contents[0], "f").reshape(1, 3)
        np.testing.assert_allclose(y, engines["affine"](rows(1, i)), rtol=1e-6)


class _Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.mark.parametrize("level", ["info", "debug"])
def test_a_client_that_leaves_a_stream_is_no_error(channel, level):
    """gRPC logs an error with a traceback where it cannot send an answer any more."""
    lines, root, library = _Lines(), logging.getLogger(), logging.getLogger("grpc._cython.cygrpc")
    before = root.handlers[:], root.level, [(logging.getLogger(n), logging.getLogger(n).level) for n in ("kiln", "kiln.serve")]
    try:
        log_to_stderr(level, True)
        root.handlers[:] = [lines]
        library.error("ExecuteBatchError raised in core by servicer method [%s]", "m")
        library.error("another error")
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        for logger, was in before[2]:
            logger.setLevel(was)
        library.removeFilter(_calm)
    wanted = [("ExecuteBatchError raised in core by servicer method [m]", "DEBUG")] if level == "debug" else []
    assert [(r.getMessage(), r.levelname) for r in lines.records] == [*wanted, ("another error", "ERROR")]


def test_statistics_and_index(channel):
    before = call(channel, "ModelStatistics", name="affine").model_stats[0].inference_stats.success.count
    call(channel, "ModelInfer", model_name="affine", **raw_input(X))
    told = call(channel, "ModelStatistics", name="affine", version="1").model_stats[0]
    assert told.inference_stats.success.count == before + 1 and told.batch_stats[0].batch_size >= 1
    found = call(channel, "RepositoryIndex").models
    assert ("affine", "1", "READY") in [(m.name, m.version, m.state) for m in found]


def test_fields_are_those_of_tritonclient():
    """Names, numbers and types of all fields, against the package that most clients use."""
    service = pytest.importorskip("tritonclient.grpc.service_pb2")
    from tritonclient.grpc import model_config_pb2

    seen = set()

    def facts(descriptor):
        return {
            f.name: (f.number, f.type, f.is_repeated, f.containing_oneof and f.containing_oneof.name,
                     f.enum_type and [(v.name, v.number) for v in f.enum_type.values])
            for f in descriptor.fields
        }  # fmt: skip

    def compare(ours, theirs):
        if ours.full_name in seen:
            return
        seen.add(ours.full_name)
        assert ours.full_name == theirs.full_name and facts(ours) == facts(theirs), ours.full_name
        for field in ours.fields:
            if field.message_type is not None:
                compare(field.message_type, theirs.fields_by_name[field.name].message_type)

    for name, kind in MESSAGES.items():
        compare(kind.DESCRIPTOR, (getattr(service, name, None) or getattr(model_config_pb2, name)).DESCRIPTOR)
    methods = {m.name for m in service.DESCRIPTOR.services_by_name["GRPCInferenceService"].methods}
    assert methods == {*_fields.METHODS, *_fields.METHODS_NOT_SUPPORTED}
    assert len(seen) > 70
