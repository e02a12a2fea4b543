"""A replica: one engine in a process of Ray's, its requests joined by `serve.batch`."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from ray import serve

import kiln
from kiln.serve import Reason, protocol

from . import joining, plans
from .messages import Refusal, Reply, Request
from .settings import Model

log = logging.getLogger("ray.serve")

_HEALTH_RUN_S = 30.0
_THREADS = "kiln-run"


@dataclasses.dataclass(eq=False)
class _Waiting:
    """A request that is to be joined with others. Its answer is cancelled where nobody waits for it any more."""

    request: Request
    answer: asyncio.Future

    @property
    def rows(self) -> int:
        return joining.rows_of(self.request.inputs)


def _rows(waiting: Sequence[_Waiting]) -> int:
    return sum(each.rows for each in waiting)


@serve.deployment
class Replica:
    """Serves one model. The engine is loaded in this process and never leaves it: Ray starts each process anew, so no
    engine is forked, and engines cannot be pickled."""

    def __init__(self, model: Model):
        self._model = model
        self._engine = plans.load(model)
        self._told = self._tensors(0)
        self._inputs = {tensor.name: tensor for tensor in self._engine.inputs}
        self._output_names = tuple(tensor.name for tensor in self._engine.outputs)
        # A thread has an execution context of its own; all of them use the weights of the one engine.
        self._threads = ThreadPoolExecutor(model.instances, thread_name_prefix=_THREADS)
        self._room = asyncio.Semaphore(model.instances)
        self._waiting: list[_Waiting] = []
        self._runners: set[asyncio.Task] = set()
        self._most_rows = 0
        self._runs = self._runs_at_last_check = 0
        self._runs_examples = self._try_examples()
        context = serve.get_replica_context()
        self._who = {"replica": context.replica_id.unique_id, "pid": os.getpid()}

    async def reconfigure(self, config: dict[str, Any]) -> None:
        """Takes over how requests are joined, in the same process. Raises ValueError where the engine cannot do it."""
        most = config["max_batch_size"]
        if most:
            self._tensors(most)
            await asyncio.get_running_loop().run_in_executor(self._threads, self._check_rows, most)
            self._joined.set_max_batch_size(most)
            self._joined.set_batch_wait_timeout_s(config["batch_wait_ms"] / 1000)
        self._most_rows = most

    def _tensors(self, most: int) -> tuple[tuple[protocol.Tensor, ...], tuple[protocol.Tensor, ...]]:
        """Inputs and outputs, checked for a batch of `most`. Raises ValueError."""
        try:
            return protocol.tensors_of(self._engine, most)
        except ValueError as failure:
            raise ValueError(f"model {self._model.name!r}: {failure}") from None

    def _check_rows(self, most: int) -> None:
        """Raises ValueError where values decide how many rows an output has, as they do behind a NonZero.

        `joining.part` notices other numbers of rows, but not one that is right by chance: requests would get rows of
        each other then.
        """
        names = [tensor.name for tensor in self._engine.inputs]
        examples = self._engine.example_inputs()
        rows = min([most, *(array.shape[0] for array in examples)])
        for fill in (np.zeros_like, np.ones_like):
            inputs = dict(zip(names, (fill(array[:rows]) for array in examples)))
            try:
                joining.part(self._run_engine(inputs), [rows])
            except joining.RowsError as failure:
                raise ValueError(f"model {self._model.name!r}: max_batch_size is {most}, but {failure}") from None
            except (kiln.Error, kiln.ShapeError) as failure:
                log.warning("model %s: made inputs do not run, so its rows are not tried: %s", self._model.name, failure)

    # Requests.

    async def infer(self, request: Request) -> Reply | Refusal:
        """Answers a request. A refusal says what is wrong with it; exceptions are faults of this replica."""
        try:
            self._check(request)
        except (ValueError, TypeError) as failure:
            return Refusal(Reason.INVALID, str(failure))
        if self._most_rows:
            waiting = _Waiting(request, asyncio.get_running_loop().create_future())
            try:
                return await self._joined(waiting)
            finally:
                waiting.answer.cancel()  # does nothing, unless this call was cancelled: the client has left
        async with self._room:
            return (await self._run([request], joined=False))[0]

    def _check(self, request: Request) -> None:
        name = self._model.name
        for given in request.inputs:
            if given not in self._inputs:
                raise ValueError(f"model {name!r} has no input {given!r}; its inputs are {list(self._inputs)}")
        for wanted in request.outputs:
            if wanted not in self._output_names:
                raise ValueError(f"model {name!r} has no output {wanted!r}; its outputs are {list(self._output_names)}")
        for tensor in self._engine.inputs:
            array = request.inputs.get(tensor.name)
            if array is None:
                raise ValueError(f"model {name!r}: input {tensor.name!r} is missing")
            if array.dtype.name != tensor.dtype:
                raise ValueError(f"model {name!r}: input {tensor.name!r} is of {array.dtype}; {tensor.dtype} is needed")
            if not any(limits.holds(array.shape) for limits in tensor.ranges):
                allowed = " or ".join(str(limits) for limits in tensor.ranges)
                raise ValueError(
                    f"model {name!r}: input {tensor.name!r} has shape {array.shape}; the engine was built for {allowed}"
                )
        if self._most_rows and joining.rows_of(request.inputs) > self._most_rows:
            raise ValueError(
                f"model {name!r}: the request has {joining.rows_of(request.inputs)} rows; at most {self._most_rows} "
                "run at once"
            )

    @serve.batch(max_batch_size=1, batch_wait_timeout_s=0, max_concurrent_batches=64, batch_size_fn=_rows)
    async def _joined(self, batch: list[_Waiting]) -> list[Reply | Refusal]:
        """Answers requests that came at about the same time.

        While runs are in flight, several of these batches may wait. A run then takes what is alike in all of them.
        """
        self._waiting += batch
        # A task of its own: a run has requests of several batches, and goes on where one of these is cancelled.
        runner = asyncio.create_task(self._run_while_waiting(batch))
        self._runners.add(runner)
        runner.add_done_callback(self._runners.discard)
        try:
            await asyncio.wait([each.answer for each in batch])
        except asyncio.CancelledError:
            for each in batch:
                each.answer.cancel()
            raise
        left = Refusal(Reason.CANCELLED, "the client has left")
        return [left if each.answer.cancelled() else each.answer.result() for each in batch]

    async def _run_while_waiting(self, batch: Sequence[_Waiting]) -> None:
        while any(each in self._waiting for each in batch):
            async with self._room:
                await self._run_some()

    async def _run_some(self) -> None:
        """Runs the oldest request that waits, with those like it, and answers each of them."""
        # Those whose clients have left take no time of others: a client may leave as fast as it asks.
        self._waiting = [each for each in self._waiting if not each.answer.done()]
        if not self._waiting:
            return
        # A request may have been checked before `reconfigure` made runs smaller.
        most = max(self._most_rows, self._waiting[0].rows)
        places = set(joining.group([each.request.inputs for each in self._waiting], most)[0])
        taken = [each for i, each in enumerate(self._waiting) if i in places]
        self._waiting = [each for i, each in enumerate(self._waiting) if i not in places]
        answers: list[Reply | Refusal] = [Refusal(Reason.UNAVAILABLE, "the replica ends")] * len(taken)
        try:
            answers = await self._run([each.request for each in taken], joined=True)
        except Exception as failure:
            log.exception("model %s: a run failed", self._model.name)
            answers = [Refusal(Reason.INTERNAL, f"the run failed: {failure!r}")] * len(taken)
        finally:
            for each, found in zip(taken, answers, strict=True):
                if not each.answer.done():
                    each.answer.set_result(found)

    async def _run(self, requests: list[Request], joined: bool) -> list[Reply | Refusal]:
        """One run. `joined` says whether the first axis counts rows, whatever `reconfigure` says meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run_here, requests, joined)

    def _run_here(self, requests: list[Request], joined: bool) -> list[Reply | Refusal]:
        """One run, in one of the replica's threads. Where a joined run fails, each request runs by itself, so that it
        fails by its own fault only."""
        try:
            answers = self._answers(requests, joined)
        except Exception as failure:
            if len(requests) > 1:
                return [self._run_here([request], joined)[0] for request in requests]
            if isinstance(failure, (ValueError, TypeError)):
                return [Refusal(Reason.INVALID, str(failure))]
            log.exception("model %s: a run failed", self._model.name)
            return [Refusal(Reason.INTERNAL, str(failure) or type(failure).__name__)]
        self._runs += 1
        return answers

    def _run_engine(self, inputs: joining.Arrays) -> joining.Arrays:
        made = self._engine(inputs)
        return dict(zip(self._output_names, made if isinstance(made, tuple) else (made,)))

    def _answers(self, requests: list[Request], joined: bool) -> list[Reply | Refusal]:
        outputs = self._run_engine(joining.join([request.inputs for request in requests]))
        rows = [joining.rows_of(request.inputs) for request in requests] if joined else [1]
        parts = joining.part(outputs, rows) if joined else [outputs]
        who = {**self._who, "rows": sum(rows)}
        return [
            Reply({n: found[n] for n in request.outputs or self._output_names}, self._model.version, who)
            for request, found in zip(requests, parts, strict=True)
        ]

    # What Ray and the gateway ask.

    async def describe(self) -> dict[str, Any]:
        """The model's name, version and tensors."""
        inputs, outputs = self._told
        return {"name": self._model.name, "version": self._model.version, "inputs": inputs, "outputs": outputs}

    def _try_examples(self) -> bool:
        """Runs the engine on made inputs, in each of its threads at once. False where the model takes none of these."""
        inputs = self._engine.example_inputs()
        runs = [self._threads.submit(self._engine, *inputs) for _ in range(self._model.instances)]
        try:
            for run in runs:
                run.result()
        except kiln.Error as failure:
            log.warning("model %s: made inputs do not run, so health checks only ask for an answer: %s",
                        self._model.name, failure)  # fmt: skip
            return False
        return True

    async def check_health(self) -> None:
        """Raises where the engine does not run, and Ray replaces the replica. A replica that ran lately is well."""
        if self._runs == self._runs_at_last_check:
            run = self._threads.submit(self._engine, *self._engine.example_inputs())
            try:
                await asyncio.wait_for(asyncio.wrap_future(run), _HEALTH_RUN_S)
            except kiln.Error:
                if self._runs_examples:
                    raise
        self._runs_at_last_check = self._runs

    def __del__(self) -> None:
        # Ray calls it when the replica is drained. Runs in flight end first. Where nobody keeps the replica any more, no run
        # is left, for each keeps it; but it may be the thread of the last one that is here, and waits not for itself.
        threads = getattr(self, "_threads", None)
        if threads is not None:
            threads.shutdown(wait=not threading.current_thread().name.startswith(_THREADS))
            self._engine.close()


