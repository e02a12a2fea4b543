"""Triton's `config.pbtxt`: read, checked for what Kiln does not do, and completed from the engine."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from google.protobuf import json_format, text_format

from .._engine import Engine
from .._tensors import Tensor
from ._messages import ModelConfig
from ._settings import LONGEST_SECONDS, Settings
from ._types import OF_ENGINE, config_type, from_config

PLAN, ONNX = "tensorrt_plan", "onnxruntime_onnx"
_BACKENDS = {"tensorrt": PLAN, "onnxruntime": ONNX, "kiln": ""}
FILE_NAMES = {PLAN: "model.plan", ONNX: "model.onnx"}

# Fields that change what a model answers, or how it has to be asked: a model that has them is not served.
_REFUSED = (
    "sequence_batching",
    "ensemble_scheduling",
    "batch_input",
    "batch_output",
    "model_operations",
    "model_repository_agents",
    "dynamic_batching.priority_levels",
    "dynamic_batching.priority_queue_policy",
    "model_transaction_policy.decoupled",
    "input.allow_ragged_batch",
    "input.optional",
    "instance_group.secondary_devices",
)
# Fields that say how to run a model fast, or what to report of it: a warning names them.
_IGNORED = (
    "runtime",
    "optimization",
    "cc_model_filenames",
    "metric_tags",
    "model_warmup",
    "response_cache",
    "model_metrics",
    "instance_group.profile",
    "instance_group.passive",
    "instance_group.host_policy",
    "instance_group.rate_limiter",
    "input.format",
    "input.is_non_linear_format_io",
    "output.is_non_linear_format_io",
    "output.label_filename",
)
PARAMETERS = ("min_shapes", "opt_shapes", "max_shapes", "precision", "optimization_level", "timing_cache", "tf32")
"""Parameters of a configuration that say how an ONNX file is built."""


class ConfigError(ValueError):
    """A configuration that cannot be served."""


def _values_at(message: Any, path: str) -> list[Any]:
    """What a message has at a path of names; lists are gone through. Nothing where fields are not set."""
    name, _, rest = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.is_repeated:
        found = [getattr(message, name)] if not rest else list(getattr(message, name))
        found = [value for value in found if rest or len(value)]
    elif field.message_type is not None:
        found = [getattr(message, name)] if message.HasField(name) else []
    else:
        found = [getattr(message, name)] if getattr(message, name) else []
    return [inner for value in found for inner in _values_at(value, rest)] if rest else found


def check_supported(config: Any) -> list[str]:
    """Warnings about fields without effect. Raises ConfigError for fields that Kiln does not have."""
    refused = [path for path in _REFUSED if _values_at(config, path)]
    if refused:
        raise ConfigError(f"not supported: {', '.join(refused)}")
    policy = config.dynamic_batching.default_queue_policy
    if policy.timeout_action == 1:
        raise ConfigError("not supported: timeout_action DELAY of dynamic_batching.default_queue_policy; REJECT is")
    warnings = [f"config.pbtxt: {path} has no effect" for path in _IGNORED if _values_at(config, path)]
    warnings += [
        f"config.pbtxt: parameter {key!r} has no effect; known are {', '.join(PARAMETERS)}"
        for key in sorted(config.parameters)
        if key not in PARAMETERS
    ]
    return warnings


def read_config(path: pathlib.Path) -> Any:
    """The configuration in a file. Raises ConfigError with the place of what is wrong."""
    try:
        return text_format.Parse(path.read_text(encoding="utf-8"), ModelConfig())
    except (text_format.ParseError, UnicodeDecodeError) as failure:
        raise ConfigError(f"{path}: {failure}") from None


def config_from_json(text: str) -> Any:
    """The configuration of a load request."""
    try:
        return json_format.Parse(text, ModelConfig())
    except json_format.ParseError as failure:
        raise ConfigError(f"config: {failure}") from None


def config_to_json(config: Any) -> dict[str, Any]:
    """A configuration as Triton's HTTP endpoint has it: fields of the file, numbers as numbers."""
    found = json_format.MessageToDict(config, preserving_proto_field_name=True)
    _make_numbers(config.DESCRIPTOR, found)
    found["max_batch_size"] = config.max_batch_size
    for key in ("input", "output"):
        for tensor, said in zip(getattr(config, key), found.get(key, [])):
            said["dims"] = list(tensor.dims)
            if "reshape" in said:
                said["reshape"] = {"shape": list(tensor.reshape.shape)}
    if "dynamic_batching" in found:
        found["dynamic_batching"]["max_queue_delay_microseconds"] = config.dynamic_batching.max_queue_delay_microseconds
    return found


