"""The backend 'kiln' of `torch.compile`."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from .._errors import Error, log
from . import _weights
from ._partition import Report, copy_graph, divide
from ._settings import Settings
from ._weights import without_written, written_nodes

_MOST_CHANGES_OF_BUFFERS = 2

# Operators with converters of their own, which PyTorch would take apart into many smaller ones.
_KEPT = (
    "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm", "gelu", "silu", "hardswish", "hardsigmoid",
    "leaky_relu", "elu", "celu", "softplus", "mish", "prelu", "_prelu_kernel", "_fused_rms_norm", "logsumexp",
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d",
    "upsample_trilinear3d", "upsample_bicubic2d", "grid_sampler_2d", "grid_sampler_3d", "reflection_pad1d",
    "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d",
    "log_sigmoid_forward", "_scaled_dot_product_flash_attention_for_cpu", "_adaptive_avg_pool2d", "pixel_shuffle", "addmm", "baddbmm",
    "hardtanh", "linalg_vector_norm", "var_mean.correction", "std.correction", "unbind.int", "stack", "roll", "tril",
    "triu", "rsub.Tensor", "rsub.Scalar", "masked_fill.Scalar", "masked_fill.Tensor", "native_batch_norm",
    "native_dropout", "index_select", "slice_scatter", "select_scatter", "split.Tensor", "split_with_sizes",
    "max_pool2d_with_indices", "floor_divide", "addcmul", "var.correction",
)  # fmt: skip

_reports: list[weakref.ref[Report]] = []  # the graphs own them, and with them the engines


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions into core operators, without those of operators that have converters."""
    from torch._decomp import core_aten_decompositions

    from ._emitter import aten

    table = dict(core_aten_decompositions().items())
    for name in _KEPT:
        table.pop(aten(name), None)
    lstm = aten("lstm.input")
    if lstm in table:
        table[lstm] = functools.partial(_lstm, table[lstm])
    table[aten("_transformer_encoder_layer_fwd")] = _encoder_layer
    table.pop(None, None)
    return table


def _lstm(decomposition: Callable[..., Any], *args: Any) -> tuple[torch.Tensor, ...]:
    """An LSTM taken apart by PyTorch, whose states then have an axis of one (layers, 1, batch, features) too many."""
    results, *states = decomposition(*args)
    return (results, *(state.squeeze(1) if state.dim() > args[1][0].dim() else state for state in states))


