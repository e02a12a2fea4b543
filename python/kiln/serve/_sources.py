"""Where models come from: folders of Triton's model repository, single files, and engines of the program."""

from __future__ import annotations

import dataclasses
import logging
import pathlib
import re
from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any

from .._bindings import bindings
from .._compile import compile as build
from .._compile import load
from .._engine import Engine
from .._errors import Error, Messages, make_logger
from ._config import FILE_NAMES, ONNX, PLAN, ConfigError, Placement, choose_versions, platform_of, read_config
from ._errors import LoadStopped
from ._messages import ModelConfig
from ._settings import Settings

log = logging.getLogger("kiln.serve")

_SUFFIXES = {".plan": PLAN, ".engine": PLAN, ".trt": PLAN, ".onnx": ONNX}
_DEFAULT_BATCH = 8  # of an ONNX file about whose batch nobody says anything

Shapes = Mapping[str, tuple[int, ...]]
_SHAPE = re.compile(r"(?:'((?:[^']|'')+)'|([^,]+)):((?:[0-9]+(?:x[0-9]+)*)?)(?:,(?=.)|$)")
"""An entry of a list of shapes: a name in quotes or as it is, and extents."""


@dataclasses.dataclass(frozen=True)
class BuildShapes:
    """Shapes of an ONNX file's inputs by name, as trtexec's flags of these names have them."""

    min: Shapes = dataclasses.field(default_factory=dict)
    opt: Shapes = dataclasses.field(default_factory=dict)
    max: Shapes = dataclasses.field(default_factory=dict)

    def names(self) -> list[str]:
        """All inputs that are named."""
        return sorted({*self.min, *self.opt, *self.max})

    def of(self, name: str) -> tuple | None:
        """(min, opt, max) of an input, or None."""
        there = [part[name] for part in (self.min, self.opt, self.max) if name in part]
        if not there:
            return None
        opt = self.opt.get(name, there[-1])
        return self.min.get(name, opt), opt, self.max.get(name, opt)


@dataclasses.dataclass(frozen=True)
class OnlyShapes(BuildShapes):
    """Shapes for the only model of a server: each name has to be one of its inputs."""


def parse_shapes(text: str) -> dict[str, tuple[int, ...]]:
    """Reads `x:1x3x224x224,y:1x8`. Raises ValueError. A name may have colons: the last one counts. One with commas
    stands in single quotes, of which one that belongs to the name is written twice there: `'it''s, a':1x8`."""
    found = {}
    while text:
        part = _SHAPE.match(text)
        if part is None:
            raise ValueError(f"{text.partition(',')[0]!r} is not of the form name:1x3x224x224")
        quoted, name, extents = part.groups()
        name = quoted.replace("''", "'") if quoted else name
        if name in found:
            raise ValueError(f"{name!r} is named twice")
        found[name] = tuple(int(n) for n in extents.split("x")) if extents else ()
        text = text[part.end() :]
    return found


@dataclasses.dataclass(frozen=True)
class Found:
    """What is there of a model: its configuration, and a file or an engine for each version."""

    config: Any
    has_config: bool
    versions: dict[int, pathlib.Path | Engine]