def _make_numbers(kind: Any, said: dict[str, Any]) -> None:
    """Makes numbers of the texts that protobuf's JSON has for whole numbers of 64 bits."""
    for field in kind.fields:
        value = said.get(field.name)
        if value is None:
            continue
        if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
            said[field.name] = [int(one) for one in value] if isinstance(value, list) else int(value)
        elif field.message_type is not None and field.message_type.GetOptions().map_entry:
            held = field.message_type.fields_by_name["value"].message_type
            for one in value.values() if held is not None else ():
                _make_numbers(held, one)
        elif field.message_type is not None:
            for one in value if isinstance(value, list) else [value]:
                _make_numbers(field.message_type, one)


def platform_of(config: Any) -> str:
    """The platform that a configuration names; '' where the file's name decides."""
    if config.backend and config.backend not in _BACKENDS:
        raise ConfigError(f"not supported: backend {config.backend!r}; there are {', '.join(sorted(_BACKENDS))}")
    if config.platform and config.platform not in FILE_NAMES:
        raise ConfigError(f"not supported: platform {config.platform!r}; there are {', '.join(FILE_NAMES)}")
    return config.platform or _BACKENDS.get(config.backend, "")


def choose_versions(config: Any, there: list[int]) -> list[int]:
    """The versions that the policy of a configuration wants, of those that are there, in rising order."""
    policy = config.version_policy
    kind = policy.WhichOneof("policy_choice")
    if kind == "all":
        return sorted(there)
    if kind == "specific":
        missing = sorted(set(policy.specific.versions) - set(there))
        if missing:
            raise ConfigError(f"version_policy names versions that are not there: {missing}; there are {sorted(there)}")
        return sorted(policy.specific.versions)
    return sorted(there)[-(policy.latest.num_versions or 1) :]


@dataclasses.dataclass(frozen=True)
class Placement:
    """Where a model runs, and how many contexts of it side by side."""

    device: str | None
    instances: int | None


