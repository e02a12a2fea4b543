"""A replica: one engine in a process of Ray's, its requests joined by `serve.batch`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from ray import serve

import kiln

from . import joining, plans
from .messages import Refusal, Reply, Request
from .settings import Model

log = logging.getLogger("ray.serve")

_BAD_REQUEST, _FAILED = 400, 500
_HEALTH_RUN_S = 30.0


def _rows(requests: Sequence[Request]) -> int:
    return sum(joining.rows_of(request.inputs) for request in requests)


@serve.deployment
class Replica:
    """Serves one model. The engine is loaded in this process and never leaves it: Ray starts each process anew, so no
    engine is forked, and engines cannot be pickled."""

    def __init__(self, model: Model):
        self._model = model
        self._engine = plans.load(model)
        self._inputs = {tensor.name: tensor for tensor in self._engine.inputs}
        self._output_names = tuple(tensor.name for tensor in self._engine.outputs)
        # A thread has an execution context of its own; all of them use the weights of the one engine.
        self._threads = ThreadPoolExecutor(model.instances, thread_name_prefix="run")
        self._room = asyncio.Semaphore(model.instances)
        self._waiting: list[tuple[Request, asyncio.Future]] = []
        self._most_rows = 0
        self._runs = self._runs_at_last_check = 0
        self._runs_examples = self._try_examples()
        context = serve.get_replica_context()
        self._who = {"replica": context.replica_id.unique_id, "pid": os.getpid()}

    def reconfigure(self, config: dict[str, Any]) -> None:
        """Takes over how requests are joined, in the same process. Raises ValueError where the engine cannot do it."""
        most = config["max_batch_size"]
        if most:
            self._check_batches(most)
            self._joined.set_max_batch_size(most)
            self._joined.set_batch_wait_timeout_s(config["batch_wait_ms"] / 1000)
        self._most_rows = most

    def _check_batches(self, most: int) -> None:
        for tensor in self._engine.inputs + self._engine.outputs:
            if tensor.on_host or not tensor.shape or tensor.shape[0] != -1:
                raise ValueError(
                    f"model {self._model.name!r}: max_batch_size is {most}, but the first axis of {tensor} does not "
                    "count rows"
                )
        for tensor in self._engine.inputs:
            largest = max(limits.max[0] for limits in tensor.ranges)
            if most > largest:
                raise ValueError(
                    f"model {self._model.name!r}: max_batch_size is {most}, but {tensor.name!r} was built for "
                    f"at most {largest} rows"
                )

    # Requests.

    async def infer(self, request: Request) -> Reply | Refusal:
        """Answers a request. A refusal says what is wrong with it; exceptions are faults of this replica."""
        try:
            self._check(request)
        except (ValueError, TypeError) as failure:
            return Refusal(_BAD_REQUEST, str(failure))
        if self._most_rows:
            return await self._joined(request)
        async with self._room:
            return (await self._run([request]))[0]

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
    async def _joined(self, requests: list[Request]) -> list[Reply | Refusal]:
        """Answers requests that came at about the same time.

        While runs are in flight, several of these batches may wait. A run then takes what is alike in all of them.
        """
        loop = asyncio.get_running_loop()
        mine = [(request, loop.create_future()) for request in requests]
        self._waiting += mine
        while any(place in self._waiting for place in mine):
            async with self._room:
                await self._run_some()
        return [await answer for _, answer in mine]

    async def _run_some(self) -> None:
        """Runs the oldest request that waits, with those like it."""
        if not self._waiting:
            return
        # A request may have been checked before `reconfigure` made runs smaller.
        oldest = self._waiting[0][0]
        most = max(self._most_rows, joining.rows_of(oldest.inputs))
        places = set(joining.group([request.inputs for request, _ in self._waiting], most)[0])
        taken = [waiting for i, waiting in enumerate(self._waiting) if i in places]
        self._waiting = [waiting for i, waiting in enumerate(self._waiting) if i not in places]
        try:
            answers = await self._run([request for request, _ in taken])
        except BaseException as failure:
            answers = [Refusal(_FAILED, f"the run ended: {failure!r}")] * len(taken)
            raise
        finally:
            for (_, answer), found in zip(taken, answers):
                answer.set_result(found)

    async def _run(self, requests: list[Request]) -> list[Reply | Refusal]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run_here, requests)

    def _run_here(self, requests: list[Request]) -> list[Reply | Refusal]:
        """One run, in one of the replica's threads. Where a joined run fails, each request runs by itself, so that it
        fails by its own fault only."""
        try:
            answers = self._answers(requests)
        except Exception as failure:
            if len(requests) > 1:
                return [self._run_here([request])[0] for request in requests]
            if isinstance(failure, (ValueError, TypeError)):
                return [Refusal(_BAD_REQUEST, str(failure))]
            log.exception("model %s: a run failed", self._model.name)
            return [Refusal(_FAILED, str(failure))]
        self._runs += 1
        return answers

    def _answers(self, requests: list[Request]) -> list[Reply | Refusal]:
        made = self._engine(joining.join([request.inputs for request in requests]))
        arrays = made if isinstance(made, tuple) else (made,)
        outputs = dict(zip(self._output_names, arrays))
        rows = [joining.rows_of(request.inputs) for request in requests] if self._most_rows else [1]
        parts = joining.part(outputs, rows) if self._most_rows else [outputs]
        who = {**self._who, "rows": sum(rows)}
        return [
            Reply({n: found[n] for n in request.outputs or self._output_names}, self._model.version, who)
            for request, found in zip(requests, parts)
        ]

    # What Ray and the gateway ask.

    async def describe(self) -> dict[str, Any]:
        """The model's name, version and tensors."""
        batches = bool(self._most_rows)
        return {
            "name": self._model.name,
            "version": self._model.version,
            "inputs": [(t.name, t.dtype, t.shape) for t in self._engine.inputs],
            "outputs": [(t.name, t.dtype, t.shape) for t in self._engine.outputs],
            "max_batch_size": self._most_rows if batches else 0,
            "replica": self._who,
        }

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
        # Ray calls it when the replica is drained. Runs in flight end first.
        threads = getattr(self, "_threads", None)
        if threads is not None:
            threads.shutdown(wait=True)
            self._engine.close()


