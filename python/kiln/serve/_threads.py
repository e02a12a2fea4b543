"""Threads with an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable

log = logging.getLogger("kiln.serve")


class LoopThread:
    """A thread whose event loop serves one protocol until it is stopped.

    Each protocol has a loop of its own. gRPC's server accepts one call after the other, and each takes several passes
    of the loop: on one that many clients of HTTP keep busy, those of gRPC would wait for many times as long.
    """

    def __init__(self, name: str, serve: Callable[[], contextlib.AbstractAsyncContextManager[None]]):
        """`serve` makes a context that opens the port when it is entered, and drains and closes it at its end."""
        self._serve = serve
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
                log.exception("the server ended")
        finally:
            self._opened.set()

    async def _main(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        async with self._serve():
            self._opened.set()
            await self._stopped.wait()
