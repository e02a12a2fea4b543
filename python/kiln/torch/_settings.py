"""Options of compiling PyTorch's modules."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

from .._arguments import check_configure, check_flag, check_number

_PRECISIONS = (None, "fp32", "tf32", "fp16", "bf16", "best")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What `torch.compile(..., options=...)` and `kiln.torch.compile` may be told."""

    precision: str | None = None
    """As in `kiln.compile`, which has "int8", too; None keeps the module's own types."""
    tf32: bool | None = None
    """Whether products of FP32 may round to TF32; None asks `torch.get_float32_matmul_precision()`."""
    min_block_size: int = 3
    """The least number of operators that an engine is built for; fewer stay in PyTorch."""
    strict: bool = False
    """Whether an operator that stays in PyTorch is an error, also for being one of few (`min_block_size`), and a part that
    cannot be built. Other views of memory are no work for an engine, and no error."""
    max_extent_factor: int = 4
    """How many times the first extent an axis without a given maximum may have before its engine is built anew."""
    watch_weights: bool = True
    """Whether each call looks for weights that have changed since the engine was built."""
    optimization_level: int | None = None
    """From 0, fastest to build, to 5."""
    workspace: int | None = None
    """Bytes that a run of an engine may use beside its tensors."""
    timing_cache: str | os.PathLike | None = None
    """A file that makes later builds of like graphs faster, as in `kiln.compile`."""
    progress: Any = None
    """What shows how far a build is, as in `kiln.compile`; a graph may take several builds."""
    configure: Callable[[Any, Any], Any] | None = None
    """Is called with the network and the builder's config before each build, as in `kiln.compile`."""

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
            check_number(name, getattr(settings, name), 1)
        for name in ("strict", "watch_weights"):
            check_flag(name, getattr(settings, name))
        if settings.tf32 is not None:
            check_flag("tf32", settings.tf32)
        if settings.configure is not None:
            check_configure(settings.configure)
        return settings
