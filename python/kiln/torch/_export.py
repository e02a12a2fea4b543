"""`kiln.torch.compile`: a whole module by `torch.export`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .._engine import Engine
from .._errors import Error, log
from . import _weights
from ._backend import decompositions
from ._emitter import value_of
from ._partition import Report, divide
from ._settings import Settings


class CompiledModule(torch.nn.Module):
    """A module whose graph engines compute. It is called as the original is, and has the original's parameters and buffers.

    Engines hold copies of them. Where they change, as by `load_state_dict`, the next call builds the engines anew.
    """

    _graph: torch.fx.GraphModule
    _divided: torch.fx.GraphModule

    def __init__(self, graph: torch.fx.GraphModule, settings: Settings, name: str):
        super().__init__()
        # The graph's tables of tensors are this module's, too: both see what is loaded or put in the place of another.
        self._parameters, self._buffers, self._modules = graph._parameters, graph._buffers, graph._modules
        self._non_persistent_buffers_set = graph._non_persistent_buffers_set
        self.__dict__["_graph"] = graph
        self._settings, self._lock = settings, threading.Lock()
        self.name = name
        self.report: Report
        """What became of the graph; `str(report)` says which operators stay in PyTorch and why."""
        self._build()
        super().train(False)

    def _build(self) -> None:
        epoch = _weights.epoch
        places = _tensor_places(self._graph)
        seen = {path: table[key] for path, (table, key) in places.items()}
        copies = {path: _weights.Copied(tensor) for path, tensor in seen.items()}
        with torch.no_grad():
            divided, report = divide(self._graph, self._settings, self.name)
        self.__dict__["_divided"] = divided
        is_watched = self._settings.watch_weights
        self._copied = [(*places[path], copies[path]) for path in report.weights if is_watched]
        self._others = [(*places[path], seen[path]) for path in seen.keys() - report.weights]
        self.report, self._epoch = report, epoch

    def _is_changed(self) -> bool:
        for table, key, copied in self._copied:
            if copied.differs_from(table.get(key)):
                return True
        for table, key, tensor in self._others:
            if table.get(key) is not tensor:
                return True
        return self._epoch != _weights.epoch

    def _renew(self) -> None:
        with self._lock:
            if self._is_changed():  # and no other thread has seen it first
                log.warning("weights of %s have changed: its engines are built anew", self.name)
                self._build()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the module, after building its engines anew where weights have changed."""
        if self._is_changed():
            self._renew()
        try:
            with torch.no_grad():
                return self._divided(*args, **kwargs)
        except Exception:
            self._check_arguments(args, kwargs)
            raise

    def _check_arguments(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Raises for an argument that is no tensor where the example was one: PyTorch's own errors do not name it."""
        places = [node for node in self._graph.graph.nodes if node.op == "placeholder"]
        given = torch.utils._pytree.tree_leaves((args, kwargs))
        for node, value in zip(places, given) if len(places) == len(given) else ():
            if isinstance(value_of(node), torch.Tensor) and not isinstance(value, torch.Tensor):
                kind = type(value).__name__
                raise TypeError(f"{self.name}: input {node.target!r} is a {kind}; a torch.Tensor is needed") from None

    @property
    def engines(self) -> list[Engine]:
        """The engines, in the order in which they run."""
        return [part.engine for part in self.report.engines]

    def __repr__(self) -> str:
        return f"<kiln.torch.CompiledModule {self.name!r}: {str(self.report).splitlines()[0]}>"

    def train(self, mode: bool = True) -> CompiledModule:
        """Raises where `mode` is true: engines are for inference."""
        if mode:
            raise Error(f"{self.name} is compiled for inference and cannot be trained")
        return super().train(False)

    def _apply(self, fn: Any, recurse: bool = True) -> CompiledModule:
        """Behind `to`, `half`, `cuda` and their like."""
        for tensor in (*self.parameters(), *self.buffers()):
            made = fn(tensor.detach().flatten()[:0])
            if (made.dtype, made.device) != (tensor.dtype, tensor.device):
                raise Error(
                    f"{self.name} is compiled for weights of {tensor.dtype} on {tensor.device}; to have them of {made.dtype} "
                    f"on {made.device}, convert the original module and compile that"
                )
        return super()._apply(fn, recurse)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"{self.name}: a compiled module cannot be pickled or copied, for its engines belong to their process: compile "
            "the original module where it is needed, or save() the plans of its engines"
        )


def _tensor_places(graph: torch.fx.GraphModule) -> dict[str, tuple[dict[str, Any], str]]:
    """The tensors that a graph reads from its module, by their paths: the tables that hold them, and their keys there."""
    places = {}
    for node in graph.graph.nodes:
        if node.op != "get_attr":
            continue
        folder, _, key = str(node.target).rpartition(".")
        owner = graph.get_submodule(folder)
        for table in (owner._parameters, owner._buffers, owner.__dict__):
            if isinstance(table.get(key), torch.Tensor):
                places[str(node.target)] = (table, key)
                break
    return places


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
    return CompiledModule(graph, settings, name)
