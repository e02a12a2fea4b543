"""kiln.serve: clients that send too much, too slowly or leave, full queues, and the end of a server."""

import http.client
import json
import re
import socket
import threading
import time

import grpc
import kiln_models
import numpy as np
import pytest
import serving
from onnx import helper
from serving import connect, get, infer, post, request, rows, wait_for

import kiln
from kiln.serve import ServeError, _http_tensors
from kiln.serve._messages import MESSAGES

X = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}
BODY = json.dumps({"inputs": [X]}).encode()
PATH = "/v2/models/affine/infer"


@pytest.fixture(scope="module")
def engine():
    return serving.affine_engine()


def closed_within(connection, seconds):
    """Whether the server closes a connection in time; and what it sent before."""
    connection.settimeout(seconds)
    found = []
    try:
        while data := connection.recv(1 << 20):
            found.append(data)
    except socket.timeout:
        return False, b"".join(found)
    except ConnectionError:
        pass
    return True, b"".join(found)


def test_too_large(engine):
    with serving.serve({"affine": engine}, max_request_bytes=1000, grpc_port=None) as server:
        answer = request(server, "POST", PATH, b" " * 300_000)
        assert (answer.status, answer.error) == (413, "the request has 300000 bytes; 1000 are possible")
        answer = request(server, "POST", PATH, (b" " * 400 for _ in range(1000)))  # of unknown length
        assert answer.status == 413 and "more bytes; 1000 are possible" in answer.error
        assert infer(server, "affine", X).status == 200
        wait_for(lambda: server.budget.used == 0)


def test_refused_requests_are_in_the_metrics(engine):
    """Each once: either with the model's requests, or by protocol and reason where no model has seen it. What is no
    request for inference, or nobody knows to be one, counts apart."""
    with serving.serve({"affine": engine}, max_request_bytes=1000, header_seconds=0.5) as server:
        assert infer(server, "affine", {**X, "shape": [2, 2]}).status == 400  # by the model
        for body, path, status in ((b" " * 2000, PATH, 413), (b"{", PATH, 400), (BODY, "/v2/models/nobody/infer", 404)):
            assert request(server, "POST", path, body).status == status
        for method, path, status in (("GET", "/v2/models/nobody", 404), ("GET", "/nowhere", 404), ("GET", PATH, 405),
                                     ("POST", "/v2/repository/models/affine/load", 501)):  # fmt: skip
            assert request(server, method, path).status == status
        with connect(server) as noise, connect(server) as slow, connect(server) as silent:
            noise.sendall(b"this is not HTTP\r\n\r\n")
            slow.sendall(b"POST /v2/models/aff")
            assert all(closed_within(one, 10)[0] for one in (noise, slow, silent))
        with grpc.insecure_channel(server.grpc_address) as channel:
            call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            stream = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            unknown = MESSAGES["ModelInferRequest"](model_name="nobody").SerializeToString()
            for message in (b"\xff", unknown):
                with pytest.raises(grpc.RpcError):
                    call(message, timeout=30)
            assert len(list(stream(iter([unknown, b"\xff"]), timeout=30))) == 2
            with pytest.raises(grpc.RpcError):
                call(MESSAGES["ModelInferRequest"](model_name="affine").SerializeToString(), timeout=30)  # by the model
        lines = get(server, "/metrics").body.decode().splitlines()
        told = dict(line.rsplit(" ", 1) for line in lines if line.startswith(("kiln_refused", "kiln_requests", "kiln_connections")))
        assert told == {
            'kiln_refused_total{protocol="grpc",reason="invalid"}': "2.0",
            'kiln_refused_total{protocol="grpc",reason="not_found"}': "2.0",
            'kiln_refused_total{protocol="http",reason="invalid"}': "1.0",
            'kiln_refused_total{protocol="http",reason="not_found"}': "1.0",
            'kiln_refused_total{protocol="http",reason="too_large"}': "1.0",
            'kiln_connections_refused_total{protocol="http",reason="invalid"}': "1.0",
            'kiln_connections_refused_total{protocol="http",reason="too_slow"}': "1.0",
            'kiln_requests_total{model="affine",outcome="invalid",version="1"}': "2.0",
            'kiln_requests_total{model="affine",outcome="success",version="1"}': "0.0",
        }


