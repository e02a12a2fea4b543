"""What the command does: flags, the log, and the server's life between signals."""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import logging
import math
import pathlib
import re
import resource
import time
from collections.abc import Callable
from typing import Any

from . import BuildShapes, Server, Settings
from ._log import log_to_stderr
from ._settings import LONGEST_SECONDS, MIB, SettingError, descriptions
from ._signals import Signals
from ._sources import parse_shapes

log = logging.getLogger("kiln.serve")

_TRIM_SECONDS = 10
_REFUSE_SECONDS = 2
_OTHER_FILES = 256  # beside connections: plans, libraries, the log


# Errors of these functions are told behind the flag's name.


def _port(text: str) -> int | None:
    try:
        return None if text == "none" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a port nor none") from None


def _number(text: str) -> float:
    """A finite number that is not negative."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return found


def _seconds(text: str) -> float:
    found = _number(text)
    if found > LONGEST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is too long; at most {LONGEST_SECONDS} seconds are possible")
    return found


def _shapes(text: str) -> dict[str, tuple[int, ...]]:
    try:
        return parse_shapes(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None


_IN_MIB = {
    "max_request_bytes": "max_request_mib",
    "max_json_bytes": "max_json_mib",
    "max_bytes_in_flight": "max_mib_in_flight",
}


def _flag(setting: str) -> str:
    """The flag of a setting."""
    return "--" + _IN_MIB.get(setting, setting).replace("_", "-")


def _add_numbers(add: Callable[..., Any], default: Settings, settings: tuple[str, ...]) -> None:
    """Adds flags of settings that are sizes, times or counts. Their help is what Settings says of them."""
    told = descriptions()
    for name in settings:
        value = getattr(default, name)
        words = re.sub("`([a-z_]+)`", lambda found: _flag(found[1]), told.get(name, name.replace("_", " ")))
        words = (words[0].lower() + words[1:].rstrip(".")).replace("%", "%%")
        if name in _IN_MIB:
            add(_flag(name), type=_number, default=value / MIB, help=f"{words} ({value / MIB:g} MiB)")
        elif name.endswith("_seconds"):
            add(_flag(name), type=_number, default=value, help=f"{words} ({value:g} s)")
        else:
            add(_flag(name), type=int, default=value, help=f"{words} ({value})")


def _parser() -> argparse.ArgumentParser:
    default = Settings()
    parser = argparse.ArgumentParser(
        prog="kiln serve",
        description="Serves plans and ONNX files over HTTP and gRPC, by the KServe v2 protocol.",
        epilog="SIGTERM and SIGINT end the server after the requests that it has; SIGHUP loads models anew whose files "
        "have changed.",
    )
    add = parser.add_argument
    add("models", nargs="*", metavar="[NAME=]FILE", help="a plan or an ONNX file; its name is the file's, or NAME")
    add("--name", action="append", default=[], help="name of a model, in the order of the files; once for each")
    add("--model-repository", action="append", default=[], metavar="FOLDER", help="a model repository as Triton has it")
    add("--host", default=default.host, help="address to listen on; 0.0.0.0 is all of IPv4 (default: %(default)s)")
    add("--http-port", type=_port, default=default.http_port, help="0 takes a free one, none serves no HTTP (8000)")
    add("--grpc-port", type=_port, default=default.grpc_port, help="0 takes a free one, none serves no gRPC (8001)")
    add("--device", help="cpu, cuda or cuda:N; by default a GPU where there is one")
    add("--instances", type=int, help="contexts of a model that run side by side (1 on the CPU, 2 on a GPU)")
    add("--max-instances", type=int, default=default.max_instances, help="that a configuration may ask for (%(default)s)")
    add("--max-batch-size", type=int, help="largest batch of a model without config.pbtxt; 0 joins no requests")
    add("--max-queue-delay-us", type=int, default=0, help="how long a request waits for others to join it (0)")
    for part in ("min", "opt", "max"):
        add(f"--{part}-shapes", type=_shapes, default={}, metavar="x:1x3x224x224,...", help="for ONNX files")
    _add_numbers(add, default, ("max_request_bytes", "max_json_bytes", "max_bytes_in_flight"))
    add("--max-queue", type=int, default=default.max_queue, help="requests that wait for a model (%(default)s)")
    times = ("header", "body", "write", "idle", "request", "drain")
    _add_numbers(add, default, ("max_connections", *(f"{name}_seconds" for name in times)))
    add("--refuse-seconds", type=_seconds, default=_REFUSE_SECONDS,
        help="for how long the ports stay open, and requests are refused in words, when SIGTERM or SIGINT ends the server; a "
        "part of --drain-seconds (%(default)s s)")  # fmt: skip
    add("--poll-seconds", type=_seconds, default=0, help="look for changed files that often; 0 waits for SIGHUP")
    add("--model-control", action=argparse.BooleanOptionalAction, default=False,
        help="whether clients may load and unload models")  # fmt: skip
    add("--log-level", default="info", choices=("debug", "info", "warning", "error"),
        help="the least level of what is logged (%(default)s)")  # fmt: skip
    add("--log-format", default="json", choices=("json", "text"), help="lines of JSON, or of text for people")
    add("--log-requests", action="store_true", help="a line for each request of HTTP")
    return parser


def _models(arguments: argparse.Namespace, fail: Callable[[str], Any]) -> dict[str, str]:
    """The files by name."""
    if arguments.name and len(arguments.name) != len(arguments.models):
        fail(f"{len(arguments.name)} --name for {len(arguments.models)} files")
    found: dict[str, str] = {}
    for i, text in enumerate(arguments.models):
        name, equals, path = text.partition("=")
        if not equals or "/" in name:
            name, path = pathlib.Path(text).stem, text
        if arguments.name:
            name = arguments.name[i]
        if name in found:
            fail(f"two models are called {name!r}: give each a --name")
        found[name] = path
    return found


def _in_flags(failure: SettingError, arguments: argparse.Namespace) -> str:
    """What is wrong with a setting, in the words of the command line."""
    given = getattr(arguments, _IN_MIB.get(failure.name, failure.name))
    told = str(given).removesuffix(".0")
    return failure.told_by(_flag, told)


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        host=arguments.host,
        http_port=arguments.http_port,
        grpc_port=arguments.grpc_port,
        max_request_bytes=int(arguments.max_request_mib * MIB),
        max_json_bytes=int(arguments.max_json_mib * MIB),
        max_bytes_in_flight=int(arguments.max_mib_in_flight * MIB),
        max_queue=arguments.max_queue,
        max_connections=arguments.max_connections,
        header_seconds=arguments.header_seconds,
        body_seconds=arguments.body_seconds,
        write_seconds=arguments.write_seconds,
        idle_seconds=arguments.idle_seconds,
        request_seconds=arguments.request_seconds,
        drain_seconds=arguments.drain_seconds,
        device=arguments.device,
        instances=arguments.instances,
        max_instances=arguments.max_instances,
        max_batch_size=arguments.max_batch_size,
        max_queue_delay_us=arguments.max_queue_delay_us,
        model_control=arguments.model_control,
        log_requests=arguments.log_requests,
    )


def _allow_files(settings: Settings) -> None:
    """Raises the process's limit of open files, if it may, so that connections end at the server's own limit."""
    wanted = 2 * settings.max_connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < wanted:
        log.warning("%d files may be open (ulimit -n); %d connections of both protocols need %d", most,
                    settings.max_connections, wanted)  # fmt: skip


def _give_back_memory() -> None:
    """Gives the system what the C library keeps of large requests that have ended, where it can (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _load(server: Server, load: Callable[[], Any], signals: Signals) -> None:
    """Runs what loads models in a thread, and hears signals meanwhile. One that ends the server ends the load, too."""
    with concurrent.futures.ThreadPoolExecutor(1, "kiln-start") as pool:
        loaded = pool.submit(load)
        loaded.add_done_callback(lambda _: signals.wake())
        told = False
        while not loaded.done():
            if signals.ends and not told:
                server.refuse()  # before it says so
                log.info("stopping; what is being loaded ends first")
                told = True
            signals.wait()
        loaded.result()


def _wait(server: Server, signals: Signals, poll_seconds: float) -> None:
    """Waits for a signal that ends the server, or its failure; loads models anew meanwhile."""
    next_poll = time.monotonic() + poll_seconds if poll_seconds else math.inf
    next_trim = time.monotonic() + _TRIM_SECONDS
    while not signals.ends and server.failure is None:
        asked = signals.asks_anew()
        now = time.monotonic()
        if now >= next_trim:
            _give_back_memory()
            next_trim = now + _TRIM_SECONDS
        if not asked and now < next_poll:
            signals.wait(min(next_trim, next_poll) - now)
            continue
        try:
            _load(server, server.repository.rescan, signals)
        except Exception:
            log.exception("the models' files cannot be looked through")
        if poll_seconds:
            next_poll = time.monotonic() + poll_seconds


def _stop(server: Server, signals: Signals, refuse_seconds: float) -> None:
    """Ends the server: it refuses requests in words for some time first, and answers those that it has."""
    seconds = server.settings.drain_seconds
    if server.failure is None:
        began = time.monotonic()
        server.refuse()
        while (left := began + min(refuse_seconds, seconds) - time.monotonic()) > 0 and server.failure is None:
            signals.wait(left)
        seconds = max(0.0, began + seconds - time.monotonic())
    server.stop(seconds)


def run(words: list[str] | None, signals: Signals) -> int:
    """Runs the command, whose signals are heard, and returns its exit status."""
    parser = _parser()
    arguments = parser.parse_intermixed_args(words)  # files may stand among the flags
    models = _models(arguments, parser.error)
    if not models and not arguments.model_repository:
        parser.error("name a plan, an ONNX file or --model-repository")
    if arguments.http_port is None and arguments.grpc_port is None:
        parser.error("--http-port and --grpc-port are both none: nobody could ask the server")
    log_to_stderr(arguments.log_level, arguments.log_format == "json")
    if signals.ends:
        log.info("stopped before the start")
        return 0
    return _serve(arguments, models, signals)


def _serve(arguments: argparse.Namespace, models: dict[str, str], signals: Signals) -> int:
    """Runs the server until it is to end, and returns the command's exit status."""
    shapes = BuildShapes(arguments.min_shapes, arguments.opt_shapes, arguments.max_shapes)
    try:
        settings = _settings(arguments)
        _allow_files(settings)
        server = Server(models, repositories=arguments.model_repository, settings=settings, shapes=shapes)
    except SettingError as failure:
        log.error("%s", _in_flags(failure, arguments))
        return 1
    except ValueError as failure:
        log.error("%s", failure)
        return 1
    server.on_failure = signals.wake
    try:
        _load(server, server.start, signals)
    except OSError as failure:
        log.error("%s", failure)
        return 1
    if not signals.ends and server.failure is None and server.failed and len(server.failed) == len(server.repository.names()):
        log.error("no model could be loaded")
        server.stop(0)
        return 1
    _wait(server, signals, arguments.poll_seconds)
    why_failed = server.failure
    _stop(server, signals, arguments.refuse_seconds)
    if why_failed is not None:
        log.error("the server has failed: %s", why_failed)
        return 1
    return 0
