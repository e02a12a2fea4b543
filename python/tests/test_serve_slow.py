"""kiln.serve: clients of gRPC that send slowly or never end, what failed requests leave, and loops that are busy."""

import asyncio
import gc
import http.client
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib

import numpy as np
import pytest
import serving
from onnx import helper
from serving import connect, infer, input_of, post, rows, wait_for
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

import kiln
import kiln_models

grpc = pytest.importorskip("grpc")

from kiln.serve import Reason, ServeError, Settings  # noqa: E402
from kiln.serve._bodies import read_body  # noqa: E402
from kiln.serve._calls import Budget  # noqa: E402
from kiln.serve._drain import Drain  # noqa: E402
from kiln.serve._grpc import _MOST_IN_A_STREAM  # noqa: E402
from kiln.serve._messages import MESSAGES  # noqa: E402
from kiln.serve._receiver import Receiver, StreamReader  # noqa: E402

INFER = "/inference.GRPCInferenceService/ModelInfer"
MIB = 1 << 20


@pytest.fixture(scope="module")
def engine():
    return serving.affine_engine()


def message(x, model="affine"):
    """A ModelInferRequest."""
    tensor = {"name": "x", "datatype": "FP32", "shape": x.shape}
    made = MESSAGES["ModelInferRequest"](model_name=model, inputs=[tensor], raw_input_contents=[x.tobytes()])
    return made.SerializeToString()