def test_too_many_bytes_at_once(engine):
    with serving.serve({"affine": engine}, max_request_bytes=10_000, max_bytes_in_flight=10_000, grpc_port=None) as server:
        held = connect(server)
        held.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n1" % PATH.encode())
        wait_for(lambda: server.budget.used == 9000)
        answer = request(server, "POST", PATH, b" " * 2000)
        assert answer.status == 503 and "the server holds 9000 bytes of requests and answers" in answer.error
        assert answer.headers["retry-after"] == "1"
        held.close()
        wait_for(lambda: server.budget.used == 0)
        assert infer(server, "affine", X).status == 200


def test_slow_heads(engine):
    with serving.serve({"affine": engine}, header_seconds=0.5, grpc_port=None) as server:
        silent, slow, second = connect(server), connect(server), connect(server)
        slow.sendall(b"GET /v2 HTTP/1.1\r\nhost: ")
        second.sendall(b"GET /v2/health/live HTTP/1.1\r\nhost: x\r\n\r\nGET /v2 HTT")
        stop = threading.Event()

        def drip():  # a byte now and then does not help
            while not stop.wait(0.1):
                try:
                    slow.sendall(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        for connection in (silent, slow, second):
            ended, found = closed_within(connection, 10)
            assert ended
            assert (b"200 OK" in found) == (connection is second)
        stop.set()
        thread.join()
        assert infer(server, "affine", X).status == 200


def test_long_heads(engine):
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        connection = connect(server)
        try:
            connection.sendall(b"GET /v2 HTTP/1.1\r\n" + b"a: %s\r\n" % (b"b" * 1000) * 1000)
        except ConnectionError:
            pass
        assert closed_within(connection, 10)[0]
        assert get(server, "/v2").status == 200


@pytest.mark.parametrize("url", [True, False])
@pytest.mark.parametrize("size, status", [(65536, 200), (65537, 431)])
def test_long_heads_that_come_at_once(engine, url, size, status):
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        head = b"GET /v2?%s HTTP/1.1\r\nHost: x\r\na: %s\r\n\r\n"
        fill = b"a" * (size - len(head % (b"", b"")))
        connection = connect(server)
        connection.sendall(head % ((fill, b"") if url else (b"", fill)))
        answer = connection.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        if status == 431:
            assert b"the head of the request is larger than 65536 bytes" in answer
            assert closed_within(connection, 10)[0]
        connection.close()


def test_a_large_body_that_is_announced(engine):
    """A client that asks whether it may send a body gets no 100 for one that is too large."""
    with serving.serve({"affine": engine}, grpc_port=None, max_request_bytes=1000) as server:
        for size, start in ((1001, b"HTTP/1.1 413 "), (1000, b"HTTP/1.1 100 ")):
            connection = connect(server)
            head = b"POST /v2/models/affine/infer HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
            connection.sendall(head % size)
            assert connection.recv(1 << 16).startswith(start)
            connection.close()


def test_a_slow_body_that_is_too_large(engine):
    """The client is told what is wrong with it however slowly it sends."""
    with serving.serve({"affine": engine}, max_request_bytes=1000, body_seconds=0.3, grpc_port=None) as server:
        connection = connect(server)
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 2000\r\n\r\n1" % PATH.encode())
        ended, found = closed_within(connection, 10)
        assert ended and found.startswith(b"HTTP/1.1 413 ") and b"the request has 2000 bytes; 1000 are possible" in found


def test_slow_bodies(engine):
    with serving.serve({"affine": engine}, body_seconds=0.5, grpc_port=None) as server:
        connection = connect(server)
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{" % PATH.encode())
        ended, found = closed_within(connection, 10)
        assert ended and b"408 Request Timeout" in found and b"the body did not come within 0.5 s" in found
        assert server.budget.used == 0


def test_clients_that_do_not_read():
    """An answer that nobody takes holds its connection for so long and no longer."""
    size = 1 << 24
    node = helper.make_node("Expand", ["x", "shape"], ["y"])
    weights = [("shape", np.array([size]))]
    large = kiln_models.model([node], [("x", kiln_models.FLOAT, [1])], [("y", kiln_models.FLOAT, [size])], weights)
    engine = kiln.compile(large, **serving.QUICK)
    one = {"name": "x", "datatype": "FP32", "shape": [1], "data": [1]}
    body = json.dumps({"inputs": [one], "parameters": {"binary_data_output": True}}).encode()
    head = b"POST /v2/models/large/infer HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
    with serving.serve(
        {"large": engine}, write_seconds=3, max_bytes_in_flight=6 * size, grpc_port=None
    ) as server:
        patient = connect(server)
        patient.sendall(head + body)
        wait_for(lambda: server.budget.used > 4 * size)
        refused = request(server, "POST", "/v2/models/large/infer", body)  # its answer would be too much beside the other
        assert refused.status == 503 and "bytes of requests and answers" in refused.error
        time.sleep(5)
        ended, found = closed_within(patient, 10)
        assert ended and len(found) < 4 * size
        reader = connect(server)  # one that reads gets all of it
        reader.sendall(head.replace(b"host: x", b"connection: close") + body)
        ended, found = closed_within(reader, 20)
        assert ended and len(found) > 4 * size


def wide_rows():
    """A row of one whole number, which becomes a row of 1000 floats."""
    node = helper.make_node("Gather", ["table", "x"], ["y"])
    weights = [("table", np.ones((2, 1000), "f"))]
    made = kiln_models.model([node], [("x", kiln_models.INT64, ["n"])], [("y", kiln_models.FLOAT, ["n", 1000])], weights)
    return kiln.compile(made, shapes={"x": [(1,), (2,), (8,)]}, **serving.QUICK)


def test_answers_that_there_is_no_room_for():
    """One that is larger than all that is allowed is told so; of a stream it is the only one that fails. The others of
    a stream have room together."""

    def message(n, call_id=""):
        tensor = {"name": "x", "datatype": "INT64", "shape": [n]}
        sent = MESSAGES["ModelInferRequest"](model_name="wide", id=call_id, inputs=[tensor], raw_input_contents=[bytes(8 * n)])
        return sent.SerializeToString()

    with serving.serve({"wide": wide_rows()}, max_bytes_in_flight=26_000, max_request_bytes=1000) as server:
        body = {"inputs": [{"name": "x", "datatype": "INT64", "shape": [8], "data": [0] * 8}],
                "parameters": {"binary_data_output": True}}  # fmt: skip
        answer = post(server, "/v2/models/wide/infer", body)
        assert answer.status == 500 and "retry-after" not in answer.headers
        assert "max_bytes_in_flight (--max-mib-in-flight) allows 26000 of all requests and answers" in answer.error
        with grpc.insecure_channel(server.grpc_address) as channel:
            with pytest.raises(grpc.RpcError, match="allows 26000 of all requests and answers") as found:
                channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")(message(8), timeout=30)
            assert found.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            told = [MESSAGES["ModelStreamInferResponse"].FromString(one)
                    for one in call(iter([message(n, str(n)) for n in (1, 8, 2, 3)]), timeout=30)]  # fmt: skip
            assert [one.infer_response.id for one in told] == ["1", "8", "2", "3"]
            assert ["allows 26000" in one.error_message for one in told] == [False, True, False, False]
            assert [len(one.infer_response.raw_output_contents) for one in told] == [1, 0, 1, 1]
            wait_for(lambda: server.budget.used == 0)
            server.budget.take(15_000)
            told = [MESSAGES["ModelStreamInferResponse"].FromString(one)
                    for one in call(iter([message(n) for n in (1, 3, 1)]), timeout=30)]  # fmt: skip
            assert ["try again later" in one.error_message for one in told] == [False, True, False]
            assert all(one.infer_response.parameters["triton_final_response"].bool_param for one in told)
        wait_for(lambda: server.budget.used == 15_000)


def test_malformed_http(engine):
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        for noise in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"\0" * 1000):
            connection = connect(server)
            connection.sendall(noise)
            connection.shutdown(socket.SHUT_WR)
            ended, found = closed_within(connection, 10)
            assert ended and b" 200 " not in found
            connection.close()
        assert infer(server, "affine", X).status == 200


def test_a_body_that_ends_early(engine):
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        connection = connect(server)
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{" % PATH.encode())
        connection.close()
        wait_for(lambda: server.budget.used == 0)
        assert infer(server, "affine", X).status == 200


def test_a_full_queue(engine):
    with serving.serve({"affine": engine}, max_queue=3, max_queue_delay_us=3_000_000) as server:
        waiting = [server.submit("affine", {"x": rows(1, i)}) for i in range(3)]
        answer = infer(server, "affine", X)
        assert answer.status == 503 and answer.headers["retry-after"] == "1"
        assert answer.error == "the queue is full: 3 requests wait; try again later"
        with grpc.insecure_channel(server.grpc_address) as channel:
            call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            sent = MESSAGES["ModelInferRequest"](
                model_name="affine",
                inputs=[{"name": "x", "datatype": "FP32", "shape": [1, 4]}],
                raw_input_contents=[bytes(16)],
            )
            with pytest.raises(grpc.RpcError) as found:
                call(sent.SerializeToString(), timeout=30)
            assert found.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert all(future.result(30)["y"].shape == (1, 3) for future in waiting)
        assert infer(server, "affine", X, parameters={"timeout": 10}).status == 504  # there is room again


def test_clients_that_leave(engine):
    with serving.serve({"affine": engine}, max_queue_delay_us=30_000_000) as server:
        (version,) = server.repository.versions("affine")
        connection = connect(server)
        head = b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (PATH.encode(), len(BODY))
        connection.sendall(head + BODY)
        wait_for(lambda: version.queue_length == 1)
        connection.close()
        wait_for(lambda: version.queue_length == 0 and server.budget.used == 0)
        with grpc.insecure_channel(server.grpc_address) as channel:
            call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            sent = MESSAGES["ModelInferRequest"](
                model_name="affine",
                inputs=[{"name": "x", "datatype": "FP32", "shape": [1, 4]}],
                raw_input_contents=[bytes(16)],
            ).SerializeToString()
            future = call.future(sent, timeout=30)
            wait_for(lambda: version.queue_length == 1)
            future.cancel()
            wait_for(lambda: version.queue_length == 0)
            with pytest.raises(grpc.RpcError) as found:
                call(sent, timeout=0.3)
            assert found.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            wait_for(lambda: version.queue_length == 0 and server.budget.used == 0)
        assert version.statistics.execution_count == 0
        # The deadline is gRPC's and the server's: whichever comes first.
        wait_for(lambda: sum(version.statistics.failures.values()) == 3)
        assert version.statistics.failures["cancelled"] >= 2


def test_stopping_answers_what_waits(engine):
    """Requests that were taken are answered, with the delay cut short; later ones are refused."""
    server = kiln.serve.Server(
        {"affine": engine}, settings=serving.settings(max_queue_delay_us=2_000_000, grpc_port=None)
    ).start()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(infer(server, "affine", X))) for _ in range(5)]
    for thread in threads:
        thread.start()
    (version,) = server.repository.versions("affine")
    wait_for(lambda: version.queue_length == 5)
    assert server.stop() == 0
    for thread in threads:
        thread.join(30)
    assert [answer.status for answer in answers] == [200] * 5
    assert not server.is_ready
    with pytest.raises(ServeError, match="the server stops"):
        server.submit("affine", {"x": rows(1)})
    with pytest.raises(OSError):
        connect(server)
    assert engine(rows(1)).shape == (1, 3)  # an engine of the program stays the program's


