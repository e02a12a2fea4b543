"""Tensors in bodies of HTTP: JSON, and the binary tensor data extension."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._calls import Call, answer_too_large, check_parameters, check_tensor, in_turn
from ._errors import Reason, ServeError, invalid
from ._settings import Settings
from ._types import ITEM_BYTES, array_from_json, list_for_json

HEADER_LENGTH = "inference-header-content-length"
# Bytes of JSON above which a thread reads it, and numbers above which a thread writes them. Other requests go on between
# the steps of that thread. They wait during each: json and numpy hold the interpreter's lock for a whole text or list,
# 10 to 30 ms for a MiB. So the JSON of a request has a limit of its own.
_LONG_JSON = 1 << 17
_MANY_NUMBERS = 1 << 14  # and of so many an answer is written at once

_LONGEST_TOLD = 40  # characters of a number, in an error

Spec = tuple[str, str, tuple[int, ...]]
"""An input of a model: name, type, and shape, in which -1 is an extent that a request decides."""


@dataclasses.dataclass
class Binary:
    """Which outputs come as bytes behind the JSON, not as numbers in it."""

    default: bool = False
    by_name: dict[str, bool] = dataclasses.field(default_factory=dict)

    def of(self, name: str) -> bool:
        return self.by_name.get(name, self.default)


def check_json_size(size: int, settings: Settings) -> None:
    """Raises ServeError for JSON that would hold up other requests for too long."""
    if size > settings.max_json_bytes:
        raise ServeError(
            Reason.TOO_LARGE,
            f"the JSON of the request has {size} bytes; max_json_bytes (--max-json-mib) allows {settings.max_json_bytes}: "
            "send the numbers as binary data behind the JSON (binary_data_size)",
        )


async def parse(
    model: str,
    version: str,
    headers: Mapping[str, str],
    data: np.ndarray,
    inputs_of: Callable[[], Sequence[Spec]],
    one_at_a_time: asyncio.Lock,
    settings: Settings,
) -> tuple[Call, Binary]:
    """Reads a request for inference, all of whose body has come. Raises ServeError with what is wrong.

    `inputs_of` tells the model's inputs; it is asked for a body without JSON alone, whose shape follows from them.
    Python's numbers take many times the memory of their text, so long texts are parsed one at a time.
    """
    header = headers.get(HEADER_LENGTH)
    if header is None:
        size = data.size
    elif header.isascii() and header.isdigit() and len(header) < 19 and int(header) <= data.size:
        size = int(header)
    else:
        raise invalid(f"the header {HEADER_LENGTH} is {header!r}; the body has {data.size} bytes")
    if header is not None and size == 0:
        return _raw(model, version, data, inputs_of()), Binary(default=True)
    check_json_size(size, settings)
    reader = _JsonReader(model, version, data, size)
    if size > _LONG_JSON:
        await in_turn(one_at_a_time, settings.request_seconds, reader.read)
    else:
        reader.read()
    return reader.call, reader.binary


def _raw(model: str, version: str, data: np.ndarray, inputs: Sequence[Spec]) -> Call:
    """A body that is the bytes of a model's only input: its shape follows from their number."""
    if len(inputs) != 1:
        raise invalid(f"a body without JSON is possible for models of one input; {model!r} has {len(inputs)}")
    name, datatype, known = inputs[0]
    shape = list(known)
    if shape.count(-1) > 1 or 0 in shape:
        raise invalid(f"a body without JSON does not tell the shape of input {name!r}, {shape}")
    if -1 in shape:
        rest = -math.prod(shape) * ITEM_BYTES[datatype]
        if data.size % rest:
            raise invalid(f"the body has {data.size} bytes; input {name!r}, {shape}, takes a multiple of {rest}")
        shape[shape.index(-1)] = data.size // rest
    call = Call(model, version)
    call.add_tensor(name, datatype, tuple(shape), data)
    return call


def _field(owner: dict[str, Any], name: str, kind: type, where: str) -> Any:
    value = owner.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        what = {str: "a text", list: "a list", dict: "an object", int: "a whole number", bool: "a truth value"}[kind]
        raise invalid(f"{where}: {name!r} is " + (f"no {what.partition(' ')[2]}" if name in owner else "missing"))
    return value


def _parameters(owner: dict[str, Any], where: str) -> dict[str, Any]:
    found = _field(owner, "parameters", dict, where) if "parameters" in owner else {}
    check_parameters(found, where)
    return found


