"""Plans: built once for each kind of hardware in the cluster, kept in a file on each node, mapped by its replicas."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import pathlib
import random
import re
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import kiln

from .settings import Model, digest_of

log = logging.getLogger("ray.serve")

_STORE = {"name": "kiln-plans", "namespace": "kiln"}
_CLAIM_S = 10.0  # a builder that has not been heard of for so long is gone
_RENEW_S = 2.0
_ASK_AGAIN_S = 0.5
_FETCH_S = 600.0
_MOST_PLACES = 16  # that are remembered of a plan
_LONGEST_WRITE_S = 24 * 3600.0
_KEY_SIZE = 16
_WRITE_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH

Place = tuple[str, str]  # a node's id, and the path of a file there


class PlanStore:
    """Which files of which nodes hold a plan, by its key, and who builds one at present.

    One actor, which Ray starts again where it dies. It holds no plans, for it stays as long as the cluster does. A store
    that starts again is empty: it hears of files when they are loaded, and a plan that it does not hear of is built anew.
    """

    def __init__(self, claim_s: float = _CLAIM_S) -> None:
        self._claim_s = claim_s
        self._places: dict[str, list[Place]] = {}
        self._claims: dict[str, tuple[str, float]] = {}

    def ask(self, key: str, who: str) -> tuple[str, Place | None]:
        """('at', a place that has it), ('build', None) where `who` is to build it, or ('wait', None)."""
        if places := self._places.get(key):
            return "at", random.choice(places)
        builder, since = self._claims.get(key, ("", float("-inf")))
        if builder not in ("", who) and time.monotonic() - since < self._claim_s:
            return "wait", None
        self._claims[key] = (who, time.monotonic())
        return "build", None

    def renew(self, key: str, who: str) -> None:
        """Says that `who` is still building."""
        if self._claims.get(key, ("", 0))[0] == who:
            self._claims[key] = (who, time.monotonic())

    def have(self, key: str, who: str, place: Place) -> None:
        """Says that `who` has the plan at a place, whether built there or not."""
        self.lost(key, place)
        self._places[key] = [*self._places.get(key, ()), place][-_MOST_PLACES:]
        self.give_up(key, who)

    def lost(self, key: str, place: Place) -> None:
        """Says that a place has the plan no more."""
        left = [each for each in self._places.get(key, ()) if each != place]
        if left:
            self._places[key] = left
        else:
            self._places.pop(key, None)

    def give_up(self, key: str, who: str) -> None:
        """Says that `who` builds no more."""
        if self._claims.get(key, ("", 0))[0] == who:
            del self._claims[key]


def store() -> Any:
    """The cluster's store, made by whoever asks first."""
    remote = ray.remote(PlanStore)
    return remote.options(
        **_STORE, num_cpus=0, max_restarts=-1, max_task_retries=-1, lifetime="detached", get_if_exists=True
    ).remote()


def key_of(model: Model) -> str:
    """What a plan depends on: the model's bytes, the choices of the build, Kiln's version and the hardware."""
    facts = [
        model.digest,
        model.shapes,
        model.values,
        model.precision,
        model.device,
        model.optimization_level,
        kiln.__version__,
        kiln.device_name(model.device),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_KEY_SIZE]


def _folder(model: Model) -> pathlib.Path:
    if model.plan_folder is not None:
        folder = pathlib.Path(model.plan_folder)
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(cache) / "kiln" / "serve_ray"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid() or found.st_mode & _WRITE_OF_OTHERS:
        raise PermissionError(
            f"model {model.name!r}: plan_folder {str(folder)!r} belongs to user {found.st_uid} and has mode "
            f"{stat.S_IMODE(found.st_mode):o}. Plans may hold code, so it has to belong to user {os.geteuid()}, and nobody "
            "else may write there (chmod go-w)"
        )
    return folder


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Holds a lock among the processes of this node; the system lets it go where the process dies. Removes its file."""
    while True:
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_still(path, file.fileno()):
                continue  # who had the lock has removed the file, and the next one makes another
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def _is_still(path: pathlib.Path, opened: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(opened))
    except FileNotFoundError:
        return False


def _write(path: pathlib.Path, data: Any) -> None:
    """Writes a file that is there as a whole or not at all; a process that has the old one mapped keeps that."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        beside = pathlib.Path(file.name)
        try:
            file.write(data)
            file.close()
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def _check_file(model: Model) -> None:
    path = pathlib.Path(model.path)
    if not path.is_file():
        raise FileNotFoundError(f"model {model.name!r}: this node has no file {model.path!r}")
    found = digest_of(path)
    if found != model.digest:
        raise ValueError(
            f"model {model.name!r}: {model.path!r}, or its data, has other bytes on this node (SHA-256 {found[:12]}..., "
            f"{model.digest[:12]}... when it was deployed)"
        )