def placement_of(config: Any, settings: Settings) -> Placement:
    """Reads the instance groups."""
    devices: set[str | None] = set()
    count = 0
    for group in config.instance_group:
        kind = group.DESCRIPTOR.enum_types_by_name["Kind"].values_by_number[group.kind].name
        if group.count < 0:
            raise ConfigError(f"instance_group.count is {group.count}")
        count += group.count or 1
        if count > settings.max_instances:
            raise ConfigError(
                f"instance_group.count has {count} instances in all; max_instances (--max-instances) allows "
                f"{settings.max_instances}"
            )
        if len(group.gpus) > 1:
            raise ConfigError(f"not supported: instance_group.gpus {list(group.gpus)}; a server uses one GPU")
        if group.gpus and kind == "KIND_CPU":
            raise ConfigError("instance_group has gpus and KIND_CPU")
        if group.gpus:
            devices.add(f"cuda:{group.gpus[0]}")
        elif kind in ("KIND_GPU", "KIND_CPU"):
            devices.add("cuda" if kind == "KIND_GPU" else "cpu")
        else:
            devices.add(settings.device)
    if len(devices) > 1:
        raise ConfigError(f"not supported: instance_group on several devices: {sorted(map(str, devices))}")
    return Placement(devices.pop() if devices else settings.device, count or settings.instances)


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An input or output as clients see it, and how the engine sees it. -1 is an extent that a request decides."""

    name: str
    datatype: str
    client_shape: tuple[int, ...]
    engine_shape: tuple[int, ...]
    on_host: bool

    def to_engine(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The engine's shape for one of a client, which fits `client_shape`."""
        return _refill(self.client_shape, self.engine_shape, shape)

    def to_client(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The client's shape for one of the engine."""
        return _refill(self.engine_shape, self.client_shape, shape)


def _refill(source: tuple[int, ...], target: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    if source == target:
        return shape
    open_ones = iter([extent for known, extent in zip(source, shape) if known < 0])
    return tuple(next(open_ones) if extent < 0 else extent for extent in target)


def _spec(tensor: Tensor, said: Any, batched: bool) -> TensorSpec:
    """Joins what the engine knows of a tensor with what the configuration says, which may be None."""
    where = f"tensor {tensor.name!r}"
    datatype = OF_ENGINE.get(tensor.dtype)
    if datatype is None:
        raise ConfigError(f"{where} is of {tensor.dtype}, which the protocol does not have")
    if said is None:
        return TensorSpec(tensor.name, datatype, tensor.shape, tensor.shape, tensor.on_host)
    wanted = from_config(said.DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_number[said.data_type].name)
    if wanted not in ("INVALID", datatype):
        raise ConfigError(f"{where} is of {wanted} in the configuration and of {datatype} in the engine")
    if said.is_shape_tensor and not tensor.on_host:
        raise ConfigError(f"{where} is a shape tensor in the configuration and none in the engine")
    lead = (-1,) if batched else ()
    dims = tuple(said.dims)
    inner = tuple(said.reshape.shape) if said.HasField("reshape") else dims
    if any(extent < -1 or extent == 0 for extent in dims + inner):
        raise ConfigError(f"{where} has dims {list(dims)}; extents are -1 or at least 1")
    if not dims and not said.HasField("reshape"):
        return TensorSpec(tensor.name, datatype, tensor.shape, tensor.shape, tensor.on_host)
    full = lead + inner
    fits = len(full) == len(tensor.shape) and all(
        there in (-1, here) for here, there in zip(full[len(lead) :], tensor.shape[len(lead) :])
    )
    if not fits:
        raise ConfigError(
            f"{where} has shape {list(full)} in the configuration"
            + (", max_batch_size's axis first," if batched else "")
            + f" and {list(tensor.shape)} in the engine"
        )
    if said.HasField("reshape") and [d for d in dims if d < 0] != [d for d in inner if d < 0]:
        raise ConfigError(f"{where}: reshape to {list(inner)} has not as many open extents as dims {list(dims)}")
    if said.HasField("reshape") and _volume(dims) != _volume(inner):
        raise ConfigError(f"{where}: reshape to {list(inner)} has another number of elements than dims {list(dims)}")
    return TensorSpec(tensor.name, datatype, lead + dims, full, tensor.on_host)


def _volume(dims: tuple[int, ...]) -> int:
    product = 1
    for extent in dims:
        product *= extent if extent > 0 else 1
    return product


def _check_batch_axis(config: Any, engine: Engine) -> None:
    most = config.max_batch_size
    for tensor in engine.inputs:
        if tensor.on_host:
            raise ConfigError(
                f"not supported: max_batch_size {most} with the shape input {tensor.name!r}; 0 serves such a model"
            )
        largest = max((limits.max[0] for limits in tensor.ranges if limits.max), default=0)
        if not tensor.shape or tensor.shape[0] != -1:
            raise ConfigError(
                f"max_batch_size is {most}, but input {tensor.name!r} of the engine has shape {list(tensor.shape)}, "
                "whose first extent is fixed"
            )
        if largest < most:
            raise ConfigError(
                f"max_batch_size is {most}, but the engine takes at most {largest} rows of input {tensor.name!r}"
            )
    for tensor in engine.outputs:
        if not tensor.shape or tensor.shape[0] != -1:
            raise ConfigError(
                f"max_batch_size is {most}, but output {tensor.name!r} of the engine has shape {list(tensor.shape)}, "
                "whose first extent is fixed"
            )


def _by_name(said: Any, tensors: tuple[Tensor, ...], kind: str) -> dict[str, Any]:
    """The configuration's entries of inputs or outputs by name."""
    found: dict[str, Any] = {}
    there = [tensor.name for tensor in tensors]
    for entry in said:
        if entry.name not in there:
            raise ConfigError(f"{kind} {entry.name!r} is none of the engine's; there are {there}")
        if entry.name in found:
            raise ConfigError(f"{kind} {entry.name!r} is there twice")
        found[entry.name] = entry
    if said and kind == "input":
        missing = [name for name in there if name not in found]
        if missing:
            raise ConfigError(f"the configuration has inputs, but not the engine's {missing}")
    return found


def complete(config: Any, engine: Engine) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """Checks a configuration against the engine, and fills in the inputs and outputs that it does not have.

    Outputs that the configuration leaves out are not served, as in Triton; without any, all are.
    """
    batched = config.max_batch_size > 0
    if config.max_batch_size < 0:
        raise ConfigError(f"max_batch_size is {config.max_batch_size}")
    if batched:
        _check_batch_axis(config, engine)
    inputs = _by_name(config.input, engine.inputs, "input")
    outputs = _by_name(config.output, engine.outputs, "output")
    served = [tensor for tensor in engine.outputs if not outputs or tensor.name in outputs]
    specs = [_spec(tensor, inputs.get(tensor.name), batched) for tensor in engine.inputs]
    out_specs = [_spec(tensor, outputs.get(tensor.name), batched) for tensor in served]
    for into, made in ((config.input, specs), (config.output, out_specs)):
        if not into:
            for spec in made:
                kind = into.add(name=spec.name)
                kind.data_type = kind.DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_name[
                    config_type(spec.datatype)
                ].number
                kind.dims.extend(spec.client_shape[1:] if batched else spec.client_shape)
                kind.is_shape_tensor = spec.on_host
    return specs, out_specs


@dataclasses.dataclass(frozen=True)
class BatchRules:
    """How requests for a version wait, and are joined along their first axis."""

    most: int = 0
    """The largest batch; 0 where the first axis is like the others."""
    joins: bool = False
    delay_ns: int = 0
    preferred: tuple[int, ...] = ()
    """In rising order."""
    max_queue: int = 1024
    timeout_ns: int | None = None
    may_override_timeout: bool = True


def rules_of(config: Any, settings: Settings) -> BatchRules:
    """Reads `dynamic_batching`. Raises ConfigError for sizes and times that cannot be."""
    said = config.dynamic_batching
    policy = said.default_queue_policy
    preferred = tuple(sorted(set(said.preferred_batch_size)))
    if preferred and not 0 < preferred[0] <= preferred[-1] <= config.max_batch_size:
        raise ConfigError(
            f"preferred_batch_size is {list(said.preferred_batch_size)}; sizes are from 1 to max_batch_size, "
            f"{config.max_batch_size}"
        )
    if said.max_queue_delay_microseconds > LONGEST_SECONDS * 1_000_000:
        raise ConfigError(
            f"max_queue_delay_microseconds is {said.max_queue_delay_microseconds}; at most {LONGEST_SECONDS} seconds "
            "are possible"
        )
    has_policy = said.HasField("default_queue_policy")
    return BatchRules(
        most=config.max_batch_size,
        joins=config.HasField("dynamic_batching") and config.max_batch_size > 1,
        delay_ns=said.max_queue_delay_microseconds * 1000,
        preferred=preferred,
        max_queue=policy.max_queue_size or settings.max_queue,
        timeout_ns=policy.default_timeout_microseconds * 1000 or None,
        may_override_timeout=policy.allow_timeout_override if has_policy else True,
    )
