"""A request for inference, whatever protocol it came by: what it asks for, and the wait for its answer."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ._batcher import Request, clock_ns
from ._errors import Reason, ServeError, invalid, milliseconds
from ._repository import Repository
from ._types import ITEM_BYTES, OTHER_TYPES
from ._version import Tensor, Version

# Parameters of Triton's extensions that would change the answer.
_NOT_SUPPORTED = ("sequence_id", "sequence_start", "sequence_end", "shared_memory_region", "classification")
_MOST_AXES = 64
_MOST_EXTENT = (1 << 63) - 1
_MOST_TIMEOUT_US = 1 << 53


@dataclasses.dataclass
class Call:
    """What a client asks for."""

    model: str
    version: str
    id: str = ""
    tensors: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    outputs: list[str] | None = None
    """Names of the outputs to return, in this order; None returns all."""
    timeout_ns: int | None = None
    since_ns: int = dataclasses.field(default_factory=clock_ns)
    """When all of the request had come: the time that it may take begins."""
    request: Request | None = None
    """What waits or runs, until its answer has come."""

    def seconds_left(self, limit_seconds: float) -> float:
        """How much is left of a time, or of the client's where that is shorter."""
        limit = limit_seconds if self.timeout_ns is None else min(limit_seconds, self.timeout_ns / 1e9)
        return limit - (clock_ns() - self.since_ns) / 1e9

    def add_tensor(self, name: str, datatype: str, shape: tuple[int, ...], data: np.ndarray) -> None:
        """Adds an input. `data` is flat uint8."""
        if name in self.tensors:
            raise invalid(f"input {name!r} is there twice")
        self.tensors[name] = Tensor(datatype, shape, data)

    def add_output(self, name: str) -> None:
        if self.outputs is None:
            self.outputs = []
        if name in self.outputs:
            raise invalid(f"output {name!r} is asked for twice")
        self.outputs.append(name)

    def read_parameters(self, parameters: dict[str, Any]) -> None:
        """Reads the parameters of the request. Raises ServeError for those that Kiln does not do."""
        check_parameters(parameters, "the request")
        timeout = parameters.get("timeout")
        if timeout is not None:
            if not isinstance(timeout, int) or isinstance(timeout, bool) or not 0 <= timeout <= _MOST_TIMEOUT_US:
                raise invalid(f"parameter timeout is {timeout!r}; a number of microseconds is needed")
            self.timeout_ns = timeout * 1000 or None
        # As in Triton a priority means nothing to a model without priority levels, and models here have none.
        priority = parameters.get("priority", 0)
        if not isinstance(priority, int) or isinstance(priority, bool) or priority < 0:
            raise invalid(f"parameter priority is {priority!r}; a whole number from 0 on is needed")


def check_parameters(parameters: dict[str, Any], where: str) -> None:
    """Raises ServeError for parameters that Kiln does not do, unless they say nothing (0, false)."""
    for name in _NOT_SUPPORTED:
        if parameters.get(name):
            raise ServeError(Reason.NOT_SUPPORTED, f"parameter {name} of {where} is not supported")


def check_tensor(name: str, datatype: str, shape: list[int]) -> tuple[int, ...]:
    """The shape of a tensor that a client sends. Raises ServeError where it cannot be one."""
    if datatype in OTHER_TYPES:
        raise invalid(f"input {name!r} is of {datatype}, which engines do not have; they have {', '.join(ITEM_BYTES)}")
    if datatype not in ITEM_BYTES:
        raise invalid(f"input {name!r} is of {datatype!r}, which is no type; there are {', '.join(ITEM_BYTES)}")
    if len(shape) > _MOST_AXES:
        raise invalid(f"input {name!r} has {len(shape)} axes")
    for extent in shape:
        if not isinstance(extent, int) or isinstance(extent, bool) or not 0 <= extent <= _MOST_EXTENT:
            raise invalid(f"input {name!r} has the extent {extent!r}; whole numbers from 0 to 2^63 - 1 are needed")
    return tuple(shape)


