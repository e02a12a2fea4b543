"""`kiln.torch.compile`: a whole module by `torch.export`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .._engine import Engine
from .._errors import Error
from ._backend import decompositions
from ._partition import Report, divide
from ._settings import Settings


class CompiledModule(torch.nn.Module):
    """A module whose graph engines compute. It is called as the original is."""

    def __init__(self, module: torch.fx.GraphModule, report: Report, name: str):
        super().__init__()
        self._module = module
        self.report = report
        """What became of the graph; `str(report)` says which operators stay in PyTorch and why."""
        self.name = name

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            return self._module(*args, **kwargs)

    @property
    def engines(self) -> list[Engine]:
        """The engines, in the order in which they run."""
        return [part.engine for part in self.report.engines]

    def __repr__(self) -> str:
        return f"<kiln.torch.CompiledModule {self.name!r}: {str(self.report).splitlines()[0]}>"

    def train(self, mode: bool = True) -> CompiledModule:
        if mode:
            raise Error(f"{self.name} is compiled for inference and cannot be trained")
        return super().train(False)


def _as_arguments(inputs: Any) -> tuple:
    if isinstance(inputs, torch.Tensor):
        return (inputs,)
    if not isinstance(inputs, Sequence) or isinstance(inputs, (str, bytes)):
        raise TypeError(f"inputs is a {type(inputs).__name__}; a tensor, or a tuple of the module's arguments, is needed")
    return tuple(inputs)


def compile(
    module: Any,
    inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    **options: Any,
) -> CompiledModule:
    """Compiles a PyTorch module for inference and returns a module that is called the same way.

    module: a `torch.nn.Module` in evaluation mode, or a `torch.export.ExportedProgram`.
    inputs: example arguments, a tensor or a tuple; `kwargs` example keyword arguments.
    dynamic_shapes: as `torch.export.export` takes them, with `torch.export.Dim` for extents that calls decide.
    options: the fields of `kiln.torch.Settings`, such as precision="fp16".

    Operators that Kiln lacks run in PyTorch between engines; `report` of the result says which and why.
    """
    settings = Settings.of(options)
    if isinstance(module, torch.export.ExportedProgram):
        program, name = module, "exported program"
    elif isinstance(module, torch.nn.Module):
        name = type(module).__name__
        if module.training:
            raise Error(f"{name} is in training mode, and engines are for inference: call .eval() first")
        with torch.no_grad():
            program = torch.export.export(
                module, _as_arguments(inputs), dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=False
            )
    else:
        raise TypeError(f"module is a {type(module).__name__}; a torch.nn.Module or an ExportedProgram is needed")
    with torch.no_grad():
        graph = program.run_decompositions(decompositions()).module()
        divided, report = divide(graph, settings, name)
    return CompiledModule(divided, report, name)
