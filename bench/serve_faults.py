"""Clients of bench/serve_soak.py that behave badly in other ways than by a wrong request: bytes that are not HTTP, requests
that stop halfway, and more requests at once than a queue has room for. Each returns what is wrong with the server's
answer, or None.
"""

import asyncio
import random

import grpc

CROWDED = "crowded"
"""The model whose queue is short."""
CROWDED_CONFIG = """max_batch_size: 32
dynamic_batching { max_queue_delay_microseconds: 20000 default_queue_policy { max_queue_size: 4 } }
"""
BURST = 12  # requests at once: four wait, and those that run have made room before
HEADER_SECONDS, BODY_SECONDS = 10, 20  # of the server: a body of 5 MiB takes seconds beside 200 clients
_LATE_SECONDS = 60  # a server under load is late, but ends the connection

_POST = b"POST /v2/models/dense/infer HTTP/1.1\r\nhost: soak\r\n"
NOT_HTTP = (
    (b"this is not HTTP\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\r\nhost soak\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\r\nhost: soak\r\na: " + b"b" * 66_000 + b"\r\n\r\n", 431),
    (_POST + b"content-length: many\r\n\r\n", 400),
    (_POST + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n", 400),
)


async def _exchange(address, data):
    """Sends bytes on a connection of its own. Returns all that comes until the server ends it; None where it does not."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.read(), _LATE_SECONDS)
    except ConnectionError:
        return b""
    except TimeoutError:
        return None
    finally:
        writer.close()


def _status(answer):
    return int(answer[9:12]) if answer and answer.startswith(b"HTTP/1.1 ") else answer


async def send_no_http(address):
    """Bytes that are not a request of HTTP: an error of the protocol, and the end of the connection."""
    data, wanted = random.choice(NOT_HTTP)
    found = await _exchange(address, data)
    return None if _status(found) == wanted else f"{data[:60]!r} got {found!r}, not {wanted}"


async def stop_halfway(address):
    """Half a head or half a body: the connection ends, with an answer where it was a body."""
    if random.random() < 0.5:
        found = await _exchange(address, _POST[:-2])
        return None if found == b"" else f"half a head got {found!r}"
    found = await _exchange(address, _POST + b"content-length: 100\r\n\r\n{")
    return None if _status(found) == 408 else f"half a body got {found!r}, not 408"


async def never_send(channel):
    """A call of gRPC whose message does not come."""
    left = asyncio.Event()

    async def nothing():
        await left.wait()
        yield b""

    call = channel.stream_unary("/inference.GRPCInferenceService/ModelInfer")
    try:
        await call(nothing(), timeout=_LATE_SECONDS)
    except grpc.aio.AioRpcError as failure:
        # RESOURCE_EXHAUSTED where another call needs the place.
        if failure.code() is grpc.StatusCode.RESOURCE_EXHAUSTED or "the message did not come" in failure.details():
            return None
        return f"a call without a message got {failure.code()}: {failure.details()}"
    finally:
        left.set()
    return "a call without a message was answered"


async def crowd(clients, model):
    """More requests at once than wait for the model: each is answered right, or told that the queue is full.

    Returns the problem or None, and how many were refused.
    """
    picks = [random.randrange(len(model.pool)) for _ in clients]
    found = await asyncio.gather(*(one.infer(model, model.pool[k]) for one, k in zip(clients, picks)))
    refused = 0
    for k, (y, error) in zip(picks, found):
        if y is None and "the queue is full" in error and ("503" in error or "RESOURCE_EXHAUSTED" in error):
            refused += 1
        elif y is None or not model.is_right(k, y):
            return f"{model.name} {model.pool[k].shape}: {error or 'the answer is wrong'}", refused
    return None, refused
