"""The queue of a version: requests wait here, and threads take them in batches."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ._config import BatchRules
from ._errors import Reason, ServeError

clock_ns = time.monotonic_ns


@dataclasses.dataclass(frozen=True)
class Given:
    """An input of a request: its bytes in row-major order, a flat array of uint8, and the engine's shape of it."""

    data: Any
    shape: tuple[int, ...]


class Request(concurrent.futures.Future):
    """A request that waits or runs: the future of its outputs, a dict of names to arrays, or of a ServeError.

    A request that is cancelled leaves its queue. (It is a future itself, and has no future: the two would keep each
    other, and their arrays, until the garbage collector comes.)
    """

    def __init__(
        self,
        inputs: list[Given],
        rows: int,
        key: Hashable,
        timeout_ns: int | None,
        wanted: Sequence[str] = (),
        since_ns: int | None = None,
    ):
        """The time of the request, `timeout_ns`, began at `since_ns`, which is now by default."""
        super().__init__()
        self.inputs, self.rows, self.key, self.timeout_ns = inputs, rows, key, timeout_ns
        self.wanted = tuple(wanted)
        """Names of the outputs that the answer has, in its order; none: all."""
        self.queued_ns = clock_ns()
        began_ns = self.queued_ns if since_ns is None else since_ns
        self.deadline_ns = None if timeout_ns is None else began_ns + timeout_ns
        self.queue: Batcher | None = None
        self.given_up: Reason | None = None
        """Why nobody waits for the answer of a request that runs; who runs it counts it as failed for that."""

    def give_up(self, reason: Reason) -> bool:
        """Whether the request waited still, and has left its queue: the caller counts it then, else who runs it."""
        if self.cancel():
            return True
        self.given_up = reason
        return False

    def cancel(self) -> bool:
        done = super().cancel()
        if done and self.queue is not None:
            self.queue.forget(self)
        return done

    def fail(self, failure: BaseException) -> None:
        """Ends the request, unless it has ended."""
        try:
            self.set_exception(failure)
        except concurrent.futures.InvalidStateError:
            pass


class Spans:
    """The batch sizes that an engine takes for requests of one key: (least, most) of each profile that has the rest of
    their shapes."""

    def __init__(self, spans: list[tuple[int, int]], most: int):
        self._spans = [(low, min(high, most)) for low, high in spans if low <= min(high, most)]
        self.most = max((high for _, high in self._spans), default=0)

    def holds(self, rows: int) -> bool:
        return any(low <= rows <= high for low, high in self._spans)


class Closed(Exception):
    """The queue takes no more requests; its version was replaced or unloaded."""


