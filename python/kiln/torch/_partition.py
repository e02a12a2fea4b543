"""Divides a graph into parts for engines and what stays in PyTorch."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .._device import choose_device
from .._errors import Error, counted, log
from ._emitter import Unsupported, aten, is_number, value_of, why_unsupported
from ._part import Part
from ._settings import Settings
from ._weights import memory_of, without_written, writes, written_nodes

_MOST_TRIES = 20
_MOST_TRIES_BY_NODE = 10  # then a part with an operator that is refused goes as a whole
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
        self.weights: set[str] = set()
        """Names of the module's parameters and buffers that engines hold."""

    def __str__(self) -> str:
        text = f"{self.num_in_engines} of {self.num_operators} operators in {counted(len(self.engines), 'engine')}"
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
    _keep_whole(module.graph, reasons)
    return reasons


def _keep_whole(graph: fx.Graph, reasons: dict[str, str]) -> None:
    """An operator of several results is in an engine with all of them that are used, or in PyTorch."""
    for node in graph.nodes:
        if node.target is operator.getitem and node.name in reasons and isinstance(node.args[0], fx.Node):
            for other in (node.args[0], *node.args[0].users):
                if other.target is operator.getitem or other is node.args[0]:
                    reasons.setdefault(other.name, reasons[node.name])


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
    small: dict[str, str] = {}
    for partition in partitioner.propose_partitions():
        nodes = list(partition.nodes)
        count = sum(map(_counts, nodes))
        if count >= settings.min_block_size:
            chosen.append(partition)
            continue
        reason = f"fewer than min_block_size={settings.min_block_size} operators"
        for node in nodes:
            if not is_number(node):
                reasons.setdefault(node.name, reason if count else "another view of memory, which is no work for an engine")
                if _counts(node):
                    small[node.name] = reason
    _check_strict(small, settings)
    before = {node.name for node in module.graph.nodes}
    partitioner.fuse_partitions(chosen, prefix="kiln_part_")
    return [n.name for n in module.graph.nodes if n.op == "call_module" and n.name not in before]


def _submodule(module: fx.GraphModule, node: fx.Node) -> fx.GraphModule:
    inner = module.get_submodule(str(node.target))
    assert isinstance(inner, fx.GraphModule)
    return inner


def _find_weights(graph: fx.Graph, module: fx.GraphModule) -> dict[str, torch.Tensor]:
    """The tensors of a module that engines may copy, by their names: those that the graph does not write to."""
    tensors = {}
    for node in graph.nodes:
        tensor = operator.attrgetter(node.target)(module) if node.op == "get_attr" else None
        if isinstance(tensor, torch.Tensor):
            tensors[node.target] = tensor
    written = [tensors[n.target] for n in written_nodes(graph) if n.op == "get_attr" and n.target in tensors]
    return without_written(tensors, written)


def _put_part(module: fx.GraphModule, name: str, settings: Settings, device: torch.device, title: str,
              weights: dict[str, torch.Tensor]) -> tuple[Part, set[str]]:  # fmt: skip
    """Builds the engine of a part and puts it in the graph. Returns the names of the weights that it holds, too."""
    node = next(n for n in module.graph.nodes if n.name == name)
    inner = _submodule(module, node)
    placeholders = [n for n in inner.graph.nodes if n.op == "placeholder"]
    constants, rest, held = {}, [], set()
    for placeholder, arg in zip(placeholders, node.args):
        placeholder.meta["kiln_name"] = arg.target if arg.op == "placeholder" else arg.name  # as the program calls it
        if arg.op == "get_attr" and arg.target in weights:
            constants[placeholder.name] = weights[arg.target]
            held.add(arg.target)
        else:
            rest.append(arg)
    part = Part(title, inner, constants, settings, device)
    node.args = tuple(rest)
    setattr(module, str(node.target), part)
    return part, held


def check_device(device: torch.device) -> None:
    """Raises where no engine of this process can run on a device."""
    if device.type not in ("cpu", "cuda"):
        raise Error(f"the graph is on {device}; engines run on the CPU and on CUDA devices")
    choose_device(str(device))


