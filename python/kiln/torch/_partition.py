"""Divides a graph into parts for engines and what stays in PyTorch."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .._device import choose_device
from .._errors import Error, log
from ._emitter import Unsupported, aten, is_number, value_of, why_unsupported
from ._part import Part
from ._settings import Settings

_MOST_TRIES = 20
# Operators that only give memory another shape: no reason for an engine.
_FREE: set[Any] = {operator.getitem} | {
    aten(name)
    for name in ("view", "_unsafe_view", "permute", "t", "transpose.int", "unsqueeze", "squeeze.dim", "squeeze.dims",
                 "expand", "alias", "detach", "clone", "slice.Tensor", "select.int", "split.Tensor", "split_with_sizes",
                 "unbind.int")
}


class Report:
    """What became of a graph: its engines, and what stays in PyTorch and why."""

    def __init__(self) -> None:
        self.engines: list[Part] = []
        self.in_pytorch: dict[str, str] = {}
        """Names of nodes, and the reason of each."""
        self.num_operators = 0
        self.num_in_engines = 0

    def __str__(self) -> str:
        text = f"{self.num_in_engines} of {self.num_operators} operators in {len(self.engines)} engines"
        if self.in_pytorch:
            text += "; in PyTorch:" + "".join(f"\n  {name}: {reason}" for name, reason in self.in_pytorch.items())
        return text


def _tensors_of(node: fx.Node) -> list[torch.Tensor]:
    val = value_of(node)
    return [v for v in (val if isinstance(val, (tuple, list)) else [val]) if isinstance(v, torch.Tensor)]


def _device_of(graph: fx.Graph) -> torch.device | None:
    """The device of most of a graph's results."""
    count: dict[torch.device, int] = {}
    for node in graph.nodes:
        if node.op == "call_function":
            for tensor in _tensors_of(node):
                count[tensor.device] = count.get(tensor.device, 0) + 1
    return max(count, key=count.__getitem__) if count else None


class _Support(OperatorSupportBase):
    def __init__(self, reasons: dict[str, str]):
        self._reasons = reasons

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        return node.op == "call_function" and node.name not in self._reasons


def _find_reasons(module: fx.GraphModule, refused: dict[str, str], device: torch.device) -> dict[str, str]:
    """The nodes that stay in PyTorch, and why."""
    reasons = dict(refused)
    for node in module.graph.nodes:
        if node.op != "call_function" or node.name in reasons or is_number(node):
            continue
        reason = why_unsupported(node) or _elsewhere(node, device)
        if reason is not None:
            reasons[node.name] = reason
    return reasons


def _elsewhere(node: fx.Node, device: torch.device) -> str | None:
    for tensor in _tensors_of(node):
        if tensor.device != device:
            return f"its result is on {tensor.device}"
    for source in node.all_input_nodes:
        for tensor in _tensors_of(source):
            if tensor.device != device and source.op != "get_attr":
                return f"{source.name} is on {tensor.device}"
    return None


def _counts(node: fx.Node) -> bool:
    """Whether a node is work, and not a number or another view of memory."""
    return node.op == "call_function" and node.target not in _FREE and not is_number(node)


def _divide(module: fx.GraphModule, reasons: dict[str, str], settings: Settings) -> list[str]:
    """Replaces parts of the graph by modules, and returns these modules' names."""
    partitioner = CapabilityBasedPartitioner(module, _Support(reasons), allows_single_node_partition=True)
    chosen = []
    for partition in partitioner.propose_partitions():
        nodes = list(partition.nodes)
        if sum(map(_counts, nodes)) >= settings.min_block_size:
            chosen.append(partition)
            continue
        for node in nodes:
            if not is_number(node):
                reasons.setdefault(node.name, f"fewer than min_block_size={settings.min_block_size} operators")
    before = {node.name for node in module.graph.nodes}
    partitioner.fuse_partitions(chosen, prefix="kiln_part_")
    return [n.name for n in module.graph.nodes if n.op == "call_module" and n.name not in before]


