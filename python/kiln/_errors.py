"""What goes wrong in C++, as exceptions; and what Kiln's log says, in Python's `logging`."""

from __future__ import annotations

import collections
import dataclasses
import functools
import logging
import threading
from typing import Any

from ._bindings import bindings

log = logging.getLogger("kiln")

_INTERNAL, _ERROR, _WARNING, _INFO = range(4)
_MOST_KEPT = 1000  # messages of one object: a program that fails again and again does not grow
_LEVELS = {_INTERNAL: logging.CRITICAL, _ERROR: logging.ERROR, _WARNING: logging.WARNING, _INFO: logging.INFO}


@dataclasses.dataclass(frozen=True)
class Message:
    """One thing that the builder, the parser or a run said."""

    severity: str
    """'internal error', 'error' or 'warning'."""
    text: str
    """What was said, in one or more lines."""
    code: str | None = None
    """The error's kind as TensorRT's `ErrorCodeTRT` calls it; None for what comes from the log."""

    def __str__(self) -> str:
        return self.text


def counted(count: int, noun: str) -> str:
    """Words for a number of things: '1 input', '2 inputs'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class Error(RuntimeError):
    """A build, a load or a run failed. `messages` has all that the error recorder and the log were told meanwhile."""

    def __init__(self, what: str, messages: tuple[Message, ...] | list[Message] = (), nodes: tuple[tuple[str, str], ...] = ()):
        self.what = what
        self.nodes = tuple(nodes)
        """Names of the model's nodes that the parser refused, each with the reason."""
        self.messages = tuple(messages)
        failures = [m for m in self.messages if m.severity != "warning"] or list(self.messages)
        super().__init__("\n  ".join([what + (":" if failures else "")] + [m.text for m in failures]))

    def __reduce__(self):
        return Error, (self.what, self.messages, self.nodes)


class ShapeError(ValueError):
    """The arrays' shapes, or the values that decide shapes, are none that the engine was built for, or contradict the model."""


def _says_the_same(longer: str, shorter: str) -> bool:
    # A recorder's descriptions have 127 characters at most; what is cut off is marked by dots.
    return longer.endswith(shorter) or (shorter.endswith("...") and shorter[:-3] in longer)


class Messages:
    """Collects messages of several sources; from any thread, each text once. The oldest go where there are too many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: collections.deque[Message] = collections.deque(maxlen=_MOST_KEPT)

    def add(self, message: Message) -> None:
        """Adds a message. Recorder, log and parser may tell the same error: the longest text and its code are kept."""
        with self._lock:
            if not self._merge(message):
                self._found.append(message)

    def complete(self, message: Message) -> bool:
        """Merges a message with one that says the same; False where there is none."""
        with self._lock:
            return self._merge(message)

    def _merge(self, message: Message) -> bool:
        for i, known in enumerate(self._found):
            longer, shorter = (known, message) if len(known.text) >= len(message.text) else (message, known)
            if _says_the_same(longer.text, shorter.text):
                severity = known.severity if longer is known else message.severity
                self._found[i] = Message(severity, longer.text, known.code or message.code)
                return True
        return False

    def take(self) -> list[Message]:
        """Returns what has come since the last call."""
        with self._lock:
            found = list(self._found)
            self._found.clear()
        return found


@functools.cache
def _classes() -> tuple[type, type]:
    trt: Any = bindings()
    # An error goes to its object's recorder and then, whole, to the log that many objects share, in one thread:
    # whose error the log is told is what the recorder was told right before.
    told = threading.local()

    class Logger(trt.ILogger):
        """Hands Kiln's log to Python's, and keeps warnings and errors for exceptions."""

        def __init__(self, messages: Messages, quiet: bool = False):
            trt.ILogger.__init__(self)
            self.messages = messages
            self.quiet = quiet

        def log(self, severity: Any, text: str) -> None:
            level = int(severity)
            if level <= _WARNING:
                name = ("internal error", "error", "warning")[level]
                message = Message(name, text)
                recorded = told.__dict__.pop("messages", None)
                if recorded is None or not recorded.complete(message):
                    self.messages.add(message)
            # An error becomes an exception, which says the same; it is not shown twice.
            shown = logging.DEBUG if level <= _ERROR or self.quiet else _LEVELS.get(level, logging.DEBUG)
            log.log(shown, "%s", text)

    class Recorder(trt.IErrorRecorder):
        """Keeps the last errors of one object, or of one run after the other."""

        def __init__(self, messages: Messages):
            trt.IErrorRecorder.__init__(self)
            self._lock = threading.Lock()
            self._errors: collections.deque[tuple[Any, str]] = collections.deque(maxlen=_MOST_KEPT)
            self._has_overflowed = False
            self.messages = messages

        def report_error(self, code: Any, description: str) -> bool:
            with self._lock:
                self._has_overflowed = self._has_overflowed or len(self._errors) == _MOST_KEPT
                self._errors.append((code, description))
            self.messages.add(Message("error", description, getattr(code, "name", str(code))))
            told.messages = self.messages
            return True

        def num_errors(self) -> int:
            return len(self._errors)

        def get_num_errors(self) -> int:
            return len(self._errors)

        def get_error_code(self, index: int) -> Any:
            return self._errors[index][0]

        def get_error_desc(self, index: int) -> str:
            return self._errors[index][1]

        def has_overflowed(self) -> bool:
            return self._has_overflowed

        def clear(self) -> None:
            with self._lock:
                self._errors.clear()
                self._has_overflowed = False

    return Logger, Recorder


def make_logger(messages: Messages, quiet: bool = False) -> Any:
    """An `ILogger` that writes to the log 'kiln' of Python's `logging`."""
    return _classes()[0](messages, quiet)


def make_recorder(messages: Messages) -> Any:
    """An `IErrorRecorder` that adds to `messages`."""
    return _classes()[1](messages)
