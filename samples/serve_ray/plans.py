"""Plans: built once for each kind of hardware in the cluster, kept in a file on each node, mapped by its replicas."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import pathlib
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import ray

import kiln

from .settings import Model, digest_of

log = logging.getLogger("ray.serve")

_STORE = {"name": "kiln-plans", "namespace": "kiln"}
_CLAIM_S = 10.0  # a builder that has not been heard of for so long is gone
_RENEW_S = 2.0
_ASK_AGAIN_S = 0.5


class PlanStore:
    """Plans of the cluster by key, and who builds one at present. One actor, which Ray starts again where it dies.

    A store that starts again is empty. Nodes have their files then; a plan that no file has is built anew.
    """

    def __init__(self, claim_s: float = _CLAIM_S) -> None:
        self._claim_s = claim_s
        self._plans: dict[str, Any] = {}
        self._claims: dict[str, tuple[str, float]] = {}

    def ask(self, key: str, who: str) -> tuple[str, Any]:
        """('plan', [reference]), ('build', None) where `who` is to build it, or ('wait', None)."""
        if key in self._plans:
            return "plan", [self._plans[key]]
        builder, since = self._claims.get(key, ("", float("-inf")))
        if builder not in ("", who) and time.monotonic() - since < self._claim_s:
            return "wait", None
        self._claims[key] = (who, time.monotonic())
        return "build", None

    def renew(self, key: str, who: str) -> None:
        """Says that `who` is still building."""
        if self._claims.get(key, ("", 0))[0] == who:
            self._claims[key] = (who, time.monotonic())

    def give(self, key: str, who: str, plan: np.ndarray) -> None:
        """Takes a plan that was built. The store owns the memory, so the builder may end."""
        self._plans.setdefault(key, ray.put(plan))
        self.give_up(key, who)

    def give_up(self, key: str, who: str) -> None:
        """Says that `who` builds no more."""
        if self._claims.get(key, ("", 0))[0] == who:
            del self._claims[key]


def store() -> Any:
    """The cluster's store, made by whoever asks first."""
    remote = ray.remote(PlanStore)
    return remote.options(**_STORE, num_cpus=0, max_restarts=-1, lifetime="detached", get_if_exists=True).remote()


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
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _folder(model: Model) -> pathlib.Path:
    if model.plan_folder is not None:
        folder = pathlib.Path(model.plan_folder)
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(cache) / "kiln" / "serve_ray"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # plans may hold code, so only their owner may write there
    return folder


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Holds a lock among the processes of this node; the system lets it go where the process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


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
            f"model {model.name!r}: {model.path!r} has other bytes on this node (SHA-256 {found[:12]}..., "
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


def _from_cluster(model: Model, key: str) -> Any:
    """The plan's bytes: of the node that built it, or built here."""
    plans, who = store(), f"{ray.get_runtime_context().get_node_id()}/{os.getpid()}"
    while True:
        answer, found = ray.get(plans.ask.remote(key, who))
        if answer == "plan":
            return ray.get(found[0])
        if answer == "build":
            with _renewing(plans, key, who):
                data = _build(model)
                ray.get(plans.give.remote(key, who, np.frombuffer(data, np.uint8)))
            return data
        time.sleep(_ASK_AGAIN_S)


def load(model: Model) -> kiln.Engine:
    """The model's engine, from a plan that this node's replicas share. Builds the plan where the cluster has none.

    Raises `kiln.Error` where it cannot be built or loaded, and an error that names the file where this node has not the
    file that was deployed.
    """
    if model.is_plan:
        _check_file(model)
        return kiln.load(model.path, device=model.device, mapped=True, name=model.name)
    key, folder = key_of(model), _folder(model)
    path = folder / f"{model.name}-{key}.plan"
    with _locked(folder / f".{key}.lock"):
        if path.exists():
            try:
                return kiln.load(path, device=model.device, mapped=True, name=model.name)
            except kiln.Error as failure:
                log.warning("%s is damaged and made anew: %s", path, failure)
        _check_file(model)  # not before: a plan that is here serves on while the file is being replaced
        _write(path, _from_cluster(model, key))
        return kiln.load(path, device=model.device, mapped=True, name=model.name)