def divide(original: fx.GraphModule, settings: Settings, title: str) -> tuple[fx.GraphModule, Report]:
    """Returns a graph in which engines compute what they can, and what became of it."""
    device = _device_of(original.graph)
    report = Report()
    original = fx.GraphModule(original, _without_proved_assertions(copy_graph(original.graph)))
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
    weights = _find_weights(original.graph, original)
    refused: dict[str, str] = {}
    for count in range(_MOST_TRIES):
        module = fx.GraphModule(original, copy_graph(original.graph))
        reasons = _find_reasons(module, refused, device)
        _check_strict(reasons, settings)
        learned, inside = _try(module, reasons, settings, device, title, report, weights)
        if not learned:
            _write_last(module.graph, original.graph)
            module.recompile()
            report.in_pytorch = reasons
            log.info("%s: %s", title, report)
            return module, report
        if count >= _MOST_TRIES_BY_NODE or learned.keys() <= refused.keys():
            reason = next(iter(learned.values()))
            learned = {name: learned.get(name, reason) for name in inside}
        refused.update(learned)
        _check_strict(refused, settings)
    log.warning("%s stays in PyTorch: it was divided %d times, and each time an operator was refused", title, _MOST_TRIES)
    report.engines, report.num_in_engines, report.weights = [], 0, set()
    report.in_pytorch = {n.name: refused.get(n.name, "other operators were refused") for n in original.graph.nodes if _counts(n)}
    return original, report


def _write_last(graph: fx.Graph, original: fx.Graph) -> None:
    """Puts the operators that write to a graph's inputs and buffers where they were: behind all that reads these."""
    order = {node.name: i for i, node in enumerate(original.nodes)}
    output = next(node for node in graph.nodes if node.op == "output")
    last = [node for node in graph.nodes if writes(node) and node.name in order and node.users.keys() <= {output}]
    last.sort(key=lambda node: order[node.name])
    written = written_nodes(graph)
    for node in last:
        output.prepend(node)
    for node in last:
        # What is copied is the value from before the writes, of which one may be to the very memory that it lies in.
        if node.target is aten("copy_") and memory_of(node.args[1]) in written:
            with graph.inserting_before(last[0]):
                node.update_arg(1, graph.call_function(aten("clone"), (node.args[1],)))


def copy_graph(graph: fx.Graph) -> fx.Graph:
    """A copy with the same names."""
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
        raise Error(f"strict: {counted(len(reasons), 'operator')} would stay in PyTorch; the first is {name}: {reason}")


def _try(module: fx.GraphModule, reasons: dict[str, str], settings: Settings, device: torch.device, title: str,
         report: Report, weights: dict[str, torch.Tensor]) -> tuple[dict[str, str], list[str]]:  # fmt: skip
    """Builds all parts. Returns what was refused meanwhile, and its part: then the graph has to be divided anew."""
    report.engines, report.num_in_engines, report.weights = [], 0, set()
    parts = _divide(module, reasons, settings)
    for i, name in enumerate(parts):
        node = next(n for n in module.graph.nodes if n.name == name)
        inside = [n.name for n in _submodule(module, node).graph.nodes if n.op == "call_function" and not is_number(n)]
        named = title if len(parts) == 1 else f"{title}, part {i}"
        try:
            part, held = _put_part(module, name, settings, device, named, weights)
        except Unsupported as reason:
            alone = [name for name in inside if name == reason.node]
            return {name: str(reason) for name in alone or inside}, inside
        except Error as failure:
            refused = _refused_by_parser(failure, inside)
            if settings.strict:
                raise
            if not refused:
                log.warning("%s stays in PyTorch: %s", named, failure)
                refused = {name: "its part cannot be built" for name in inside}
            return refused, inside
        report.engines.append(part)
        report.num_in_engines += len(inside)
        report.weights |= held
    module.graph.eliminate_dead_code()
    return {}, []


def _refused_by_parser(failure: Error, inside: Iterable[str]) -> dict[str, str]:
    """The nodes that the parser refused, by the names that the converters gave."""
    refused = {}
    for node, text in failure.nodes:
        name = node.partition("/")[0]
        if name in inside:
            refused[name] = text
    return refused
