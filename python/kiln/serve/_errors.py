"""What a server says about a request or a model that fails, for both protocols."""

from __future__ import annotations

import enum


class Reason(enum.Enum):
    """Why a request failed: the status of HTTP and the code of gRPC that say so."""

    INVALID = (400, "INVALID_ARGUMENT")
    NOT_FOUND = (404, "NOT_FOUND")
    NOT_SUPPORTED = (501, "UNIMPLEMENTED")
    TOO_LARGE = (413, "RESOURCE_EXHAUSTED")
    TOO_SLOW = (408, "DEADLINE_EXCEEDED")
    """The client took too long to send its request."""
    FULL = (503, "RESOURCE_EXHAUSTED")
    """Too many requests wait already."""
    ANSWER_TOO_LARGE = (500, "RESOURCE_EXHAUSTED")
    """The answer is larger than everything that the server may hold."""
    UNAVAILABLE = (503, "UNAVAILABLE")
    EXPIRED = (504, "DEADLINE_EXCEEDED")
    """The request waited for longer than it may."""
    CANCELLED = (499, "CANCELLED")
    INTERNAL = (500, "INTERNAL")

    @property
    def http_status(self) -> int:
        return self.value[0]

    @property
    def grpc_code(self) -> str:
        return self.value[1]


class ServeError(Exception):
    """A request or a model failed, with words for whoever sent it."""

    def __init__(self, reason: Reason, message: str):
        super().__init__(message)
        self.reason = reason
        self.is_counted = False
        """Whether the statistics of a version have it."""
        self.body_is_unread = False
        """Whether a part of the request's body was not read: its connection is of no more use."""


class LoadStopped(ServeError):
    """A load was ended, or not begun, because the server stops."""

    def __init__(self) -> None:
        super().__init__(Reason.UNAVAILABLE, "the server stops")


def milliseconds(ns: int) -> str:
    """A time in words. Clients give microseconds, which are told of short times only."""
    return f"{ns / 1e6:.0f} ms" if ns >= 10_000_000 else f"{ns / 1e6:.3f}".rstrip("0").rstrip(".") + " ms"


def invalid(message: str) -> ServeError:
    """An error of the request itself."""
    return ServeError(Reason.INVALID, message)