def _tensor_at(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _submodule(module: fx.GraphModule, node: fx.Node) -> fx.GraphModule:
    inner = module.get_submodule(str(node.target))
    assert isinstance(inner, fx.GraphModule)
    return inner


def _put_part(module: fx.GraphModule, name: str, settings: Settings, device: torch.device, title: str) -> Part:
    """Builds the engine of a part and puts it in the graph."""
    node = next(n for n in module.graph.nodes if n.name == name)
    inner = _submodule(module, node)
    placeholders = [n for n in inner.graph.nodes if n.op == "placeholder"]
    constants, rest = {}, []
    for placeholder, arg in zip(placeholders, node.args):
        tensor = _tensor_at(module, arg.target) if arg.op == "get_attr" else None
        if isinstance(tensor, torch.Tensor):
            constants[placeholder.name] = tensor
        else:
            rest.append(arg)
    part = Part(title, inner, constants, settings, device)
    node.args = tuple(rest)
    setattr(module, str(node.target), part)
    return part


def check_device(device: torch.device) -> None:
    """Raises where no engine of this process can run on a device."""
    if device.type not in ("cpu", "cuda"):
        raise Error(f"the graph is on {device}; engines run on the CPU and on CUDA devices")
    choose_device(str(device))


def divide(original: fx.GraphModule, settings: Settings, title: str) -> tuple[fx.GraphModule, Report]:
    """Returns a graph in which engines compute what they can, and what became of it."""
    device = _device_of(original.graph)
    report = Report()
    original = fx.GraphModule(original, _without_proved_assertions(_copy(original.graph)))
    original.graph.eliminate_dead_code()
    report.num_operators = sum(node.op == "call_function" and not is_number(node) for node in original.graph.nodes)
    if device is None:
        return original, report
    try:
        check_device(device)
    except Error as failure:
        if settings.strict:
            raise
        log.warning("%s stays in PyTorch: %s", title, failure)
        report.in_pytorch = {node.name: str(failure) for node in original.graph.nodes if _counts(node)}
        return original, report
    refused: dict[str, str] = {}
    for _ in range(_MOST_TRIES):
        module = fx.GraphModule(original, _copy(original.graph))
        reasons = _find_reasons(module, refused, device)
        _check_strict(reasons, settings)
        learned = _try(module, reasons, settings, device, title, report)
        if not learned:
            report.in_pytorch = reasons
            log.info("%s: %s", title, report)
            return module, report
        refused.update(learned)
        _check_strict(refused, settings)
    raise Error(f"{title} was divided {_MOST_TRIES} times, and each time an operator was refused")


def _copy(graph: fx.Graph) -> fx.Graph:
    copied = fx.Graph()
    output = copied.graph_copy(graph, val_map={}, return_output_node=True)
    value, old = output if isinstance(output, tuple) else (output, None)
    made = copied.output(value)
    if old is not None:
        made.meta = dict(old.meta)
    copied.set_codegen(graph._codegen)
    return copied


def _without_proved_assertions(graph: fx.Graph) -> fx.Graph:
    """Leaves out what asserts a tensor's type: tracing has proved it, and it would divide the graph."""
    for node in list(graph.nodes):
        if node.target is aten("_assert_tensor_metadata"):
            graph.erase_node(node)
    return graph


def _check_strict(reasons: dict[str, str], settings: Settings) -> None:
    if settings.strict and reasons:
        name, reason = next(iter(reasons.items()))
        raise Error(f"strict: {len(reasons)} operators have no converter; the first is {name}: {reason}")


def _try(module: fx.GraphModule, reasons: dict[str, str], settings: Settings, device: torch.device, title: str,
         report: Report) -> dict[str, str]:  # fmt: skip
    """Builds all parts. Returns what was refused meanwhile: then the graph has to be divided anew."""
    report.engines, report.num_in_engines = [], 0
    for i, name in enumerate(_divide(module, reasons, settings)):
        node = next(n for n in module.graph.nodes if n.name == name)
        inside = [n for n in _submodule(module, node).graph.nodes if n.op == "call_function"]
        try:
            part = _put_part(module, name, settings, device, f"{title}, part {i}")
        except Unsupported as reason:
            return {n.name: str(reason) for n in inside}
        except Error as failure:
            refused = _refused_by_parser(failure, {n.name for n in inside})
            if settings.strict:
                raise
            if not refused:
                log.warning("%s, part %d stays in PyTorch: %s", title, i, failure)
                refused = {n.name: "its part cannot be built" for n in inside if not is_number(n)}
            return refused
        report.engines.append(part)
        report.num_in_engines += sum(not is_number(n) for n in inside)
    module.graph.eliminate_dead_code()
    module.recompile()
    return {}


def _refused_by_parser(failure: Error, inside: set[str]) -> dict[str, str]:
    """The nodes that the parser refused, by the names that the converters gave."""
    refused = {}
    for node, text in failure.nodes:
        name = node.partition("/")[0]
        if name in inside:
            refused[name] = text
    return refused
