"""The models of a server: loaded, replaced and unloaded while requests come in."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import pathlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .._engine import Engine
from .._errors import Error
from ._batcher import Closed, Request
from ._config import ConfigError, check_supported, complete, placement_of, rules_of
from ._errors import LoadStopped, Reason, ServeError
from ._instance import default_instances
from ._settings import Settings
from ._sources import BuildShapes, EngineSource, FolderSource, Found, Source, folders_of, open_engine
from ._trial import why_not_joined
from ._version import Tensor, Version

log = logging.getLogger("kiln.serve")

READY, LOADING, UNAVAILABLE = "READY", "LOADING", "UNAVAILABLE"
_TRIES = 100  # of a request that meets a version which is being replaced


@dataclasses.dataclass
class _Model:
    """A model that is known, whether it is loaded or not."""

    source: Source
    versions: dict[int, Version] = dataclasses.field(default_factory=dict)
    failed: dict[int, str] = dataclasses.field(default_factory=dict)
    """Reasons of versions that could not be loaded."""
    state: str = UNAVAILABLE
    reason: str = "it has not been loaded yet"
    """Why it is not served, or why an older version of it is."""
    fingerprint: tuple = ()
    unloaded_by_client: bool = False
    """Whether it stays unloaded until a client loads it, also where its files change."""
    changing: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    """Held by who loads or unloads; requests do not take it."""


_EXPECTED = (ConfigError, Error, ServeError, OSError, ValueError)  # whose words say what is wrong


def _words(failure: BaseException) -> str:
    if isinstance(failure, _EXPECTED):
        return str(failure)
    return f"{type(failure).__name__}: {failure}"


class Repository:
    """Models by name. Any thread may use it.

    Loading a model that is loaded makes the new versions first and puts them in the old ones' place. Old versions end
    after the requests that they have, so no request is lost. Both are in memory meanwhile.
    """

    def __init__(self, settings: Settings, shapes: BuildShapes | None = None):
        """`shapes` are those that ONNX files of folders are built for, where their configuration says none."""
        self._settings, self._shapes = settings, shapes
        self._lock = threading.Lock()
        self._models: dict[str, _Model] = {}
        self._folders: list[pathlib.Path] = []
        self._closed = False
        self._stop_loading = threading.Event()

    # What is there.

    def add(self, source: Source, name: str) -> None:
        """Makes a model known, without loading it. Raises ValueError where the name is taken."""
        if not name or "/" in name or name in (".", ".."):
            raise ValueError(f"{name!r} is no name for a model")
        with self._lock:
            if name in self._models:
                raise ValueError(f"two models are called {name!r}")
            self._models[name] = _Model(source)

    def add_folder(self, folder: pathlib.Path) -> None:
        """Makes the models of a repository's folder known."""
        if not folder.is_dir():
            raise ValueError(f"there is no folder {str(folder)!r}")
        self._folders.append(folder)
        for source in folders_of(folder, self._shapes):
            self.add(source, source.folder.name)

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._models)

    def _model(self, name: str) -> _Model:
        with self._lock:
            model = self._models.get(name)
        if model is None:
            raise ServeError(Reason.NOT_FOUND, f"there is no model {name!r}")
        return model

    def find(self, name: str, version: str | int | None = None) -> Version:
        """A version that is ready; the highest one without a number. Raises ServeError.

        While a model has no version that is ready, nobody knows which it will have: each number is UNAVAILABLE then.
        """
        model = self._model(name)
        versions = model.versions  # replaced as a whole, never changed
        is_any = version in (None, "")
        number = max(versions, default=None) if is_any else _number_of(version)
        if number in versions:
            return _alive(versions[number])
        if number in model.failed:
            why = model.failed[number]
            raise ServeError(Reason.UNAVAILABLE, f"version {version} of model {name!r} is not ready: {why}")
        if not versions and (is_any or number is not None):
            why = "it is being loaded" if model.state == LOADING else model.reason
            raise ServeError(Reason.UNAVAILABLE, f"model {name!r} is not ready: {why}")
        raise ServeError(
            Reason.NOT_FOUND, f"model {name!r} has no version {version!r}; ready are {sorted(versions) or 'none'}"
        )

    def is_ready(self, name: str, version: str | None = None) -> bool:
        """Whether requests for a model can run. Raises ServeError for an unknown one."""
        try:
            self.find(name, version)
        except ServeError as failure:
            if failure.reason is Reason.NOT_FOUND:
                raise
            return False
        return True

    def versions(self, name: str) -> list[Version]:
        """The versions of a model that are ready, in rising order."""
        return [version for _, version in sorted(self._model(name).versions.items())]

    def all_versions(self) -> list[Version]:
        return [version for name in self.names() for version in self.versions(name)]

    def index(self, only_ready: bool = False) -> list[dict[str, str]]:
        """What the index endpoint says: each version with its state, and the reason where it is not served."""
        found = []
        for name in self.names():
            try:
                model = self._model(name)
            except ServeError:
                continue  # it was removed meanwhile
            rows = [
                {"name": name, "version": str(v), "state": UNAVAILABLE if one.failure else READY,
                 "reason": one.failure or model.reason}
                for v, one in model.versions.items()
            ]  # fmt: skip
            rows += [
                {"name": name, "version": str(v), "state": UNAVAILABLE, "reason": why}
                for v, why in model.failed.items()
            ]
            if not rows:
                rows = [{"name": name, "version": "", "state": model.state, "reason": model.reason}]
            found += sorted(rows, key=lambda row: (len(row["version"]), row["version"]))
        return [row for row in found if row["state"] == READY or not only_ready]

    # Requests.

    def submit(
        self,
        name: str,
        version: str | int | None,
        tensors: Mapping[str, Tensor],
        outputs: Sequence[str] | None = None,
        timeout_ns: int | None = None,
        since_ns: int | None = None,
    ) -> tuple[Version, Request]:
        """Puts a request in the queue of a version. Its time began at `since_ns`, or begins now. Raises ServeError."""
        for _ in range(_TRIES):
            found = self.find(name, version)
            try:
                return found, found.submit(tensors, outputs, timeout_ns, since_ns)
            except Closed:
                continue  # another has taken its place, or the model is unloaded
            except ServeError as failure:
                found.statistics.add_failure(failure.reason.name.lower())
                failure.is_counted = True
                raise
        raise ServeError(Reason.UNAVAILABLE, f"model {name!r} is being unloaded")

    # Changes.

    def load(self, name: str, override: Any = None) -> None:
        """Loads a model, or loads it anew. `override` is a ModelConfig in place of the one in its folder.

        Raises ServeError where no version can be loaded; the old ones are served on then. LoadStopped is one of them.
        """
        self._find_new_folder(name)
        model = self._model(name)
        with model.changing:
            self._check_goes_on()
            before = model.state
            model.unloaded_by_client = False
            if not model.versions:
                model.state, model.reason, model.failed = LOADING, "", {}
            fingerprint = model.source.fingerprint()
            try:
                found = model.source.find(override)
                warnings = check_supported(found.config)
                versions, failed = self._load_versions(model.source, found)
            except LoadStopped as failure:
                if not model.versions:
                    model.state, model.reason = UNAVAILABLE, str(failure)
                log.info("the load of %s was ended", name, extra={"model": name})
                raise
            except Exception as failure:  # of the configuration: no version can be loaded
                self._load_failed(name, model, before, fingerprint, _words(failure), cause=failure)
            except BaseException:
                if not model.versions:
                    model.state, model.reason = UNAVAILABLE, "its load was interrupted"
                raise
            if not versions:
                only = len(failed) == 1
                whys = [why if only else f"version {number}: {why}" for number, why in failed.items()]
                self._load_failed(name, model, before, fingerprint, "; ".join(whys), failed)
            old = model.versions
            kept = {number: old[number] for number in failed if number in old}
            reason = "; ".join(
                f"loading version {number} anew failed, the old one is served: {failed[number]}" for number in kept
            )
            model.versions = {**versions, **kept}
            model.failed = {number: why for number, why in failed.items() if number not in kept}
            model.state, model.reason, model.fingerprint = READY, reason, fingerprint
            _close_all({number: version for number, version in old.items() if number not in kept})
            if self._closed:
                self._close_versions(model)
        for warning in warnings:
            log.warning("%s", warning, extra={"model": name})
        for number, why in failed.items():
            log.error("version %d of model %s cannot be loaded: %s", number, name, why, extra={"model": name})
        ready = sorted({*versions, *kept})
        log.info("model %s is ready", name, extra={"model": name, "versions": ready, "failed": failed})

    def _load_failed(
        self,
        name: str,
        model: _Model,
        before: str,
        fingerprint: tuple,
        why: str,
        failed: dict[int, str] | None = None,
        cause: Exception | None = None,
    ) -> NoReturn:
        """Notes that a load failed, with the traceback of a cause that nobody expects, and raises ServeError."""
        model.fingerprint = fingerprint  # what failed is not tried again before it changes
        if model.versions:
            model.state, model.reason = before, f"loading it anew failed, the old one is served: {why}"
        else:
            model.state, model.reason, model.failed = UNAVAILABLE, why, failed or {}
        unexpected = None if cause is None or isinstance(cause, _EXPECTED) else cause
        log.error("model %s cannot be loaded: %s", name, why, extra={"model": name}, exc_info=unexpected)
        raise ServeError(Reason.INVALID, f"model {name!r} cannot be loaded: {why}") from cause

    def _load_versions(self, source: Source, found: Found) -> tuple[dict[int, Version], dict[int, str]]:
        versions: dict[int, Version] = {}
        failed: dict[int, str] = {}
        for number, file in found.versions.items():
            config = type(found.config)()
            config.CopyFrom(found.config)
            try:
                self._check_goes_on()
                versions[number] = self._load_version(source, found, number, file, config)
            except LoadStopped:
                _close_all(versions)
                raise
            except Exception as failure:
                failed[number] = _words(failure)
                if not isinstance(failure, _EXPECTED):
                    log.error("version %d of model %s", number, config.name, exc_info=failure)
            except BaseException:  # an interrupt: nobody gets to know of those that were made before
                _close_all(versions)
                raise
        return versions, failed

    def _load_version(
        self, source: Source, found: Found, number: int, file: pathlib.Path | Engine, config: Any
    ) -> Version:
        settings = self._settings
        place = placement_of(config, settings)
        owns = not isinstance(file, Engine)
        if isinstance(file, Engine):
            engine = file
        else:
            shapes = None if isinstance(source, EngineSource) else source.shapes
            engine = open_engine(file, config, place, settings, shapes, self._stop_loading)
        try:
            if not found.has_config:
                self._configure(config, engine)
            specs = complete(config, engine)
            rules = rules_of(config, settings)
            count = place.instances or default_instances(engine.device.partition(":")[0])
            return Version(config.name, number, engine, config, specs, rules, count, owns)
        except BaseException:
            if owns:
                engine.close()
            raise

    def _configure(self, config: Any, engine: Engine) -> None:
        """Makes the configuration of a model that has none."""
        settings = self._settings
        if settings.max_batch_size == 0:
            return
        reason = why_not_joined(engine, self._stop_loading)
        if reason is not None:
            log.info("requests for model %s are not joined: %s", config.name, reason, extra={"model": config.name})
            return
        most = max(
            min(tensor.ranges[profile].max[0] for tensor in engine.inputs) for profile in range(engine.num_profiles)
        )
        config.max_batch_size = min(most, settings.max_batch_size or most)
        config.dynamic_batching.max_queue_delay_microseconds = settings.max_queue_delay_us

    def _find_new_folder(self, name: str) -> None:
        """Makes a model known that was put into a repository's folder meanwhile."""
        with self._lock:
            if name in self._models:
                return
            for folder in self._folders:
                for source in folders_of(folder, self._shapes):
                    if source.folder.name == name:
                        self._models[name] = _Model(source)
                        return

    def unload(self, name: str) -> None:
        """Takes a model out of service. Requests that it has are run. Raises ServeError for an unknown one."""
        model = self._model(name)
        with model.changing:
            self._close_versions(model)
            model.state, model.reason, model.failed = UNAVAILABLE, "unloaded", {}
            model.unloaded_by_client = True
        log.info("model %s is unloaded", name, extra={"model": name})

    @staticmethod
    def _close_versions(model: _Model) -> None:
        old, model.versions = model.versions, {}
        _close_all(old)

    def load_all(self) -> dict[str, str]:
        """Loads all known models. Returns the reasons of those that failed, by name."""
        failed = {}
        for name in self.names():
            try:
                self.load(name)
            except LoadStopped:
                break
            except ServeError as failure:
                failed[name] = str(failure)
        return failed

    def stop_loading(self) -> None:
        """Ends builds that are under way, and begins no more. May be called by a handler of signals."""
        self._stop_loading.set()

    def _check_goes_on(self) -> None:
        """Raises LoadStopped where no more is to be loaded."""
        if self._stop_loading.is_set():
            raise LoadStopped

    def rescan(self) -> None:
        """Loads models whose files have changed or are new, and takes out those whose folder is gone."""
        for name in [source.folder.name for folder in self._folders for source in folders_of(folder, self._shapes)]:
            self._find_new_folder(name)
        for name in self.names():
            model = self._model(name)
            source = model.source
            if isinstance(source, FolderSource) and not source.folder.is_dir():
                self.unload(name)
                with self._lock:
                    del self._models[name]
            elif not model.unloaded_by_client and source.fingerprint() != model.fingerprint:
                try:
                    self.load(name)
                except LoadStopped:
                    break
                except ServeError:
                    pass  # the log and the index have the reason

    # The end.

    def close(self, seconds: float) -> int:
        """Ends all models: what waits gets `seconds` to run, and fails then. Returns how many requests failed."""
        self._closed = True
        self.stop_loading()
        versions = self.all_versions()
        for name in self.names():
            self._close_versions(self._model(name))
        return sum(_ended(versions, seconds))


def _close_all(versions: Mapping[int, Version]) -> None:
    """Closes versions that nobody finds any more: all of them, also where an interrupt comes meanwhile."""
    with contextlib.ExitStack() as closing:
        for version in versions.values():
            closing.callback(version.close)


def _number_of(version: str | int | None) -> int | None:
    """The number that a client calls a version by; None where that is no number."""
    text = str(version)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _alive(version: Version) -> Version:
    if version.failure is not None:
        raise ServeError(
            Reason.UNAVAILABLE, f"version {version.number} of model {version.name!r} is not ready: {version.failure}"
        )
    return version


def _ended(versions: list[Version], seconds: float) -> Iterator[int]:
    end = time.monotonic() + seconds
    for version in versions:
        if not version.wait_closed(max(0.0, end - time.monotonic())):
            yield version.fail_waiting("the server stops")
            version.wait_closed(5)
