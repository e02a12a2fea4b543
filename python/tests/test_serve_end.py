"""kiln.serve: what becomes of requests when the server stops, and signals of its process."""

import contextlib
import http.client
import importlib
import json
import logging
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import kiln_models
import numpy as np
import pytest
import serving
from onnx import helper
from serving import connect, infer, input_of, request, rows, wait_for
from test_serve_batching import version_instances

import kiln
import kiln.serve

grpc = pytest.importorskip("grpc")

from kiln.serve._messages import MESSAGES  # noqa: E402
from kiln.serve._signals import Signals  # noqa: E402

SERVICE = "/inference.GRPCInferenceService/"
STREAM = SERVICE + "ModelStreamInfer"
PATH = "/v2/models/affine/infer"
BODY = json.dumps({"inputs": [input_of(rows(1))]}).encode()


@pytest.fixture(scope="module")
def engine():
    return serving.affine_engine()


@pytest.fixture(scope="module")
def plan(engine, tmp_path_factory):
    return engine.save(tmp_path_factory.mktemp("plans") / "affine.plan")


def message(call_id=""):
    """A ModelInferRequest."""
    tensor = {"name": "x", "datatype": "FP32", "shape": (1, 4)}
    made = MESSAGES["ModelInferRequest"](
        model_name="affine", id=call_id, inputs=[tensor], raw_input_contents=[rows(1).tobytes()]
    )
    return made.SerializeToString()


def channel_to(server):
    return grpc.insecure_channel(server.grpc_address, options=[("grpc.use_local_subchannel_pool", 1)])


class Stream:
    """A stream of gRPC whose messages are sent one by one."""

    def __init__(self, channel):
        self._sent = queue.Queue()
        self._call = channel.stream_stream(STREAM)(iter(self._sent.get, None), timeout=60)

    def send(self, call_id=""):
        self._sent.put(message(call_id))

    def next(self):
        return MESSAGES["ModelStreamInferResponse"].FromString(next(self._call))

    def failure(self):
        """(code, words) that the stream ends with, and the answers before."""
        answers = []
        with pytest.raises(grpc.RpcError) as found:
            while True:
                answers.append(self.next())
        self._sent.put(None)
        return found.value.code(), found.value.details(), answers


class H2Call:
    """A call of gRPC on a connection of its own, whose answer is not read: only as much comes as HTTP/2 lets without a word
    of its client, 64 KiB."""

    def __init__(self, server, method, data):
        host, _, port = server.grpc_address.rpartition(":")
        self._connection = socket.create_connection((host, int(port)), timeout=30)
        fields = {":method": "POST", ":scheme": "http", ":path": SERVICE + method, ":authority": "test", "te": "trailers",
                  "content-type": "application/grpc"}  # fmt: skip
        head = b"".join(b"\0%c%s%c%s" % (len(k), k.encode(), len(v), v.encode()) for k, v in fields.items())
        self._connection.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self._frame(4, 0, 0, b"") + self._frame(1, 4, 1, head)
            + self._frame(0, 1, 1, struct.pack(">BI", 0, len(data)) + data)
        )  # fmt: skip

    @staticmethod
    def _frame(kind, flags, stream, data):
        return struct.pack(">I", len(data))[1:] + struct.pack(">BBI", kind, flags, stream) + data

    def close(self):
        self._connection.close()


class Held:
    """A server whose runs are held until `release` is set, and what is logged as a warning or worse meanwhile."""

    def __init__(self, engine, **changed):
        self.held = serving.HeldEngine(engine, 60)
        self.server = kiln.serve.Server({"affine": engine}, settings=serving.settings(instances=1, **changed))
        self.log = []

    def __enter__(self):
        self.server.start()
        self.version = self.server.repository.find("affine")
        for instance in version_instances(self.version):
            instance._engine = self.held
        self._handler = logging.Handler(logging.WARNING)
        self._handler.emit = lambda record: self.log.append(record.getMessage())
        logging.getLogger().addHandler(self._handler)
        return self

    def stop(self, seconds):
        """What `Server.stop` returns; the run that is held ends when the ports are closed."""
        release = threading.Timer(seconds + 3, self.held.release.set)
        release.start()
        try:
            return self.server.stop(seconds)
        finally:
            release.cancel()
            self.held.release.set()

    def __exit__(self, *_):
        self.held.release.set()
        self.server.stop(0)
        logging.getLogger().removeHandler(self._handler)


# Streams.


