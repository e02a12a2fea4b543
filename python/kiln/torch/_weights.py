"""Weights that engines hold: which tensors they are copied from, and whether those are still what they were."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx

epoch = 0
"""How often `refresh` was called. What was built before is built anew."""


def refresh() -> None:
    """Has all compiled modules and graphs build their engines anew, from the weights as they are, at their next calls.

    That is needed behind writes that PyTorch does not count: through `parameter.data`, or through numpy's arrays of its
    memory. Other changes are noticed without it.
    """
    global epoch
    epoch += 1


class Copied:
    """A weight that an engine has copied, as it was then."""

    __slots__ = ("_tensor", "_version", "alias")

    def __init__(self, tensor: torch.Tensor, ended: Callable[[Any], None] | None = None):
        """`ended` is called when the tensor is gone."""
        self._tensor = weakref.ref(tensor, ended)
        # Holds the memory that was copied: a tensor that is given other memory (`parameter.data = ...`) cannot get this again.
        self.alias = tensor.detach()
        self._version = -1 if tensor.is_inference() else tensor._version  # tensors of inference mode count no writes

    def differs_from(self, given: Any) -> bool:
        """Whether a tensor is another one, was written to, or has other memory, shape or strides."""
        return (
            given is not self._tensor()
            or given is None
            or (self._version >= 0 and given._version != self._version)
            or not given.is_set_to(self.alias)
        )

    def is_not(self, given: Any) -> bool:
        """Whether a tensor is another one, whatever is in it."""
        return given is None or given is not self._tensor()

    @property
    def is_dead(self) -> bool:
        """Whether the tensor is gone."""
        return self._tensor() is None


def _written_arguments(node: fx.Node) -> Iterable[Any]:
    """The arguments whose memory an operator writes to."""
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return (*node.args, *node.kwargs.values())  # it has no schema that would tell
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None or not schema.is_mutable:
        return ()
    named = {argument.name for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write}
    places = [i for i, argument in enumerate(schema.arguments) if argument.name in named]
    return [node.args[i] for i in places if i < len(node.args)] + [node.kwargs[n] for n in named if n in node.kwargs]


def writes(node: fx.Node) -> bool:
    """Whether an operator writes to memory of its arguments."""
    return node.op == "call_function" and bool(_written_arguments(node))


def written_nodes(graph: fx.Graph) -> set[fx.Node]:
    """The nodes whose memory operators of the graph write to."""
    found: set[fx.Node] = set()
    for node in graph.nodes:
        fx.map_arg(list(_written_arguments(node)), found.add)  # type: ignore[arg-type, return-value]
    return found


def memory_of(node: Any) -> Any:
    """The node whose memory a node's result lies in: its own, or that of what it is a view of."""
    while isinstance(node, fx.Node):
        returns = getattr(getattr(node.target, "_schema", None), "returns", ())
        if node.op != "call_function" or not returns or returns[0].alias_info is None:
            break
        node = node.args[0]
    return node


def _storage(tensor: torch.Tensor) -> int | None:
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):  # sparse ones have none
        return None


def without_written(weights: dict[Any, torch.Tensor], written: Iterable[Any]) -> dict[Any, torch.Tensor]:
    """The weights that engines may copy: those that share no memory with what the graph writes."""
    storages = {_storage(tensor) for tensor in written if isinstance(tensor, torch.Tensor)} - {None}
    return {key: tensor for key, tensor in weights.items() if _storage(tensor) not in storages}