def answer_too_large(size: int | str, most: int) -> ServeError:
    """What a request is told whose answer has more bytes than all requests and answers may have."""
    words = f"the answer has {size} bytes; max_bytes_in_flight (--max-mib-in-flight) allows {most} of all requests and answers"
    return ServeError(Reason.ANSWER_TOO_LARGE, words)


class Budget:
    """Bytes of the requests that are in the server, and of answers that are being sent. Any thread may use it."""

    def __init__(self, most: int):
        self._most, self._lock = most, threading.Lock()
        self.used = 0

    def take(self, size: int) -> None:
        """Adds the bytes of a request. Raises ServeError where there are too many already."""
        with self._lock:
            if self.used + size > self._most:
                raise ServeError(
                    Reason.FULL,
                    f"the server holds {self.used} bytes of requests and answers; {size} more would exceed {self._most}: "
                    "try again later",
                )
            self.used += size

    def take_answer(self, size: int) -> None:
        """Adds the bytes of an answer. One that there is never room for is told so: to try again does not help."""
        if size > self._most:
            raise answer_too_large(size, self._most)
        self.take(size)

    def give_back(self, size: int) -> None:
        with self._lock:
            self.used -= size

    def give_back_after(self, request: Request | None, size: int) -> None:
        """Gives back when a request has ended: one that nobody waits for any more holds its bytes while it runs."""
        if request is None:
            self.give_back(size)
        else:
            request.add_done_callback(lambda _: self.give_back(size))  # at once where it has ended


async def in_turn(lock: asyncio.Lock, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
    """Runs what takes long in a thread, one at a time. Raises ServeError where its turn does not come in so many seconds."""
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            await lock.acquire()
    except TimeoutError:
        words = "its time was over before the numbers of other requests were read and written; binary data does not wait"
        raise ServeError(Reason.EXPIRED, words) from None
    try:
        return await asyncio.to_thread(function, *arguments)
    finally:
        lock.release()


def _give_up(version: Version, request: Request, reason: Reason) -> None:
    if request.give_up(reason):
        version.statistics.add_failure(reason.name.lower())


async def run(
    repository: Repository, call: Call, request_seconds: float, gone: asyncio.Future | None = None
) -> tuple[Version, dict[str, np.ndarray]]:
    """Runs a call and returns the outputs that it asks for. Raises ServeError.

    `gone` ends when the client has left: a request that still waits is taken out of the queue then. The same happens
    when the task is cancelled, and when the time is over. One that runs already is run to its end; `call.request` tells
    when that is. Each request is counted once, as a success or by why it failed.
    """
    limit_ns = int(request_seconds * 1e9)
    timeout_ns = limit_ns if call.timeout_ns is None else min(limit_ns, call.timeout_ns)
    version, request = repository.submit(call.model, call.version, call.tensors, call.outputs, timeout_ns, call.since_ns)
    call.tensors, call.request = {}, request
    try:
        outputs = await _outputs(version, request, timeout_ns, call.seconds_left(request_seconds), gone)
    except ServeError as failure:
        failure.is_counted = True
        raise
    call.request = None
    return version, outputs


async def _outputs(
    version: Version, request: Request, timeout_ns: int, seconds_left: float, gone: asyncio.Future | None
) -> dict[str, np.ndarray]:
    """Waits for the outputs of a request, or gives it up when nothing of its time, `timeout_ns`, is left."""
    answer = asyncio.wrap_future(request)
    waiting = {answer} if gone is None else {answer, gone}
    try:
        await asyncio.wait(waiting, timeout=max(0.0, seconds_left), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:  # the client of gRPC has left
        _give_up(version, request, Reason.CANCELLED)
        answer.cancel()
        raise
    if not answer.done():
        has_left = gone is not None and gone.done()
        reason = Reason.CANCELLED if has_left else Reason.EXPIRED
        _give_up(version, request, reason)
        answer.cancel()
        words = "the client has left" if has_left else f"the request took longer than {milliseconds(timeout_ns)}"
        raise ServeError(reason, words)
    return answer.result()
