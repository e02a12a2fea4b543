"""Signals of the process, for the main thread of the command."""

from __future__ import annotations

import contextlib
import math
import select
import signal
import socket
from collections.abc import Iterator
from typing import Any

_WAKES = 0  # is no signal's number

ENDING = (signal.SIGTERM, signal.SIGINT)
HEARD = (*ENDING, signal.SIGHUP)


class Signals:
    """What the main thread waits for: signals, and other threads that have something to tell.

    Python runs a handler in the main thread, when that comes to it. One that waits for a lock does not where the system
    has given the signal to another thread, or where the signal came just before the wait. So Python's own handler writes
    the signal's number to a socket, whatever thread it runs in, and the main thread waits for the socket.
    """

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._asked: list[int] = []
        self._woken = False  # by what was read since the last wait

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Hears the process's signals. For the main thread only, as Python has it."""
        before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        handlers = {number: signal.signal(number, _note) for number in HEARD}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before)

    def wake(self) -> None:
        """Ends a wait of the main thread. Any thread may call it."""
        with contextlib.suppress(BlockingIOError):  # it is full of what ends the wait, too
            self._writer.send(bytes((_WAKES,)))

    def wait(self, seconds: float = math.inf) -> None:
        """Waits until a signal has come since the last wait, or somebody has called `wake`, or the time is over."""
        timeout = None if math.isinf(seconds) else max(0.0, seconds)
        if not self._woken:
            select.select([self._reader], [], [], timeout)
        self._read()
        self._woken = False

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            found = self._reader.recv(1 << 12)
            self._asked += [number for number in found if number != _WAKES]
            self._woken = True

    @property
    def ends(self) -> bool:
        """Whether a signal that ends the server has come."""
        self._read()
        return any(number in ENDING for number in self._asked)

    def asks_anew(self) -> bool:
        """Whether SIGHUP has come since the last time."""
        self._read()
        found = signal.SIGHUP in self._asked
        self._asked = [number for number in self._asked if number != signal.SIGHUP]
        return found

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


def _note(number: int, _: Any) -> None:
    if number == signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the process at once
