"""The HTTP side: the KServe v2 protocol in front of the models' replicas."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

import fastapi
from ray import exceptions, serve
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, RayServeException
from ray.serve.handle import DeploymentHandle
from starlette.exceptions import HTTPException

import kiln
from kiln.serve import Reason, ServeError, Settings, protocol

from .messages import Refusal, Reply, Request

log = logging.getLogger("ray.serve")

# What is raised where the process, the node or the memory of a replica is gone. Another replica can do the request, for
# the gateway still has all of it, and a run changes nothing but its answer.
_GONE = (
    exceptions.RayActorError,
    exceptions.NodeDiedError,
    exceptions.WorkerCrashedError,
    exceptions.LocalRayletDiedError,
    exceptions.ObjectLostError,
)
_NO_ROOM = (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError)
# A request that ends each process that runs it may not end them for as long as its time lasts. A replica that is found
# gone again counts once: until Ray has noticed its end, on a busy machine after seconds, it may name it again and again.
_MOST_GONE = 8
_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
_READY_S = 5.0
_CLOSED_BY_CLIENT = 499

api = fastapi.FastAPI(title="Kiln on Ray Serve", openapi_url=None)


def _answer_error(failure: ServeError) -> fastapi.Response:
    status, content, headers = protocol.write_error(failure)
    return fastapi.Response(content, status, headers)


@api.exception_handler(ServeError)
async def _refuse(_: fastapi.Request, failure: ServeError) -> fastapi.Response:
    if failure.reason is Reason.CANCELLED:
        return fastapi.Response(status_code=_CLOSED_BY_CLIENT)
    return _answer_error(failure)


@api.exception_handler(HTTPException)
async def _no_such_path(request: fastapi.Request, failure: HTTPException) -> fastapi.Response:
    what = f"{request.method} {request.url.path}"
    words = f"{what} is not allowed here" if failure.status_code == 405 else f"there is no endpoint {what}"
    return fastapi.responses.JSONResponse({"error": words}, failure.status_code, failure.headers)


@api.exception_handler(Exception)
async def _fault(_: fastapi.Request, failure: Exception) -> fastapi.Response:
    return _answer_error(ServeError(Reason.INTERNAL, f"{type(failure).__name__}: {failure}"))


def last_line(failure: BaseException) -> str:
    """The words of an exception whose text is a trace; its type where it has no words."""
    lines = str(failure).strip().splitlines()
    return lines[-1] if lines else type(failure).__name__


class _Full(ServeError):
    """The queue of a model's replicas has no room."""


def _raise_unless_gone(failure: Exception, gone: set[Any]) -> None:
    """Raises the `ServeError` that stands for a failure, unless another replica is to be asked.

    gone: the replicas that have ended while they had the request. This one is added.
    """
    if isinstance(failure, exceptions.RayTaskError) and isinstance(failure.cause, _GONE):
        failure = failure.cause
    if isinstance(failure, _GONE):
        gone.add(getattr(failure, "actor_id", None) or object())  # not every failure says whose it is
        if len(gone) >= _MOST_GONE:
            words = f"{len(gone)} replicas ended while they had the request; the last one: {last_line(failure)}"
            raise ServeError(Reason.INTERNAL, words)
        return
    if isinstance(failure, BackPressureError):
        raise _Full(Reason.FULL, f"the queue is full: {failure}")
    if isinstance(failure, DeploymentUnavailableError):
        raise ServeError(Reason.UNAVAILABLE, f"the model is not there at present: {failure}")
    if isinstance(failure, _NO_ROOM):
        raise ServeError(Reason.FULL, f"the node has no memory for the request: {last_line(failure)}")
    if isinstance(failure, RayServeException):
        raise ServeError(Reason.INTERNAL, last_line(failure))
    log.error("a replica failed", exc_info=failure)
    cause = failure.cause if isinstance(failure, exceptions.RayTaskError) else None
    raise ServeError(Reason.INTERNAL, last_line(cause or failure))