def test_a_loop_that_dies(tmp_path, engine):
    """The server is not ready then, and stopping it frees its models."""
    with serving.serve({"affine": engine.save(tmp_path / "affine.plan")}) as server:
        told = threading.Event()
        server.on_failure = told.set
        version, thread = server.repository.find("affine"), server._threads[0]
        thread._loop.call_soon_threadsafe(thread._loop.stop)
        assert told.wait(20)
        assert not server.is_ready and server.failure.startswith("kiln-http: RuntimeError: Event loop stopped")
        assert server.stop() == 0
        assert version.wait_closed(0)


@pytest.mark.parametrize("failure", [None, ValueError("as if of a bug")])
def test_a_protocol_whose_server_ends(engine, failure, monkeypatch):
    """uvicorn's task is watched."""
    import uvicorn

    end, tick = threading.Event(), uvicorn.Server.on_tick

    async def on_tick(self, counter):
        if end.is_set() and failure is not None:
            raise failure
        return end.is_set() or await tick(self, counter)

    monkeypatch.setattr(uvicorn.Server, "on_tick", on_tick)
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        assert get(server, "/v2/health/ready").status == 200
        server._state = "loading"
        answer = get(server, "/v2/health/ready")
        assert (answer.status, answer.error) == (503, "the server is not ready: it loads models, or stops")
        server._state = "ready"
        end.set()
        wait_for(lambda: not server.is_ready)
        assert ("served no longer" if failure is None else "ValueError: as if of a bug") in server.failure