def _check_finite(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise invalid(f"the request has the number {text[:_LONGEST_TOLD]}, which is beyond FP64")
    return found


class _JsonReader:
    """Reads the JSON of a request, and takes the inputs that are bytes behind it."""

    def __init__(self, model: str, version: str, data: np.ndarray, json_size: int):
        self.call, self.binary = Call(model, version), Binary()
        self._data, self._at = data, json_size
        self._json_size = json_size
        self._is_finite = False
        """Whether all numbers are known to be finite that the JSON spells in digits."""

    def read(self) -> None:
        try:
            said = json.loads(bytes(self._data[: self._at]))
        except (ValueError, RecursionError) as failure:
            raise invalid(f"the request is not JSON: {failure}") from None
        if not isinstance(said, dict):
            raise invalid("the request is not an object of JSON")
        if "id" in said:
            self.call.id = _field(said, "id", str, "the request")
        parameters = _parameters(said, "the request")
        self.call.read_parameters(parameters)
        if "binary_data_output" in parameters:
            self.binary.default = _field(parameters, "binary_data_output", bool, "the request")
        for entry in _field(said, "inputs", list, "the request"):
            self._read_input(entry)
        for entry in _field(said, "outputs", list, "the request") if "outputs" in said else ():
            self._read_output(entry)
        if self._at != self._data.size:
            raise invalid(f"{self._data.size - self._at} bytes of the body belong to no input")

    def _read_input(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            raise invalid("an input is not an object of JSON")
        name = _field(entry, "name", str, "an input")
        where = f"input {name!r}"
        datatype = _field(entry, "datatype", str, where)
        shape = check_tensor(name, datatype, _field(entry, "shape", list, where))
        parameters = _parameters(entry, where)
        if "binary_data_size" in parameters:
            if "data" in entry:
                raise invalid(f"{where} has both data and binary_data_size")
            size = _field(parameters, "binary_data_size", int, where)
            if not 0 <= size <= self._data.size - self._at:
                raise invalid(f"{where} has {size} bytes by binary_data_size; {self._data.size - self._at} are left")
            data = self._data[self._at : self._at + size]
            self._at += size
        else:
            try:
                data = array_from_json(_field(entry, "data", list, where), datatype, shape)
            except ValueError as failure:
                raise invalid(f"{where} {failure}") from None
            if data.size != math.prod(shape):
                raise invalid(
                    f"{where} has {data.size} elements as data; its shape {list(shape)} has {math.prod(shape)}"
                )
            if data.dtype.kind not in "biu" and not self._is_finite and bool(np.isinf(data).any()):
                self._check_numbers()
            data = data.view(np.uint8)
        self.call.add_tensor(name, datatype, shape, data)

    def _check_numbers(self) -> None:
        """Raises ServeError for a number beyond FP64, of which Python makes infinity. The name `Infinity` is one.

        It reads the JSON again: a function for each number, which json would call, takes longer than all else.
        """
        json.loads(bytes(self._data[: self._json_size]), parse_float=_check_finite)
        self._is_finite = True

    def _read_output(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            raise invalid("an output is not an object of JSON")
        name = _field(entry, "name", str, "an output")
        parameters = _parameters(entry, f"output {name!r}")
        self.call.add_output(name)
        if "binary_data" in parameters:
            self.binary.by_name[name] = _field(parameters, "binary_data", bool, f"output {name!r}")


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a model has answered."""

    model: str
    version: str
    id: str
    outputs: Mapping[str, np.ndarray]
    types: Mapping[str, str]
    """The protocol's types of outputs by name."""


async def encode(
    answer: Answer, binary: Binary, one_at_a_time: asyncio.Lock, seconds_left: float, most: int
) -> tuple[list[Any], int]:
    """The parts of an answer's body, and the size of the JSON, which is the first part.

    Raises ServeError where long JSON cannot be written in the time that is left, or has more than `most` bytes: no more
    of it is written then.
    """
    if sum(array.size for name, array in answer.outputs.items() if not binary.of(name)) <= _MANY_NUMBERS:
        return _encode(answer, binary, most)
    return await in_turn(one_at_a_time, seconds_left, _encode, answer, binary, most)


def _encode(answer: Answer, binary: Binary, most: int) -> tuple[list[Any], int]:
    head: dict[str, Any] = {"model_name": answer.model, "model_version": answer.version}
    if answer.id:
        head["id"] = answer.id
    text = bytearray(json.dumps(head)[:-1].encode())
    text += b', "outputs": ['
    parts: list[Any] = []
    between = b""
    for name, array in answer.outputs.items():
        entry: dict[str, Any] = {"name": name, "datatype": answer.types[name], "shape": list(array.shape)}
        text += between
        between = b", "
        if binary.of(name):
            entry["parameters"] = {"binary_data_size": array.nbytes}
            parts.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            text += json.dumps(entry).encode()
            continue
        text += json.dumps(entry)[:-1].encode() + b', "data": ['
        flat = array.reshape(-1)
        for at in range(0, flat.size, _MANY_NUMBERS):
            text += b", " * (at > 0) + json.dumps(list_for_json(flat[at : at + _MANY_NUMBERS]))[1:-1].encode()
            if len(text) > most:
                raise answer_too_large(f"more than {most}", most)
        text += b"]}"
    text += b"]}"
    return [bytes(text), *parts], len(text)
