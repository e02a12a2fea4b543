"""kiln.serve.protocol: the protocol in a server of somebody else, here a few lines of ASGI."""

import asyncio
import gzip
import json
import pickle

import kiln_models
import numpy as np
import pytest
import serving
from serving import rows

import kiln
from kiln.serve import Reason, ServeError, Settings, protocol

HEADER = "inference-header-content-length"


@pytest.fixture(scope="module")
def engine():
    return serving.affine_engine()


def receiver(*parts, pause=0.0):
    """ASGI's `receive` of a body in parts; `pause` seconds pass before each."""
    messages = [{"type": "http.request", "body": part, "more_body": i + 1 < len(parts)} for i, part in enumerate(parts)]

    async def receive():
        await asyncio.sleep(pause)
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    return receive


async def no_inputs():
    raise AssertionError("a request with JSON tells its shapes itself")


def ask(engine, body, headers=(), settings=None, inputs=no_inputs):
    """One request, run by the engine: the body of the answer, and its headers."""

    async def run():
        endpoint = protocol.Endpoint(settings)
        async with endpoint.read("affine", receiver(body), dict(headers), inputs) as request:
            assert endpoint._budget.used >= len(body)
            found = {"y": engine(request.inputs)}
        assert endpoint._budget.used == 0
        return await endpoint.write(request, "1", found)

    return asyncio.run(run())


def error_of(body, headers=(), settings=None, parts=None, pause=0.0):
    """What is wrong with a request."""

    async def run():
        endpoint = protocol.Endpoint(settings)
        with pytest.raises(ServeError) as raised:
            async with endpoint.read("affine", receiver(*(parts or [body]), pause=pause), dict(headers), no_inputs):
                pass
        assert endpoint._budget.used == 0
        return raised.value

    return asyncio.run(run())


def test_tensors(engine):
    inputs, outputs = pickle.loads(pickle.dumps(protocol.tensors_of(engine, 8)))
    assert [each.metadata() for each in inputs] == [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
    assert [each.metadata() for each in outputs] == [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}]
    with pytest.raises(ValueError, match="max_batch_size is 9, but the engine takes at most 8 rows of input 'x'"):
        protocol.tensors_of(engine, 9)
    fixed = kiln.compile(kiln_models.affine(2)[0], **serving.QUICK)
    assert protocol.tensors_of(fixed)[0][0].shape == (2, 4)
    with pytest.raises(ValueError, match="whose first extent is fixed"):
        protocol.tensors_of(fixed, 2)


def test_answers_are_those_of_the_server(engine):
    """JSON and bytes, in and out, and compressed."""
    x = rows(3)
    as_json = {"id": "seven", "inputs": [serving.input_of(x)]}
    head = {"name": "x", "datatype": "FP32", "shape": [3, 4], "parameters": {"binary_data_size": x.nbytes}}
    as_bytes = json.dumps({"inputs": [head], "outputs": [{"name": "y", "parameters": {"binary_data": True}}]}).encode()
    bodies = [(json.dumps(as_json).encode(), {}), (as_bytes + x.tobytes(), {HEADER: str(len(as_bytes))})]
    bodies += [(gzip.compress(body), headers | {"content-encoding": "gzip"}) for body, headers in bodies]
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        for body, headers in bodies:
            answer = serving.request(server, "POST", "/v2/models/affine/infer", body, headers)
            found, told = ask(engine, body, headers)
            assert found == answer.body
            assert told["content-type"] == answer.headers["content-type"] and told.get(HEADER) == answer.headers[HEADER]


@pytest.mark.parametrize("said", ["0", "00"])
def test_bytes_alone(engine, said):
    x = rows(2)

    async def inputs():
        return protocol.tensors_of(engine)[0]

    found, headers = ask(engine, x.tobytes(), {HEADER: said}, inputs=inputs)
    assert found[int(headers[HEADER]) :] == engine(x).tobytes()


def test_what_a_client_wants(engine):
    said = {"inputs": [serving.input_of(rows(1))], "outputs": [{"name": "y"}], "parameters": {"timeout": 2_500_000}}

    async def run():
        endpoint = protocol.Endpoint()
        async with endpoint.read("affine", receiver(json.dumps(said).encode()), {}, no_inputs) as request:
            return request.outputs, request.time_limit_s

    assert asyncio.run(run()) == (("y",), 2.5)


