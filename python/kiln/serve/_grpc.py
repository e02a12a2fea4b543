"""gRPC: the service of the KServe v2 protocol with Triton's extensions, and gRPC's own health service."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
from google.protobuf.message import DecodeError

from ._calls import Call, check_parameters, check_tensor, run
from ._errors import ServeError, invalid
from ._fields import METHODS, METHODS_NOT_SUPPORTED
from ._messages import MESSAGES, PACKAGE
from ._types import numpy_type
from ._version import Version

if TYPE_CHECKING:
    from ._server import Server

log = logging.getLogger("kiln.serve")

SERVICE = f"{PACKAGE}.GRPCInferenceService"
_HEALTH_SERVICE = "grpc.health.v1.Health"
_SERVING, _NOT_SERVING = b"\x08\x01", b"\x08\x02"  # HealthCheckResponse{status}
_MOST_IN_A_STREAM = 32  # requests of a stream that wait or run at one time

_CONTENTS = {
    "BOOL": "bool_contents",
    "INT8": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "UINT8": "uint_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
}


def _parameters(held: Any) -> dict[str, Any]:
    found = {}
    for name, value in held.items():
        kind = value.WhichOneof("parameter_choice")
        found[name] = getattr(value, kind) if kind else None
    return found


def _read_call(request: Any) -> Call:
    call = Call(request.model_name, request.model_version, request.id)
    call.read_parameters(_parameters(request.parameters))
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise invalid(f"raw_input_contents has {len(raw)} entries for {len(request.inputs)} inputs")
    for i, tensor in enumerate(request.inputs):
        shape = check_tensor(tensor.name, tensor.datatype, list(tensor.shape))
        check_parameters(_parameters(tensor.parameters), f"input {tensor.name!r}")
        if not raw:
            data = _typed_data(tensor, shape)
        elif tensor.HasField("contents"):
            raise invalid(f"input {tensor.name!r} has contents beside raw_input_contents")
        else:
            data = np.frombuffer(raw[i], np.uint8)
        call.add_tensor(tensor.name, tensor.datatype, shape, data)
    for output in request.outputs:
        check_parameters(_parameters(output.parameters), f"output {output.name!r}")
        call.add_output(output.name)
    return call


def _typed_data(tensor: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers in `contents` as flat uint8."""
    field = _CONTENTS.get(tensor.datatype)
    if field is None:
        raise invalid(f"input {tensor.name!r} of {tensor.datatype} has to come in raw_input_contents")
    others = [held.name for held, _ in tensor.contents.ListFields() if held.name != field]
    if others:
        raise invalid(f"input {tensor.name!r} of {tensor.datatype} has {others[0]}; {field} is needed")
    found = np.asarray(getattr(tensor.contents, field))
    if found.size != math.prod(shape):
        raise invalid(
            f"input {tensor.name!r} has {found.size} elements in {field}; its shape {list(shape)} has "
            f"{math.prod(shape)}"
        )
    target = numpy_type(tensor.datatype)
    if target.kind in "iu" and found.size:
        limits = np.iinfo(target)
        if int(found.min()) < limits.min or int(found.max()) > limits.max:
            raise invalid(f"input {tensor.name!r} has numbers beyond {tensor.datatype}")
    return found.astype(target).view(np.uint8)


def _answer(version: Version, call_id: str, outputs: dict[str, np.ndarray]) -> Any:
    types = {spec.name: spec.datatype for spec in version.outputs}
    kind = MESSAGES["ModelInferResponse"]
    answer = kind(model_name=version.name, model_version=str(version.number), id=call_id)
    for name, array in outputs.items():
        answer.outputs.add(name=name, datatype=types[name], shape=array.shape)
        answer.raw_output_contents.append(array.tobytes())
    return answer