@serve.deployment
@serve.ingress(api)
class Gateway:
    """Reads requests, asks a replica of their model, and asks another where that one dies."""

    def __init__(
        self,
        models: dict[str, DeploymentHandle],
        versions: dict[str, str],
        time_limit_s: float,
        settings: Settings,
        resting: frozenset[str] = frozenset(),
    ):
        """The settings' limits on bodies are those of this process. `resting` names the models that may have no replica."""
        self._models, self._versions, self._time_limit_s = models, versions, time_limit_s
        self._resting = resting
        self._endpoint = protocol.Endpoint(settings)

    async def _ask(self, method: Any, *arguments: Any, time_limit_s: float | None = None) -> Any:
        """Calls a method of some replica. Returns what it returns; raises `ServeError` where none answers in time."""
        limit = time_limit_s or self._time_limit_s
        until, pause = time.monotonic() + limit, _PAUSE_S
        gone: set[Any] = set()
        while (left := until - time.monotonic()) > 0:
            try:
                answer = await asyncio.wait_for(method.remote(*arguments), left)
            except (asyncio.TimeoutError, TimeoutError):
                break
            except Exception as failure:
                _raise_unless_gone(failure, gone)
                log.warning("a replica is gone, another one is asked: %s", failure)
            else:
                if isinstance(answer, Refusal):
                    raise ServeError(answer.reason, answer.text)
                return answer
            await asyncio.sleep(min(pause, max(until - time.monotonic(), 0)))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        raise ServeError(Reason.EXPIRED, f"no replica answered within {limit:g} s")

    def _find(self, model: str, version: str | None) -> DeploymentHandle:
        handle = self._models.get(model)
        if handle is None:
            raise ServeError(Reason.NOT_FOUND, f"there is no model {model!r}; there are {list(self._models)}")
        if version not in (None, self._versions[model]):
            words = f"model {model!r} has version {self._versions[model]!r}, not {version!r}"
            raise ServeError(Reason.NOT_FOUND, words)
        return handle

    # The server.

    @api.get("/v2")
    async def server(self) -> dict[str, Any]:
        return {"name": "kiln", "version": kiln.__version__, "extensions": ["binary_tensor_data"]}

    @api.get("/v2/health/live")
    async def live(self) -> dict[str, Any]:
        return {"live": True}

    @api.get("/v2/health/ready")
    async def ready(self) -> dict[str, Any]:
        answers = await asyncio.gather(*(self._is_ready(name) for name in self._models))
        waiting = [name for name, is_ready in zip(self._models, answers) if not is_ready]
        if waiting:
            raise ServeError(Reason.UNAVAILABLE, f"models are not ready: {waiting}")
        return {"ready": True}

    async def _is_ready(self, model: str) -> bool:
        """Whether a replica answers. A model that may have none is ready without: a request starts one, and so would
        this question."""
        if model in self._resting:
            return True
        try:
            await self._ask(self._models[model].describe, time_limit_s=_READY_S)
        except _Full:
            return True  # busy: a load balancer that took the node away would only make others busier
        except ServeError:
            return False
        return True

    # Models.

    @api.get("/v2/models/{model}/ready")
    @api.get("/v2/models/{model}/versions/{version}/ready")
    async def model_ready(self, model: str, version: str | None = None) -> dict[str, Any]:
        self._find(model, version)
        if not await self._is_ready(model):
            raise ServeError(Reason.UNAVAILABLE, f"model {model!r} is not ready")
        return {"name": model, "ready": True}

    @api.get("/v2/models/{model}")
    @api.get("/v2/models/{model}/versions/{version}")
    async def metadata(self, model: str, version: str | None = None) -> dict[str, Any]:
        told = await self._ask(self._find(model, version).describe)
        return {
            "name": model,
            "versions": [told["version"]],
            "platform": "kiln",
            "inputs": [tensor.metadata() for tensor in told["inputs"]],
            "outputs": [tensor.metadata() for tensor in told["outputs"]],
        }

    @api.post("/v2/models/{model}/infer")
    @api.post("/v2/models/{model}/versions/{version}/infer")
    async def infer(self, request: fastapi.Request, model: str, version: str | None = None) -> fastapi.Response:
        found = self._find(model, version)

        async def inputs() -> Sequence[protocol.Tensor]:
            return (await self._ask(found.describe))["inputs"]

        async with self._endpoint.read(model, request.receive, request.headers, inputs) as read:
            limit = min(self._time_limit_s, read.time_limit_s or self._time_limit_s)
            answer = await self._ask(found.infer, Request(read.inputs, read.outputs), time_limit_s=limit)
        assert isinstance(answer, Reply)
        content, headers = await self._endpoint.write(read, answer.version, answer.outputs)
        told = {f"Kiln-{what.capitalize()}": str(answer.replica[what]) for what in ("replica", "pid", "rows")}
        return fastapi.Response(content, headers=headers | told)

