"""Threads with an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator

log = logging.getLogger("kiln.serve")


class Occasion:
    """Something that happens once, for which coroutines of any loops wait."""

    def __init__(self) -> None:
        self._has_come = False
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = set()

    def happen(self) -> None:
        """Any thread may call it, and a handler of signals: it takes no lock."""
        self._has_come = True
        for loop, future in list(self._waiting):
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(_set, future)

    @contextlib.contextmanager
    def awaited(self) -> Iterator[asyncio.Future[None]]:
        """A future of the running loop that is done when it has happened."""
        loop = asyncio.get_running_loop()
        one = (loop, loop.create_future())
        self._waiting.add(one)
        try:
            if self._has_come:  # perhaps before there was somebody to tell
                _set(one[1])
            yield one[1]
        finally:
            self._waiting.discard(one)
            one[1].cancel()


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class LoopThread:
    """A thread whose event loop serves one protocol until it is stopped.

    Each protocol has a loop of its own. gRPC's server accepts one call after the other, and each takes several passes
    of the loop: on one that many clients of HTTP keep busy, those of gRPC would wait for many times as long.
    """

    def __init__(
        self,
        name: str,
        serve: Callable[[], contextlib.AbstractAsyncContextManager[Awaitable[object]]],
        failed: Callable[[str, BaseException], None],
    ):
        """`serve` makes a context that opens the port when it is entered, and drains and closes it at its end. Its
        value ends when the port is served no longer.

        `failed` is told, in the thread, of a port that was open and ends unasked: the thread's name and the reason.
        """
        self._serve, self._failed = serve, failed
        self._opened = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Opens the port. Raises what opening it raises."""
        self._thread.start()
        self._opened.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Begins to close the port; `join` waits for the end."""
        if self._loop is not None and self._stopped is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._stopped.set)

    def join(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as failure:
            self._failure = failure
            if self._opened.is_set():
                log.critical("%s has ended", self._thread.name, exc_info=failure)
                self._failed(self._thread.name, failure)
        finally:
            self._opened.set()

    async def _main(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        async with self._serve() as serving:
            self._opened.set()
            asked, ended = asyncio.ensure_future(self._stopped.wait()), asyncio.ensure_future(serving)
            await asyncio.wait({asked, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                asked.cancel()
                ended.result()  # raises where it failed
                raise RuntimeError("its port is served no longer, though nobody has asked for its end")