def raw_answer(server, data):
    """The answer to bytes that need not be a request."""
    host, _, port = server.http_address.rpartition(":")
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall(data)
        response = http.client.HTTPResponse(connection)
        response.begin()
        return serving.Answer(response, response.read())


@pytest.mark.parametrize("rest", [
    b"0\r\na: " + b"x" * 100_000,
    b"0\r\n" + b"a: b\r\n" * 20_000,
    b"1;" + b"x" * 100_000,
])  # fmt: skip
def test_fields_of_a_chunked_body_have_a_limit(engine, rest):
    """Those behind it, and extensions of a chunk: the parser keeps them until they end."""
    head = b"POST /v2/models/affine/infer HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
    with serving.serve({"affine": engine}) as server:
        host, _, port = server.http_address.rpartition(":")
        with socket.create_connection((host, int(port)), 60) as connection:
            connection.sendall(head)
            time.sleep(0.2)  # so that the body comes in another read
            connection.sendall(rest)
            response = http.client.HTTPResponse(connection)
            response.begin()
            answer = serving.Answer(response, response.read())
        assert answer.status == 431 and "the fields of a chunked body are larger than 65536 bytes" in answer.error


def test_ports_in_use(engine, capfd):
    with serving.serve({"affine": engine}) as server:
        for kind in ("http", "grpc"):
            port = int(getattr(server, f"{kind}_address").rpartition(":")[2])
            with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}: .*Address already in use"):
                with serving.serve({"affine": engine}, **{f"{kind}_port": port}):
                    pass
            assert capfd.readouterr().err == "", "gRPC writes to the standard error by itself"