def test_a_stream_takes_no_message_when_the_server_stops(engine):
    """What it had taken is answered; what comes later is refused, and counted so."""
    with Held(engine, http_port=None) as one, channel_to(one.server) as channel:
        stream = Stream(channel)
        stream.send("taken")
        assert one.held.begun.wait(30)
        one.server.refuse()
        stream.send("late")
        wait_for(lambda: one.server.refusals.snapshot() == {("grpc", "unavailable"): 1})
        one.held.release.set()
        code, words, answers = stream.failure()
        assert (code, words) == (grpc.StatusCode.UNAVAILABLE, "the server stops")
        assert [(a.infer_response.id, a.error_message) for a in answers] == [("taken", "")]
        assert one.server.stop() == 0
    assert one.log == []


def test_streams_that_are_idle_end_when_the_server_stops(engine, capfd):
    """They are told, and do not hold up the end."""
    with Held(engine, http_port=None) as one, channel_to(one.server) as channel:
        one.held.release.set()
        streams = [Stream(channel) for _ in range(3)]
        for stream in streams:
            stream.send()
            assert not stream.next().error_message
        started = time.monotonic()
        assert one.server.stop(30) == 0
        assert time.monotonic() - started < 5
        for stream in streams:
            assert stream.failure() == (grpc.StatusCode.UNAVAILABLE, "the server stops", [])
    assert one.log == [] and capfd.readouterr().err == ""


def test_messages_of_a_stream_that_get_no_answer_are_lost(engine, capfd):
    """One runs and two wait when the time is over. Each is told, and counts."""
    with Held(engine, http_port=None) as one, channel_to(one.server) as channel:
        stream = Stream(channel)
        stream.send("a")
        assert one.held.begun.wait(30)  # before the others come, which could be joined with it
        stream.send("b")
        stream.send("c")
        wait_for(lambda: one.version.queue_length == 2)
        assert one.stop(0.5) == 3
        code, words, answers = stream.failure()
        assert (code, words) == (grpc.StatusCode.UNAVAILABLE, "the server stops")
        assert [a.infer_response.id for a in answers] == ["a", "b", "c"]
        assert {a.error_message for a in answers} == {"the server stops, and the request did not end in time"}
        wait_for(lambda: one.server.budget.used == 0)
    assert one.log == [] and capfd.readouterr().err == ""


def test_requests_that_get_no_answer_are_lost(engine, capfd):
    """Of both protocols: one runs, the others wait. Each client is told."""
    with Held(engine) as one, channel_to(one.server) as channel:
        first = channel.unary_unary(SERVICE + "ModelInfer").future(message(), timeout=60)
        assert one.held.begun.wait(30)
        second = channel.unary_unary(SERVICE + "ModelInfer").future(message(), timeout=60)
        answers = []
        client = threading.Thread(target=lambda: answers.append(request(one.server, "POST", PATH, BODY)))
        client.start()
        halfway = connect(one.server)  # a request that has not come is not lost
        halfway.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{" % PATH.encode())
        wait_for(lambda: one.version.queue_length == 2)
        time.sleep(0.2)
        assert one.stop(0.5) == 3
        client.join(30)
        told = "the server stops, and the request did not end in time"
        assert [(answer.status, answer.error) for answer in answers] == [(503, told)]
        for call in (first, second):
            assert (call.code(), call.details()) == (grpc.StatusCode.UNAVAILABLE, told)
        assert halfway.recv(1 << 16).startswith(b"HTTP/1.1 503 ")
        halfway.close()
    assert one.log == [] and capfd.readouterr().err == ""


def expanding_engine(size):
    """y is x, of one element, `size` times."""
    node = helper.make_node("Expand", ["x", "shape"], ["y"])
    weights = [("shape", np.array([size]))]
    made = kiln_models.model([node], [("x", kiln_models.FLOAT, [1])], [("y", kiln_models.FLOAT, [size])], weights)
    return kiln.compile(made, **serving.QUICK)


def test_answers_that_are_not_taken_are_lost(capfd):
    """Of clients that do not read: a stream, a call and a connection. The server ends without them."""
    size = 1 << 22
    sent = MESSAGES["ModelInferRequest"](
        model_name="affine", inputs=[{"name": "x", "datatype": "FP32", "shape": [1]}], raw_input_contents=[bytes(4)]
    ).SerializeToString()
    with Held(expanding_engine(size), max_bytes_in_flight=1 << 30) as one, channel_to(one.server) as channel:
        one.held.release.set()
        more = threading.Event()

        def messages():
            yield from [sent] * 3
            more.wait(60)

        stream = channel.stream_stream(STREAM)(messages(), timeout=60)
        unread = H2Call(one.server, "ModelInfer", sent)
        connection = connect(one.server)
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [1]}],
                           "parameters": {"binary_data_output": True}}).encode()  # fmt: skip
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (PATH.encode(), len(body)) + body)
        wait_for(lambda: one.server.budget.used > 5 * 4 * size)
        started = time.monotonic()
        assert one.server.stop(0.5) == 5
        assert time.monotonic() - started < 5
        more.set()
        stream.cancel()
        unread.close()
        connection.close()
    assert one.log == [] and capfd.readouterr().err == ""


