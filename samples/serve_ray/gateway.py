"""The HTTP side: the KServe v2 protocol in front of the models' replicas."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

import fastapi
from ray import exceptions, serve
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, RayServeException
from ray.serve.handle import DeploymentHandle

import kiln

from . import kserve
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
_NOT_FOUND, _BUSY, _TOO_LATE, _FAILED = 404, 503, 504, 500
_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
_READY_S = 5.0

api = fastapi.FastAPI(title="Kiln on Ray Serve", openapi_url=None)


def _refuse(refusal: Refusal) -> fastapi.Response:
    headers = {"Retry-After": "1"} if refusal.status == _BUSY else None
    return fastapi.responses.JSONResponse({"error": refusal.text}, refusal.status, headers)


class _Body:
    """Reads a request's body. Its bytes count in the gateway's budget until the block ends."""

    def __init__(self, request: fastapi.Request, budget: kserve.Budget):
        self._request, self._budget = request, budget
        self._size = 0

    def __enter__(self) -> _Body:
        return self

    def __exit__(self, *_: object) -> None:
        self._budget.give_back(self._size)

    async def read(self, most: int, seconds: float) -> bytes:
        """The body. Raises ServeError where it is too large, which is noticed before all of it is in memory, or slow."""
        length = self._request.headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise self._too_large(most)
        parts = []
        try:
            async with asyncio.timeout(seconds):
                async for part in self._request.stream():
                    self._budget.take(len(part))
                    self._size += len(part)
                    if self._size > most:
                        raise self._too_large(most)
                    parts.append(part)
        except TimeoutError:
            words = f"the body did not come within {seconds:g} s"
            raise kserve.ServeError(kserve.Reason.TOO_SLOW, words) from None
        return b"".join(parts)

    @staticmethod
    def _too_large(most: int) -> kserve.ServeError:
        return kserve.ServeError(kserve.Reason.TOO_LARGE, f"the request has more than {most} bytes")


@serve.deployment
@serve.ingress(api)
class Gateway:
    """Reads requests, asks a replica of their model, and asks another where that one dies."""

    def __init__(
        self,
        models: dict[str, DeploymentHandle],
        versions: dict[str, str],
        time_limit_s: float,
        body_limit_s: float,
        most_bytes: int,
        most_bytes_in_flight: int,
    ):
        self._models, self._versions = models, versions
        self._time_limit_s, self._body_limit_s, self._most_bytes = time_limit_s, body_limit_s, most_bytes
        self._budget = kserve.Budget(most_bytes_in_flight)
        self._long_json = asyncio.Lock()

    async def _ask(self, method: Any, *arguments: Any, time_limit_s: float | None = None) -> Any:
        """Calls a method of some replica. Returns what it returns, or a refusal where none answers in time."""
        limit = time_limit_s or self._time_limit_s
        until, pause = time.monotonic() + limit, _PAUSE_S
        while (left := until - time.monotonic()) > 0:
            try:
                return await asyncio.wait_for(method.remote(*arguments), left)
            except _GONE as failure:
                log.warning("a replica is gone, another one is asked: %s", failure)
            except BackPressureError as failure:
                return Refusal(_BUSY, f"the queue is full: {failure}")
            except (asyncio.TimeoutError, TimeoutError):
                break
            except DeploymentUnavailableError as failure:
                return Refusal(_BUSY, f"the model is not there at present: {failure}")
            except RayServeException as failure:
                return Refusal(_FAILED, str(failure))
            except exceptions.RayTaskError as failure:  # of the replica's own code
                if not isinstance(failure.cause, _GONE):
                    log.exception("a replica failed")
                    return Refusal(_FAILED, str(failure.cause or failure).splitlines()[-1])
            await asyncio.sleep(min(pause, max(until - time.monotonic(), 0)))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return Refusal(_TOO_LATE, f"no replica answered within {limit:g} s")

    def _find(self, model: str, version: str | None) -> DeploymentHandle | Refusal:
        handle = self._models.get(model)
        if handle is None:
            return Refusal(_NOT_FOUND, f"there is no model {model!r}; there are {list(self._models)}")
        if version not in (None, self._versions[model]):
            return Refusal(_NOT_FOUND, f"model {model!r} has version {self._versions[model]!r}, not {version!r}")
        return handle

    # The server.

    @api.get("/v2")
    async def server(self) -> dict[str, Any]:
        return {"name": "kiln", "version": kiln.__version__, "extensions": ["binary_tensor_data"]}

    @api.get("/v2/health/live")
    async def live(self) -> fastapi.Response:
        return fastapi.Response()

    @api.get("/v2/health/ready")
    async def ready(self) -> Any:
        answers = await asyncio.gather(*(self._is_ready(name) for name in self._models))
        waiting = [name for name, is_ready in zip(self._models, answers) if not is_ready]
        if waiting:
            return _refuse(Refusal(_BUSY, f"models are not ready: {waiting}"))
        return fastapi.Response()

    async def _is_ready(self, model: str) -> bool:
        answer = await self._ask(self._models[model].describe, time_limit_s=_READY_S)
        return not isinstance(answer, Refusal)

    # Models.

    @api.get("/v2/models/{model}/ready")
    @api.get("/v2/models/{model}/versions/{version}/ready")
    async def model_ready(self, model: str, version: str | None = None) -> Any:
        found = self._find(model, version)
        if isinstance(found, Refusal):
            return _refuse(found)
        if not await self._is_ready(model):
            return _refuse(Refusal(_BUSY, f"model {model!r} is not ready"))
        return fastapi.Response()

    @api.get("/v2/models/{model}")
    @api.get("/v2/models/{model}/versions/{version}")
    async def metadata(self, model: str, version: str | None = None) -> Any:
        found = self._find(model, version)
        if isinstance(found, Refusal):
            return _refuse(found)
        answer = await self._ask(found.describe)
        if isinstance(answer, Refusal):
            return _refuse(answer)
        return {
            "name": model,
            "versions": [answer["version"]],
            "platform": "kiln",
            "inputs": kserve.tensors_told(answer["inputs"]),
            "outputs": kserve.tensors_told(answer["outputs"]),
        }

    @api.post("/v2/models/{model}/infer")
    @api.post("/v2/models/{model}/versions/{version}/infer")
    async def infer(self, request: fastapi.Request, model: str, version: str | None = None) -> fastapi.Response:
        found = self._find(model, version)
        if isinstance(found, Refusal):
            return _refuse(found)
        with _Body(request, self._budget) as body:
            try:
                data = await body.read(self._most_bytes, self._body_limit_s)
                return await self._infer(found, model, request.headers, data)
            except kserve.ServeError as failure:
                return _refuse(Refusal(failure.reason.http_status, str(failure)))

    async def _infer(
        self, found: DeploymentHandle, model: str, headers: Mapping[str, str], body: bytes
    ) -> fastapi.Response:
        description: Any = None
        if headers.get(kserve.HEADER_LENGTH) == "0":  # bytes alone, of the model's only input
            description = await self._ask(found.describe)
            if isinstance(description, Refusal):
                return _refuse(description)
        read = await kserve.read_request(model, headers, body, description, self._long_json)
        limit = min(self._time_limit_s, read.time_limit_s or self._time_limit_s)
        answer = await self._ask(found.infer, Request(read.inputs, read.outputs), time_limit_s=limit)
        if isinstance(answer, Refusal):
            return _refuse(answer)
        assert isinstance(answer, Reply)
        content, fields = await kserve.write_answer(model, answer.version, read, answer.outputs, self._long_json)
        told = {f"Kiln-{what.capitalize()}": str(answer.replica[what]) for what in ("replica", "pid", "rows")}
        return fastapi.Response(content, headers=fields | told)
