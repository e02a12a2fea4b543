"""Limits and places of a server."""

from __future__ import annotations

import dataclasses

MIB = 1 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """What a server listens on, and what it allows. Times are in seconds unless the name says otherwise."""

    host: str = "127.0.0.1"
    http_port: int | None = 8000
    """0 takes a free port, None serves no HTTP."""
    grpc_port: int | None = 8001
    """0 takes a free port, None serves no gRPC."""

    max_request_bytes: int = 64 * MIB
    """The largest request, decompressed."""
    max_bytes_in_flight: int = 1024 * MIB
    """Bytes of all requests that are being read, wait or run, and of answers that are being sent; above it requests are
    refused."""
    max_queue: int = 1024
    """Requests that may wait for one version of a model."""
    max_connections: int = 1024
    """Connections of HTTP, and calls of gRPC at one time."""
    header_seconds: float = 10
    """The time in which a client has to send the head of a request."""
    body_seconds: float = 60
    """The time in which a client has to send the rest."""
    write_seconds: float = 60
    """The time for which a client may stop reading an answer."""
    idle_seconds: float = 60
    """The time after which a connection without a request is closed."""
    request_seconds: float = 60
    """The time for which a request may wait and run."""
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
            if isinstance(value, (int, float)) and not isinstance(value, bool) and not value >= 0:
                raise ValueError(f"{field.name} is {value}; it may not be negative")
        for name in ("max_request_bytes", "max_bytes_in_flight", "max_queue", "max_connections", "instances", "max_instances"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} is 0; at least 1 is needed")
        if self.instances is not None and self.instances > self.max_instances:
            raise ValueError(f"instances is {self.instances}; max_instances allows {self.max_instances}")
        for name in ("http_port", "grpc_port"):
            if (getattr(self, name) or 0) > 65535:
                raise ValueError(f"{name} is {getattr(self, name)}; ports end at 65535")
