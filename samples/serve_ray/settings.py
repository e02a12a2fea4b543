"""What a deployment of one model is told, and its checks."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from . import onnx_files

PLAN_SUFFIX = ".plan"


class SettingsError(ValueError):
    """A setting is missing, unknown or out of range; the text names it."""


@dataclasses.dataclass(frozen=True)
class Model:
    """One model and how it is served. Times are in seconds unless a name says otherwise."""

    name: str
    path: str
    """An ONNX file, or a plan (a name that ends in .plan). Every node has to have it under this path."""
    version: str = "1"

    # How a plan is built from an ONNX file; as kiln.compile takes them.
    shapes: Any = None
    values: Any = None
    precision: str | None = None
    device: str | None = None
    optimization_level: int | None = None

    # How requests are joined.
    max_batch_size: int = 0
    """The most rows of a run. The first axis of every input and output counts rows. 0: requests are never joined."""
    batch_wait_ms: float = 2.0
    """How long the first request of a batch waits for others."""
    instances: int = 1
    """Runs that a replica has in flight at once. They share the weights of one engine."""

    # How many replicas there are, and what each one holds.
    min_replicas: int = 1
    max_replicas: int = 1
    target_ongoing_requests: float = 8.0
    """Requests a replica, beyond which there will be more replicas."""
    upscale_delay_s: float = 5.0
    downscale_delay_s: float = 60.0
    max_ongoing_requests: int = 64
    max_queued_requests: int = 512
    """Requests that wait for a replica, at each gateway. One more gets status 503. 0: any number may wait."""
    num_cpus: float = 1.0
    num_gpus: float = 0.0
    health_check_period_s: float = 5.0
    drain_s: float = 30.0
    """How long a replica that has to go may take to finish its requests."""
    plan_folder: str | None = None
    """Where a node keeps its plans; None: kiln/serve_ray in the user's cache. Nobody else may write there."""
    plans_kept: int = 4
    """Plans of this model that stay in the folder: the last ones that were used. One a kind of hardware is in use, if
    nodes share the folder; the others make going back to an older version quick."""

    digest: str = ""
    """SHA-256 of the model's files. Changed bytes are another deployment: Ray replaces its replicas one after the other."""

    @property
    def is_plan(self) -> bool:
        return self.path.endswith(PLAN_SUFFIX)

    def user_config(self) -> dict[str, Any]:
        """What a replica takes over without being replaced."""
        return {"max_batch_size": self.max_batch_size, "batch_wait_ms": self.batch_wait_ms}

    def constant(self) -> Model:
        """The settings without those of `user_config`: replicas are replaced where one of these changes."""
        return dataclasses.replace(self, max_batch_size=0, batch_wait_ms=0.0)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TAKEN = "Gateway"  # the deployment in front of the models
_AT_LEAST = {
    "max_batch_size": 0,
    "batch_wait_ms": 0,
    "instances": 1,
    "min_replicas": 0,
    "max_replicas": 1,
    "upscale_delay_s": 0,
    "downscale_delay_s": 0,
    "max_ongoing_requests": 1,
    "max_queued_requests": 0,
    "num_cpus": 0,
    "num_gpus": 0,
    "drain_s": 0,
    "plans_kept": 1,
    "gateways": 1,
    "gateway_cpus": 0,
    "most_bytes": 1,
    "most_bytes_in_flight": 1,
}
_MORE_THAN = {"target_ongoing_requests": 0, "health_check_period_s": 0, "time_limit_s": 0, "body_s": 0}
_WHOLE = {
    "max_batch_size",
    "instances",
    "min_replicas",
    "max_replicas",
    "max_ongoing_requests",
    "max_queued_requests",
    "plans_kept",
    "gateways",
    "most_bytes",
    "most_bytes_in_flight",
}
_TEXTS = ("precision", "device", "plan_folder")


def _sha256(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: pathlib.Path) -> str:
    """SHA-256 of a plan, or of an ONNX file and of all files that hold data of its tensors.

    Raises OSError where one of them cannot be read, and ValueError where it is not ONNX.
    """
    digest = _sha256(path)
    if path.name.endswith(PLAN_SUFFIX):
        return digest
    held = {}
    for name in onnx_files.data_files(path):
        if not (path.parent / name).is_file():
            raise FileNotFoundError(f"there is no file {str(path.parent / name)!r}, in which {path.name} has data")
        held[name] = _sha256(path.parent / name)
    return hashlib.sha256(json.dumps([digest, held]).encode()).hexdigest() if held else digest


def check_number(where: str, name: str, value: Any) -> None:
    """Raises `SettingsError` where a setting, of a model or of the application, is not a number in its range."""
    wanted = int if name in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted) or not math.isfinite(value):
        raise SettingsError(f"{where}: {name} is {value!r}; a {'whole ' if name in _WHOLE else ''}number is needed")
    if name in _AT_LEAST and not value >= _AT_LEAST[name]:
        raise SettingsError(f"{where}: {name} is {value}; it may be {_AT_LEAST[name]} or more")
    if name in _MORE_THAN and not value > _MORE_THAN[name]:
        raise SettingsError(f"{where}: {name} is {value}; it has to be more than {_MORE_THAN[name]}")


def read_model(given: Any, where: str) -> Model:
    """Settings of one model from a mapping. Raises `SettingsError`."""
    if not isinstance(given, Mapping):
        raise SettingsError(f"{where} is {given!r}; a mapping with 'name' and 'path' is needed")
    known = {field.name for field in dataclasses.fields(Model)} - {"digest"}
    unknown = sorted(map(str, set(given) - known))
    if unknown:
        raise SettingsError(f"{where} has {unknown[0]!r}, which is no setting; there are {', '.join(sorted(known))}")
    for name in ("name", "path"):
        if not isinstance(given.get(name), str) or not given[name]:
            raise SettingsError(f"{where}: {name} is {given.get(name)!r}; a text is needed")
    where = f"model {given['name']!r}"
    if not _NAME.fullmatch(given["name"]):
        raise SettingsError(f"{where}: its name may have up to 100 letters, digits, '.', '_' and '-'")
    if given["name"] == _TAKEN:
        raise SettingsError(f"{where}: the deployment in front of the models has this name; give the model another one")
    for name in _TEXTS:
        if given.get(name) is not None and not isinstance(given[name], str):
            raise SettingsError(f"{where}: {name} is {given[name]!r}; a text is needed")
    for name in _AT_LEAST | _MORE_THAN:
        if name in given:
            check_number(where, name, given[name])
    path = pathlib.Path(given["path"]).absolute()
    if not path.is_file():
        raise SettingsError(f"{where}: there is no file {str(path)!r}")
    model = Model(**{**given, "path": str(path), "version": str(given.get("version", "1"))})
    if model.min_replicas > model.max_replicas:
        raise SettingsError(f"{where}: min_replicas is {model.min_replicas}, max_replicas {model.max_replicas}")
    if model.is_plan:
        for name in ("shapes", "values", "precision", "optimization_level"):
            if getattr(model, name) is not None:
                raise SettingsError(f"{where}: {name} is for building, and {path.name} is a plan")
    try:
        return dataclasses.replace(model, digest=digest_of(path))
    except (OSError, ValueError) as failure:
        raise SettingsError(f"{where}: {failure}") from None


def read_models(given: Any) -> list[Model]:
    """Settings of the list `models`. Raises `SettingsError`."""
    if not isinstance(given, list) or not given:
        raise SettingsError(f"models is {given!r}; a list of models is needed")
    models = [read_model(each, f"models[{i}]") for i, each in enumerate(given)]
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"there are {names.count(name)} models called {name!r}")
    return models
