"""Bodies of HTTP's requests: read within a time, up to a size, and decompressed up to the same size."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, NoReturn

import numpy as np

from ._batcher import Request
from ._calls import Budget
from ._errors import Reason, ServeError, invalid
from ._settings import Settings

_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_STEP = 1 << 16  # bytes reserved ahead of those that have come: a client that sends nothing holds no more
_MOST_INFLATED = 1 << 20  # bytes that are decompressed at once, and compressed ones that are given for it
_FIRST_OF_MEMBER = 1 << 12  # compressed bytes that are given to a further member first: what it does not use is copied
_MOST_MEMBERS = 1 << 16  # of gzip in a body: each costs a new decompressor, also where it holds nothing
_MEMBER_MAGIC = b"\x1f\x8b"
_MOST_DISCARDED = 1 << 30  # of a body that is refused and read to its end


@dataclasses.dataclass
class Body:
    """The bytes of a request, decompressed: flat uint8."""

    data: np.ndarray
    request: Request | None = None
    """What uses the bytes, and may do so longer than the context: they count until it has ended."""


def _declared_length(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise invalid(f"the header Content-Length is {text!r}")
    return int(text)


def _too_large(size: int | str, limit: int) -> ServeError:
    return ServeError(Reason.TOO_LARGE, f"the request has {size} bytes; {limit} are possible")


@contextlib.asynccontextmanager
async def read_body(
    receive: Any, headers: Mapping[str, str], settings: Settings, budget: Budget, *, to_its_end: bool = False
) -> AsyncIterator[Body]:
    """Reads the body. Its bytes count in the server's budget until the context ends. Raises ServeError.

    `to_its_end` reads the rest of a body that is refused, too: for servers whose connections end with their answer, which
    a client that sends still would not get to read.
    """
    reader = _BodyReader(receive, settings, budget, to_its_end)
    body = None
    try:
        coding = headers.get("content-encoding", "identity").lower()
        if coding not in ("identity", *_WINDOWS):
            raise ServeError(
                Reason.NOT_SUPPORTED, f"Content-Encoding {coding!r} is not supported; gzip and deflate are"
            )
        try:
            async with asyncio.timeout(settings.body_seconds):
                data = await reader.read(_declared_length(headers))
        except TimeoutError:
            if reader.too_large is not None:
                raise _too_large(reader.too_large, settings.max_request_bytes) from None
            words = f"the body did not come within {settings.body_seconds:g} s"
            raise ServeError(Reason.TOO_SLOW, words) from None
        if coding != "identity":
            data = await reader.decompress(data, coding)
        reader.keep(len(data))
        body = Body(np.frombuffer(data, np.uint8))
        del data
        yield body
    except ServeError as failure:
        failure.body_is_unread = not reader.is_at_end
        raise
    finally:
        budget.give_back_after(body.request if body is not None else None, reader.reserved)


class _BodyReader:
    def __init__(self, receive: Any, settings: Settings, budget: Budget, to_its_end: bool):
        self._receive, self._limit, self._budget = receive, settings.max_request_bytes, budget
        self._to_its_end = to_its_end
        self.reserved = 0
        self.is_at_end = False
        """Whether nothing of the body is left to be read."""
        self.too_large: int | str | None = None
        """The size of a body that is too large and whose rest is being read: to send it faster does not help."""

    def _reserve(self, size: int) -> None:
        self._budget.take(size)
        self.reserved += size

    def keep(self, size: int) -> None:
        """Gives back what is reserved beyond so many bytes."""
        if size < self.reserved:
            self._budget.give_back(self.reserved - size)
            self.reserved = size

    def _reserve_ahead(self, there: int, most: int) -> None:
        """Reserves a step beyond what is there already."""
        if there >= self.reserved:
            self._reserve(max(0, min(there + _STEP, most) - self.reserved))

    async def _next(self) -> tuple[bytes, bool]:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ServeError(Reason.CANCELLED, "the client has left")
        more = message.get("more_body", False)
        self.is_at_end = not more
        return message.get("body", b""), more

    async def read(self, declared: int | None) -> Any:
        """The body as it was sent."""
        if declared is not None and declared > self._limit:
            await self._refuse_size(declared)
        await self._grow(0, self._limit if declared is None else declared)
        data = await (self._read_unknown() if declared is None else self._read_known(declared))
        if len(data) > self.reserved:
            self._reserve(len(data) - self.reserved)
        return data

    async def _read_known(self, declared: int) -> Any:
        body, more = await self._next()
        if not more:
            return body
        into = np.empty(declared, np.uint8)  # aligned, and filled once; memory that is not filled yet is none
        at = 0
        while True:
            if at + len(body) > declared:
                raise invalid("the body is longer than its Content-Length")
            into[at : at + len(body)] = np.frombuffer(body, np.uint8)
            at += len(body)
            if not more:
                break
            await self._grow(at, declared)
            body, more = await self._next()
        if at != declared:
            raise invalid(f"the body has {at} bytes; Content-Length is {declared}")
        return into

    async def _read_unknown(self) -> Any:
        into = bytearray()
        more = True
        while more:
            body, more = await self._next()
            if len(into) + len(body) > self._limit:
                await self._refuse_size("more")
            into += body
            await self._grow(len(into), self._limit)
        return into

    async def _grow(self, there: int, most: int) -> None:
        try:
            self._reserve_ahead(there, most)
        except ServeError:
            await self._read_rest()
            raise

    async def _refuse_size(self, size: int | str) -> NoReturn:
        self.too_large = size
        await self._read_rest()
        raise _too_large(size, self._limit)

    async def _read_rest(self) -> None:
        seen = 0
        while self._to_its_end and not self.is_at_end and seen <= _MOST_DISCARDED:
            seen += len((await self._next())[0])

    async def decompress(self, data: Any, coding: str) -> Any:
        """The decompressed body, of the same limit. Each piece has its bytes reserved before there are any of it.

        A body of gzip may have several members, one behind the other (RFC 1952, 2.2).
        """
        worker, found, members = zlib.decompressobj(_WINDOWS[coding]), bytearray(), 1
        at, step, given = 0, _MOST_INFLATED, memoryview(b"")
        while True:
            if worker.eof:
                at -= len(worker.unused_data)
                if coding != "gzip" or bytes(data[at : at + 2]) != _MEMBER_MAGIC:
                    break
                if members == _MOST_MEMBERS:
                    raise invalid(f"the body has more than {_MOST_MEMBERS} members of gzip")
                members += 1
                worker, step = zlib.decompressobj(_WINDOWS[coding]), _FIRST_OF_MEMBER
            most = min(max(_STEP, min(len(found), _MOST_INFLATED)), self._limit + 1 - len(found))
            self._reserve(max(0, len(data) + len(found) + most - self.reserved))
            if not len(given):
                given = memoryview(data)[at : at + step]
                at += len(given)
                step = min(2 * step, _MOST_INFLATED)
            try:
                piece = await asyncio.to_thread(worker.decompress, given, most)
            except zlib.error as failure:
                raise invalid(f"the body is not {coding}: {failure}") from None
            found += piece
            given = memoryview(worker.unconsumed_tail)
            if len(found) > self._limit:
                raise _too_large("more", self._limit)
            if not (worker.eof or piece or len(given)) and at == len(data):
                raise invalid(f"the body is not all of what was compressed by {coding}")
        extra = len(data) - at
        if extra:
            raise invalid(f"the body has {extra} bytes behind what was compressed by {coding}")
        return found
