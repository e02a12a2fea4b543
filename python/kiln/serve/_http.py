"""HTTP: the endpoints of the KServe v2 protocol with Triton's extensions, and /metrics."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from ._bodies import Body, read_body
from ._calls import run
from ._config import ConfigError, config_from_json, config_to_json
from ._drain import Drain, Taken
from ._errors import Reason, ServeError, invalid
from ._http_tensors import HEADER_LENGTH, Answer, check_json_size, encode, parse
from ._metrics import CONTENT_TYPE, metrics_text

if TYPE_CHECKING:
    from ._server import Server

log = logging.getLogger("kiln.serve")
access = logging.getLogger("kiln.serve.access")

_JSON = "application/json"
_MOST_SENT = 1 << 18  # bytes given to a connection at once: a client that reads slowly, but reads, is seen to read
Headers = list[tuple[str, str]]


class _Exchange:
    """A request of HTTP and its answer."""

    def __init__(self, scope: Any, receive: Any, send: Any):
        self.scope, self.receive, self._send = scope, receive, send
        self.headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        self.path: dict[str, str] = scope.get("path_params", {})
        self.status = 0
        self.taken: Taken | None = None

    async def answer(self, status: int, parts: list[Any], content_type: str, headers: Headers | None = None) -> None:
        """Sends an answer; `parts` are bytes and memory in the order of the body."""
        size = sum(len(part) for part in parts)
        self.status = status
        if self.taken is not None:
            self.taken.leave()
        fields = [("content-type", content_type), ("content-length", str(size)), *(headers or [])]
        encoded = [(key.encode(), value.encode()) for key, value in fields]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})
        for part in parts:
            for at in range(0, len(part), _MOST_SENT):
                chunk = part[at : at + _MOST_SENT]
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    async def answer_json(self, value: Any, status: int = 200, headers: Headers | None = None) -> None:
        await self.answer(status, [json.dumps(value).encode()], _JSON, headers)

    async def answer_error(self, failure: ServeError, *, close: bool = False) -> None:
        headers: Headers = [("connection", "close")] if close else []
        if failure.reason is Reason.FULL:
            headers.append(("retry-after", "1"))
        await self.answer_json({"error": str(failure)}, failure.reason.http_status, headers)


Handler = Callable[["Handlers", _Exchange], Awaitable[None]]


class _Application:
    """A handler as an ASGI application: errors become answers, and requests lines of the log."""

    def __init__(self, handlers: Handlers, handler: Handler):
        self._handlers, self._handler = handlers, handler

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        exchange = _Exchange(scope, receive, send)
        started = time.monotonic()
        drain, refusals = self._handlers.drain, self._handlers.server.refusals
        try:
            with refusals.of("http") if self._handler is Handlers.infer else contextlib.nullcontext():
                drain.see(self._handler in _ANSWERED_WHILE_STOPPING)
                async with drain.taken() as exchange.taken:
                    await self._handler(self._handlers, exchange)
        except ServeError as failure:
            if failure.reason is not Reason.CANCELLED:
                # A client that is refused because the server stops asks another one by its next request.
                close = failure.body_is_unread or self._handlers.server.is_stopping
                await exchange.answer_error(failure, close=close)
        except Exception as failure:
            log.exception("a request of HTTP failed", extra={"path": scope["path"]})
            if exchange.status:
                raise  # the answer has begun: uvicorn ends the connection
            await exchange.answer_error(ServeError(Reason.INTERNAL, f"{type(failure).__name__}: {failure}"))
        finally:
            if self._handlers.server.settings.log_requests:
                fields = {
                    "method": scope["method"],
                    "path": scope["path"],
                    "status": exchange.status,
                    "ms": round((time.monotonic() - started) * 1e3, 3),
                }
                access.info("request", extra=fields)


class Handlers:
    """The handlers of all paths."""

    def __init__(self, server: Server, drain: Drain):
        self.server, self.drain = server, drain
        self.repository = server.repository
        self._long_json = asyncio.Lock()

    def app(self) -> Starlette:
        """The application for uvicorn."""
        kind = type(self)
        model = "/v2/models/{model}"
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/v2/health/live", kind.live),
            ("GET", "/v2/health/ready", kind.ready),
            ("GET", "/v2", kind.server_metadata),
            ("GET", "/v2/models/stats", kind.statistics),
            ("POST", "/v2/repository/index", kind.index),
            ("POST", "/v2/repository/models/{model}/load", kind.load),
            ("POST", "/v2/repository/models/{model}/unload", kind.unload),
            ("GET", "/metrics", kind.metrics),
        ]
        for part in ("", "/versions/{version}"):
            table += [
                ("GET", f"{model}{part}", kind.model_metadata),
                ("GET", f"{model}{part}/ready", kind.model_ready),
                ("GET", f"{model}{part}/config", kind.model_config),
                ("GET", f"{model}{part}/stats", kind.statistics),
                ("POST", f"{model}{part}/infer", kind.infer),
            ]
        routes = [Route(path, _Application(self, handler), methods=[method]) for method, path, handler in table]
        made = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_path})
        made.router.redirect_slashes = False  # a redirection would name whatever host the client has sent
        return made

    async def live(self, exchange: _Exchange) -> None:
        await exchange.answer_json({"live": True})

    async def ready(self, exchange: _Exchange) -> None:
        if not self.server.is_ready:
            why = self.server.failure or "it loads models, or stops"
            raise ServeError(Reason.UNAVAILABLE, f"the server is not ready: {why}")
        await exchange.answer_json({"ready": True})

    async def server_metadata(self, exchange: _Exchange) -> None:
        await exchange.answer_json(self.server.metadata())

    async def model_metadata(self, exchange: _Exchange) -> None:
        name = exchange.path["model"]
        version = self.repository.find(name, exchange.path.get("version"))
        there = [str(one.number) for one in self.repository.versions(name)]
        await exchange.answer_json(version.metadata(there))

    async def model_ready(self, exchange: _Exchange) -> None:
        name = exchange.path["model"]
        self.repository.find(name, exchange.path.get("version"))  # raises what is not ready, and why
        await exchange.answer_json({"name": name, "ready": True})

    async def model_config(self, exchange: _Exchange) -> None:
        version = self.repository.find(exchange.path["model"], exchange.path.get("version"))
        await exchange.answer_json(config_to_json(version.config))

    async def statistics(self, exchange: _Exchange) -> None:
        found = self.server.versions_of(exchange.path.get("model", ""), exchange.path.get("version", ""))
        told = [version.statistics.as_message(version.name, str(version.number)) for version in found]
        await exchange.answer_json({"model_stats": told})

    async def metrics(self, exchange: _Exchange) -> None:
        await exchange.answer(200, [metrics_text(self.server)], CONTENT_TYPE)

    # The repository.

    async def _json_of(self, exchange: _Exchange) -> dict[str, Any]:
        """The object in a request's body; an empty body is an empty object."""
        async with self._body(exchange) as body:
            check_json_size(body.data.size, self.server.settings)
            text = bytes(body.data)
        try:
            found = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError) as failure:
            raise invalid(f"the body is not JSON: {failure}") from None
        if not isinstance(found, dict):
            raise invalid("the body is not an object of JSON")
        return found

    async def index(self, exchange: _Exchange) -> None:
        said = await self._json_of(exchange)
        await exchange.answer_json(self.repository.index(only_ready=said.get("ready") is True))

    async def load(self, exchange: _Exchange) -> None:
        parameters = (await self._json_of(exchange)).get("parameters") or {}
        if not isinstance(parameters, dict):
            raise invalid("parameters is not an object of JSON")
        await self.server.load_for_client(exchange.path["model"], parameters)
        await exchange.answer(200, [], _JSON)

    async def unload(self, exchange: _Exchange) -> None:
        await self._json_of(exchange)
        await self.server.unload_for_client(exchange.path["model"])
        await exchange.answer(200, [], _JSON)

    # Inference.

    def _body(self, exchange: _Exchange) -> contextlib.AbstractAsyncContextManager[Body]:
        return read_body(exchange.receive, exchange.headers, self.server.settings, self.server.budget)

    async def infer(self, exchange: _Exchange) -> None:
        async with self._body(exchange) as body:
            assert exchange.taken is not None
            exchange.taken.has_come = True
            name, number = exchange.path["model"], exchange.path.get("version", "")
            found = self.repository.find(name, number)  # one that is not there is told before what is wrong with the body
            call, binary = await parse(
                name,
                number,
                exchange.headers,
                body.data,
                lambda: [(spec.name, spec.datatype, spec.client_shape) for spec in found.inputs],
                self._long_json,
                self.server.settings,
            )
            gone = asyncio.ensure_future(_until_gone(exchange.receive))
            try:
                version, outputs = await run(self.repository, call, self.server.settings.request_seconds, gone)
            finally:
                gone.cancel()
                body.request = call.request
        del body  # not held while the answer is sent
        answer = Answer(version.name, str(version.number), call.id, outputs, version.output_types)
        parts, header_size = await encode(
            answer,
            binary,
            self._long_json,
            call.seconds_left(self.server.settings.request_seconds),
            self.server.settings.max_bytes_in_flight,
        )
        del outputs, answer
        headers: Headers = []
        content_type = _JSON
        if len(parts) > 1:
            headers, content_type = [(HEADER_LENGTH, str(header_size))], "application/octet-stream"
        # A client may ask for much and read it slowly.
        size = sum(map(len, parts))
        self.server.budget.take_answer(size)
        try:
            await exchange.answer(200, parts, content_type, headers)
        finally:
            self.server.budget.give_back(size)


_ANSWERED_WHILE_STOPPING = (Handlers.live, Handlers.ready, Handlers.metrics)


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _no_such_path(request: Any, failure: Exception) -> Any:
    from starlette.responses import JSONResponse

    assert isinstance(failure, HTTPException)
    what = f"{request.method} {request.url.path}"
    words = f"{what} is not allowed here" if failure.status_code == 405 else f"there is no endpoint {what}"
    return JSONResponse({"error": words}, failure.status_code, headers=dict(failure.headers or {}))


def override_of(parameters: dict[str, Any]) -> Any:
    """The configuration that a load request brings, or None. Raises ServeError."""
    for key in parameters:
        if key != "config":
            raise ServeError(Reason.NOT_SUPPORTED, f"parameter {key!r} of a load is not supported; 'config' is")
    if "config" not in parameters:
        return None
    if not isinstance(parameters["config"], str):
        raise invalid("parameter 'config' of a load is not a text")
    try:
        config = config_from_json(parameters["config"])
    except ConfigError as failure:
        raise invalid(str(failure)) from None
    if "timing_cache" in config.parameters:
        raise invalid("parameter 'timing_cache' names a file that the server writes: a load may not bring it")
    return config
