"""Runs batches: joins the inputs of requests, calls the engine, and divides its outputs."""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import weakref
from typing import Any

import numpy as np

from .._bindings import bindings
from .._device import current_device, driver
from .._engine import Engine
from .._errors import Error, ShapeError
from ._batcher import Request, clock_ns
from ._config import TensorSpec
from ._errors import Reason, ServeError, milliseconds
from ._statistics import RunTimes, Statistics
from ._types import numpy_type

log = logging.getLogger("kiln.serve")

_OF_EARLIER = "an earlier run failed"


class HostBuffer:
    """Memory of the host that is used by one run after the other, and grows as needed.

    On a machine with a GPU it is pinned, so that copies to the GPU need no second copy in the driver.
    """

    def __init__(self, ordinal: int | None):
        self._ordinal = ordinal
        self._memory = np.empty(0, np.uint8)
        self._free: Any = None

    def take(self, size: int) -> np.ndarray:
        """The first `size` bytes."""
        if self._memory.size < size:
            self.free()
            self._memory = np.empty(size, np.uint8) if self._ordinal is None else self._pinned(self._ordinal, size)
        return self._memory[:size]

    def free(self) -> None:
        """Gives the memory back. Arrays of it may not be used any more."""
        self._memory = np.empty(0, np.uint8)
        if self._free is not None:
            self._free()
            self._free = None

    def _pinned(self, ordinal: int, size: int) -> np.ndarray:
        with current_device(ordinal):
            pointer = driver().allocate_host(size)
        self._free = weakref.finalize(self, _release_pinned, ordinal, pointer)
        memory: Any = (ctypes.c_uint8 * size).from_address(pointer)
        return np.frombuffer(memory, np.uint8)


def _release_pinned(ordinal: int, pointer: int) -> None:
    with current_device(ordinal):
        driver().release_host(pointer)


