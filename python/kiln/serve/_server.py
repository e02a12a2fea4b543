"""A server: models behind HTTP and gRPC, and for the program itself."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import logging
import math
import os
import pathlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import uvicorn

from .._engine import Engine
from .._version import __version__
from ._calls import Budget
from ._connections import connections_of
from ._drain import LAST_SECONDS, REFUSAL_SECONDS, Drain, stopping
from ._errors import Reason, ServeError, invalid
from ._grpc import make_server
from ._http import Handlers, override_of
from ._repository import Repository
from ._settings import Settings
from ._sources import BuildShapes, EngineSource, FileSource, OnlyShapes
from ._statistics import Refusals
from ._threads import LoopThread, Occasion
from ._types import OF_ENGINE
from ._version import Tensor, Version

log = logging.getLogger("kiln.serve")

EXTENSIONS = [
    "binary_tensor_data",
    "model_configuration",
    "model_repository",
    "statistics",
]
_START_SECONDS = 30
_MOST_LOADS = 2  # for clients, at one time


class Server:
    """Serves models over HTTP and gRPC, and to the program by `infer` and `submit`.

        with Server({"resnet50": "resnet50.plan"}) as server:
            print(server.http_address)
            outputs = server.infer("resnet50", {"x": x})

    models: names to paths of plans and ONNX files, or to engines of the program.
    repositories: folders of Triton's model repository layout.
    shapes: shapes that ONNX files are built for; in repositories those whose configuration says none.

    The ports open before the models are loaded; a server is ready when they are. A model that cannot be loaded is
    named by the index with the reason, and the others are served.
    """

    def __init__(
        self,
        models: Mapping[str, str | os.PathLike | Engine] | None = None,
        *,
        repositories: Sequence[str | os.PathLike] = (),
        settings: Settings | None = None,
        shapes: BuildShapes | None = None,
    ):
        self.settings = settings or Settings()
        if shapes is not None and len(models or {}) == 1 and not repositories:
            shapes = OnlyShapes(shapes.min, shapes.opt, shapes.max)
        self.repository = Repository(self.settings, shapes)
        self.budget = Budget(self.settings.max_bytes_in_flight)
        self.refusals = Refusals()
        """Of requests for inference."""
        self.refused_connections = Refusals()
        """Of connections that ended because of what came on them, before an endpoint was asked."""
        self.failed: dict[str, str] = {}
        """Models that could not be loaded when the server started, with the reasons."""
        self.failure: str | None = None
        """Why a port is served no longer, though the server was not stopped: it is to be stopped then."""
        self.on_failure: Callable[[], None] = lambda: None
        """Is called by any thread when there is a failure."""
        for name, model in (models or {}).items():
            if isinstance(model, Engine):
                self.repository.add(EngineSource(name, model), name)
            else:
                self.repository.add(FileSource(name, pathlib.Path(model), shapes), name)
        for folder in repositories:
            self.repository.add_folder(pathlib.Path(folder))
        self.http_address: str | None = None
        """host:port; None without HTTP."""
        self.grpc_address: str | None = None
        self._state = "new"
        self._limit = 0.0  # seconds that requests get to end when the server stops
        self._drains: list[Drain] = []
        self._threads: list[LoopThread] = []
        self._ending = Occasion()
        self._loader = concurrent.futures.ThreadPoolExecutor(_MOST_LOADS, "kiln-load")

    # Life.

    def start(self) -> Server:
        """Opens the ports and loads the models. Raises OSError where a port cannot be had."""
        if self._state != "new":
            raise RuntimeError("a server starts once")
        self._state = "loading"
        for kind, port, serve in (
            ("http", self.settings.http_port, self._http),
            ("grpc", self.settings.grpc_port, self._grpc),
        ):
            if port is not None:
                self._threads.append(LoopThread(f"kiln-{kind}", serve, self._port_failed))
        try:
            for thread in self._threads:
                thread.start()
            self.failed = self.repository.load_all()
        except BaseException:
            self._end_loads()
            self._close_ports(0)
            self.repository.close(0)
            self._state = "stopped"
            raise
        if self._state == "loading":
            self._state = "ready"
        if self.failure is not None and self._state == "ready":  # a port ended between these two
            self._state = "failed"
        if self.is_stopping:
            return self
        addresses = {"http": self.http_address, "grpc": self.grpc_address, "failed": self.failed}
        log.info("serving %d models", len(self.repository.names()) - len(self.failed), extra=addresses)
        return self

    def refuse(self) -> None:
        """Refuses new requests in words from now on, with its ports open, and goes on with those that it has. What is
        being loaded ends.

        It is what comes before `stop` where others send requests until they have seen that the server is not ready.
        """
        if self._state in ("loading", "ready", "failed"):
            self._end_loads()

    def stop(self, seconds: float | None = None) -> int:
        """Stops taking requests, waits up to `seconds` for those that it has, and frees all.

        Returns how many requests were lost: they had come, and have no answer or the one that the server stops.
        """
        if self._state in ("new", "stopped"):
            self._state = "stopped"
            return 0
        self._end_loads()
        limit = self.settings.drain_seconds if seconds is None else seconds
        end = time.monotonic() + limit
        log.info("stopping; requests get %g s to end", limit)
        self._close_ports(limit)
        lost = sum(drain.lost for drain in self._drains)
        lost += self.repository.close(max(0.0, end - time.monotonic()))
        self._state = "stopped"
        log.info("stopped", extra={"requests_lost": lost})
        return lost

    def _end_loads(self) -> None:
        """Begins to stop: clients whose models are being loaded are told at once."""
        self._state = "stopping"
        self.repository.stop_loading()
        self._ending.happen()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def is_stopping(self) -> bool:
        """Whether the server was told to stop: it takes no more requests."""
        return self._state in ("stopping", "stopped")

    @property
    def is_ready(self) -> bool:
        """Whether all models were loaded, or have failed to, all ports are served, and the server does not stop."""
        return self._state == "ready"

    def _port_failed(self, name: str, failure: BaseException) -> None:
        if self._state in ("loading", "ready"):
            self.failure = f"{name}: {type(failure).__name__}: {failure}"
            self._state = "failed"
            self.on_failure()

    def _close_ports(self, seconds: float) -> None:
        self._limit = seconds
        for thread in self._threads:
            thread.stop()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._loader.shutdown(wait=False, cancel_futures=True)

    @contextlib.asynccontextmanager
    async def _grpc(self) -> Any:
        # gRPC's own words about a port that is taken go past the log.
        _listen("gRPC", self.settings.host, self.settings.grpc_port or 0).close()
        drain = self._new_drain()
        server, port = make_server(self, drain)
        await server.start()
        self.grpc_address = _address(self.settings.host, port)
        try:
            yield server.wait_for_termination()
        finally:
            end = time.monotonic() + self._limit
            await drain.refuse(min(REFUSAL_SECONDS, self._limit))
            left = max(0.0, end - time.monotonic())
            ended = asyncio.ensure_future(server.stop(left + LAST_SECONDS + 0.1))
            await asyncio.wait({ended}, timeout=left)
            drain.give_up()
            await asyncio.wait({ended}, timeout=LAST_SECONDS)
            drain.is_cut = True
            await ended

    @contextlib.asynccontextmanager
    async def _http(self) -> Any:
        settings = self.settings
        listener = _listen("HTTP", settings.host, settings.http_port or 0)
        drain = self._new_drain()
        config = uvicorn.Config(
            Handlers(self, drain).app(),
            http=connections_of(settings, self.refused_connections),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=int(max(1, settings.idle_seconds)),
            timeout_graceful_shutdown=int(settings.drain_seconds) + 1,  # where it ends by itself
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        end = time.monotonic() + _START_SECONDS
        while not server.started and not task.done() and time.monotonic() < end:
            await asyncio.sleep(0.005)
        if not server.started:
            task.cancel()
            raise OSError("HTTP does not start")
        self.http_address = _address(settings.host, listener.getsockname()[1])
        try:
            yield task
        finally:
            end = time.monotonic() + self._limit
            await drain.refuse(min(REFUSAL_SECONDS, self._limit))
            config.timeout_graceful_shutdown = int(self._limit + LAST_SECONDS) + 2  # if all else fails
            server.should_exit = True
            await asyncio.wait({task}, timeout=max(0.0, end - time.monotonic()))
            drain.give_up()
            await asyncio.wait({task}, timeout=LAST_SECONDS)
            left: list[Any] = list(server.server_state.connections)
            for connection in left:
                drain.lost += connection.abort()
            await task

    def _new_drain(self) -> Drain:
        self._drains.append(Drain(lambda: self.is_stopping))
        return self._drains[-1]

    # For both protocols.

    def metadata(self) -> dict[str, Any]:
        """The answer of the server's metadata endpoints."""
        return {"name": "kiln", "version": __version__, "extensions": EXTENSIONS}

    def versions_of(self, name: str, version: str) -> list[Version]:
        """The versions that statistics are asked of; all of all models without a name."""
        if not name:
            return self.repository.all_versions()
        if version:
            return [self.repository.find(name, version)]
        return self.repository.versions(name) or [self.repository.find(name)]  # which tells why there is none

    def _check_control(self) -> None:
        if not self.settings.model_control:
            raise ServeError(Reason.NOT_SUPPORTED, "this server does not let clients load and unload models; --model-control does")
        if self._state == "stopping":
            raise stopping()

    async def load_for_client(self, name: str, parameters: dict[str, Any]) -> None:
        """Loads a model in a thread, while requests go on."""
        self._check_control()
        override = override_of(parameters)
        await self._in_loader(self.repository.load, name, override)

    async def unload_for_client(self, name: str) -> None:
        self._check_control()
        await self._in_loader(self.repository.unload, name)

    async def _in_loader(self, change: Callable[..., None], *arguments: Any) -> None:
        """Changes the repository, and raises ServeError at once when the server stops, whatever becomes of the change."""
        # Threads of their own: loads take long, and requests wait for the loop's.
        changed = asyncio.get_running_loop().run_in_executor(self._loader, change, *arguments)
        with self._ending.awaited() as ending:
            try:
                await asyncio.wait({changed, ending}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()  # nothing where it is done; one that has not begun does not begin
        failure = changed.exception() if changed.done() and not changed.cancelled() else None
        if self.is_stopping:
            raise stopping()
        if failure is not None:
            raise failure

    # For the program.

    def submit(
        self,
        model: str,
        inputs: Mapping[str, Any],
        *,
        outputs: Sequence[str] | None = None,
        version: int | None = None,
        timeout: float | None = None,
    ) -> concurrent.futures.Future:
        """Puts a request in a model's queue. The future gives a dict of names to numpy arrays.

        inputs: numpy arrays, or what becomes one. They are not copied: leave them as they are until the future ends.
        outputs: names of those to return, in this order; all without any.
        timeout: seconds for which the request may wait; it fails at their end. One that runs already is run to its
            end. None and infinity are no limit.

        Raises ServeError, and so does the future.
        """
        if self.is_stopping:
            raise stopping()
        tensors = {name: _tensor_of(name, array) for name, array in inputs.items()}
        timeout_ns = _nanoseconds(timeout)
        return self.repository.submit(model, version, tensors, outputs, timeout_ns)[1]

    def infer(self, model: str, inputs: Mapping[str, Any], **options: Any) -> dict[str, np.ndarray]:
        """Runs a model and returns its outputs by name; options are those of `submit`."""
        return self.submit(model, inputs, **options).result()


def _nanoseconds(timeout: float | None) -> int | None:
    if timeout is None:
        return None
    if not timeout >= 0:  # NaN among them
        raise invalid(f"timeout is {timeout}; 0 or more seconds are needed")
    found = timeout * 1e9
    return None if math.isinf(found) else int(found)


@functools.lru_cache(64)
def _datatype_of(dtype: np.dtype) -> str | None:
    return OF_ENGINE.get(dtype.name) if dtype.isnative else None


def _tensor_of(name: str, array: Any) -> Tensor:
    array = np.asarray(array, order="C")  # ascontiguousarray would give a scalar an axis
    datatype = _datatype_of(array.dtype)
    if datatype is None:
        raise invalid(f"input {name!r} is an array of {array.dtype}, which engines do not have")
    return Tensor(datatype, array.shape, array.reshape(-1).view(np.uint8))


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listen(protocol: str, host: str, port: int) -> socket.socket:
    """A socket that listens on a port, which nobody else uses."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small parts at once (TCP_NODELAY) where a socket names its protocol: a body behind its head would wait
    # 40 ms for the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as failure:
        listener.close()
        raise OSError(f"{protocol} cannot listen on {_address(host, port)}: {failure}") from None
    return listener
