"""The protocol, read and written by the code of `kiln serve`, for a gateway that has no engines."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from kiln.serve import Reason, ServeError
from kiln.serve._calls import Budget, Call
from kiln.serve._http_tensors import HEADER_LENGTH, Binary, encode, parse
from kiln.serve._types import ITEM_BYTES, OF_ENGINE, numpy_type

__all__ = [
    "HEADER_LENGTH",
    "Budget",
    "InferRequest",
    "Reason",
    "ServeError",
    "read_request",
    "tensors_told",
    "write_answer",
]


@dataclasses.dataclass
class InferRequest:
    """A request as it came."""

    call: Call
    binary: Binary
    inputs: dict[str, np.ndarray]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs that are wanted; none: all of them."""
        return tuple(self.call.outputs or ())

    @property
    def time_limit_s(self) -> float | None:
        """How long the client wants to wait, by its parameter `timeout`."""
        return None if self.call.timeout_ns is None else self.call.timeout_ns / 1e9


def _array(name: str, tensor: Any) -> np.ndarray:
    size = math.prod(tensor.shape) * ITEM_BYTES[tensor.datatype]
    where = f"input {name!r}"
    if tensor.data.size != size:
        text = f"{where} has {tensor.data.size} bytes; {tensor.datatype}{list(tensor.shape)} has {size}"
        raise ServeError(Reason.INVALID, text)
    if tensor.datatype == "BOOL" and size and int(tensor.data.max()) > 1:
        raise ServeError(Reason.INVALID, f"{where} has the byte {int(tensor.data.max())}; BOOL is 0 or 1")
    dtype = numpy_type(tensor.datatype)
    data = tensor.data
    if data.ctypes.data % dtype.itemsize:
        data = data.copy()
    return data.view(dtype).reshape(tensor.shape)


async def read_request(
    model: str, headers: Mapping[str, str], body: bytes, description: Any, one_at_a_time: asyncio.Lock
) -> InferRequest:
    """Reads a request. Raises `ServeError`, which knows its status.

    description: what a replica's `describe` told. It is needed for a body without JSON (its header says 0) alone.
    one_at_a_time: the gateway's lock for long texts, whose numbers take many times their memory.
    """

    def find(*_: str) -> Any:
        inputs = [SimpleNamespace(name=n, datatype=OF_ENGINE[t], client_shape=s) for n, t, s in description["inputs"]]
        return SimpleNamespace(inputs=inputs)

    data = np.frombuffer(body, np.uint8)
    repository: Any = SimpleNamespace(find=find)
    call, binary = await parse(model, "", headers, data, repository, one_at_a_time)
    return InferRequest(call, binary, {name: _array(name, tensor) for name, tensor in call.tensors.items()})


async def write_answer(
    model: str, version: str, request: InferRequest, outputs: Mapping[str, np.ndarray], one_at_a_time: asyncio.Lock
) -> tuple[bytes, dict[str, str]]:
    """The body of an answer and its headers."""
    told = [SimpleNamespace(name=name, datatype=OF_ENGINE[array.dtype.name]) for name, array in outputs.items()]
    answered: Any = SimpleNamespace(name=model, number=version, outputs=told)
    parts, head = await encode(answered, request.call, dict(outputs), request.binary, one_at_a_time)
    if len(parts) == 1:
        return parts[0], {"Content-Type": "application/json"}
    return b"".join(parts), {"Content-Type": "application/octet-stream", HEADER_LENGTH: str(head)}


def tensors_told(tensors: Any) -> list[dict[str, Any]]:
    """Tensors as a model's metadata lists them."""
    return [{"name": n, "datatype": OF_ENGINE[dtype], "shape": list(shape)} for n, dtype, shape in tensors]
