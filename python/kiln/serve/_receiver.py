"""Messages of gRPC as they come in: for how long one may take, and how many may be on their way."""

from __future__ import annotations

import asyncio
import collections
from typing import Any

import grpc

from ._drain import Drain, stopping
from ._errors import Reason, ServeError, invalid
from ._settings import Settings

_GRACE_S = 1.0
"""The time that a message has in any case, also where others wait for its place."""
_MOST_WAITING = 8  # calls that wait for a place, by the number of places


class Receiver:
    """Reads the messages of calls. It belongs to one event loop.

    gRPC collects a message before it shows any of it, so nobody knows how large one becomes that is on its way. Each
    has a place meanwhile, for the largest size that there may be, and the places are as many as the server's bytes
    allow. A message that takes long loses its place when another call needs it: clients that send slowly, or never
    end, hold up the others for a moment and no longer.
    """

    def __init__(self, settings: Settings):
        self._seconds = settings.body_seconds
        self._count = max(1, settings.max_bytes_in_flight // settings.max_request_bytes)
        self._free = self._count
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()
        """Futures of calls that wait for a place; they end when the calls have one."""
        self._slow: collections.deque[asyncio.Future[None]] = collections.deque()
        """Futures of reads that have had their grace; who needs a place ends the first one."""
        self._leaving = 0
        """Reads that were ended, and have not left their places yet."""

    async def receive(self, context: Any) -> bytes:
        """The only message of a call. Raises ServeError where it does not come in time."""
        await self._enter()
        try:
            found = await self._read(context)
        finally:
            self._leave()
        if found is grpc.aio.EOF:
            # The client has left, which cancels this task in a moment; or it ended its side without a message.
            await asyncio.sleep(_GRACE_S)
            raise invalid("the call has no message")
        return found

    async def _enter(self) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._waiting) >= _MOST_WAITING * self._count:
            raise ServeError(Reason.FULL, f"{self._count + len(self._waiting)} messages are on their way; try again later")
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._push_out()
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it has come meanwhile
                self._leave()
            elif place in self._waiting:
                self._waiting.remove(place)
            raise

    def _leave(self) -> None:
        """Gives a place to the first call that waits for one."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():  # as one is whose call was cancelled
                place.set_result(None)
                return
        self._free += 1

    def _push_out(self) -> None:
        """Ends as many slow reads as calls wait, less those that leave their places already."""
        while self._slow and self._leaving < len(self._waiting):
            self._slow.popleft().set_result(None)
            self._leaving += 1

    async def _read(self, context: Any) -> Any:
        # A read that is given up ends with its call. It is not cancelled: gRPC would still write to its memory.
        reading = asyncio.ensure_future(context.read())
        reading.add_done_callback(_note_failure)
        grace = min(_GRACE_S, self._seconds)
        await asyncio.wait({reading}, timeout=grace)
        if reading.done():
            return reading.result()
        wanted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._slow.append(wanted)
        self._push_out()
        try:
            left = max(0.0, self._seconds - grace)
            await asyncio.wait({reading, wanted}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if wanted.done():
                self._leaving -= 1  # no other task runs between here and `_leave`, where the place becomes free
            else:
                self._slow.remove(wanted)
        if reading.done():
            return reading.result()
        if wanted.done():
            words = f"the message took longer than {grace:g} s, and other requests need its place; try again later"
            raise ServeError(Reason.FULL, words)
        raise ServeError(Reason.TOO_SLOW, f"the message did not come within {self._seconds:g} s")


def _note_failure(reading: asyncio.Task) -> None:
    """Marks the failure of a read that nobody waits for any more as seen."""
    if not reading.cancelled():
        reading.exception()


class StreamReader:
    """Reads the messages of a stream, until none comes for `idle_seconds` while nothing is being answered, or the server
    stops."""

    def __init__(self, context: Any, idle_seconds: float, drain: Drain):
        self._context, self._idle_seconds = context, idle_seconds
        self._stops = asyncio.ensure_future(drain.begun.wait())
        self._last = asyncio.get_running_loop().time()
        self.answering: set[asyncio.Task] = set()
        """The tasks that answer messages."""

    def begin(self, answer: asyncio.Task) -> None:
        """Notes a task that answers a message."""
        self.answering.add(answer)
        answer.add_done_callback(self._end)

    def _end(self, answer: asyncio.Task) -> None:
        self.answering.discard(answer)
        self._last = asyncio.get_running_loop().time()

    async def next(self) -> Any:
        """The next message, or EOF. Raises ServeError where none comes, or the server stops."""
        loop = asyncio.get_running_loop()
        reading = asyncio.ensure_future(self._context.read())
        reading.add_done_callback(_note_failure)
        self._last = loop.time()
        while not reading.done():
            if self._stops.done():
                raise stopping()
            left = self._idle_seconds if self.answering else self._last + self._idle_seconds - loop.time()
            if left <= 0:
                raise ServeError(Reason.TOO_SLOW, f"no message came for {self._idle_seconds:g} s")
            await asyncio.wait({reading, self._stops}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        return reading.result()

    def close(self) -> None:
        """Ends the tasks that answer messages."""
        self._stops.cancel()
        for task in list(self.answering):
            task.cancel()
