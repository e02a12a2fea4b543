"""The end of a protocol: which requests it has taken, and what becomes of them when the server stops."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

from ._errors import Reason, ServeError

REFUSAL_SECONDS = 2  # in which requests that have come are refused before the port closes
LAST_SECONDS = 1  # for the answers to requests that are given up
_QUIET_S = 0.1  # without a new request, after which none is taken to wait when the server stops


def stopping() -> ServeError:
    """What a request is told that comes too late."""
    return ServeError(Reason.UNAVAILABLE, "the server stops")


class Taken:
    """A request that the protocol has begun to read."""

    def __init__(self, limit: asyncio.Timeout, limits: set[asyncio.Timeout]):
        self._limit, self._limits = limit, limits
        self.has_come = False
        """Whether all of it has come, so that it is lost where it gets no answer."""

    def leave(self) -> None:
        """Its answer is being sent: nothing is to be given up any more."""
        self._limits.discard(self._limit)


class Drain:
    """The requests of one protocol. It belongs to one event loop, but for `lost`."""

    def __init__(self, is_stopping: Callable[[], bool]):
        self._is_stopping = is_stopping
        self._limits: set[asyncio.Timeout] = set()
        self._seen = 0
        self.lost = 0
        """Requests that had come and were given up."""
        self.is_over = False
        """Whether requests get no more time."""
        self.is_cut = False
        """Whether answers that are being sent get no more time."""
        self.begun = asyncio.Event()
        """Is set when the port begins to close."""

    def see(self, tells_of_the_end: bool = False) -> None:
        """Notes a request. Raises ServeError where the server stops, unless the request asks for just that."""
        self._seen += 1
        if not tells_of_the_end:
            self.check()

    def check(self) -> None:
        """Raises ServeError where the server stops."""
        if self._is_stopping():
            raise stopping()

    @contextlib.asynccontextmanager
    async def taken(self) -> AsyncIterator[Taken]:
        """A request, until its answer is there. Where it is given up, it ends by ServeError."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                one = Taken(limit, self._limits)
                self._limits.add(limit)
                try:
                    if self.is_over:
                        raise TimeoutError
                    yield one
                except asyncio.CancelledError:
                    self.lost += one.has_come and self.is_over
                    raise
                finally:
                    one.leave()
        except TimeoutError:
            if not self.is_over:
                raise
            failure = ServeError(Reason.UNAVAILABLE, "the server stops, and the request did not end in time")
            failure.is_counted = True  # as one of a model, or as lost
            raise failure from None

    async def refuse(self, seconds: float) -> None:
        """Lets those requests be refused in words that have come, for so many seconds at most.

        gRPC takes up one call after the other, and cancels those that wait when its server stops; connections of HTTP
        that wait are reset. Clients that are told UNAVAILABLE ask another server; CANCELLED says that they have left
        themselves.
        """
        self.begun.set()
        end = time.monotonic() + seconds
        seen = -1
        while seen != self._seen and time.monotonic() < end:
            seen = self._seen
            await asyncio.sleep(min(_QUIET_S, max(0.0, end - time.monotonic())))

    def give_up(self) -> None:
        """Ends what has been taken and has no answer: each request is told so."""
        self.is_over = True
        now = asyncio.get_running_loop().time()
        for limit in list(self._limits):
            limit.reschedule(now)