# Ports that are about to close.


def test_requests_after_the_end_began_are_told(engine):
    """On connections of both protocols, new ones and kept ones, until the ports close."""
    server = kiln.serve.Server({"affine": engine}, settings=serving.settings()).start()
    kept = http.client.HTTPConnection(server.http_address, timeout=30)
    kept.request("GET", "/v2/health/ready")
    assert kept.getresponse().read() == b'{"ready": true}'
    with channel_to(server) as channel:
        ask = channel.unary_unary(SERVICE + "ModelInfer")
        assert ask(message(), timeout=30)
        assert b'kiln_model_ready{model="affine",version="1"} 1.0' in request(server, "GET", "/metrics").body
        server.refuse()
        for path in ("/v2/health/ready", "/v2/models/affine/ready"):
            answer = request(server, "GET", path)
            assert answer.status == 503 and "stops" in answer.error and answer.headers["connection"] == "close"
        for client in (kept, http.client.HTTPConnection(server.http_address, timeout=30)):
            client.request("POST", PATH, BODY)
            answer = client.getresponse()
            assert answer.status == 503 and json.loads(answer.read()) == {"error": "the server stops"}
            assert answer.headers["connection"] == "close"
            client.close()
        large = request(server, "POST", PATH, bytes(10_000_000))  # more than the sockets hold: it is told still
        assert large.status == 503
        assert request(server, "GET", "/v2/health/live").status == 200
        told = request(server, "GET", "/metrics").body.decode()
        assert "kiln_ready 0.0" in told and 'kiln_model_ready{model="affine",version="1"} 0.0' in told
        with pytest.raises(grpc.RpcError) as found:
            ask(message(), timeout=30)
        assert (found.value.code(), found.value.details()) == (grpc.StatusCode.UNAVAILABLE, "the server stops")
        for method, fields in (("ServerReady", {}), ("ModelReady", {"name": "affine"})):
            sent = MESSAGES[f"{method}Request"](**fields).SerializeToString()
            answer = channel.unary_unary(SERVICE + method)(sent, timeout=30)
            assert not MESSAGES[f"{method}Response"].FromString(answer).ready
        assert server.refusals.snapshot() == {("grpc", "unavailable"): 1, ("http", "unavailable"): 3}
    assert server.stop() == 0


class Process:
    """`python -m kiln.serve`, or a program that runs it; `lines` are those of its log."""

    def __init__(self, *words, program=("-m", "kiln.serve")):
        self.process = subprocess.Popen(
            [sys.executable, *program, "--http-port=0", "--grpc-port=0", *map(str, words)], stderr=subprocess.PIPE, text=True
        )
        self.lines, self._grew = [], threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            with self._grew:
                self.lines.append(json.loads(line) if line.startswith("{") else {"message": line})
                self._grew.notify_all()

    def line(self, start, seconds=60):
        """The first line whose message starts so."""
        find = lambda: next((line for line in self.lines if line["message"].startswith(start)), None)  # noqa: E731
        with self._grew:
            assert self._grew.wait_for(find, seconds), self.lines
        return find()

    def __enter__(self):
        ready = self.line("serving")
        self.http_address, self.grpc_address = ready["http"], ready["grpc"]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stderr.close()


def test_the_process_refuses_for_a_while(plan):
    """Both ports are open for as long after SIGTERM."""
    with Process(plan, "--refuse-seconds=3") as server, channel_to(server) as channel:
        ask = channel.unary_unary(SERVICE + "ModelInfer")
        assert ask(message(), timeout=30)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: serving.get(server, "/v2/health/ready").status == 503)
        while time.monotonic() < started + 2:
            answer = infer(server, "affine", input_of(rows(1)))
            assert (answer.status, answer.error) == (503, "the server stops")
            with pytest.raises(grpc.RpcError) as found:
                ask(message(), timeout=30)
            assert (found.value.code(), found.value.details()) == (grpc.StatusCode.UNAVAILABLE, "the server stops")
            time.sleep(0.1)
        assert server.process.wait(30) == 0
        assert 3 <= time.monotonic() - started < 8
        with pytest.raises(OSError):
            connect(server)


# Signals.


def test_a_signal_that_another_thread_gets_is_heard_at_once(plan):
    # The system tells the main thread nothing of it, as where it waits for a lock just then.
    program = """
import signal, sys, threading
from kiln.serve.__main__ import main
def send():
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
timer = threading.Timer(3, send)
timer.start()
sys.exit(main(sys.argv[1:]))
"""
    with Process(plan, "--refuse-seconds=0", program=("-c", program)) as server:
        started = time.monotonic()
        server.line("stopping", 8)
        assert server.process.wait(30) == 0
        assert time.monotonic() - started < 8


