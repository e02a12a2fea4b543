"""The log, as lines of JSON or of text."""

from __future__ import annotations

import datetime
import json
import logging

_KNOWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def _extras(record: logging.LogRecord) -> dict[str, object]:
    """What the call gave as `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _KNOWN}


class TextLines(logging.Formatter):
    """Time, level, logger and message, and behind it whatever the call gives as `extra`: key=value, values as JSON."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        said = (f" {key}={json.dumps(value, default=str)}" for key, value in _extras(record).items())
        return super().formatMessage(record) + "".join(said)


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, and whatever the call gives as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, object] = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        said.update(_extras(record))
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


_LEFT = "ExecuteBatchError raised in core"


def _calm(record: logging.LogRecord) -> bool:
    """Makes gRPC's error of an answer whose client has left a matter of debugging."""
    if record.levelno == logging.ERROR and str(record.msg).startswith(_LEFT):
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        return logging.getLogger("kiln.serve").isEnabledFor(logging.DEBUG)
    return True


def log_to_stderr(level: str, as_json: bool) -> None:
    """Sends the logs of Kiln and of its server libraries to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if as_json else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    server = logging.getLogger("kiln.serve")
    server.setLevel(level.upper())
    logging.getLogger("grpc._cython.cygrpc").addFilter(_calm)
    logging.getLogger("kiln").setLevel(max(server.level, logging.WARNING))