class Servicer:
    """The methods of the service, called by their names."""

    def __init__(self, server: Server):
        self._server, self._repository = server, server.repository

    # Health and metadata.

    async def ServerLive(self, request: Any) -> Any:
        return MESSAGES["ServerLiveResponse"](live=True)

    async def ServerReady(self, request: Any) -> Any:
        return MESSAGES["ServerReadyResponse"](ready=self._server.is_ready)

    async def ModelReady(self, request: Any) -> Any:
        ready = self._repository.is_ready(request.name, request.version)
        return MESSAGES["ModelReadyResponse"](ready=ready)

    async def ServerMetadata(self, request: Any) -> Any:
        return MESSAGES["ServerMetadataResponse"](**self._server.metadata())

    async def ModelMetadata(self, request: Any) -> Any:
        version = self._repository.find(request.name, request.version)
        there = [str(one.number) for one in self._repository.versions(request.name)]
        return MESSAGES["ModelMetadataResponse"](**version.metadata(there))

    async def ModelConfig(self, request: Any) -> Any:
        version = self._repository.find(request.name, request.version)
        return MESSAGES["ModelConfigResponse"](config=version.config)

    async def ModelStatistics(self, request: Any) -> Any:
        found = self._server.versions_of(request.name, request.version)
        told = [version.statistics.as_message(version.name, str(version.number)) for version in found]
        return MESSAGES["ModelStatisticsResponse"](model_stats=told)

    # The repository.

    async def RepositoryIndex(self, request: Any) -> Any:
        return MESSAGES["RepositoryIndexResponse"](models=self._repository.index(request.ready))

    async def RepositoryModelLoad(self, request: Any) -> Any:
        await self._server.load_for_client(request.model_name, _parameters(request.parameters))
        return MESSAGES["RepositoryModelLoadResponse"]()

    async def RepositoryModelUnload(self, request: Any) -> Any:
        await self._server.unload_for_client(request.model_name)
        return MESSAGES["RepositoryModelUnloadResponse"]()

    # Inference.

    async def ModelInfer(self, request: Any, seconds: float | None = None) -> Any:
        size = request.ByteSize()
        self._server.budget.take(size)
        try:
            call = _read_call(request)
            limit = self._server.settings.request_seconds
            version, outputs = await run(self._repository, call, limit if seconds is None else min(limit, seconds))
        finally:
            self._server.budget.give_back(size)
        return _answer(version, request.id, outputs)

    async def ModelStreamInfer(self, requests: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        """Answers the requests of a stream in their order. They run side by side, and may be joined."""
        queue: asyncio.Queue = asyncio.Queue(_MOST_IN_A_STREAM)
        begun: set[asyncio.Task] = set()

        async def read() -> None:
            async for data in requests:
                task = asyncio.create_task(self._answer_in_stream(data))
                begun.add(task)
                task.add_done_callback(begun.discard)
                await queue.put(task)
            await queue.put(None)

        reader = asyncio.create_task(read())
        try:
            while (task := await queue.get()) is not None:
                yield await task
        finally:
            reader.cancel()
            for task in list(begun):
                task.cancel()

    async def _answer_in_stream(self, data: bytes) -> Any:
        response = MESSAGES["ModelStreamInferResponse"]
        call_id = ""
        try:
            request = _parse("ModelInferRequest", data)
            call_id = request.id
            return response(infer_response=await self.ModelInfer(request))
        except ServeError as failure:
            # Triton's clients find the request of an error by the answer's id.
            return response(error_message=str(failure), infer_response={"id": call_id})
        except Exception as failure:
            log.exception("a request of a stream failed")
            return response(error_message=f"{type(failure).__name__}: {failure}", infer_response={"id": call_id})


def _status(failure: ServeError) -> grpc.StatusCode:
    return grpc.StatusCode[failure.reason.grpc_code]


def _unary(name: str, method: Callable[..., Awaitable[Any]]) -> Any:
    timed = name == "ModelInfer"

    async def call(data: bytes, context: Any) -> Any:
        try:
            request = _parse(f"{name}Request", data)
            return await (method(request, context.time_remaining()) if timed else method(request))
        except ServeError as failure:
            await context.abort(_status(failure), str(failure))
        except Exception as failure:
            log.exception("a request of gRPC failed", extra={"method": name})
            await context.abort(grpc.StatusCode.INTERNAL, f"{type(failure).__name__}: {failure}")

    return grpc.unary_unary_rpc_method_handler(call, None, _serialize)


def _parse(name: str, data: bytes) -> Any:
    """A message from its bytes. gRPC itself would answer UNKNOWN to those that are none."""
    try:
        return MESSAGES[name].FromString(data)
    except DecodeError as failure:
        raise invalid(f"the request is no {name}: {failure}") from None


def _serialize(message: Any) -> bytes:
    return message.SerializeToString()


def _stream(servicer: Servicer) -> Any:
    async def call(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for answer in servicer.ModelStreamInfer(requests):
            yield answer

    return grpc.stream_stream_rpc_method_handler(call, None, _serialize)


def _missing(name: str) -> Any:
    async def call(request: bytes, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{name} is not supported")
        raise AssertionError("abort raises")

    return grpc.unary_unary_rpc_method_handler(call)


def _health(server: Server) -> Any:
    async def check(request: bytes, context: Any) -> bytes:
        return _SERVING if server.is_ready else _NOT_SERVING

    return grpc.unary_unary_rpc_method_handler(check)


def make_server(server: Server) -> tuple[Any, int]:
    """A gRPC server for the running event loop, and its port. Raises OSError where the port cannot be had."""
    settings = server.settings
    options = [
        ("grpc.max_receive_message_length", settings.max_request_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", settings.max_connections),
        ("grpc.max_connection_idle_ms", int(settings.idle_seconds * 1000)),
        ("grpc.server_handshake_timeout_ms", int(settings.header_seconds * 1000)),
        ("grpc.keepalive_time_ms", int(settings.idle_seconds * 1000)),
        ("grpc.http2.min_ping_interval_without_data_ms", 5000),
        ("grpc.so_reuseport", 0),
    ]
    made = grpc.aio.server(options=options, maximum_concurrent_rpcs=settings.max_connections)
    servicer = Servicer(server)
    handlers = {name: _unary(name, getattr(servicer, name)) for name in METHODS if name != "ModelStreamInfer"}
    handlers["ModelInfer"] = _unary("ModelInfer", servicer.ModelInfer)
    handlers["ModelStreamInfer"] = _stream(servicer)
    handlers |= {name: _missing(name) for name in METHODS_NOT_SUPPORTED}
    made.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(SERVICE, handlers),
            grpc.method_handlers_generic_handler(_HEALTH_SERVICE, {"Check": _health(server)}),
        )
    )
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        port = made.add_insecure_port(f"{host}:{settings.grpc_port}")
    except RuntimeError as failure:
        raise OSError(f"gRPC cannot listen on {host}:{settings.grpc_port}: {failure}") from None
    if port == 0:
        raise OSError(f"gRPC cannot listen on {host}:{settings.grpc_port}: is it in use?")
    return made, port