def _build(model: Model) -> bytes:
    log.info("building a plan of %s for %s", model.name, kiln.device_name(model.device))
    with kiln.compile(
        model.path,
        shapes=model.shapes,
        values=model.values,
        precision=model.precision,
        device=model.device,
        optimization_level=model.optimization_level,
        progress=False,
        name=model.name,
    ) as engine:
        return bytes(engine)


@contextlib.contextmanager
def _renewing(plans: Any, key: str, who: str) -> Iterator[None]:
    """Keeps a claim meanwhile, and gives it up where the build fails."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(_RENEW_S):
            plans.renew.remote(key, who)

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        plans.give_up.remote(key, who)
        raise
    finally:
        done.set()
        thread.join()


def _read(path: str) -> np.ndarray | None:
    try:
        return np.fromfile(path, np.uint8)
    except OSError:
        return None


def _fetch(place: Place) -> np.ndarray | None:
    """The bytes of a node's file, by a task on that node; None where the file or the node is gone."""
    node, path = place
    there = NodeAffinitySchedulingStrategy(node, soft=False)
    try:
        return ray.get(ray.remote(_read).options(num_cpus=0, scheduling_strategy=there).remote(path), timeout=_FETCH_S)
    except ray.exceptions.RayError as failure:
        log.warning("a plan does not come from node %s: %s", node, failure)
        return None


def _open(model: Model, path: pathlib.Path) -> kiln.Engine:
    return kiln.load(path, device=model.device, mapped=True, name=model.name)


def _open_if_good(model: Model, path: pathlib.Path) -> kiln.Engine | None:
    """The engine of a file; None where there is no file, or what is there is no plan for this hardware."""
    try:
        return _open(model, path)
    except FileNotFoundError:
        return None
    except kiln.Error as failure:
        log.warning("%s is damaged and made anew: %s", path, failure)
        return None


def _get(model: Model, key: str, path: pathlib.Path) -> kiln.Engine:
    """Makes the file, from that of another node or by a build, and loads it."""
    plans, node = store(), ray.get_runtime_context().get_node_id()
    who, here = f"{node}/{os.getpid()}", (node, str(path))
    ray.get(plans.lost.remote(key, here))
    while True:
        answer, place = ray.get(plans.ask.remote(key, who))
        engine = None
        if answer == "at":
            data = _fetch(place)
            if data is not None:
                _write(path, data)
                engine = _open_if_good(model, path)
            if engine is None:
                ray.get(plans.lost.remote(key, place))
        elif answer == "build":
            with _renewing(plans, key, who):
                _write(path, _build(model))
                engine = _open(model, path)
        else:
            time.sleep(_ASK_AGAIN_S)
        if engine is not None:
            ray.get(plans.have.remote(key, who, here))
            return engine


def _age(path: pathlib.Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove_old(model: Model, folder: pathlib.Path) -> None:
    """Removes plans of the model but those that were used last, and what a process left that died as it wrote one.

    A replica that has such a plan mapped keeps its bytes.
    """
    kept = re.compile(rf"{re.escape(model.name)}-[0-9a-f]{{{_KEY_SIZE}}}\.plan")
    parts = re.compile(rf"\.{kept.pattern}\..+")
    there = list(folder.iterdir())
    plans = sorted((path for path in there if kept.fullmatch(path.name)), key=_age)
    left = [path for path in there if parts.fullmatch(path.name) and _age(path) > _LONGEST_WRITE_S]
    for path in plans[model.plans_kept :] + left:
        path.unlink(missing_ok=True)


def load(model: Model) -> kiln.Engine:
    """The model's engine, from a plan that this node's replicas share. Builds the plan where the cluster has none.

    Raises `kiln.Error` where it cannot be built or loaded, PermissionError where others may write into the folder of
    plans, and an error that names the file where this node has not the files that were deployed.
    """
    if model.is_plan:
        _check_file(model)
        return _open(model, pathlib.Path(model.path))
    key, folder = key_of(model), _folder(model)
    path = folder / f"{model.name}-{key}.plan"
    with _locked(folder / f".{key}.lock"):
        engine = _open_if_good(model, path)
        if engine is None:
            _check_file(model)  # not before: a plan that is here serves on while the file is being replaced
            engine = _get(model, key, path)
        else:
            node = ray.get_runtime_context().get_node_id()
            store().have.remote(key, f"{node}/{os.getpid()}", (node, str(path)))
        with contextlib.suppress(FileNotFoundError):
            os.utime(path)  # it was used
        _remove_old(model, folder)
    return engine
