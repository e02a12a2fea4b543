"""Connections of HTTP, with the limits that uvicorn lacks: the time and the size of a request's head, and the time for
which a client may stop reading. What no endpoint sees is answered here, as errors of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http
import json
import sys
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ._errors import Reason
from ._settings import Settings
from ._statistics import Refusals

_MOST_HEAD_BYTES = 1 << 16
_LINGER_SECONDS = 5  # for a client that was answered and sends still
_MOST_DISCARDED = 1 << 28  # bytes of it


def _body_of(error: str) -> bytes:
    return json.dumps({"error": error}).encode()


async def _too_many(most: int, refusals: Refusals, scope: Any, receive: Any, send: Any) -> None:
    """The application of requests beyond the limit of connections. It counts with the connections, which it ends."""
    refusals.add("http", Reason.FULL)
    body = _body_of(f"too many connections: the server takes {most} at one time")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        (b"retry-after", b"1"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _LargeHead(Exception):
    def __init__(self) -> None:
        super().__init__(f"the head of the request is larger than {_MOST_HEAD_BYTES} bytes")


class _Transport:
    """A connection's transport, whose connection decides how it is closed."""

    def __init__(self, transport: Any, connection: _LimitedConnection):
        self._real = transport
        self._connection: _LimitedConnection | None = connection

    def let_go(self) -> None:
        """Forgets the connection, which has ended: the two would keep each other until the garbage collector comes."""
        self._connection = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def write(self, data: Any) -> None:
        if self._connection is None or not self._connection.is_lingering:
            self._real.write(data)

    def close(self) -> None:
        if self._connection is None:
            self._real.close()
        else:
            self._connection.end()

    def is_closing(self) -> bool:
        return (self._connection is not None and self._connection.is_lingering) or self._real.is_closing()


class _LimitedConnection(HttpToolsProtocol):
    """uvicorn's connection with timers: one runs while a head is awaited, one while the client does not read.

    A connection that ends while its client sends still is closed in two steps. The system would reset it, and a client
    that has sent all before it reads would not get to read the answer. So the server's side is closed first, which tells
    the client that nothing more comes, and what it sends is thrown away for a short time.
    """

    settings: Settings
    refusals: Refusals
    """Of connections, whatever was to be asked on them."""

    def connection_made(self, transport: Any) -> None:
        self.is_lingering = False
        self._linger_timer: asyncio.TimerHandle | None = None
        self._discarded = 0
        self._is_in_message = False  # a request has begun to come, and is not here yet
        self._real = transport
        self._wrapped = _Transport(transport, self)
        super().connection_made(cast(asyncio.Transport, self._wrapped))  # it has a transport's attributes
        self._served = self.app
        self._write_timer: asyncio.TimerHandle | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._has_begun = False  # a request
        self._bytes_of_no_body = 0  # read since the last part of a body
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        self.resume_writing()
        self.is_lingering = self._is_in_message = False
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        super().connection_lost(exc)
        self._wrapped.let_go()

    def end(self) -> None:
        """Closes the connection, in two steps where the client sends still."""
        if self.is_lingering:
            return
        if self._is_in_message and not self._real.is_closing():
            self._linger()
        else:
            self._real.close()

    def abort(self) -> bool:
        """Ends the connection at once. Whether a part of an answer was left to be sent."""
        is_unsent = self._real.get_write_buffer_size() > 0
        is_unsent |= self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        self._real.abort()
        return is_unsent

    def _linger(self) -> None:
        self._head_is_here()
        self._unset_keepalive_if_required()
        self.is_lingering = True
        with contextlib.suppress(OSError):  # the client has reset the connection
            self._real.write_eof()  # behind what is written already
        self.flow.resume_reading()
        self._linger_timer = self.loop.call_later(_LINGER_SECONDS, self._real.abort)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Nobody reads the rest of the body of a request that was answered.
        if self.cycle.response_complete and self.cycle.more_body and not self.pipeline:
            self.end()

    def data_received(self, data: bytes) -> None:
        if self.is_lingering:
            self._discarded += len(data)
            if self._discarded > _MOST_DISCARDED:
                self.transport.abort()
            return
        if self._head_timer is not None:
            self._head_bytes += len(data)
        self._bytes_of_no_body += len(data)
        super().data_received(data)
        if self._head_timer is None and self._bytes_of_no_body > _MOST_HEAD_BYTES:
            self._refuse_fields()
        # A head that is complete has stopped its timer, so these bytes were none of a body.
        if self._head_timer is not None and self._head_bytes > _MOST_HEAD_BYTES:
            self._head_is_here()
            self._refuse(431, str(_LargeHead()))

    def _refuse_fields(self) -> None:
        """Ends a request whose chunked body has more extensions of a chunk, or fields behind it, than a head may have:
        the parser keeps them."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_started:
            self._real.close()
        else:
            self._refuse(431, f"the fields of a chunked body are larger than {_MOST_HEAD_BYTES} bytes")

    def send_400_response(self, msg: str) -> None:
        """uvicorn answers so what is not HTTP, while it handles the parser's exception."""
        if self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body):
            self.cycle.keep_alive = False  # the request before is answered first, and is the last one then
            return
        why = sys.exc_info()[1]
        cause = why and why.__context__  # what one of the parser's callbacks raised
        if isinstance(cause, _LargeHead):
            self._head_is_here()
            self._refuse(431, str(cause))
        else:
            self._refuse(400, f"the request is not HTTP: {cause or why or msg}")

    def _unsupported_upgrade_warning(self) -> None:
        """uvicorn tells operators to install a library for WebSockets, which no endpoint has."""

    def _refuse(self, status: int, error: str) -> None:
        self.refusals.add("http", Reason.TOO_LARGE if status == 431 else Reason.INVALID)
        body = _body_of(error)
        head = (
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self._is_in_message = True  # whatever else comes is none of a request
        self.end()

    def on_message_begin(self) -> None:
        self._has_begun = self._is_in_message = True
        if self._head_timer is None:  # else it runs since the connection began
            self._await_head()
        super().on_message_begin()

    def _count_of_head(self, size: int) -> None:
        """Counts what the parser has found of a head: one that comes in a single read is complete before
        `data_received` could count its bytes."""
        self._found_of_head += size
        if self._found_of_head > _MOST_HEAD_BYTES:
            raise _LargeHead

    def on_url(self, url: bytes) -> None:
        self._count_of_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Fields behind a chunked body mean nothing here.
        if self._head_timer is not None:
            self._count_of_head(len(name) + len(value) + len(": \r\n"))
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._bytes_of_no_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_in_message = False
        self._bytes_of_no_body = 0
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        self._bytes_of_no_body = 0
        self._count_of_head(len(self.parser.get_method()) + len("  HTTP/1.1\r\n\r\n"))
        self._head_is_here()
        most = self.settings.max_connections
        is_full = len(self.connections) > most or len(self.tasks) >= most
        self.app = functools.partial(_too_many, most, self.refusals) if is_full else self._served
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head_bytes = 0  # of reads
        self._found_of_head = 0  # by the parser
        self._head_timer = self.loop.call_later(self.settings.header_seconds, self._give_up_head)

    def _give_up_head(self) -> None:
        if self._has_begun:  # else the client has sent nothing yet
            self.refusals.add("http", Reason.TOO_SLOW)
        self.transport.abort()

    def _head_is_here(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.settings.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        if self.flow is not None:
            super().resume_writing()


def connections_of(settings: Settings, refusals: Refusals) -> type[_LimitedConnection]:
    """The class of connections for a server."""
    return type("Connection", (_LimitedConnection,), {"settings": settings, "refusals": refusals})
