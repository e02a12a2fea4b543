"""gRPC: the service of the KServe v2 protocol with Triton's extensions, and gRPC's own health service."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
import numpy as np
from google.protobuf.message import DecodeError
from google.protobuf.wrappers_pb2 import StringValue

from ._batcher import clock_ns
from ._calls import Call, check_parameters, check_tensor, in_turn, run
from ._drain import Drain, Taken
from ._errors import Reason, ServeError, invalid
from ._fields import METHODS, METHODS_NOT_SUPPORTED
from ._messages import MESSAGES, PACKAGE
from ._receiver import Receiver, StreamReader
from ._types import numpy_type
from ._version import Version

if TYPE_CHECKING:
    from ._server import Server

log = logging.getLogger("kiln.serve")

SERVICE = f"{PACKAGE}.GRPCInferenceService"
_HEALTH_SERVICE = "grpc.health.v1.Health"
_SERVING, _NOT_SERVING = b"\x08\x01", b"\x08\x02"  # HealthCheckResponse{status}
_MOST_IN_A_STREAM = 32  # requests of a stream that wait or run at one time
_MOST_STREAMS = 128
_ANSWERED_WHILE_STOPPING = ("ServerLive", "ServerReady", "ModelReady")  # they tell that the server stops, or lives
_MOST_OF_GRPC = (1 << 31) - 1  # of a number among its options
_MOST_DETAILS = 1000  # characters of a status; clients refuse long ones
# Bytes of a message above which a thread reads numbers in it. Other requests go on between its tensors; while it reads
# one of them it holds the interpreter's lock.
_LONG_NUMBERS = 1 << 17

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


def _read_call(request: Any, since_ns: int) -> Call:
    call = Call(request.model_name, request.model_version, request.id, since_ns=since_ns)
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
    numbers = getattr(tensor.contents, field)
    if len(numbers) != math.prod(shape):
        raise invalid(
            f"input {tensor.name!r} has {len(numbers)} elements in {field}; its shape {list(shape)} has "
            f"{math.prod(shape)}"
        )
    found = np.asarray(numbers)
    target = numpy_type(tensor.datatype)
    if target.kind in "iu" and found.size:
        limits = np.iinfo(target)
        if int(found.min()) < limits.min or int(found.max()) > limits.max:
            raise invalid(f"input {tensor.name!r} has numbers beyond {tensor.datatype}")
    return found.astype(target).view(np.uint8)


def _answer(version: Version, call_id: str, outputs: dict[str, np.ndarray]) -> Any:
    kind = MESSAGES["ModelInferResponse"]
    answer = kind(model_name=version.name, model_version=str(version.number), id=call_id)
    for name, array in outputs.items():
        answer.outputs.add(name=name, datatype=version.output_types[name], shape=array.shape)
        answer.raw_output_contents.append(array.tobytes())
    return answer


def _in_stream(answer: Any, error: str = "") -> Any:
    """An answer in a stream. It is the only one to its request, which Triton's clients are told by a parameter."""
    told = MESSAGES["ModelStreamInferResponse"](infer_response=answer, error_message=error)
    told.infer_response.parameters["triton_final_response"].bool_param = True
    return told


def _error_in_stream(call_id: str, error: str) -> bytes:
    """An error in a stream. Triton's clients find its request by the answer's id."""
    return _in_stream(MESSAGES["ModelInferResponse"](id=call_id), error).SerializeToString()


class _Counted(NamedTuple):
    """An answer in a stream."""

    data: bytes
    size: int
    """Bytes of it that count as in flight; 0 of an error."""