class Instance:
    """What one thread needs to run batches of a version: an execution context and memory for joined inputs."""

    def __init__(self, engine: Engine, inputs: list[TensorSpec], outputs: list[TensorSpec], statistics: Statistics):
        self._engine, self._inputs, self._outputs = engine, inputs, outputs
        self._statistics = statistics
        self._ordinal = engine._ordinal
        self._types = [numpy_type(spec.datatype) for spec in inputs]
        self._buffers = [HostBuffer(self._ordinal) for _ in inputs]
        self._warned = False

    def start(self) -> None:
        """Makes the thread's execution context, so that a lack of memory is told by the load, not by a request."""
        self._engine._slot(0)

    def free(self) -> None:
        for buffer in self._buffers:
            buffer.free()

    def run(self, batch: list[Request]) -> None:
        """Runs requests as one, and ends their futures. Never raises."""
        now = clock_ns()
        live = [request for request in batch if self._begins(request, now)]
        if not live:
            return
        try:
            self._run_joined(live, now)
        except Exception as failure:
            if len(live) == 1:
                self._fail(live[0], failure)
                return
            # One of them may be at fault: alone each gets its own answer.
            if not self._warned:
                self._warned = True
                log.warning("a batch of %d requests failed; each runs alone: %s", len(live), failure)
            for request in live:
                try:
                    self._run_joined([request], now)
                except Exception as its:
                    self._fail(request, its)

    def _begins(self, request: Request, now: int) -> bool:
        """Whether a request is to be run: it was not cancelled, and its time is not over."""
        if not request.set_running_or_notify_cancel():
            return False
        if request.timeout_ns is not None and request.deadline_ns is not None and now >= request.deadline_ns:
            words = f"the request took longer than {milliseconds(request.timeout_ns)}"
            self._fail(request, ServeError(Reason.EXPIRED, words))
            return False
        return True

    def _fail(self, request: Request, failure: BaseException) -> None:
        if isinstance(failure, ServeError):
            told = failure
        elif isinstance(failure, ShapeError) or _blames_values(failure):  # values are checked by the run alone
            told = ServeError(Reason.INVALID, str(failure))
        elif isinstance(failure, (Error, MemoryError)):
            told = ServeError(Reason.INTERNAL, str(failure) or "there is not enough memory")
        else:
            log.exception("a run failed", exc_info=failure)
            told = ServeError(Reason.INTERNAL, f"{type(failure).__name__}: {failure}")
        request.inputs = []
        reason = request.given_up or told.reason
        self._statistics.add_failure(reason.name.lower(), clock_ns() - request.queued_ns)
        request.fail(told)

    def _run_joined(self, requests: list[Request], now: int) -> None:
        started = clock_ns()
        arrays = [self._joined(i, requests) for i in range(len(self._inputs))]
        gathered = clock_ns()
        results = self._engine(*arrays)
        ran = clock_ns()
        found = (results,) if len(self._engine.outputs) == 1 else results
        by_name = dict(zip(self._engine._output_names, found))
        divided = self._divided({spec.name: by_name[spec.name] for spec in self._outputs}, requests)
        rows = sum(request.rows for request in requests)
        ended = clock_ns()
        left = [(request.given_up, request.queued_ns) for request in requests]  # once: it may change meanwhile
        queued = [since for reason, since in left if reason is None]
        self._statistics.add_run(
            RunTimes(rows, gathered - started, ran - gathered, ended - ran),
            [now - since for since in queued],
            [ended - since for since in queued],
        )
        for reason, since in left:
            if reason is not None:
                self._statistics.add_failure(reason.name.lower(), ended - since)
        for request, outputs in zip(requests, divided):
            request.inputs = []
            request.set_result({name: outputs[name] for name in request.wanted} if request.wanted else outputs)

    def _joined(self, i: int, requests: list[Request]) -> np.ndarray:
        """Input `i` of all requests, one after the other along the first axis."""
        parts = [request.inputs[i] for request in requests]
        dtype = self._types[i]
        if len(parts) == 1:
            data, shape = parts[0].data, parts[0].shape
            aligned = data.__array_interface__["data"][0] % dtype.itemsize == 0
            if aligned and (self._ordinal is None or self._inputs[i].on_host):
                return data.view(dtype).reshape(shape)
        else:
            shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
        into = self._buffers[i].take(math.prod(shape) * dtype.itemsize)
        bindings().tensorrt._kiln_gather(into, [part.data for part in parts])
        return into.view(dtype).reshape(shape)

    def _divided(self, outputs: dict[str, Any], requests: list[Request]) -> list[dict[str, Any]]:
        """The outputs of each request."""
        if len(requests) == 1:
            return [{spec.name: _shaped(spec, outputs[spec.name]) for spec in self._outputs}]
        rows = sum(request.rows for request in requests)
        for name, array in outputs.items():
            if array.ndim == 0 or array.shape[0] != rows:
                raise Error(
                    f"output {name!r} has shape {list(array.shape)} for a batch of {rows} rows, so it cannot be "
                    "divided among requests: serve the model with max_batch_size 0"
                )
        divided, at = [], 0
        for request in requests:
            part = {spec.name: _shaped(spec, outputs[spec.name][at : at + request.rows]) for spec in self._outputs}
            divided.append(part)
            at += request.rows
        return divided


def _blames_values(failure: BaseException) -> bool:
    """Whether a run says that its inputs are at fault: an index beyond its axis, for one.

    A GPU's kernels may tell it to a later run, whose inputs are others.
    """
    return isinstance(failure, Error) and any(
        message.code == "INVALID_ARGUMENT" and _OF_EARLIER not in message.text for message in failure.messages
    )


def _shaped(spec: TensorSpec, array: np.ndarray) -> np.ndarray:
    return array if spec.client_shape == spec.engine_shape else array.reshape(spec.to_client(array.shape))


@functools.cache
def default_instances(device: str) -> int:
    """On a GPU a second context copies its inputs while the first computes."""
    return 1 if device == "cpu" else 2