@pytest.mark.parametrize(
    "body, headers, reason, text",
    [
        (b"no JSON", {}, Reason.INVALID, "not JSON"),
        (b"{}", {"content-length": "²"}, Reason.INVALID, "Content-Length is '²'"),
        (b"{}", {"content-length": "9" * 5000}, Reason.INVALID, "Content-Length is '999"),
        (b"{}", {HEADER: "²"}, Reason.INVALID, "'²'; the body has 2 bytes"),
        (b"{}", {HEADER: "-0"}, Reason.INVALID, "'-0'"),
        (b"{}", {HEADER: "3"}, Reason.INVALID, "'3'"),
        (b"{}", {"content-encoding": "br"}, Reason.NOT_SUPPORTED, "'br'"),
        (b" " * 101, {}, Reason.TOO_LARGE, "100 are possible"),
        (gzip.compress(b" " * 101), {"content-encoding": "gzip"}, Reason.TOO_LARGE, "100 are possible"),
    ],
)
def test_bad_requests(body, headers, reason, text):
    failure = error_of(body, headers, Settings(max_request_bytes=100))
    assert failure.reason is reason and text in str(failure)


@pytest.mark.parametrize("given, size", [("FP32", 12), ("BOOL", 4)])
def test_bytes_that_do_not_fit(given, size):
    """Fewer bytes than the shape has, and truth values that are none."""
    said = {"name": "x", "datatype": given, "shape": [1, 4], "parameters": {"binary_data_size": size}}
    head = json.dumps({"inputs": [said]}).encode()
    failure = error_of(head + b"\2" * size, {HEADER: str(len(head))})
    wanted = r"12 bytes; FP32[1, 4] has 16" if given == "FP32" else "the byte 2; BOOL is 0 or 1"
    assert failure.reason is Reason.INVALID and wanted in str(failure)


def test_a_slow_body():
    failure = error_of(b"", settings=Settings(body_seconds=0.05), parts=[b"{"] * 100, pause=0.02)
    assert failure.reason is Reason.TOO_SLOW
    status, body, headers = protocol.write_error(failure)
    assert status == 408 and "within 0.05 s" in json.loads(body)["error"]
    assert headers["connection"] == "close", "what comes still would be taken for a request"


def test_json_has_a_limit_of_its_own(engine):
    """Bytes behind it do not count."""
    limits = Settings(max_json_bytes=500)
    x = rows(8)
    entry = {"name": "x", "datatype": "FP32", "shape": [8, 4], "parameters": {"binary_data_size": x.nbytes}}
    head = json.dumps({"inputs": [entry]}).encode()
    ask(engine, head + b" " * (500 - len(head)) + x.tobytes(), {HEADER: "500"}, limits)
    for body, headers in ((head + b" " * (501 - len(head)) + x.tobytes(), {HEADER: "501"}), (b" " * 501, {})):
        failure = error_of(body, headers, limits)
        assert failure.reason is Reason.TOO_LARGE
        assert "has 501 bytes; max_json_bytes (--max-json-mib) allows 500: send the numbers as binary data" in str(failure)


def test_the_turn_of_long_json_comes_in_time():
    """While others have their numbers read and written a request does not wait beyond its time."""
    body = json.dumps({"inputs": [serving.input_of(rows(4000))]}).encode()

    async def run():
        endpoint = protocol.Endpoint(Settings(request_seconds=0.2))
        async with endpoint.read("affine", receiver(body), {}, no_inputs) as request:
            pass
        async with endpoint._long_json:
            with pytest.raises(ServeError) as reading:
                async with endpoint.read("affine", receiver(body), {}, no_inputs):
                    pass
            with pytest.raises(ServeError) as writing:
                await endpoint.write(request, "1", {"y": np.zeros(100_000, "f")})
        return reading.value.reason, writing.value.reason, endpoint._budget.used

    assert asyncio.run(asyncio.wait_for(run(), 20)) == (Reason.EXPIRED, Reason.EXPIRED, 0)


def test_bytes_in_flight():
    """A request counts until its answer is there, and the next one that fits is read then."""

    async def run():
        endpoint = protocol.Endpoint(Settings(max_request_bytes=1000, max_bytes_in_flight=1000))
        said = json.dumps({"inputs": [serving.input_of(rows(1))]}).encode()
        headers = {"content-length": str(len(said) + 600)}
        parts = said, b" " * 600
        async with endpoint.read("affine", receiver(*parts), headers, no_inputs):
            with pytest.raises(ServeError, match="would exceed 1000") as raised:
                async with endpoint.read("affine", receiver(*parts), headers, no_inputs):
                    pass
        async with endpoint.read("affine", receiver(*parts), headers, no_inputs):
            return raised.value

    failure = asyncio.run(run())
    status, _, headers = protocol.write_error(failure)
    assert status == 503 and headers["retry-after"] == "1"


def test_an_output_of_another_type():
    async def run():
        endpoint = protocol.Endpoint()
        async with endpoint.read("m", receiver(b'{"inputs": []}'), {}, no_inputs) as request:
            pass
        await endpoint.write(request, "1", {"y": np.zeros(2, np.complex64)})

    with pytest.raises(ServeError, match="output 'y' is of complex64, which the protocol does not have"):
        asyncio.run(run())