def test_waits_end_by_what_came_before():
    """A wake or a signal between a look and the wait is not missed."""
    signals = Signals()
    started = time.monotonic()
    signals.wake()
    assert not signals.ends
    signals.wait(30)
    with signals.heard():
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        assert signals.asks_anew() and not signals.asks_anew() and signals.ends
        signals.wait(30)
    assert time.monotonic() - started < 10
    started = time.monotonic()
    signals.wait(0.3)  # nothing is left
    assert time.monotonic() - started >= 0.29
    signals.close()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_process_is_not_ready_from_the_signal_on(plan):
    """Also where what is being loaded has to end first."""
    program = """
import sys, threading
from kiln.serve import _repository
opened = _repository.open_engine
def open_engine(file, config, *others):
    if config.name == "slow":
        threading.Event().wait(6)
    return opened(file, config, *others)
_repository.open_engine = open_engine
from kiln.serve.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Process(f"affine={plan}", f"slow={plan}", f"--http-port={port}", program=("-c", program))
    server.http_address = f"127.0.0.1:{port}"
    try:
        server.line("model affine is ready")
        assert infer(server, "affine", input_of(rows(1))).status == 200
        server.process.send_signal(signal.SIGTERM)
        server.line("stopping; what is being loaded ends first", 3)
        answer = infer(server, "affine", input_of(rows(1)))
        assert (answer.status, answer.error) == (503, "the server stops")
        assert serving.get(server, "/v2/models/affine/ready").status == 503
        assert server.process.wait(30) == 0
    finally:
        server.__exit__()


def test_another_signal_ends_it_at_once(plan):
    with Process(plan, "--refuse-seconds=20") as server:
        server.process.send_signal(signal.SIGINT)
        wait_for(lambda: serving.get(server, "/v2/health/ready").status == 503)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(5) == -signal.SIGINT


@pytest.mark.parametrize("words", ["x", "-1", "1e9"])
def test_refuse_seconds_are_checked(words, capsys):
    command = importlib.import_module("kiln.serve.__main__")
    with pytest.raises(SystemExit), contextlib.redirect_stdout(None):
        command.main(["a.plan", f"--refuse-seconds={words}"])
    assert "argument --refuse-seconds" in capsys.readouterr().err


# A connection that ends while its client sends.


@pytest.mark.parametrize("length", [b"content-length: 500000000", b"transfer-encoding: chunked"])
def test_a_large_body_is_refused_before_it_is_sent(engine, length):
    """The client is told at once, and its connection ends though it sends on."""
    with serving.serve({"affine": engine}, max_request_bytes=1000, body_seconds=60, grpc_port=None) as server:
        connection = connect(server)
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\n%s\r\n\r\n" % (PATH.encode(), length))
        if b"chunked" in length:
            connection.sendall(b"7d0\r\n" + bytes(2000) + b"\r\n")
        connection.settimeout(5)
        found = b""
        while part := connection.recv(1 << 16):
            found += part
        assert found.startswith(b"HTTP/1.1 413 ") and b"connection: close" in found and b"1000 are possible" in found
        assert server.budget.used == 0
        started, sent = time.monotonic(), 0
        with pytest.raises(OSError):
            while time.monotonic() < started + 20:
                connection.sendall(bytes(1 << 16))
                sent += 1 << 16
        assert time.monotonic() - started < 15 and sent < 1 << 30
        connection.close()
        assert infer(server, "affine", input_of(rows(1))).status == 200


def test_a_client_that_sends_all_before_it_reads_is_told(engine):
    """The connection is not reset under the answer."""
    with serving.serve({"affine": engine}, max_request_bytes=1000, grpc_port=None) as server:
        for _ in range(5):
            answer = request(server, "POST", PATH, bytes(20_000_000))
            assert (answer.status, answer.error) == (413, "the request has 20000000 bytes; 1000 are possible")


def test_the_rest_of_a_body_that_nobody_reads(engine):
    """It does not keep a connection for ever."""
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        connection = connect(server)
        connection.sendall(b"GET /v2 HTTP/1.1\r\nhost: x\r\ncontent-length: 5000\r\n\r\n1")
        connection.settimeout(10)
        found = b""
        while part := connection.recv(1 << 16):
            found += part
        assert found.startswith(b"HTTP/1.1 200 ")
        connection.close()


def test_connections_that_linger_hold_up_nothing(engine):
    server = kiln.serve.Server({"affine": engine}, settings=serving.settings(max_request_bytes=1000)).start()
    held = []
    for _ in range(3):
        connection = socket.create_connection(server.http_address.split(":"), timeout=30)
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 2000\r\n\r\n" % PATH.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
        held.append(connection)
    started = time.monotonic()
    assert server.stop(1) == 0
    assert time.monotonic() - started < 4
    for connection in held:
        connection.close()
