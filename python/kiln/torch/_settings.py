"""Options of compiling PyTorch's modules."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

_PRECISIONS = (None, "fp32", "tf32", "fp16", "bf16", "best")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What `torch.compile(..., options=...)` and `kiln.torch.compile` may be told."""

    precision: str | None = None
    """As in `kiln.compile`; None keeps the module's own types."""
    tf32: bool | None = None
    """Whether products of FP32 may round to TF32; None asks `torch.get_float32_matmul_precision()`."""
    min_block_size: int = 3
    """The least number of operators that an engine is built for; fewer stay in PyTorch."""
    strict: bool = False
    """Whether an operator that stays in PyTorch, or a part that cannot be built, is an error."""
    max_extent_factor: int = 4
    """How many times the first extent an axis without a given maximum may have before its engine is built anew."""
    watch_weights: bool = True
    """Whether each call looks for weights that have changed since the engine was built."""
    optimization_level: int | None = None
    workspace: int | None = None
    timing_cache: str | os.PathLike | None = None
    progress: Any = None
    configure: Callable[[Any, Any], Any] | None = None

    @staticmethod
    def of(options: Mapping[str, Any] | None) -> Settings:
        """Reads a dict. Raises for what is no option, or has a value that it cannot have."""
        options = dict(options or {})
        known = [field.name for field in dataclasses.fields(Settings)]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no option of the backend 'kiln'; there are {known}")
        settings = Settings(**options)
        if settings.precision not in _PRECISIONS:
            raise ValueError(f"precision is {settings.precision!r}; it may be one of {_PRECISIONS}")
        for name in ("min_block_size", "max_extent_factor"):
            value = getattr(settings, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} is {value!r}; it may be an int from 1 on")
            if value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1")
        for name in ("tf32", "strict", "watch_weights"):
            value = getattr(settings, name)
            if not isinstance(value, bool) and not (name == "tf32" and value is None):
                raise TypeError(f"{name} is {value!r}; it may be True or False")
        if settings.configure is not None and not callable(settings.configure):
            raise TypeError(f"configure is {settings.configure!r}; it may be a function(network, config)")
        return settings