def test_what_is_no_http_is_an_error_of_the_protocol(engine):
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        for data, status, words in (
            (b"nonsense\r\n\r\n", 400, "the request is not HTTP: Invalid method encountered"),
            (b"GET /v2 HTTP/9.9\r\n\r\n", 400, "the request is not HTTP: Invalid HTTP version"),
            (b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n", 400, "the request is not HTTP"),
            (b"CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n", 400, "the request is not HTTP: invalid url b'x:80'"),
            (b"POST /v2/models/affine/infer HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400, "chunk size"),
            (b"POST /v2 HTTP/1.1\r\ncontent-length: many\r\n\r\n", 400, "Invalid character in Content-Length"),
            (b"GET /v2 HTTP/1.1\r\nlong: " + b"x" * 70_000, 431, "the head of the request is larger than 65536 bytes"),
        ):
            answer = raw_answer(server, data)
            assert (answer.status, answer.headers["content-type"]) == (status, "application/json"), data
            assert words in answer.error and answer.headers["connection"] == "close"
        answer = raw_answer(server, b"GET /v2 HTTP/1.1\r\nhost: x\r\n\r\n" + b"nonsense\r\n\r\n")
        assert answer.status == 200 and answer.json["name"] == "kiln", "the request ahead of nonsense is answered"
        assert get(server, "/v2").status == 200


def test_connections_beyond_the_limit_are_told(engine):
    with serving.serve({"affine": engine}, grpc_port=None, max_connections=2) as server:
        host, _, port = server.http_address.rpartition(":")
        with socket.create_connection((host, int(port)), 60), socket.create_connection((host, int(port)), 60):
            wait_for(lambda: get(server, "/v2").status == 503)
            answer = get(server, "/v2")
            assert answer.headers["content-type"] == "application/json" and answer.headers["retry-after"] == "1"
            assert answer.error == "too many connections: the server takes 2 at one time"
        wait_for(lambda: get(server, "/v2").status == 200)
        assert server.refusals.snapshot() == {} and server.refused_connections.snapshot()["http", "full"] >= 2


def test_settings_are_checked():
    for name, value in (("max_queue", 0), ("body_seconds", -1), ("http_port", 70000), ("header_seconds", float("nan")),
                        ("max_bytes_in_flight", float("inf")), ("idle_seconds", 1e9), ("instances", 1000)):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            serving.settings(**{name: value})


def test_a_request_that_could_never_be_taken():
    """It would be refused with "try again later" for ever."""
    words = "max_request_bytes is 2000; no request may have more bytes than all together: max_bytes_in_flight allows 1999 bytes"
    with pytest.raises(ValueError, match=f"^{words}$"):
        serving.settings(max_request_bytes=2000, max_bytes_in_flight=1999)
    serving.settings(max_request_bytes=2000, max_bytes_in_flight=2000)


@pytest.mark.parametrize("name, value, words", [
    ("max_queue", 1.5, "max_queue is 1.5; a whole number is needed, not a value of the type float"),
    ("max_batch_size", "4", "max_batch_size is 4; a whole number is needed, not a value of the type str"),
    ("http_port", "abc", "http_port is abc; a whole number is needed, not a value of the type str"),
    ("max_queue", None, "max_queue is None; a whole number is needed, not a value of the type NoneType"),
    ("instances", True, "instances is True; a whole number is needed, not a value of the type bool"),
    ("idle_seconds", "9", "idle_seconds is 9; a number is needed, not a value of the type str"),
    ("model_control", 1, "model_control is 1; a truth value is needed, not a value of the type int"),
    ("host", None, "host is None; a text is needed, not a value of the type NoneType"),
])  # fmt: skip
def test_types_of_settings_are_checked(name, value, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        serving.settings(**{name: value})


def test_settings_may_be_numbers_of_numpy():
    assert serving.settings(max_queue=np.int64(3), idle_seconds=np.float32(2)).max_queue == 3


def test_many_servers_leave_nothing(engine):
    """Threads and files of servers that have ended are gone."""
    import os

    def count():
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    def once():
        with serving.serve({"affine": engine}, grpc_port=None) as server:
            assert infer(server, "affine", X).status == 200
            np.testing.assert_equal(post(server, "/v2/repository/index").status, 200)

    once()
    before = count()
    for _ in range(5):
        once()
    wait_for(lambda: all(now <= then for now, then in zip(count(), before)))


def test_calls_of_grpc_beyond_the_limit_are_told_and_counted(engine):
    """A call counts until its client has its answer."""
    kind = MESSAGES["ModelInferRequest"]
    sent = kind(model_name="affine", inputs=[{"name": "x", "datatype": "FP32", "shape": [1, 4]}],
                raw_input_contents=[bytes(16)]).SerializeToString()  # fmt: skip
    with serving.serve({"affine": engine}, max_connections=2, max_queue_delay_us=60_000_000, http_port=None) as server:
        options = [("grpc.use_local_subchannel_pool", 1)]
        (version,) = server.repository.versions("affine")
        with grpc.insecure_channel(server.grpc_address, options=options) as one, \
                grpc.insecure_channel(server.grpc_address, options=options) as other:  # fmt: skip
            name = "/inference.GRPCInferenceService/ModelInfer"
            held = [one.unary_unary(name).future(sent, timeout=60) for _ in range(2)]
            wait_for(lambda: version.queue_length == 2)
            with pytest.raises(grpc.RpcError) as found:
                other.unary_unary(name)(sent, timeout=30)
            assert found.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert found.value.details() == "too many calls: the server takes 2 at one time; try again later"
            assert server.refusals.snapshot() == {("grpc", "full"): 1}
            for call in held:
                call.cancel()
            wait_for(lambda: version.queue_length == 0)
            ready = MESSAGES["ServerReadyRequest"]().SerializeToString()
            for _ in range(10):
                assert other.unary_unary("/inference.GRPCInferenceService/ServerReady")(ready, timeout=30)


def expanding_engine(size):
    """y is x, of one element, `size` times."""
    node = helper.make_node("Expand", ["x", "shape"], ["y"])
    weights = [("shape", np.array([size]))]
    made = kiln_models.model([node], [("x", kiln_models.FLOAT, [1])], [("y", kiln_models.FLOAT, [size])], weights)
    return kiln.compile(made, **serving.QUICK)


def test_answers_that_a_stream_does_not_take_count():
    """All that are ready, not the one alone that is being sent: a client may send and never read."""
    size = 1 << 18
    kind = MESSAGES["ModelInferRequest"]
    tensor = {"name": "x", "datatype": "FP32", "shape": [1]}
    sent = kind(model_name="large", inputs=[tensor], raw_input_contents=[bytes(4)]).SerializeToString()
    limit = 10 * 4 * size
    with serving.serve(
        {"large": expanding_engine(size)}, max_bytes_in_flight=limit, max_request_bytes=1000, http_port=None
    ) as server:
        more = threading.Event()

        def messages():
            yield from [sent] * 20
            more.wait(60)

        with grpc.insecure_channel(server.grpc_address) as channel:
            call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")(messages(), timeout=60)
            wait_for(lambda: server.refusals.snapshot().get(("grpc", "full"), 0) >= 8)
            assert 8 * 4 * size < server.budget.used <= limit
            more.set()
            told = [MESSAGES["ModelStreamInferResponse"].FromString(one).error_message for one in call]
            assert len(told) == 20 and 8 <= sum("try again later" in words for words in told) <= 12
            wait_for(lambda: server.budget.used == 0)
            more.clear()
            call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")(messages(), timeout=60)
            wait_for(lambda: server.budget.used > 8 * 4 * size)
            call.cancel()
            wait_for(lambda: server.budget.used == 0)
            more.set()


def test_long_answers_in_json(monkeypatch):
    """They are written in pieces, as one text would be, and no further than to the limit of all bytes."""
    size = 100_003
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [0.1]}], "id": "a"}
    list_for_json = _http_tensors.list_for_json
    monkeypatch.setattr(_http_tensors, "list_for_json", lambda part: written.append(part.size) or list_for_json(part))
    written = []
    for limit in (1 << 30, 1 << 20):
        written.clear()
        with serving.serve(
            {"large": expanding_engine(size)}, max_bytes_in_flight=limit, max_request_bytes=1000, grpc_port=None
        ) as server:
            answer = post(server, "/v2/models/large/infer", body)
            if limit == 1 << 30:
                value = float(np.float32(0.1))
                output = {"name": "y", "datatype": "FP32", "shape": [size], "data": [value] * size}
                said = {"model_name": "large", "model_version": "1", "id": "a", "outputs": [output]}
                assert answer.status == 200 and answer.body == json.dumps(said).encode()
            else:
                assert answer.status == 500 and "more than 1048576 bytes; max_bytes_in_flight" in answer.error
                assert sum(written) < 0.7 * size