class Servicer:
    """The methods of the service, called by their names."""

    def __init__(self, server: Server, drain: Drain):
        self._server, self._repository, self._drain = server, server.repository, drain
        self.receiver = Receiver(server.settings)
        self._long_numbers = asyncio.Lock()
        self._streams = self._calls = self._unsent = 0

    # Health and metadata.

    async def ServerLive(self, request: Any) -> Any:
        return MESSAGES["ServerLiveResponse"](live=True)

    async def ServerReady(self, request: Any) -> Any:
        return MESSAGES["ServerReadyResponse"](ready=self._server.is_ready)

    async def ModelReady(self, request: Any) -> Any:
        try:
            ready = self._repository.is_ready(request.name, request.version) and not self._server.is_stopping
        except ServeError:  # there is none; Triton's answer is the same
            ready = False
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

    async def infer(self, taken_once: list[Any], size: int, seconds: float | None = None) -> Any:
        """Answers the ModelInferRequest of so many bytes in a list, which may take so many seconds.

        It takes the request out of the list, which its caller keeps. So nobody holds the message while its tensors wait.
        """
        since_ns = clock_ns()
        limit = self._server.settings.request_seconds
        limit = limit if seconds is None else min(limit, seconds)
        self._server.budget.take(size)
        call: Call | None = None
        try:
            if taken_once[0].raw_input_contents or size <= _LONG_NUMBERS:
                call = _read_call(taken_once.pop(), since_ns)
            else:
                call = await in_turn(self._long_numbers, limit, _read_call, taken_once.pop(), since_ns)
            version, outputs = await run(self._repository, call, limit)
        finally:
            self._server.budget.give_back_after(call.request if call is not None else None, size)
        return _answer(version, call.id, outputs)

    async def _answer_in_stream(self, taken_once: list[bytes]) -> _Counted:
        """The answer to the message in a list, which it takes out of it. Its bytes count until it is given back."""
        call_id, size = "", len(taken_once[0])
        try:
            with self._server.refusals.of("grpc"):
                async with self._drain.taken() as taken:
                    taken.has_come = True
                    requests = [_parse("ModelInferRequest", taken_once.pop())]
                    call_id = requests[0].id
                    answer = _in_stream(await self.infer(requests, size)).SerializeToString()
                self._server.budget.take_answer(len(answer))
                return _Counted(answer, len(answer))
        except ServeError as failure:
            return _Counted(_error_in_stream(call_id, str(failure)), 0)
        except Exception as failure:
            log.exception("a request of a stream failed")
            return _Counted(_error_in_stream(call_id, f"{type(failure).__name__}: {failure}"), 0)

    # Calls.

    @contextlib.contextmanager
    def counted_call(self) -> Iterator[None]:
        """Counts a call while it is handled. Raises ServeError where there are too many, with those whose answers are
        being sent.

        What a call is to do when it is done would keep it until the garbage collector comes, so this is no such thing.
        """
        most = self._server.settings.max_connections
        if self._calls + self._unsent >= most:
            raise ServeError(Reason.FULL, f"too many calls: the server takes {most} at one time; try again later")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    def unary(self, name: str) -> Any:
        """The handler of a method with one request and one answer.

        For gRPC its requests are a stream, so that a message which does not come ends the call; on the wire both are
        the same. Failures are set, not raised by `abort`: that leaves cycles which keep the request's bytes until the
        garbage collector comes, and it does not count bytes.
        """
        method = None if name == "ModelInfer" else getattr(self, name)

        async def answer(context: Any, taken: Taken) -> bytes:
            taken_once = [await self.receiver.receive(context)]
            taken.has_come = method is None
            size = len(taken_once[0])
            taken_once = [_parse(f"{name}Request", taken_once.pop())]
            if method is None:
                found = await self.infer(taken_once, size, context.time_remaining())
            else:
                found = await method(taken_once.pop())
            return self._counted(found.SerializeToString(), context)

        async def call(_: Any, context: Any) -> bytes:
            try:
                with self._server.refusals.of("grpc") if method is None else contextlib.nullcontext():
                    self._drain.see(name in _ANSWERED_WHILE_STOPPING)
                    with self.counted_call():
                        async with self._drain.taken() as taken:
                            return await answer(context, taken)
            except ServeError as failure:
                _set_status(context, failure.reason.grpc_code, str(failure))
            except Exception as failure:
                log.exception("a request of gRPC failed", extra={"method": name})
                _set_status(context, "INTERNAL", f"{type(failure).__name__}: {failure}")
            return b""

        return grpc.stream_unary_rpc_method_handler(call)

    def _counted(self, answer: bytes, context: Any) -> bytes:
        """Counts the bytes of an answer until its call ends: a client may ask for much and read it slowly."""
        size = len(answer)
        self._server.budget.take_answer(size)
        self._unsent += 1
        context.add_done_callback(lambda _: self._sent(size))
        return answer

    def _sent(self, size: int) -> None:
        self._unsent -= 1
        self._server.budget.give_back(size)
        self._drain.lost += self._drain.is_cut

    def stream(self) -> Any:
        """The handler of ModelStreamInfer: answers the requests of a stream in their order. They run side by side,
        and may be joined."""

        async def call(_: Any, context: Any) -> AsyncIterator[bytes]:
            counted = contextlib.ExitStack()
            try:
                with self._server.refusals.of("grpc"):
                    self._drain.see()
                    if self._streams >= _MOST_STREAMS:
                        raise ServeError(Reason.FULL, f"{_MOST_STREAMS} streams are open; try again later")
                    counted.enter_context(self.counted_call())
            except ServeError as failure:
                _set_status(context, failure.reason.grpc_code, str(failure))
                return
            self._streams += 1
            answers: asyncio.Queue[asyncio.Task[_Counted] | None] = asyncio.Queue()
            places = asyncio.Semaphore(_MOST_IN_A_STREAM)
            messages = StreamReader(context, self._server.settings.idle_seconds, self._drain)
            reader = asyncio.create_task(self._read_stream(messages, answers, places))
            task: asyncio.Task[_Counted] | None = None
            try:
                while (task := await answers.get()) is not None:
                    answer = await task
                    task = None  # it has the answer, too, which may be read slowly
                    try:
                        yield answer.data
                    except BaseException:
                        self._lose(answer)
                        raise
                    finally:
                        self._server.budget.give_back(answer.size)
                    places.release()
                await reader
            except ServeError as failure:
                _set_status(context, failure.reason.grpc_code, str(failure))
            finally:
                counted.close()
                self._streams -= 1
                reader.cancel()
                messages.close()
                while task is not None or not answers.empty():
                    if task is not None:
                        task.add_done_callback(self._give_back_unsent)
                    task = None if answers.empty() else answers.get_nowait()

        return grpc.stream_stream_rpc_method_handler(call)

    def _lose(self, answer: _Counted) -> None:
        """Notes an answer that was not sent, where it is the server that ends its call."""
        self._drain.lost += self._drain.is_over and answer.size > 0

    def _give_back_unsent(self, task: asyncio.Task[_Counted]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._lose(task.result())
            self._server.budget.give_back(task.result().size)

    async def _read_stream(self, messages: StreamReader, answers: asyncio.Queue, places: asyncio.Semaphore) -> None:
        """Begins to answer the messages of a stream, each when it has a place, and puts the tasks in the queue.

        None ends the queue. It bounds nothing itself: a reader that is cancelled may not wait for those who read it.
        """
        try:
            while True:
                await places.acquire()
                taken_once = [await messages.next()]
                if taken_once[0] is grpc.aio.EOF:
                    return
                with self._server.refusals.of("grpc"):
                    self._drain.check()
                task = asyncio.create_task(self._answer_in_stream(taken_once))
                messages.begin(task)
                answers.put_nowait(task)
        finally:
            answers.put_nowait(None)


def _set_status(context: Any, code: str, words: str) -> None:
    context.set_code(grpc.StatusCode[code])
    context.set_details(words if len(words) <= _MOST_DETAILS else words[:_MOST_DETAILS] + " ...")


def _parse(name: str, data: bytes) -> Any:
    """A message from its bytes. gRPC itself would answer UNKNOWN to those that are none."""
    try:
        return MESSAGES[name].FromString(data)
    except DecodeError as failure:
        raise invalid(f"the request is no {name}: {failure}") from None


def _missing(name: str) -> Any:
    async def call(_: Any, context: Any) -> bytes:
        _set_status(context, "UNIMPLEMENTED", f"{name} is not supported")
        return b""

    return grpc.stream_unary_rpc_method_handler(call)


def _health(server: Server, servicer: Servicer) -> Any:
    async def check(_: Any, context: Any) -> bytes:
        try:
            with servicer.counted_call():
                # A HealthCheckRequest has the fields of a StringValue: one text, the service's name.
                service = StringValue.FromString(await servicer.receiver.receive(context)).value
        except ServeError as failure:
            _set_status(context, failure.reason.grpc_code, str(failure))
        except DecodeError as failure:
            _set_status(context, "INVALID_ARGUMENT", f"the request is no HealthCheckRequest: {failure}")
        else:
            if service in ("", SERVICE, _HEALTH_SERVICE):
                return _SERVING if server.is_ready else _NOT_SERVING
            _set_status(context, "NOT_FOUND", f"there is no service {service!r}")
        return b""

    return grpc.stream_unary_rpc_method_handler(check)


def make_server(server: Server, drain: Drain) -> tuple[Any, int]:
    """A gRPC server for the running event loop, and its port. Raises OSError where the port cannot be had."""
    settings = server.settings
    options = [
        ("grpc.max_receive_message_length", min(settings.max_request_bytes, _MOST_OF_GRPC)),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", min(settings.max_connections, _MOST_OF_GRPC)),
        ("grpc.max_allowed_incoming_connections", min(settings.max_connections, _MOST_OF_GRPC)),
        ("grpc.max_connection_idle_ms", int(settings.idle_seconds * 1000)),
        ("grpc.server_handshake_timeout_ms", int(settings.header_seconds * 1000)),
        ("grpc.keepalive_time_ms", int(settings.idle_seconds * 1000)),
        ("grpc.http2.min_ping_interval_without_data_ms", 5000),
        # gRPC widens the window of a connection by its measured bandwidth, to megabytes, and keeps as much memory of
        # messages that it refused until the connection ends. Without, a message that is read has its own window still.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.so_reuseport", 0),
    ]
    made = grpc.aio.server(options=options)  # whose own limit of calls would count none that it refuses
    servicer = Servicer(server, drain)
    handlers = {name: servicer.unary(name) for name in METHODS if name != "ModelStreamInfer"}
    handlers["ModelStreamInfer"] = servicer.stream()
    handlers |= {name: _missing(name) for name in METHODS_NOT_SUPPORTED}
    made.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(SERVICE, handlers),
            grpc.method_handlers_generic_handler(_HEALTH_SERVICE, {"Check": _health(server, servicer)}),
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