@dataclasses.dataclass(frozen=True)
class FolderSource:
    """A folder of a model repository: config.pbtxt, and a folder for each version."""

    folder: pathlib.Path
    shapes: BuildShapes | None = None

    def find(self, override: Any = None) -> Found:
        """Reads the folder; `override` stands for config.pbtxt. Raises ConfigError."""
        name = self.folder.name
        path = self.folder / "config.pbtxt"
        has_config = override is not None or path.is_file()
        config = ModelConfig()
        if override is not None:
            config.CopyFrom(override)
        elif has_config:
            config = read_config(path)
        if config.name and config.name != name:
            raise ConfigError(f"config.pbtxt is of a model {config.name!r}; the folder is called {name!r}")
        config.name = name
        there = sorted(int(p.name) for p in self.folder.iterdir() if p.is_dir() and _is_version(p.name))
        if not there:
            raise ConfigError(f"{self.folder} has no folders of versions, such as {self.folder / '1'}")
        wanted = choose_versions(config, there)
        platform = platform_of(config)
        return Found(config, has_config, {v: self._file(v, platform, config.default_model_filename) for v in wanted})

    def _file(self, version: int, platform: str, file_name: str) -> pathlib.Path:
        if pathlib.Path(file_name).name != file_name:
            raise ConfigError(f"default_model_filename {file_name!r} is a path; a name is needed")
        inside = self.folder / str(version)
        names = [file_name] if file_name else [FILE_NAMES[platform]] if platform else list(FILE_NAMES.values())
        there = [inside / name for name in names if (inside / name).is_file()]
        if len(there) != 1:
            what = "both" if there else "neither" if len(names) > 1 else "no"
            raise ConfigError(f"{inside} has {what} {' nor '.join(names) if not there else ' and '.join(names)}")
        return there[0]

    def fingerprint(self) -> tuple:
        """Changes when a file of the model does. A timing cache in the folder is the build's, and written by each load."""
        cache = self._timing_cache()
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return tuple(sorted((str(path), *_stamp(path)) for path in files if cache is None or not _is_cache(path, cache)))

    def _timing_cache(self) -> pathlib.Path | None:
        """The file that config.pbtxt names; None without one, and where the configuration cannot be read."""
        try:
            name = _parameter(read_config(self.folder / "config.pbtxt"), "timing_cache")
        except (ConfigError, OSError):
            return None
        return pathlib.Path(name).resolve() if name else None


@dataclasses.dataclass(frozen=True)
class FileSource:
    """A plan or an ONNX file; its version is 1."""

    name: str
    file: pathlib.Path
    shapes: BuildShapes | None = None

    def find(self, override: Any = None) -> Found:
        config = ModelConfig()
        if override is not None:
            config.CopyFrom(override)
        if config.name not in ("", self.name):
            raise ConfigError(f"the configuration is of a model {config.name!r}, not of {self.name!r}")
        config.name = self.name
        if self.file.is_dir():
            raise ConfigError(f"{str(self.file)!r} is a folder; --model-repository takes folders of models")
        if not self.file.is_file():
            raise ConfigError(f"there is no file {str(self.file)!r}")
        return Found(config, override is not None, {1: self.file})

    def fingerprint(self) -> tuple:
        return _stamp(self.file)


@dataclasses.dataclass(frozen=True)
class EngineSource:
    """An engine of the program, which the program closes."""

    name: str
    engine: Engine

    def find(self, override: Any = None) -> Found:
        config = ModelConfig()
        if override is not None:
            config.CopyFrom(override)
        config.name = self.name
        return Found(config, override is not None, {1: self.engine})

    def fingerprint(self) -> tuple:
        return ()


Source = FolderSource | FileSource | EngineSource


def _is_version(name: str) -> bool:
    return name.isascii() and name.isdigit() and name[0] != "0" and len(name) < 19


def _stamp(path: pathlib.Path) -> tuple:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _is_cache(path: pathlib.Path, cache: pathlib.Path) -> bool:
    """Whether a file is a timing cache, or becomes it: a build writes a file beside it first."""
    is_its = path.name == cache.name or path.name.startswith(f".{cache.name}.")
    return is_its and path.parent.resolve() == cache.parent


def folders_of(repository: pathlib.Path, shapes: BuildShapes | None = None) -> Iterator[FolderSource]:
    """The models of a repository's folder. `shapes` are for ONNX files whose configuration says none."""
    for folder in sorted(repository.iterdir()):
        if folder.is_dir() and not folder.name.startswith("."):
            yield FolderSource(folder, shapes)


def platform_of_file(path: pathlib.Path) -> str:
    """The platform that a file's name tells."""
    platform = _SUFFIXES.get(path.suffix.lower())
    if platform is None:
        plans = ", ".join(suffix for suffix in _SUFFIXES if suffix != ".onnx")
        raise ConfigError(f"{path.name} is neither a plan ({plans}) nor .onnx")
    return platform