def _encoder_layer(
    x: torch.Tensor, width: int, heads: int, qkv_weight: torch.Tensor, qkv_bias: torch.Tensor, out_weight: torch.Tensor,
    out_bias: torch.Tensor, use_gelu: bool, norm_first: bool, eps: float, weight1: torch.Tensor, bias1: torch.Tensor,
    weight2: torch.Tensor, bias2: torch.Tensor, ffn_weight1: torch.Tensor, ffn_bias1: torch.Tensor,
    ffn_weight2: torch.Tensor, ffn_bias2: torch.Tensor, mask: torch.Tensor | None = None, mask_type: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """The whole of a `torch.nn.TransformerEncoderLayer`, which PyTorch has as one operator for inference."""
    from torch.nn import functional

    taken = None  # pairs that count; the operator's masks say which do not
    if mask is not None:
        taken = mask.to(torch.bool).logical_not()
        if mask_type == 1:  # of keys: (batch, keys)
            taken = taken[:, None, None, :]

    def attend(x: torch.Tensor) -> torch.Tensor:
        projected = functional.linear(x, qkv_weight, qkv_bias).unflatten(-1, (3, heads, width // heads))
        query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)
        attended = functional.scaled_dot_product_attention(query, key, value, taken)
        return functional.linear(attended.transpose(1, 2).flatten(2), out_weight, out_bias)

    def feed(x: torch.Tensor) -> torch.Tensor:
        inner = functional.linear(x, ffn_weight1, ffn_bias1)
        inner = functional.gelu(inner) if use_gelu else functional.relu(inner)
        return functional.linear(inner, ffn_weight2, ffn_bias2)

    def norm1(x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (width,), weight1, bias1, eps)

    def norm2(x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (width,), weight2, bias2, eps)

    if norm_first:
        x = x + attend(norm1(x))
        return x + feed(norm2(x))
    x = norm1(x + attend(x))
    return norm2(x + feed(x))


_warned: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        log.warning("%s", text)


def _wants_gradients(example_inputs: Sequence[Any], module: fx.GraphModule) -> bool:
    if not torch.is_grad_enabled():
        return False
    tensors = itertools.chain(example_inputs, module.parameters())
    return any(isinstance(t, torch.Tensor) and t.requires_grad for t in tensors)


def backend(
    module: fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, **more: Any
) -> Callable[..., Any]:
    """The backend 'kiln' of `torch.compile`. `options` are the fields of `kiln.torch.Settings`.

    A graph that needs gradients runs in PyTorch, which a warning says once: engines are for inference.
    """
    more.pop("mode", None)
    settings = Settings.of({**(options or {}), **more})
    if _wants_gradients(example_inputs, module):
        text = "a graph that needs gradients runs in PyTorch; call the module under torch.no_grad() to use engines"
        if settings.strict:
            raise Error(text)
        _warn_once(text)
        return module.forward
    from torch._functorch.aot_autograd import aot_module_simplified

    compiler = functools.partial(_compile_graph, given=list(example_inputs), settings=settings)
    return aot_module_simplified(
        module,
        example_inputs,
        fw_compiler=compiler,
        inference_compiler=compiler,
        decompositions=decompositions(),
        keep_inference_input_mutations=True,
    )


def _compile_graph(graph: fx.GraphModule, fakes: Sequence[Any], *, given: list[Any], settings: Settings) -> Any:
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    weights = _find_weights(graph, fakes, given)
    with unset_fake_temporarily():
        return _Compiled(graph, weights, settings)


def _find_weights(graph: fx.GraphModule, fakes: Sequence[Any], given: list[Any]) -> dict[int, torch.Tensor]:
    """Parameters and buffers among a graph's inputs, by place, but for those that it writes to."""
    if len(fakes) != len(given):
        return {}
    context = torch._guards.TracingContext.try_get()
    meta = context.fw_metadata if context is not None else None
    static = set(meta.static_input_indices or ()) if meta is not None else set()
    found = {}
    for place, tensor in enumerate(given):
        is_weight = isinstance(tensor, torch.nn.Parameter) or (place in static and isinstance(tensor, torch.Tensor))
        if is_weight and not isinstance(tensor, torch._subclasses.FakeTensor) and tensor.layout is torch.strided:
            found[place] = tensor
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    written = written_nodes(graph.graph)
    return without_written(found, [tensor for node, tensor in zip(placeholders, given) if node in written])


class _Engines:
    """A graph whose engines hold the weights of a call. What stays in PyTorch reads its weights from the graph's inputs."""

    def __init__(self, graph: fx.GraphModule, weights: dict[int, torch.Tensor], settings: Settings,
                 ended: Callable[[Any], None]):  # fmt: skip
        self._epoch = _weights.epoch
        copies = {place: _weights.Copied(tensor, ended) for place, tensor in weights.items()}
        for place, copied in copies.items():
            graph.register_buffer(_weight_name(place), copied.alias, persistent=False)
        try:
            self.module, self.report = divide(fx.GraphModule(graph, _frozen(graph, weights)), settings, "graph")
        finally:
            for place in copies:
                delattr(graph, _weight_name(place))
        _thaw(self.module, copies)
        self._copied = [(p, copied) for p, copied in copies.items() if _weight_name(p) in self.report.weights]
        self._differs = _weights.Copied.differs_from if settings.watch_weights else _weights.Copied.is_not

    def fit(self, args: list[Any]) -> bool:
        """Whether the weights of a call are those that the engines hold."""
        differs = self._differs
        for place, copied in self._copied:
            if differs(copied, args[place]):
                return False
        return self._epoch == _weights.epoch

    @property
    def are_dead(self) -> bool:
        """Whether a weight is gone, and no call can have it."""
        return any(copied.is_dead for _, copied in self._copied)

    def are_stale(self, args: list[Any]) -> bool:
        """Whether no later call can fit either: a weight of this call was written to, or one is gone."""
        written = (not copied.is_not(args[p]) and self._differs(copied, args[p]) for p, copied in self._copied)
        return self._epoch != _weights.epoch or self.are_dead or any(written)

    def changed(self, args: list[Any]) -> list[int]:
        """The places of weights that differ from a call's. Where all are others, the call is of another module: none."""
        places = [place for place, copied in self._copied if self._differs(copied, args[place])]
        others = sum(copied.is_not(args[place]) for place, copied in self._copied)
        return [] if others == len(self._copied) > 1 else places


class _Compiled:
    """A graph that AOTAutograd made, as a function of a list of its inputs.

    Modules of one class have one graph, such as the layers of a network that are compiled one by one: each has engines.
    """

    _boxed_call = True

    def __init__(self, graph: fx.GraphModule, weights: dict[int, torch.Tensor], settings: Settings):
        self._graph, self._settings = graph, settings
        self._places = list(weights)
        self._changes = dict.fromkeys(weights, 0)
        self._lock = threading.Lock()  # of builds
        # A dict, because weights end whenever the collector runs, in any thread, also beside an update: what is added and
        # taken away one by one needs no lock.
        self._known: dict[_Engines, None] = {}
        self._last: _Engines | None = self._build(weights)

    def _build(self, weights: dict[int, torch.Tensor]) -> _Engines:
        owner, engines = weakref.ref(self), None

        def ended(_: Any) -> None:
            self, made = owner(), engines and engines()
            if self is not None and made is not None:
                self._known.pop(made, None)
                if self._last is made:
                    self._last = None

        made = _Engines(self._graph, weights, self._settings, ended)
        engines = weakref.ref(made)
        self._known[made] = None
        _reports[:] = [known for known in _reports if known() is not None]
        _reports.append(weakref.ref(made.report))
        return made

    def __call__(self, args: list[Any]) -> Any:
        engines = self._last
        if engines is None or not engines.fit(args):
            engines = self._last = self._find(args) or self._renew(args)
        given = list(args)
        args.clear()
        return engines.module(*given)

    def _find(self, args: list[Any]) -> _Engines | None:
        return next((engines for engines in list(self._known) if engines.fit(args)), None)

    def _renew(self, args: list[Any]) -> _Engines:
        """Builds engines from the weights of a call, unless another thread has done so."""
        with self._lock:
            found = self._find(args)
            if found is not None:
                return found
            stale = [engines for engines in list(self._known) if engines.are_stale(args)]
            for place in {place for engines in stale for place in engines.changed(args)}:
                self._changes[place] += 1
            if stale:
                log.warning("weights of a compiled module have changed: its engines are built anew")
                for engines in stale:
                    self._known.pop(engines, None)
            else:
                log.info("a module has the graph of another one: it gets engines with its own weights")
            return self._build({place: args[place] for place in self._places if self._is_frozen(place, args[place])})

    def _is_frozen(self, place: int, tensor: torch.Tensor) -> bool:
        """Whether engines copy a weight. A buffer that changes again and again, as another graph's cache, is an input."""
        return isinstance(tensor, torch.nn.Parameter) or self._changes[place] < _MOST_CHANGES_OF_BUFFERS


def _weight_name(place: int) -> str:
    return f"kiln_weight_{place}"


def _frozen(module: fx.GraphModule, weights: Iterable[int]) -> fx.Graph:
    """A copy of a graph that reads weights from attributes; its inputs stay what they were."""
    graph = copy_graph(module.graph)
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    for place in weights:
        node = placeholders[place]
        if not node.users:
            continue
        with graph.inserting_after(placeholders[-1]):
            weight = graph.create_node("get_attr", _weight_name(place))
        weight.meta = dict(node.meta)
        node.replace_all_uses_with(weight)
    return graph


def _thaw(module: fx.GraphModule, weights: Iterable[int]) -> None:
    """Has what stays in PyTorch read weights from inputs again, as they are in each call."""
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    names = {_weight_name(place): placeholders[place] for place in weights}
    for node in list(module.graph.nodes):
        if node.op == "get_attr" and node.target in names:
            node.replace_all_uses_with(names[node.target])
            module.graph.erase_node(node)
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
    module.recompile()


def last_reports() -> list[Report]:
    """What became of the graphs that were compiled since the last call and are still there."""
    found = [report for report in (known() for known in _reports) if report is not None]
    _reports.clear()
    return found
