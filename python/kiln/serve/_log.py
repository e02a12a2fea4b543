"""The log as lines of JSON."""

from __future__ import annotations

import datetime
import json
import logging

_KNOWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, and whatever the call gives as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        said.update({key: value for key, value in vars(record).items() if key not in _KNOWN})
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def log_to_stderr(level: str, as_json: bool) -> None:
    """Sends the logs of Kiln and of its server libraries to stderr."""
    handler = logging.StreamHandler()
    as_text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if as_json else as_text)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in ("kiln", "kiln.serve"):
        logging.getLogger(name).setLevel(level.upper())
    logging.getLogger("kiln").setLevel(max(logging.getLogger("kiln.serve").level, logging.WARNING))