def open_engine(
    path: pathlib.Path, config: Any, place: Placement, settings: Settings, shapes: BuildShapes | None, stop: Event
) -> Engine:
    """Loads a plan, or builds an ONNX file, unless `stop` is set meanwhile.

    Raises ConfigError, `kiln.Error`, OSError, ValueError, and LoadStopped where `stop` has ended the build.
    """
    platform = platform_of_file(path)
    if config.platform and config.platform != platform:
        raise ConfigError(f"platform is {config.platform}, but {path.name} is for {platform}")
    config.platform = platform
    try:
        if platform == PLAN:
            engine = load(path, device=place.device, name=config.name)
            if isinstance(shapes, OnlyShapes) and shapes.names():
                told = ", ".join(f"{tensor.name!r} {list(tensor.shape)}" for tensor in engine.inputs)
                engine.close()
                raise ConfigError(
                    f"shapes are given for {shapes.names()}, but {path.name} is a plan, whose shapes were decided when it "
                    f"was built; its inputs are {told}"
                )
            return engine
        return _build_onnx(path, config, place, settings, shapes, stop)
    except Error as failure:  # whose caller names the model
        raise Error(str(path), failure.messages, failure.nodes) if failure.messages else failure


def _parameter(config: Any, name: str) -> str | None:
    return config.parameters[name].string_value if name in config.parameters else None


def _build_onnx(
    path: pathlib.Path, config: Any, place: Placement, settings: Settings, shapes: BuildShapes | None, stop: Event
) -> Engine:
    said = BuildShapes(*(parse_shapes(_parameter(config, f"{part}_shapes") or "") for part in ("min", "opt", "max")))
    wanted = said if said.min or said.opt or said.max else shapes or said
    must_fit = wanted is said or isinstance(wanted, OnlyShapes)
    # With a setting of 0 no requests are joined, but each may have several rows.
    most = config.max_batch_size or settings.max_batch_size or _DEFAULT_BATCH
    level, tf32 = _parameter(config, "optimization_level"), _parameter(config, "tf32")
    if level is not None and not level.isdigit():
        raise ConfigError(f"parameter optimization_level is {level!r}; it may be from 0 to 5")
    if tf32 not in (None, "true", "false"):
        raise ConfigError(f"parameter tf32 is {tf32!r}; it may be true or false")
    preferred = list(config.dynamic_batching.preferred_batch_size)
    stopped = Event()

    def goes_on(*_: object) -> bool:
        if stop.is_set():
            stopped.set()
        return not stopped.is_set()

    log.info("building %s; a plan loads faster: trtexec --onnx=... --saveEngine=model.plan", path)
    try:
        return build(
            path,
            shapes=_ranges(path, wanted, most, max(preferred, default=0), must_fit),
            precision=_parameter(config, "precision"),
            optimization_level=None if level is None else int(level),
            tf32=None if tf32 is None else tf32 == "true",
            timing_cache=_parameter(config, "timing_cache"),
            device=place.device,
            progress=goes_on,
            name=config.name,
        )
    except Error:
        if stopped.is_set():
            raise LoadStopped from None
        raise


def _ranges(path: pathlib.Path, wanted: BuildShapes, most: int, usual: int, must_fit: bool) -> dict[str, Any]:
    """The shapes to build for: those that were given, else batches from 1 to `most` where only the batch is open.

    Where shapes must fit, each name has to be an input; else they may be for other models of the server.
    """
    found = {}
    inputs = inputs_of(path)
    unknown = [name for name in wanted.names() if name not in dict(inputs)]
    if unknown and inputs:
        words = f"shapes are given for {unknown}, but the inputs of {path.name} are {[name for name, _ in inputs]}"
        if must_fit:
            raise ConfigError(words)
        log.warning("%s", words)
    for name, declared in inputs:
        given = wanted.of(name)
        if given is not None:
            found[name] = list(given)
        elif declared[:1] == (-1,) and -1 not in declared[1:]:
            found[name] = [(rows, *declared[1:]) for rows in (1, usual or most, most)]
        elif -1 in declared:
            raise ConfigError(
                f"input {name!r} of {path.name} has shape {list(declared)}: say which shapes to build for, by the "
                "parameters min_shapes, opt_shapes and max_shapes of config.pbtxt or the flags --min-shapes, "
                "--opt-shapes and --max-shapes"
            )
    return found


def inputs_of(path: pathlib.Path) -> list[tuple[str, tuple[int, ...]]]:
    """The inputs of an ONNX file with their shapes."""
    trt: Any = bindings()
    logger = make_logger(Messages(), quiet=True)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(str(path)):
        return []  # the build says why
    inputs = [network.get_input(i) for i in range(network.num_inputs)]
    return [(tensor.name, tuple(tensor.shape)) for tensor in inputs]