class Batcher:
    """A queue with rules for joining. `take` gives a batch to a thread that runs it.

    Requests of the same key may be joined; those whose key is None run alone. `spans_of` says for a key which sizes
    the engine takes.
    """

    def __init__(self, rules: BatchRules, spans_of: Callable[[Hashable], Spans]):
        self._rules, self._spans_of = rules, spans_of
        lock = threading.RLock()
        self._changed = threading.Condition(lock)
        self._deadlines = threading.Condition(lock)
        """Wakes who waits in `take_expired`."""
        self._groups: dict[Hashable, collections.deque[Request]] = {}
        self._rows: dict[Hashable, int] = {}
        self._closed = False
        self._check_ns: int | None = None
        """No request's time ends earlier; one that has left the queue may be the one whose time this is."""
        self.length = 0
        """The number of requests that wait."""

    def put(self, request: Request) -> None:
        """Adds a request. Raises ServeError where the queue is full, and Closed where it has ended."""
        with self._changed:
            if self._closed:
                raise Closed
            if self.length >= self._rules.max_queue:
                raise ServeError(Reason.FULL, f"the queue is full: {self.length} requests wait; try again later")
            key = request.key
            group = self._groups.setdefault(key, collections.deque())
            group.append(request)
            self._rows[key] = self._rows.get(key, 0) + request.rows
            self.length += 1
            if request.deadline_ns is not None and (self._check_ns is None or request.deadline_ns < self._check_ns):
                self._check_ns = request.deadline_ns
                self._deadlines.notify()
            request.queue = self
            # A thread that waits in `take` has seen the older groups, and wakes up by itself when one of them is due. So
            # it is woken for a new group, and for one that may run now. To wake a thread for each request of a batch
            # would cost more than the rest of the work for that request.
            if len(group) == 1 or self._may_run(key, group):
                self._changed.notify()

    def take(self) -> list[Request] | None:
        """Waits for a batch. Returns None when the queue was closed and is empty.

        A batch is either of requests to run, or of those whose time is over: they do not wait for others any longer.
        """
        with self._changed:
            while True:
                now = clock_ns()
                batch = self._collect_expired(now)
                key, due_ns = self._choose(now)
                if not batch and due_ns is not None and due_ns <= now:
                    batch = self._collect(key, now)
                if batch:
                    if self.length:
                        self._changed.notify()  # what is left may be a batch for another thread
                    return batch
                if self._closed and not self.length:
                    return None
                times = [time_ns for time_ns in (due_ns, self._check_ns) if time_ns is not None]
                self._changed.wait(min((min(times) - now) / 1e9, threading.TIMEOUT_MAX) if times else None)

    def take_expired(self) -> list[Request] | None:
        """Waits for requests whose time ends while they wait, and takes them out of the queue.

        It is for one thread, which runs nothing: those that run batches may all be busy when the time ends. Returns
        None when the queue was closed and is empty.
        """
        with self._deadlines:
            while True:
                now = clock_ns()
                expired = self._collect_expired(now)
                if expired:
                    return expired
                if self._closed and not self.length:
                    return None
                seconds = None if self._check_ns is None else (self._check_ns - now) / 1e9
                self._deadlines.wait(seconds and min(seconds, threading.TIMEOUT_MAX))

    def close(self) -> None:
        """Takes no more requests. Those that wait are given to `take` without any delay."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._deadlines.notify()

    def fail_all(self, failure: ServeError) -> int:
        """Ends all requests that wait, and returns their number."""
        with self._changed:
            waiting = [request for group in self._groups.values() for request in group]
            self._groups.clear()
            self._rows.clear()
            self.length = 0
            self._changed.notify_all()
            self._deadlines.notify()
        for request in waiting:
            request.fail(failure)
        return len(waiting)

    def forget(self, request: Request) -> None:
        """Takes a cancelled request out of the queue, if it is there still."""
        with self._changed:
            if request in self._groups.get(request.key, ()):
                self._remove(request)

    def _remove(self, request: Request) -> None:
        self._groups[request.key].remove(request)
        self._count_removed(request.key, [request])

    def _count_removed(self, key: Hashable, requests: list[Request]) -> None:
        """Counts requests that are not in their group any more."""
        self.length -= len(requests)
        self._rows[key] -= sum(request.rows for request in requests)
        if not self._groups[key]:
            del self._groups[key], self._rows[key]
        if self._closed and not self.length:
            self._deadlines.notify()

    def _collect_expired(self, now: int) -> list[Request]:
        """Takes the requests out whose time is over."""
        if self._check_ns is None or now < self._check_ns:
            return []
        waiting = [one for group in self._groups.values() for one in group]
        timed = [(one.deadline_ns, one) for one in waiting if one.deadline_ns is not None]
        expired = [one for end_ns, one in timed if end_ns <= now]
        self._check_ns = min((end_ns for end_ns, _ in timed if end_ns > now), default=None)
        for request in expired:
            self._remove(request)
        return expired

    def _choose(self, now: int) -> tuple[Hashable, int | None]:
        """The key of the group to run next, and when it may run; None where nothing waits.

        Of groups that may run now the one whose first request is the oldest comes first.
        """
        best: tuple[int, int, Hashable] | None = None
        for key, group in self._groups.items():
            first = group[0].queued_ns
            due = first if self._may_run(key, group) else first + self._rules.delay_ns
            found = (max(due, now), first, key)
            if best is None or found[:2] < best[:2]:
                best = found
        return (None, None) if best is None else (best[2], best[0])

    def _may_run(self, key: Hashable, group: collections.deque[Request]) -> bool:
        """Whether a group need not wait for more requests."""
        if key is None or self._closed or not self._rules.delay_ns:
            return True
        spans = self._spans_of(key)
        return self._rows[key] >= spans.most or self._preferred(group, spans) > 0

    def _preferred(self, group: collections.deque[Request], spans: Spans) -> int:
        """How many of the first requests have a preferred number of rows together, the largest that the engine takes;
        0 where none have."""
        found = total = 0
        for count, request in enumerate(group, 1):
            total += request.rows
            if not self._rules.preferred or total > self._rules.preferred[-1]:
                break
            if total in self._rules.preferred and spans.holds(total):
                found = count
        return found

    def _collect(self, key: Hashable, now: int) -> list[Request]:
        """Takes the batch out of a group: as many of its first requests as the engine takes at once."""
        group = self._groups[key]
        count = 1
        if key is not None:
            spans = self._spans_of(key)
            total = 0
            for i, request in enumerate(group, 1):
                total += request.rows
                if total > spans.most:
                    break
                if spans.holds(total):
                    count = i
            waited = now - group[0].queued_ns >= self._rules.delay_ns
            if self._rules.preferred and not (waited and self._rules.delay_ns):
                count = self._preferred(group, spans) or count
        batch = [group.popleft() for _ in range(count)]
        self._count_removed(key, batch)
        return batch