class Rude:
    """A call of gRPC on a connection of its own, which sends the first bytes of its message and no more."""

    _DATA, _HEADERS, _RESET = 0, 1, 3
    _END_STREAM = 1

    def __init__(self, server, size, sent):
        """The message is said to have `size` bytes; `sent` of them come."""
        host, _, port = server.grpc_address.rpartition(":")
        self._connection = socket.create_connection((host, int(port)), timeout=30)
        fields = {":method": "POST", ":scheme": "http", ":path": INFER, ":authority": "test", "te": "trailers",
                  "content-type": "application/grpc"}  # fmt: skip
        # Each as a literal that no table has and that is not compressed.
        head = b"".join(b"\0%c%s%c%s" % (len(k), k.encode(), len(v), v.encode()) for k, v in fields.items())
        start = struct.pack(">BI", 0, size) + bytes(sent)
        self._connection.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self._frame(4, 0, 0, b"")
            + self._frame(self._HEADERS, 4, 1, head) + self._frame(self._DATA, 0, 1, start)
        )  # fmt: skip

    @staticmethod
    def _frame(kind, flags, stream, data):
        return struct.pack(">I", len(data))[1:] + struct.pack(">BBI", kind, flags, stream) + data

    def _read(self, size):
        found = b""
        while len(found) < size:
            part = self._connection.recv(size - len(found))
            if not part:
                raise ConnectionError
            found += part
        return found

    def ends_within(self, seconds):
        """Whether the server ends the call in time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._connection.settimeout(left)
            try:
                head = self._read(9)
                size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
                self._read(size)
            except TimeoutError:
                return False
            except ConnectionError:
                return True
            if kind == self._RESET or (kind == self._HEADERS and flags & self._END_STREAM):
                return True
        return False

    def close(self):
        self._connection.close()


def ask(server, data=None, timeout=30):
    """One good call on a channel of its own."""
    with grpc.insecure_channel(server.grpc_address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        return channel.unary_unary(INFER)(message(rows(1)) if data is None else data, timeout=timeout)


# Messages that do not come.


def test_a_message_has_its_time(engine):
    with serving.serve({"affine": engine}, body_seconds=0.5, http_port=None) as server:
        slow = Rude(server, 1000, 10)
        assert ask(server)
        assert slow.ends_within(20)
        slow.close()


def test_slow_messages_leave_their_places(engine):
    """Two messages may come at a time; two that never end hold up a third for about a second."""
    with serving.serve(
        {"affine": engine}, max_request_bytes=MIB, max_bytes_in_flight=2 * MIB, body_seconds=600, http_port=None
    ) as server:
        slow = [Rude(server, 1000, 10) for _ in range(2)]
        assert not slow[0].ends_within(2)  # nobody needs its place
        assert ask(server) and ask(server)
        assert sorted(one.ends_within(2) for one in slow) == [False, True]
        for one in slow:
            one.close()


class Call:
    """A call whose message comes when the test says so."""

    def __init__(self):
        self.message = asyncio.get_running_loop().create_future()

    async def read(self):
        return await self.message


def test_places():
    async def run():
        receiver = Receiver(Settings(max_request_bytes=MIB, max_bytes_in_flight=2 * MIB, body_seconds=30))
        calls = [Call() for _ in range(18)]
        tasks = [asyncio.create_task(receiver.receive(call)) for call in calls]
        await asyncio.sleep(0.1)
        with pytest.raises(ServeError, match="18 messages are on their way; try again later") as found:
            await receiver.receive(Call())
        assert found.value.reason is Reason.FULL
        calls[1].message.set_result(b"1")
        assert await tasks[1] == b"1"
        calls[2].message.set_result(b"2")  # it has the place of 1 now
        assert await tasks[2] == b"2"
        for call in calls[3:]:
            call.message.set_result(b"3")
        assert await asyncio.gather(*tasks[3:]) == [b"3"] * 15
        # The first one had a second; the next call that needs its place would end it, but there is room now.
        await asyncio.sleep(1.1)
        assert not tasks[0].done()
        others = [Call(), Call()]
        waiting = [asyncio.create_task(receiver.receive(call)) for call in others]
        with pytest.raises(ServeError, match="longer than 1 s, and other requests need its place") as found:
            await tasks[0]
        assert found.value.reason is Reason.FULL
        for call in others:
            call.message.set_result(b"4")
        assert await asyncio.gather(*waiting) == [b"4"] * 2

    asyncio.run(run())


def test_slow_messages_leave_as_many_places_as_are_needed():
    """Their time of grace ends at once for all of them, and one after the other for those that come later."""

    async def run():
        receiver = Receiver(Settings(max_request_bytes=MIB, max_bytes_in_flight=8 * MIB, body_seconds=30))
        slow = [asyncio.create_task(receiver.receive(Call())) for _ in range(8)]
        await asyncio.sleep(0.3)
        calls = [Call() for _ in range(3)]
        waiting = [asyncio.create_task(receiver.receive(call)) for call in calls]
        await asyncio.sleep(1.2)
        assert [task.done() for task in slow] == [True] * 3 + [False] * 5
        calls.append(Call())
        waiting.append(asyncio.create_task(receiver.receive(calls[-1])))  # the next one leaves at once
        await asyncio.sleep(0.1)
        assert [task.done() for task in slow] == [True] * 4 + [False] * 4
        for call in calls:
            call.message.set_result(b"x")
        assert await asyncio.wait_for(asyncio.gather(*waiting), 5) == [b"x"] * 4
        for task in slow:
            task.cancel()
        found = await asyncio.gather(*slow, return_exceptions=True)
        assert all("other requests need its place" in str(one) for one in found[:4])
        assert receiver._free == 8 and not receiver._leaving and not receiver._waiting and not receiver._slow

    asyncio.run(run())


def test_places_of_calls_that_are_cancelled():
    async def run():
        receiver = Receiver(Settings(max_request_bytes=MIB, max_bytes_in_flight=MIB, body_seconds=30))
        first = asyncio.create_task(receiver.receive(Call()))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(receiver.receive(Call()))
        await asyncio.sleep(0.05)
        for task in (second, first):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        call = Call()
        call.message.set_result(b"x")
        assert await asyncio.wait_for(receiver.receive(call), 5) == b"x"

    asyncio.run(run())


def test_a_call_without_a_message(engine):
    with serving.serve({"affine": engine}, http_port=None) as server:
        with grpc.insecure_channel(server.grpc_address) as channel:
            with pytest.raises(grpc.RpcError) as found:
                list(channel.stream_stream(INFER)(iter(()), timeout=30))
    assert (found.value.code(), found.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, "the call has no message")


def test_streams_that_are_idle(engine):
    with serving.serve({"affine": engine}, idle_seconds=1, max_queue_delay_us=2_500_000, http_port=None) as server:
        with grpc.insecure_channel(server.grpc_address) as channel:
            more = threading.Event()

            def sent():
                yield message(rows(1))
                more.wait(60)

            answers = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")(sent(), timeout=60)
            assert next(answers)  # after two and a half seconds, for which the stream was not idle
            with pytest.raises(grpc.RpcError) as found:
                next(answers)
            more.set()
    assert found.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert found.value.details() == "no message came for 1 s"


def test_streams_have_a_limit(engine, monkeypatch):
    monkeypatch.setattr("kiln.serve._grpc._MOST_STREAMS", 1)
    with serving.serve({"affine": engine}, http_port=None) as server:
        with grpc.insecure_channel(server.grpc_address) as channel:
            stream = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            more = threading.Event()

            def sent():
                yield message(rows(1))
                more.wait(60)

            first = stream(sent(), timeout=60)
            assert next(first)
            with pytest.raises(grpc.RpcError, match="1 streams are open; try again later") as found:
                next(stream(iter([message(rows(1))]), timeout=60))
            assert found.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            more.set()
            assert list(first) == []
            assert len(list(stream(iter([message(rows(1))]), timeout=60))) == 1


def test_streams_that_are_cancelled_leave_no_task():
    """Also one whose answers have all the places that there are."""
    tanh = helper.make_node("Tanh", ["x"], ["y"])
    model = kiln_models.model([tanh], [("x", kiln_models.FLOAT, ["n", "k"])], [("y", kiln_models.FLOAT, ["n", "k"])])
    engine = kiln.compile(model, shapes={"x": [(1, 1), (2, 8), (8, 64)]}, **serving.QUICK)
    with serving.serve({"m": engine}, max_queue_delay_us=60_000_000, http_port=None) as server:
        version = server.repository.find("m")
        loop = server._threads[0]._loop

        async def tasks():
            names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]
            return [name for name in names if name.startswith("Servicer.")]

        more = threading.Event()

        def sent():
            for k in range(40):
                yield message(rows(1, width=1 + k), "m")
            more.wait(60)

        with grpc.insecure_channel(server.grpc_address) as channel:
            call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")(sent(), timeout=60)
            wait_for(lambda: version.queue_length == _MOST_IN_A_STREAM)
            time.sleep(0.3)
            assert version.queue_length == _MOST_IN_A_STREAM  # no message more is read
            call.cancel()
            wait_for(lambda: asyncio.run_coroutine_threadsafe(tasks(), loop).result(20) == [])
            assert version.queue_length == 0 and server.budget.used == 0
            more.set()


def test_connections_of_grpc_have_a_limit(engine):
    with serving.serve({"affine": engine}, max_connections=2, http_port=None) as server:
        options = [("grpc.use_local_subchannel_pool", 1)]
        channels = [grpc.insecure_channel(server.grpc_address, options=options) for _ in range(2)]
        for channel in channels:
            assert channel.unary_unary(INFER)(message(rows(1)), timeout=30)
        with pytest.raises(grpc.RpcError) as found:
            ask(server)
        assert found.value.code() is grpc.StatusCode.UNAVAILABLE
        for channel in channels:
            assert channel.unary_unary(INFER)(message(rows(1)), timeout=30)
            channel.close()


def test_a_stream_is_idle_from_its_last_answer_on():
    async def run():
        call = Call()
        reader = StreamReader(call, 0.3, Drain(lambda: False))
        answer = asyncio.create_task(asyncio.sleep(0.5))
        reader.begin(answer)
        started = time.monotonic()
        with pytest.raises(ServeError, match="no message came for 0.3 s"):
            await reader.next()
        assert time.monotonic() - started >= 0.79
        call.message.set_result(b"x")

    asyncio.run(run())


def test_long_lists_of_numbers(engine):
    """More numbers than the shape has are not read, and many numbers are read beside other requests."""
    kind = MESSAGES["ModelInferRequest"]
    with serving.serve({"affine": engine}, http_port=None) as server:
        for count, words in ((4, None), (200_000, "a batch of 50000 was sent"), (200_001, "200001 elements in fp32")):
            tensor = {"name": "x", "datatype": "FP32", "shape": [count // 4, 4], "contents": {"fp32_contents": [1] * count}}
            data = kind(model_name="affine", inputs=[tensor]).SerializeToString()
            if words is None:
                assert ask(server, data)
                continue
            with pytest.raises(grpc.RpcError, match=words):
                ask(server, data)


def test_long_words_are_cut(engine):
    with serving.serve({"affine": engine}, http_port=None) as server:
        with pytest.raises(grpc.RpcError) as found:
            ask(server, message(rows(1), "m" * 100_000))
        assert found.value.code() is grpc.StatusCode.NOT_FOUND
        assert found.value.details().startswith("there is no model 'mmm") and found.value.details().endswith(" ...")


# Protocols apart.


def test_a_busy_loop_of_http_does_not_hold_grpc(engine):
    with serving.serve({"affine": engine}) as server:
        ask(server)
        held = threading.Event()

        def hold():
            held.set()
            time.sleep(5)

        (http_thread,) = [t for t in server._threads if t._thread.name == "kiln-http"]
        http_thread._loop.call_soon_threadsafe(hold)
        assert held.wait(20)
        started = time.monotonic()
        assert ask(server)
        assert time.monotonic() - started < 4


# What requests leave.


def test_failed_calls_leave_nothing_to_the_collector(engine):
    """The bytes of requests go when the calls end, not when the garbage collector comes."""
    large = message(rows(1 << 16))
    with serving.serve({"affine": engine}, http_port=None) as server:
        with grpc.insecure_channel(server.grpc_address) as channel:
            made = channel.unary_unary(INFER)

            def fail():
                with pytest.raises(grpc.RpcError, match="a batch of 65536 was sent"):
                    made(large, timeout=30)

            fail()
            gc.collect()
            gc.disable()
            tracemalloc.start()
            try:
                for _ in range(20):
                    fail()
                wait_for(lambda: server.budget.used == 0)
                time.sleep(0.2)
                kept, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
                gc.enable()
    assert kept < 3 * len(large)


def test_connections_leave_nothing_to_the_collector(engine):
    """They, and what their requests held, go when they end: also those of failed requests."""
    body = json.dumps({"inputs": [input_of(rows(1))]}).encode()
    head = b"POST /v2/models/affine/infer HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
    with serving.serve({"affine": engine}, max_request_bytes=1000, grpc_port=None) as server:
        gc.collect()
        gc.disable()
        try:
            for sent, start in (
                (head % len(body) + body, b"HTTP/1.1 200"),
                (head % 2000, b"HTTP/1.1 413"),
                (head % 500 + b"{", b""),
                (b"nonsense\r\n\r\n", b"HTTP/1.1 400"),
            ):
                connection = connect(server)
                connection.sendall(sent)
                assert not start or connection.recv(1 << 16).startswith(start)
                time.sleep(0.1)
                connection.close()
            time.sleep(0.5)
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            left = [one for one in gc.garbage if isinstance(one, (HttpToolsProtocol, ServeError))]
            gc.garbage.clear()
        finally:
            gc.set_debug(0)
            gc.enable()
    assert left == []


def test_refused_messages_leave_no_memory_in_their_connections(engine, tmp_path):
    """gRPC itself refuses what is too large; its connections live on."""
    plan = engine.save(tmp_path / "affine.plan")
    command = [sys.executable, "-m", "kiln.serve", str(plan), "--http-port=none", "--grpc-port=0", "--max-request-mib=1"]
    log_file = tmp_path / "log"
    with log_file.open("w") as log:
        process = subprocess.Popen(command, stderr=log)
    try:
        wait_for(lambda: '"serving' in log_file.read_text(), 60)
        lines = [json.loads(line) for line in log_file.read_text().splitlines()]
        address = next(line["grpc"] for line in lines if "grpc" in line)
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
        channels = [grpc.insecure_channel(address, options=options) for _ in range(8)]
        statm = pathlib.Path(f"/proc/{process.pid}/statm")
        large = bytes(6 * MIB)

        def refuse(times):
            for _ in range(times):
                for channel in channels:
                    with pytest.raises(grpc.RpcError) as found:
                        channel.unary_unary(INFER)(large, timeout=60)
                    assert found.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        before = refuse(1)
        assert refuse(5) - before < 10 * MIB
        for channel in channels:
            assert channel.unary_unary(INFER)(message(rows(1)), timeout=60)
            channel.close()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_slow_bodies_reserve_what_has_come(engine):
    with serving.serve({"affine": engine}, max_bytes_in_flight=64 * MIB, grpc_port=None) as server:
        head = b"POST /v2/models/affine/infer HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n1" % (60 * MIB)
        held = [connect(server) for _ in range(20)]  # of 1.2 GB, by their own word
        for connection in held:
            connection.sendall(head)
        wait_for(lambda: server.budget.used == 20 << 16)
        assert infer(server, "affine", input_of(rows(1))).status == 200
        held[0].sendall(bytes(10 * MIB))
        wait_for(lambda: server.budget.used > 10 * MIB)
        for connection in held:
            connection.close()
        wait_for(lambda: server.budget.used == 0)


def test_fields_behind_a_body_mean_nothing(engine):
    body = json.dumps({"inputs": [input_of(rows(1))]}).encode()
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        connection = connect(server)
        connection.sendall(b"POST /v2/models/affine/infer HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n%s\r\n0\r\n" % (len(body), body))
        connection.sendall(b"".join(b"a%d: %s\r\n" % (i, b"b" * 100) for i in range(400)))
        connection.sendall(b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        connection.close()


def test_compressed_bodies_reserve_their_bytes_ahead(monkeypatch):
    """Also those that become a thousand times as large; what was too much is given back."""
    limit = 16 * MIB
    settings, budget, most = Settings(max_request_bytes=limit, max_bytes_in_flight=limit), Budget(limit), []
    inflate = zlib.decompressobj

    class Worker:
        def __init__(self, window):
            self._worker, self._found = inflate(window), 0

        def decompress(self, data, size):
            piece = self._worker.decompress(data, size)
            self._found += len(piece)
            most.append((self._found, budget.used))
            return piece

        def __getattr__(self, name):
            return getattr(self._worker, name)

    monkeypatch.setattr(zlib, "decompressobj", Worker)

    async def read(plain):
        data = zlib.compress(plain, 9)

        async def receive():
            return {"type": "http.request", "body": data, "more_body": False}

        headers = {"content-length": str(len(data)), "content-encoding": "deflate"}
        async with read_body(receive, headers, settings, budget) as body:
            assert bytes(body.data) == plain and budget.used == len(plain)

    async def refused():
        with pytest.raises(ServeError, match="more would exceed") as found:
            await read(bytes(10 * MIB))
        return found.value.reason

    async def run():
        for plain in (b"", b"x", os.urandom(3 * MIB), bytes(5 * MIB), os.urandom(MIB) * 3):
            await read(plain)
            assert budget.used == 0
        assert len(most) > 10 and all(there <= reserved for there, reserved in most)
        budget.take(8 * MIB)
        assert await refused() is Reason.FULL and budget.used == 8 * MIB
        assert max(there for there, _ in most[-5:]) <= 8 * MIB

    asyncio.run(run())


def test_bytes_behind_a_compressed_body(engine):
    import gzip

    body = json.dumps({"inputs": [input_of(rows(1))]}).encode()
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        for extra, status in ((b"", 200), (b"\x1f", 400), (b"x", 400), (bytes(9), 400)):
            client = http.client.HTTPConnection(server.http_address, timeout=30)
            headers = {"Content-Encoding": "gzip"}
            client.request("POST", "/v2/models/affine/infer", gzip.compress(body) + extra, headers)
            answer = client.getresponse()
            assert answer.status == status
            if extra:
                assert f"{len(extra)} bytes behind what was compressed" in json.loads(answer.read())["error"]
            client.close()


def test_members_of_gzip(engine):
    """A body of gzip is one member or several, whose contents are one behind the other (RFC 1952, 2.2)."""
    import gzip

    body = json.dumps({"inputs": [input_of(rows(1))]}).encode()
    empty = gzip.compress(b"")
    large = gzip.compress(b" " * (MIB // 2))
    cases = {
        b"".join(gzip.compress(body[i : i + 7]) for i in range(0, len(body), 7)): (200, None),
        empty + gzip.compress(body) + empty * 1000: (200, None),
        gzip.compress(body) + empty[:-1]: (400, "is not all of what was compressed by gzip"),
        gzip.compress(body) + b"\x1f\x8bnothing": (400, "the body is not gzip"),
        large * 9: (413, "the request has more bytes; 4194304 are possible"),
        empty * (1 << 16) + gzip.compress(body): (400, "the body has more than 65536 members of gzip"),
    }
    with serving.serve({"affine": engine}, max_request_bytes=4 * MIB, grpc_port=None) as server:
        for sent, (status, words) in cases.items():
            headers = {"Content-Encoding": "gzip"}
            answer = serving.request(server, "POST", "/v2/models/affine/infer", sent, headers)
            assert answer.status == status, answer.body
            assert words is None or words in answer.error
        wait_for(lambda: server.budget.used == 0)


def test_calls_that_wait_when_the_server_stops(engine):
    """Each is answered or told UNAVAILABLE: CANCELLED would say that its client has left."""
    with serving.serve({"affine": engine}, http_port=None) as server:
        with grpc.insecure_channel(server.grpc_address, options=[("grpc.enable_retries", 0)]) as channel:
            ask = channel.unary_unary(INFER)
            data = message(rows(1))
            ask(data, timeout=30)
            calls = [ask.future(data, timeout=30) for _ in range(1000)]
            calls[0].result()  # so the others have come, and wait to be taken up
            server.stop(10)
            codes = [call.code() for call in calls]
            told = {call.details() for call in calls if call.code() is grpc.StatusCode.UNAVAILABLE}
    assert set(codes) <= {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    assert grpc.StatusCode.UNAVAILABLE in codes, "the server stopped behind them"
    assert told == {"the server stops"}


def test_what_a_load_may_bring(engine, tmp_path):
    """A client cannot have a file written, or thousands of threads made."""
    plan = engine.save(tmp_path / "affine.plan")
    target = tmp_path / "written"
    with serving.serve({"affine": plan}, model_control=True, max_instances=3, grpc_port=None) as server:
        for config, words in (
            ({"parameters": {"timing_cache": {"string_value": str(target)}}}, "'timing_cache' names a file"),
            ({"instance_group": [{"count": 2}, {"count": 2}]}, "instance_group.count has 4 instances in all; max_instances"),
        ):
            sent = {"parameters": {"config": json.dumps(config)}}
            answer = post(server, "/v2/repository/models/affine/load", sent)
            assert answer.status == 400 and words in answer.error
        assert not target.exists()
        assert infer(server, "affine", input_of(rows(1))).status == 200


def test_extents_have_a_limit(engine):
    with serving.serve({"affine": engine}, grpc_port=None) as server:
        sent = {"name": "x", "datatype": "FP32", "shape": [0, 1 << 63], "data": []}
        answer = infer(server, "affine", sent)
        assert answer.status == 400 and "whole numbers from 0 to 2^63 - 1 are needed" in answer.error
        assert np.isfinite(engine(rows(1))).all()
