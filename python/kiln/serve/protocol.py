"""The KServe v2 protocol over HTTP, without a server: for programs that have another one, such as Ray Serve's.

    endpoint = protocol.Endpoint(kiln.serve.Settings(max_request_bytes=1 << 20))
    async with endpoint.read("model", receive, headers, inputs) as request:   # receive of ASGI
        outputs = {"y": ...}                                                  # from request.inputs
    body, headers = await endpoint.write(request, "1", outputs)

What is wrong with a request is a `ServeError`, which `write_error` makes an answer of. `samples/serve_ray` is an example.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._engine import Engine
from ._bodies import read_body
from ._calls import Budget, Call
from ._config import complete
from ._errors import Reason, ServeError
from ._http_tensors import HEADER_LENGTH, Answer, Binary, encode, parse
from ._messages import ModelConfig
from ._settings import Settings
from ._types import OF_ENGINE, check_bytes, numpy_type
from ._version import Tensor as ClientTensor

__all__ = ["Endpoint", "InferRequest", "Tensor", "tensors_of", "write_error"]


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output of a model by the protocol. It can be pickled."""

    name: str
    datatype: str
    """FP32, INT64, ..."""
    shape: tuple[int, ...]
    """-1 where a request decides the extent."""

    def metadata(self) -> dict[str, Any]:
        """The tensor as a model's metadata lists it."""
        return {"name": self.name, "datatype": self.datatype, "shape": list(self.shape)}


def tensors_of(engine: Engine, max_batch_size: int = 0) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The inputs and the outputs of an engine.

    With a `max_batch_size` above 0 the first axis of each counts the rows of a batch. Raises ValueError where that cannot
    be: an axis is fixed, or no profile has so many rows. Raises it for a type that the protocol does not have, too.
    """
    specs = complete(ModelConfig(max_batch_size=max_batch_size), engine)
    inputs, outputs = (tuple(Tensor(s.name, s.datatype, s.client_shape) for s in part) for part in specs)
    return inputs, outputs


@dataclasses.dataclass(frozen=True, eq=False)
class InferRequest:
    """What a client asks for. The arrays are views of the request's body."""

    model: str
    inputs: dict[str, np.ndarray]
    outputs: tuple[str, ...]
    """The outputs that are wanted, in the order of the answer; none: all of them."""
    time_limit_s: float | None
    """How long the client wants to wait, by its parameter `timeout`."""
    _call: Call
    _binary: Binary


class Endpoint:
    """Reads requests for inference and writes their answers, for one event loop.

    Of the settings it keeps `max_request_bytes`, `max_json_bytes`, `max_bytes_in_flight`, `body_seconds` and, where
    requests wait for their turn to have long JSON read and written, `request_seconds`.
    """

    def __init__(self, settings: Settings | None = None):
        self._settings = settings or Settings()
        self._budget = Budget(self._settings.max_bytes_in_flight)
        self._long_json = asyncio.Lock()  # one at a time: Python's numbers take many times the memory of their text

    @contextlib.asynccontextmanager
    async def read(
        self,
        model: str,
        receive: Callable[[], Awaitable[Any]],
        headers: Mapping[str, str],
        inputs: Callable[[], Awaitable[Sequence[Tensor]]],
    ) -> AsyncIterator[InferRequest]:
        """Reads a request. Its bytes count as being in flight until the context ends. Raises `ServeError`.

        receive: ASGI's.
        headers: by names in small letters.
        inputs: tells the model's inputs. It is asked only for a body without JSON, whose shape follows from them.
        """
        # Whose connection it is, and how that one ends it, is not known here.
        async with read_body(receive, headers, self._settings, self._budget, to_its_end=True) as body:
            known: Sequence[Tensor] = ()
            if _is_without_json(headers):
                known = await inputs()
            specs = [(tensor.name, tensor.datatype, tensor.shape) for tensor in known]
            call, binary = await parse(model, "", headers, body.data, lambda: specs, self._long_json, self._settings)
            arrays = {name: _array(name, tensor) for name, tensor in call.tensors.items()}
            call.tensors = {}
            limit = None if call.timeout_ns is None else call.timeout_ns / 1e9
            yield InferRequest(model, arrays, tuple(call.outputs or ()), limit, call, binary)

    async def write(
        self, request: InferRequest, version: str, outputs: Mapping[str, np.ndarray]
    ) -> tuple[bytes, dict[str, str]]:
        """The body of an answer, and its headers. `outputs` are those that were wanted, in that order."""
        types = {name: _datatype(name, array) for name, array in outputs.items()}
        answer = Answer(request.model, version, request._call.id, outputs, types)
        parts, size = await encode(
            answer,
            request._binary,
            self._long_json,
            request._call.seconds_left(self._settings.request_seconds),
            self._settings.max_bytes_in_flight,
        )
        if len(parts) == 1:
            return parts[0], {"content-type": "application/json"}
        return b"".join(parts), {"content-type": "application/octet-stream", HEADER_LENGTH: str(size)}


def write_error(failure: ServeError) -> tuple[int, bytes, dict[str, str]]:
    """The status of an answer that says what failed, its body, and its headers."""
    headers = {"content-type": "application/json"}
    if failure.reason is Reason.FULL:
        headers["retry-after"] = "1"
    if failure.body_is_unread:
        headers["connection"] = "close"
    return failure.reason.http_status, json.dumps({"error": str(failure)}).encode(), headers


def _is_without_json(headers: Mapping[str, str]) -> bool:
    text = headers.get(HEADER_LENGTH, "")
    return bool(text) and text.isascii() and not text.strip("0")


def _datatype(name: str, array: np.ndarray) -> str:
    datatype = OF_ENGINE.get(array.dtype.name)
    if datatype is None:
        raise ServeError(Reason.INTERNAL, f"output {name!r} is of {array.dtype}, which the protocol does not have")
    return datatype


def _array(name: str, tensor: ClientTensor) -> np.ndarray:
    """An input's bytes as an array."""
    check_bytes(f"input {name!r}", tensor.datatype, tensor.shape, tensor.data)
    dtype = numpy_type(tensor.datatype)
    data = tensor.data
    if data.ctypes.data % dtype.itemsize:
        data = data.copy()
    return data.view(dtype).reshape(tensor.shape)
