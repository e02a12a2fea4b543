"""Limits and places of a server."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import math
import numbers
from collections.abc import Callable
from typing import Any

MIB = 1 << 20
LONGEST_SECONDS = 1_000_000  # gRPC takes milliseconds of 32 bits


class SettingError(ValueError):
    """A setting that cannot be: its name, its value, and the rule, in which {name} stands for another setting."""

    def __init__(self, name: str, value: Any, rule: str):
        super().__init__(name, value, rule)
        self.name, self.value, self.rule = name, value, rule

    def told_by(self, called: Callable[[str], str], value: Any) -> str:
        """The message for who knows settings by other names, and gave this value."""
        return f"{called(self.name)} is {value}; {self.rule.format_map(_Called(called))}"

    def __str__(self) -> str:
        return self.told_by(str, self.value)


class _Called(dict):
    def __init__(self, called: Callable[[str], str]):
        super().__init__()
        self._called = called

    def __missing__(self, name: str) -> str:
        return self._called(name)


_KINDS: dict[str, tuple[type, str]] = {
    "int": (numbers.Integral, "a whole number"),
    "float": (numbers.Real, "a number"),
    "str": (str, "a text"),
    "bool": (bool, "a truth value"),
}


def _check_kind(field: Any, value: Any) -> None:
    """Raises SettingError for a value that is not of the field's type, which is its annotation."""
    name, _, none = field.type.partition(" | ")
    if value is None and none:
        return
    kind, words = _KINDS[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise SettingError(field.name, value, f"{words} is needed, not a value of the type {type(value).__name__}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """What a server listens on, and what it allows. Times are in seconds unless the name says otherwise."""

    host: str = "127.0.0.1"
    http_port: int | None = 8000
    """0 takes a free port, None serves no HTTP."""
    grpc_port: int | None = 8001
    """0 takes a free port, None serves no gRPC."""

    max_request_bytes: int = 64 * MIB
    """The largest request, decompressed. It may not be above `max_bytes_in_flight`."""
    max_json_bytes: int = 8 * MIB
    """The largest JSON of a request, without the binary data behind it. No other request goes on while numbers in JSON
    are read: 10 to 30 ms for a MiB."""
    max_bytes_in_flight: int = 1024 * MIB
    """Bytes of all requests that are being read, wait or run, and of answers that are being sent; above it requests are
    refused."""
    max_queue: int = 1024
    """Requests that may wait for one version of a model."""
    max_connections: int = 1024
    """Connections of HTTP, and calls of gRPC, at one time."""
    header_seconds: float = 10
    """The time in which a client has to send the head of a request."""
    body_seconds: float = 60
    """The time in which a client has to send the rest."""
    write_seconds: float = 60
    """The time for which a client may stop reading an answer."""
    idle_seconds: float = 60
    """The time after which a connection without a request is closed."""
    request_seconds: float = 60
    """The time for which a request may wait and run, from when all of it has come."""
    drain_seconds: float = 30
    """The time that requests get to end when the server stops."""

    device: str | None = None
    """As for `kiln.load`; a model's configuration may say another."""
    instances: int | None = None
    """Contexts of each model that run side by side: by default 1 on the CPU and 2 on a GPU."""
    max_batch_size: int | None = None
    """The largest batch of a model without a configuration: by default what its profile allows. 0 joins no requests."""
    max_queue_delay_us: int = 0
    """For how long a request of a model without a configuration may wait for others to join it."""
    model_control: bool = False
    """Whether clients may load and unload models. Whoever reaches a port may, where this is on."""
    max_instances: int = 256
    """Contexts that a model may have side by side; each is a thread and memory."""
    log_requests: bool = False
    """Whether each request becomes a line of the log."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            _check_kind(field, value)
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                continue
            if not math.isfinite(value):
                raise SettingError(field.name, value, "a finite number is needed")
            if value < 0:
                raise SettingError(field.name, value, "it may not be negative")
            if field.name == "max_queue_delay_us" and value > LONGEST_SECONDS * 1_000_000:
                raise SettingError(field.name, value, f"at most {LONGEST_SECONDS} seconds are possible")
            if field.name.endswith("_seconds") and value > LONGEST_SECONDS:
                raise SettingError(field.name, value, f"at most {LONGEST_SECONDS} seconds are possible")
        for name in ("max_request_bytes", "max_json_bytes", "max_bytes_in_flight"):
            if getattr(self, name) == 0:
                raise SettingError(name, 0, "at least 1 byte is needed")
        for name in ("max_queue", "max_connections", "instances", "max_instances"):
            if getattr(self, name) == 0:
                raise SettingError(name, 0, "at least 1 is needed")
        for name in ("header_seconds", "body_seconds", "request_seconds"):
            if getattr(self, name) == 0:
                raise SettingError(name, 0, "more than 0 is needed: no request would be in time")
        if self.max_request_bytes > self.max_bytes_in_flight:
            rule = f"no request may have more bytes than all together: {{max_bytes_in_flight}} allows {self.max_bytes_in_flight} bytes"
            raise SettingError("max_request_bytes", self.max_request_bytes, rule)
        if self.instances is not None and self.instances > self.max_instances:
            raise SettingError("instances", self.instances, f"{{max_instances}} allows {self.max_instances}")
        for name in ("http_port", "grpc_port"):
            if (getattr(self, name) or 0) > 65535:
                raise SettingError(name, getattr(self, name), "ports end at 65535")


def descriptions() -> dict[str, str]:
    """What the fields of Settings are, by name: the texts below them. Nothing where the source is not there."""
    found = {}
    with contextlib.suppress(OSError):
        (kind,) = ast.parse(inspect.getsource(Settings)).body
        assert isinstance(kind, ast.ClassDef)
        for field, below in zip(kind.body, kind.body[1:]):
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
                found[field.target.id] = " ".join(below.value.value.split())
    return found
