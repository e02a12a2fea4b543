"""A version of a model that is loaded: checks requests, and runs them on its threads."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from .._engine import Engine
from ._batcher import Batcher, Given, Request, Spans
from ._config import BatchRules, TensorSpec
from ._errors import Reason, ServeError, invalid
from ._instance import Instance
from ._statistics import Statistics
from ._types import OTHER_TYPES, check_bytes

log = logging.getLogger("kiln.serve")

_MOST_KNOWN_SHAPES = 1024


class Tensor:
    """An input as a client sends it: the protocol's type, the shape, and bytes in row-major order as flat uint8."""

    __slots__ = ("data", "datatype", "shape")

    def __init__(self, datatype: str, shape: tuple[int, ...], data: np.ndarray):
        self.datatype, self.shape, self.data = datatype, shape, data


class Version:
    """An engine with its queue and its threads.

    `close` ends it after the requests that it has; the engine is freed then. Where making it fails, none of its threads
    is left, and the engine is the caller's to free.
    """

    def __init__(
        self,
        name: str,
        number: int,
        engine: Engine,
        config: Any,
        specs: tuple[list[TensorSpec], list[TensorSpec]],
        rules: BatchRules,
        instances: int,
        owns_engine: bool,
    ):
        self.name, self.number, self.engine, self.config, self.rules = name, number, engine, config, rules
        self.inputs, self.outputs = specs
        self.statistics = Statistics()
        self._where = f"model {name!r} version {number}"
        self._input_of = {spec.name: i for i, spec in enumerate(self.inputs)}
        self.output_types = {spec.name: spec.datatype for spec in self.outputs}
        self._has_shape_inputs = any(spec.on_host for spec in self.inputs)
        self._known_shapes: set[tuple] = set()
        self._spans: dict[Hashable, Spans] = {}
        self._batcher = Batcher(rules, self._spans_of)
        self._owns_engine = owns_engine
        self._ended = threading.Event()
        self.failure: str | None = None
        """Why it runs no requests any more, though nobody has closed it."""
        self._start(instances)

    # Threads.

    def _start(self, count: int) -> None:
        made = [Instance(self.engine, self.inputs, self.outputs, self.statistics) for _ in range(count)]
        failures: list[BaseException] = []
        ready = threading.Barrier(count + 1)
        self._threads = [
            threading.Thread(target=self._work, args=(one, ready, failures), name=f"{self.name}-{i}", daemon=True)
            for i, one in enumerate(made)
        ]
        try:
            for thread in self._threads:
                thread.start()
            ready.wait()
            if failures:
                raise failures[0]
            self._closer = threading.Thread(target=self._end, args=(made[0],), name=f"{self.name}-end", daemon=True)
            self._closer.start()
        except BaseException:  # an instance cannot be made, or there can be no more threads
            ready.abort()
            self._batcher.close()
            for thread in self._threads:
                if thread.ident is not None:
                    thread.join()  # whoever made this version closes the engine, which they use
            raise

    def _work(self, instance: Instance, ready: threading.Barrier, failures: list[BaseException]) -> None:
        try:
            instance.start()
        except BaseException as failure:
            failures.append(failure)
        with contextlib.suppress(threading.BrokenBarrierError):  # the queue is closed then
            ready.wait()
        batch: list[Request] | None = None
        try:
            while (batch := self._batcher.take()) is not None:
                instance.run(batch)
                batch = None  # a thread that waits holds no request
        except BaseException as failure:
            self._fail(failure, batch or [])
        finally:
            instance.free()

    def _fail(self, failure: BaseException, batch: list[Request]) -> None:
        """Ends the version, one of whose threads ends unasked: nobody is left waiting for it."""
        self.failure = f"a thread of it has ended: {type(failure).__name__}: {failure}"
        log.critical("%s: %s", self._where, self.failure, exc_info=failure)
        self._batcher.close()
        told = ServeError(Reason.INTERNAL, f"{self._where}: {self.failure}")
        for request in batch:
            request.fail(told)
        for _ in range(len(batch) + self._batcher.fail_all(told)):
            self.statistics.add_failure(told.reason.name.lower())

    def _end(self, instance: Instance) -> None:
        """Fails requests at their deadlines, also while all threads run others; frees all when they have ended."""
        while (expired := self._batcher.take_expired()) is not None:
            instance.run(expired)  # which begins none of them, so it may run something else meanwhile
            expired = None  # a thread that waits holds no request
        for thread in self._threads:
            thread.join()
        if self._owns_engine:
            self.engine.close()
        self._ended.set()

    def close(self) -> None:
        """Takes no more requests. Those that it has end; then its threads and its engine go."""
        self._batcher.close()

    def wait_closed(self, seconds: float | None = None) -> bool:
        """Waits until all is freed; False where that takes longer."""
        return self._ended.wait(seconds)

    def fail_waiting(self, message: str) -> int:
        """Fails the requests that have not begun to run, and returns their number."""
        return self._batcher.fail_all(ServeError(Reason.UNAVAILABLE, message))

    @property
    def queue_length(self) -> int:
        return self._batcher.length

    # Requests.

    def submit(
        self,
        tensors: Mapping[str, Tensor],
        outputs: Sequence[str] | None = None,
        timeout_ns: int | None = None,
        since_ns: int | None = None,
    ) -> Request:
        """Puts a request in the queue. Its time began at `since_ns`, or begins now.

        Raises ServeError for what does not fit, and `Closed`.
        """
        for name in outputs or ():
            if name not in self.output_types:
                raise invalid(f"{self._where} has no output {name!r}; its outputs are {list(self.output_types)}")
        given, rows = self._check(tensors)
        key = None
        if self.rules.joins:
            key = tuple(part.shape[1:] for part in given)
        request = Request(given, rows, key, self._timeout(timeout_ns), outputs or (), since_ns)
        self._batcher.put(request)
        return request

    def _timeout(self, asked_ns: int | None) -> int | None:
        """The shorter of the client's time and the configuration's, where clients may say one."""
        limit = self.rules.timeout_ns
        if asked_ns is None or not self.rules.may_override_timeout:
            return limit
        return asked_ns if limit is None else min(asked_ns, limit)

    def _check(self, tensors: Mapping[str, Tensor]) -> tuple[list[Given], int]:
        for name in tensors:
            if name not in self._input_of:
                raise invalid(f"{self._where} has no input {name!r}; its inputs are {list(self._input_of)}")
        missing = [name for name in self._input_of if name not in tensors]
        if missing:
            raise invalid(f"{self._where}: missing input {', '.join(map(repr, missing))}")
        given = [self._check_input(spec, tensors[spec.name]) for spec in self.inputs]
        rows = self._rows_of(tensors) if self.rules.most else 1
        shapes = tuple(part.shape for part in given)
        if not self._has_shape_inputs and shapes not in self._known_shapes:
            self._check_profile(shapes)
            if len(self._known_shapes) < _MOST_KNOWN_SHAPES:
                self._known_shapes.add(shapes)
        return given, rows

    def _check_input(self, spec: TensorSpec, tensor: Tensor) -> Given:
        where = f"{self._where}: input {spec.name!r}"
        if tensor.datatype != spec.datatype:
            why = ", which engines do not have" if tensor.datatype in OTHER_TYPES else ""
            raise invalid(f"{where} is of {tensor.datatype}{why}; {spec.datatype} is needed")
        shape = tensor.shape
        fits = len(shape) == len(spec.client_shape) and all(
            extent >= 0 and known in (-1, extent) for known, extent in zip(spec.client_shape, shape)
        )
        if not fits:
            raise invalid(f"{where} has shape {list(shape)}; {list(spec.client_shape)} is needed")
        check_bytes(where, spec.datatype, shape, tensor.data)
        return Given(tensor.data, spec.to_engine(shape))

    def _rows_of(self, tensors: Mapping[str, Tensor]) -> int:
        """The batch of a request, which all inputs have in common."""
        rows = {tensors[spec.name].shape[0] for spec in self.inputs}
        if len(rows) > 1:
            told = {spec.name: tensors[spec.name].shape[0] for spec in self.inputs}
            raise invalid(f"{self._where}: the first extent of all inputs is the batch, but they differ: {told}")
        found = rows.pop() if rows else 1
        if not 1 <= found <= self.rules.most:
            raise invalid(f"{self._where}: a batch of {found} was sent; from 1 to {self.rules.most} are possible")
        return found

    def _check_profile(self, shapes: tuple[tuple[int, ...], ...]) -> None:
        for tensor, shape in zip(self.engine.inputs, shapes):
            if not any(limits.holds(shape) for limits in tensor.ranges):
                told = " or ".join(str(limits) for limits in tensor.ranges)
                raise invalid(
                    f"{self._where}: input {tensor.name!r} has shape {list(shape)}; the engine was built for {told}"
                )
        for profile in range(self.engine.num_profiles):
            if all(tensor.ranges[profile].holds(shape) for tensor, shape in zip(self.engine.inputs, shapes)):
                return
        raise invalid(f"{self._where}: no profile of the engine has the shapes {[list(s) for s in shapes]} together")

    def _spans_of(self, key: Hashable) -> Spans:
        """The batch sizes that the engine takes for inputs that have the shapes of `key` behind their first axis."""
        spans = self._spans.get(key)
        if spans is None:
            assert isinstance(key, tuple)
            found = []
            for profile in range(self.engine.num_profiles):
                limits = [tensor.ranges[profile] for tensor in self.engine.inputs]
                if all(its.holds((its.min[0], *rest)) for its, rest in zip(limits, key)):
                    found.append((max(its.min[0] for its in limits), min(its.max[0] for its in limits)))
            spans = Spans(found, self.rules.most)
            if len(self._spans) < _MOST_KNOWN_SHAPES:
                self._spans[key] = spans
        return spans

    # What it says of itself.

    def metadata(self, versions: list[str]) -> dict[str, Any]:
        """The answer of the metadata endpoints."""
        return {
            "name": self.name,
            "versions": versions,
            "platform": self.config.platform,
            "inputs": [self._tensor_metadata(spec) for spec in self.inputs],
            "outputs": [self._tensor_metadata(spec) for spec in self.outputs],
        }

    @staticmethod
    def _tensor_metadata(spec: TensorSpec) -> dict[str, Any]:
        return {"name": spec.name, "datatype": spec.datatype, "shape": list(spec.client_shape)}
