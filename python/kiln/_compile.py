"""From a model to an engine."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._arguments import check_configure, check_flag, check_number
from ._bindings import bindings
from ._calibration import read_calibration, set_calibrator
from ._device import choose_device, engines_on
from ._engine import Engine, load_plugins
from ._errors import Error, Message, Messages, log, make_logger, make_recorder
from ._files import as_path, check_writable, replace_file
from ._progress import make_monitor, shown_bar
from ._shapes import Range, check_range, make_profiles

_PRECISIONS = (None, "fp32", "tf32", "fp16", "bf16", "int8", "best")
_LONGEST_TITLE = 40  # of the bar that shows a build's progress


class _OnnxFile:
    """A model in a file; weights may be in files beside it."""

    numbers: frozenset[str] = frozenset()

    def __init__(self, path: pathlib.Path):
        self._path = path
        self.name = path.name

    def parse(self, parser: Any) -> bool:
        return parser.parse_from_file(str(self._path))


class _OnnxBytes:
    """A serialized model. `weights` (names to addresses and sizes) are initializers that are not in the bytes."""

    def __init__(self, data: Any, name: str, weights: Mapping[str, tuple[int, int]] | None = None):
        self._data, self.name, self._weights = data, name, weights
        self.keep: Any = None
        """What owns the weights."""
        self.numbers: frozenset[str] = frozenset()
        """Inputs whose ranges of values count where these decide shapes, and mean nothing where they do not."""

    def parse(self, parser: Any) -> bool:
        if not self._weights:
            return parser.parse(self._data)
        if not parser.load_model_proto(self._data):
            return False
        for name, (address, size) in self._weights.items():
            if not parser.load_initializer(name, address, size):
                return False
        return parser.parse_model_proto()


def _source_of(model: Any) -> Any:
    if isinstance(model, (_OnnxFile, _OnnxBytes)):
        return model
    if isinstance(model, (str, os.PathLike)):
        path = pathlib.Path(model)
        if not path.exists():
            raise FileNotFoundError(f"there is no model {str(path)!r}")
        if path.is_dir():
            raise IsADirectoryError(f"{str(path)!r} is a folder; the path of an ONNX file is needed")
        return _OnnxFile(path)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _OnnxBytes(bytes(model), "model")
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return _OnnxBytes(model.SerializeToString(), getattr(model.graph, "name", "") or "model")
    raise TypeError(
        f"model is a {type(model).__name__}; the path or the bytes of an ONNX model, or an onnx.ModelProto, is needed. "
        "PyTorch's modules are for kiln.torch.compile"
    )


def _parse(trt: Any, network: Any, logger: Any, source: Any, messages: Messages) -> Any:
    parser = trt.OnnxParser(network, logger)
    if source.parse(parser):
        return parser
    nodes = []
    for i in range(parser.num_errors):
        error = parser.get_error(i)
        nodes.append((error.node_name() or "", error.desc()))
        code = error.code() if callable(error.code) else error.code
        messages.add(Message("error", error.desc(), getattr(code, "name", str(code))))
    raise Error(f"{source.name} cannot be imported", messages.take(), tuple(nodes))


def _add_profiles(
    builder: Any,
    config: Any,
    network: Any,
    shapes: list[dict[str, Range]],
    values: list[dict[str, Range]],
    numbers: frozenset[str],
) -> None:
    inputs = [network.get_input(i) for i in range(network.num_inputs)]
    names = [tensor.name for tensor in inputs]
    for argument, profiles in (("shapes", shapes), ("values", values)):
        for profile in profiles:
            for name in profile:
                if name not in names:
                    raise ValueError(f"{argument} names {name!r}, which is no input; the inputs are {names}")
    if len(values) not in (1, len(shapes)):
        raise ValueError(f"values has {len(values)} profiles and shapes {len(shapes)}")
    unknown = [
        f"{t.name!r} {tuple(t.shape)}" for t in inputs if -1 in tuple(t.shape) and any(t.name not in p for p in shapes)
    ]
    if unknown:
        raise ValueError(
            "the model leaves extents open: give shapes=, one shape, (min, max) or (min, opt, max) for each of "
            + ", ".join(unknown)
        )
    for i, ranges in enumerate(shapes):
        profile = builder.create_optimization_profile()
        for tensor in inputs:
            given = ranges.get(tensor.name)
            if given is not None:
                check_range(tensor.name, tuple(tensor.shape), given)
                if -1 in tuple(tensor.shape):
                    profile.set_shape(tensor.name, given.min, given.opt, given.max)
            limits = values[i if len(values) > 1 else 0].get(tensor.name)
            if limits is not None and tensor.is_shape_tensor:
                profile.set_shape_input(tensor.name, limits.min, limits.opt, limits.max)
            elif limits is not None and tensor.name not in numbers:
                raise ValueError(
                    f"values names {tensor.name!r}, whose values decide no shape: they may be any, without a range"
                )
        if config.add_optimization_profile(profile) < 0:
            raise Error(f"profile {i} does not fit the network")


def _set_precision(trt: Any, config: Any, precision: str | None, tf32: bool | None) -> None:
    flags = trt.BuilderFlag
    if tf32 is None:
        tf32 = precision != "fp32"
    (config.set_flag if tf32 else config.clear_flag)(flags.TF32)
    for flag, names in (
        (flags.FP16, ("fp16", "best")),
        (flags.BF16, ("bf16", "best")),
        (flags.INT8, ("int8",)),
    ):
        if precision in names:
            config.set_flag(flag)


class _TimingCache:
    """The file of measured times: read before a build, and written after it."""

    def __init__(self, path: str | os.PathLike):
        self._path = as_path(path, "timing_cache")
        self._cache: Any = None
        target = check_writable(self._path, "timing_cache")
        if target.exists() and not target.is_file():
            raise ValueError(f"timing_cache: {str(self._path)!r} is neither a file nor a new one")

    def read(self, config: Any) -> None:
        """Gives the times to a build. Raises ValueError, and leaves the file alone, where it holds something else."""
        self._cache = self._stored(config)
        if self._cache is None:
            raise ValueError(
                f"timing_cache: {str(self._path)!r} is not a whole timing cache of Kiln; it was left as it is. Name "
                "another file, or remove that one"
            )
        config.set_timing_cache(self._cache, False)

    def _stored(self, config: Any) -> Any:
        """The cache of the file, an empty one where there is none; None for a file that holds something else."""
        try:
            return config.create_timing_cache(self._path.read_bytes())
        except FileNotFoundError:
            return config.create_timing_cache(b"")

    def write(self, config: Any) -> None:
        """Keeps the times. A warning says where that cannot be: the engine is there, and worth more than they are."""
        try:
            theirs = self._stored(config)  # which another process may have written meanwhile
            if theirs is None:
                raise ValueError("it has become something else than a timing cache of Kiln")
            self._cache.combine(theirs, False)
            replace_file(self._path, bytes(self._cache.serialize()), "timing_cache")
        except (OSError, ValueError) as failure:
            log.warning("timing cache %s was not written: %s", self._path, failure)


def _build(builder: Any, network: Any, config: Any, bar: Any, name: str, messages: Messages, calibrator: Any) -> Any:
    monitor = make_monitor(bar)
    config.progress_monitor = monitor
    plan = builder.build_serialized_network(network, config)
    for failure in (monitor.failure, calibrator.failure if calibrator is not None else None):
        if failure is not None:
            raise failure
    if plan is None:
        what = f"{name} was not built: progress said so" if monitor.stopped else f"{name} cannot be built"
        raise Error(what, messages.take())
    return plan


def compile(
    model: Any,
    *,
    shapes: Any = None,
    values: Any = None,
    precision: str | None = None,
    tf32: bool | None = None,
    device: str | None = None,
    optimization_level: int | None = None,
    workspace: int | None = None,
    timing_cache: str | os.PathLike | None = None,
    calibration: Any = None,
    plugins: Sequence[str | os.PathLike] = (),
    refittable: bool = False,
    progress: Any = None,
    configure: Callable[[Any, Any], Any] | None = None,
    name: str | None = None,
) -> Engine:
    """Builds an engine for a model and returns it, ready to be called.

    model: the path of an ONNX file, its bytes, or an `onnx.ModelProto`.
    shapes: for each input that the model leaves open a shape, (min, max) or (min, opt, max):
        `{"x": [(1, 3, 224, 224), (8, 3, 224, 224), (32, 3, 224, 224)]}`. A list of such dicts makes a profile of each;
        a call uses the first that has its shapes.
    values: the same for the values of inputs that decide shapes.
    precision: None keeps the model's own types. "fp32", "tf32", "fp16", "bf16" and "best" let the builder choose the
        types of layers, down to the named one; inputs and outputs stay what the model says. "int8" is for models with
        QuantizeLinear, or for `calibration`.
    tf32: whether FP32 products may round their operands to TF32 on a GPU; by default as the precision allows.
    device: "cpu", "cuda" or "cuda:N"; by default a GPU where there is one, or what the variable KILN_DEVICE says.
    optimization_level: from 0, fastest to build, to 5.
    workspace: bytes that a run may use beside its tensors.
    timing_cache: a file that is read, and written after the build: the next build of a like network is faster. A file
        that is there has to be such a cache, or empty.
    calibration: batches that tell the ranges of tensors: an iterable of arrays, of tuples of them or of dicts of names to
        arrays, in the shapes that the build tunes for; or the path of a calibration cache that TensorRT or Kiln wrote.
        They give "int8" its scales, and with "fp16" and "best" keep layers in FP32 that would leave FP16's range.
    plugins: libraries of plugins to load first.
    refittable: whether weights of the engine can be replaced later; an error for now, since Kiln has no refit yet.
    progress: None shows a bar in a terminal or a notebook, True always, False never, "tqdm" by that package; a
        function(fraction, text) is told, and ends the build by returning False.
    configure: is called with the network and the builder's config, objects of the module tensorrt, before the build.
    name: what messages call the engine.

    Raises `kiln.Error` where the model cannot be imported or built, with all messages; ValueError and TypeError for
    arguments.
    """
    if precision not in _PRECISIONS:
        raise ValueError(f"precision is {precision!r}; it may be one of {_PRECISIONS}")
    if optimization_level is not None:
        check_number("optimization_level", optimization_level, 0, 5)
    if workspace is not None:
        check_number("workspace", workspace, 0, 2**63 - 1)
    if tf32 is not None:
        check_flag("tf32", tf32)
    check_flag("refittable", refittable)
    if configure is not None:
        check_configure(configure)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name is {name!r}; a str is needed")
    shape_ranges, value_ranges = make_profiles(shapes, "shapes"), make_profiles(values, "values", negative=True)
    source = _source_of(model)
    cache = _TimingCache(timing_cache) if timing_cache is not None else None
    batches = read_calibration(calibration, precision) if calibration is not None else None
    name = name or source.name
    trt = bindings()
    _, ordinal = choose_device(device)
    messages = Messages()
    logger = make_logger(messages)
    recorder = make_recorder(messages)
    with engines_on(ordinal), shown_bar(progress, name[:_LONGEST_TITLE]) as bar:
        builder = trt.Builder(logger)
        builder.error_recorder = recorder
        load_plugins(builder.get_plugin_registry(), plugins, name, messages)
        flag = trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED
        network = builder.create_network(1 << int(flag) if precision is None else 0)
        parser = _parse(trt, network, logger, source, messages)
        config = builder.create_builder_config()
        _set_precision(trt, config, precision, tf32)
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        if optimization_level is not None:
            config.builder_optimization_level = optimization_level
        if workspace is not None:
            config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, workspace)
        if refittable:
            config.set_flag(trt.BuilderFlag.REFIT)
        _add_profiles(builder, config, network, shape_ranges, value_ranges, source.numbers)
        calibrator = None
        if batches is not None:
            opt = {key: limits.opt for key, limits in shape_ranges[0].items()}
            calibrator = set_calibrator(config, network, batches, opt, ordinal)
        if cache is not None:
            cache.read(config)
        if configure is not None:
            configure(network, config)
        plan = _build(builder, network, config, bar, name, messages, calibrator)
        if cache is not None:
            cache.write(config)
        del cache, calibrator, parser  # before what they were made of
    return Engine(plan, device=device, name=name, plugins=plugins)


def load(
    plan: Any,
    *,
    device: str | None = None,
    plugins: Sequence[str | os.PathLike] = (),
    mapped: bool = False,
    name: str | None = None,
) -> Engine:
    """Loads an engine that `Engine.save`, trtexec or TensorRT's API with Kiln wrote: from a path or from bytes.

    device: as in `compile`; it has to be of the kind that the plan was built for.
    mapped: whether the engine reads the plan in its file, whose memory all processes share that load it so. The file may
        then be replaced by another one of its name, as `Engine.save` does, but not written to or shortened while the
        engine is there: that would end the process.

    Load only plans that you trust: a plan for a GPU holds code.
    """
    if isinstance(plan, (str, os.PathLike)):
        path = pathlib.Path(plan)
        name = name or path.name
        if mapped:
            with path.open("rb"):  # raises what says why it cannot be read
                return Engine(path, device=device, name=name, plugins=plugins)
        data: Any = path.read_bytes()
    elif mapped:
        raise TypeError(f"plan is a {type(plan).__name__}; a plan that is mapped is given by the path of its file")
    elif isinstance(plan, (bytes, bytearray, memoryview)):
        data = bytes(plan)
    else:
        raise TypeError(f"plan is a {type(plan).__name__}; a path or bytes are needed")
    if not data:
        where = os.fspath(plan) if isinstance(plan, (str, os.PathLike)) else name or "the plan"
        raise ValueError(f"{where} is empty")
    return Engine(data, device=device, name=name or "engine", plugins=plugins)
