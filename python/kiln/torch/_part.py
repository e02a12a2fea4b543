"""A part of a graph as an engine: writes it as ONNX, builds it, and runs it in the graph's place."""

from __future__ import annotations

import copy
import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from torch import fx

from .. import _compile
from .._engine import Engine
from .._errors import ShapeError, log
from .._shapes import Range
from .._tensors import Outputs
from ._emitter import Emitter, Unsupported, expression, is_number, is_symbolic, value_of
from ._layout import Layout, layout_of
from ._settings import Settings


@dataclasses.dataclass
class Number:
    """A result that is no tensor: an expression over symbols, and Python's type of it."""

    expr: Any
    type: type

    def evaluate(self, symbols: dict[sympy.Symbol, int]) -> Any:
        """Its value, where symbols have these."""
        return self.type(self.expr.subs(symbols))


@dataclasses.dataclass
class Model:
    """A part as ONNX, and how its inputs and outputs are made."""

    source: Any
    inputs: list[tuple[int, str, tuple[sympy.Expr, ...]]]
    """Tensors: the argument's place, the input's name, and the extents."""
    numbers: list[tuple[int, str, sympy.Symbol]]
    """Numbers that are inputs: the argument's place, the input's name, and the symbol."""
    outputs: list[Layout | Number | None]
    """Of a tensor of the engine its layout, None for dense rows; of a number how it is computed."""
    is_list: bool


def _host_tensor(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    tensor = tensor if tensor.device.type == "cpu" else tensor.cpu()
    return tensor.resolve_neg().contiguous()


def write_onnx(module: fx.GraphModule, constants: dict[str, torch.Tensor]) -> Model:
    """Writes a part as ONNX. `constants` has the tensors of those placeholders that are weights."""
    emitter = Emitter()
    inputs: list[tuple[int, str, tuple[sympy.Expr, ...]]] = []
    numbers: list[tuple[int, fx.Node]] = []
    place = 0
    for node in module.graph.nodes:
        if node.op == "placeholder" and node.name in constants:
            emitter.set(node, _write_weight(emitter, node.name, constants[node.name]))
        elif node.op == "placeholder":
            if is_symbolic(node):
                numbers.append((place, node))
            else:
                inputs.append((place, *_write_input(emitter, node)))
            place += 1
    _solve_symbols(emitter, inputs)
    made = _write_numbers(emitter, numbers)
    outputs: list[Layout | Number | None] = []
    is_list = False
    for node in module.graph.nodes:
        if node.op == "call_function" and not is_number(node):
            emitter.convert(node)
        elif node.op == "output":
            results = node.args[0]
            is_list = isinstance(results, (tuple, list))
            for result in results if is_list else [results]:
                outputs.append(_write_output(emitter, result))
    source = _compile._OnnxBytes(emitter.graph.serialize(), "torch", emitter.graph.weights)
    source.keep = emitter.graph.keep
    source.numbers = frozenset(name for _, name, _ in made)
    return Model(source, inputs, made, outputs, is_list)


def _name_of(node: fx.Node) -> str:
    return node.meta.get("kiln_name", node.name)


def _write_weight(emitter: Emitter, name: str, tensor: torch.Tensor) -> str:
    host = _host_tensor(tensor)
    dtype, size = emitter.dtype(host), host.numel() * host.element_size()
    return emitter.graph.weight(emitter.graph.free_name(name), dtype, tuple(host.shape), host.data_ptr(), size, host)


def _write_input(emitter: Emitter, node: fx.Node) -> tuple[str, tuple[sympy.Expr, ...]]:
    exprs = tuple(expression(extent) for extent in emitter.shape(node))
    dims = [int(e) if e.is_Integer else str(e) if e.is_Symbol else None for e in exprs]
    name = emitter.graph.input(emitter.graph.free_name(_name_of(node)), emitter.dtype(node), dims)
    emitter.set(node, name)
    for axis, expr in enumerate(exprs):
        if expr.is_Symbol and not emitter.knows_symbol(expr):
            emitter.graph.scope = node.name
            emitter.know_symbol(expr, emitter.op("Shape", name, start=axis, end=axis + 1))
    return name, exprs


def _solve_symbols(emitter: Emitter, inputs: list[tuple[int, str, tuple[sympy.Expr, ...]]]) -> None:
    """Finds symbols that no input has as an extent, but in an extent like 2 * s + 1."""
    for _, name, exprs in inputs:
        for axis, expr in enumerate(exprs):
            unknown = [s for s in expr.free_symbols if not emitter.knows_symbol(s)]
            if len(unknown) != 1 or len(expr.free_symbols) != 1:
                continue
            line = sympy.Poly(expr, unknown[0]) if expr.is_polynomial(unknown[0]) else None
            if line is None or line.degree() != 1 or not all(c.is_Integer for c in line.all_coeffs()):
                continue
            slope, start = (int(c) for c in line.all_coeffs())
            extent = emitter.op("Shape", name, start=axis, end=axis + 1)
            apart = emitter.op("Sub", extent, emitter.ints([start]))
            emitter.know_symbol(unknown[0], emitter.op("Div", apart, emitter.ints([slope])))


def _write_numbers(emitter: Emitter, numbers: list[tuple[int, fx.Node]]) -> list[tuple[int, str, sympy.Symbol]]:
    """Inputs for symbols that no tensor's extents tell."""
    made: list[tuple[int, str, sympy.Symbol]] = []
    for place, node in numbers:
        symbol = expression(node)
        if symbol.is_Symbol and isinstance(value_of(node), torch.SymInt) and not emitter.knows_symbol(symbol):
            name = emitter.graph.input(emitter.graph.free_name(_name_of(node)), "int64", [1])
            emitter.know_symbol(symbol, name)
            made.append((place, name, symbol))
    return made


def _write_output(emitter: Emitter, result: Any) -> Layout | Number | None:
    if result is None or not isinstance(result, fx.Node):
        raise Unsupported(f"a result {result!r}")
    if is_symbolic(result):
        types = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
        return Number(expression(result), types[type(value_of(result))])
    value = emitter.tensor(result)
    exprs = [expression(extent) for extent in emitter.shape(result)]
    layout = layout_of(value_of(result))
    emitter.graph.scope = result.name
    if layout is not None and layout.order != tuple(range(len(exprs))):
        value = emitter.op("Transpose", value, perm=layout.order)
        exprs = [exprs[axis] for axis in layout.order]
    dims = [int(e) if e.is_Integer else None for e in exprs]
    emitter.graph.output(emitter.graph.free_name(result.name), value, emitter.dtype(result), dims)
    return layout


class Bounds:
    """The least, usual and largest value of each symbol."""

    def __init__(self, module: fx.GraphModule, factor: int):
        self._values: dict[sympy.Symbol, list[int]] = {}
        for node in module.graph.nodes:
            if node.op != "placeholder":
                continue
            val = value_of(node)
            for extent in val.shape if isinstance(val, torch.Tensor) else [val]:
                if isinstance(extent, torch.SymInt):
                    self._add(extent, factor)

    def copy(self) -> Bounds:
        """Bounds that are the same, and no longer when these are widened."""
        made = copy.copy(self)
        made._values = dict(self._values)
        return made

    def _add(self, extent: torch.SymInt, factor: int) -> None:
        env: Any = extent.node.shape_env
        for symbol in extent.node.expr.free_symbols:
            if symbol in self._values:
                continue
            limits = env.var_to_range.get(symbol)
            low = _finite(limits.lower, 0) if limits is not None else 0
            high = _finite(limits.upper, None) if limits is not None else None
            # PyTorch says 2 where it means 1 or more.
            low = 1 if low <= 2 else low
            usual = _hint(env, symbol)
            usual = max(low, 8) if usual is None else usual
            low = min(low, usual)
            if high is None or high > 1 << 30:
                high = max(usual * factor, low + factor)
            self._values[symbol] = [low, min(max(usual, low), high), high]

    def evaluate(self, expr: sympy.Expr) -> tuple[int, int, int]:
        """The least, usual and largest value of an expression that rises with its symbols."""
        results = []
        for i in range(3):
            value = expr.subs({symbol: self._values[symbol][i] for symbol in expr.free_symbols})
            results.append(int(value))
        low, usual, high = results
        return min(results), min(max(usual, min(results)), max(low, high)), max(results)

    def widen(self, seen: dict[sympy.Symbol, int], factor: int) -> bool:
        """Makes room for values that came. Says whether there was not room before."""
        before = dict(self._values)
        for symbol, value in seen.items():
            low, usual, high = self._values[symbol]
            if not low <= value <= high:
                self._values[symbol] = [min(low, value), usual, max(high, value * factor if value > high else high)]
        return self._values != before


def _finite(value: Any, otherwise: Any) -> Any:
    value = sympy.sympify(value)
    return int(value) if value.is_Integer else otherwise


def _hint(env: Any, symbol: sympy.Symbol) -> int | None:
    newer = getattr(env, "backed_var_to_val", None)
    known = env.var_to_val if newer is None else newer  # which newer versions of PyTorch warn of
    return _finite(known[symbol], None) if symbol in known else None


class Part(torch.nn.Module):
    """Stands for a part of a graph and computes it by an engine."""

    def __init__(self, name: str, module: fx.GraphModule, constants: dict[str, torch.Tensor], settings: Settings,
                 device: torch.device):  # fmt: skip
        super().__init__()
        self.name = name
        self._settings = settings
        self._device = device
        self._model = write_onnx(module, constants)
        self._bounds = Bounds(module, settings.max_extent_factor)
        self._seen: dict[str, Range] = {}
        """Of inputs whose extents left the bounds that their symbols give: the shapes that are to have room, too."""
        self._lock = threading.Lock()  # of what makes room
        self.num_builds = 0
        self.engine: Engine = self._build()
        self._host_numbers = {tensor.name for tensor in self.engine.inputs if tensor.on_host}
        self._is_plain = not self._model.numbers and all(output is None for output in self._model.outputs)
        self._needs_symbols = any(
            not output.is_dense and not output.is_fixed if isinstance(output, Layout) else output is not None
            for output in self._model.outputs
        )
        self._like = torch.empty(0, device="cpu")  # results are tensors, also where no input is one

    def _build(self) -> Engine:
        settings = self._settings
        shapes, values = {}, {}
        for _, name, exprs in self._model.inputs:
            if any(not expr.is_Integer for expr in exprs):
                shapes[name] = self._range(name, exprs)
        for _, name, symbol in self._model.numbers:
            values[name] = Range(*((value,) for value in self._bounds.evaluate(symbol)))
        tf32 = settings.tf32
        if tf32 is None:
            tf32 = torch.get_float32_matmul_precision() != "highest"
        self.num_builds += 1
        return _compile.compile(
            self._model.source,
            shapes=shapes or None,
            values=values or None,
            precision=settings.precision,
            tf32=tf32,
            device=str(self._device),
            optimization_level=settings.optimization_level,
            workspace=settings.workspace,
            timing_cache=settings.timing_cache,
            progress=settings.progress,
            configure=settings.configure,
            name=self.name,
        )

    def _range(self, name: str, exprs: tuple[sympy.Expr, ...]) -> Range:
        """The shapes that an input may have."""
        parts = [self._bounds.evaluate(expr) for expr in exprs]
        least, usual, most = (tuple(part[i] for part in parts) for i in range(3))
        seen = self._seen.get(name)
        if seen is not None:
            least, most = tuple(map(min, least, seen.min)), tuple(map(max, most, seen.max))
        return Range(least, usual, most)

    def _make_room(self, args: tuple) -> bool:
        """Makes room for the shapes and values of a call. Says whether there was not room before."""
        factor = self._settings.max_extent_factor
        grew = self._bounds.widen(self._symbols(args), factor)
        for place, name, exprs in self._model.inputs:
            shape, limits = tuple(args[place].shape), self._range(name, exprs)
            # An extent such as a - b, or n % 4, may be outside of what it is for the least and largest symbols.
            if not limits.holds(shape):
                most = (n if n <= high else n * factor for n, high in zip(shape, limits.max))
                self._seen[name] = Range(tuple(map(min, shape, limits.min)), shape, tuple(map(max, most, limits.max)))
                grew = True
        return grew

    def _renew(self, tried: Engine, args: tuple) -> bool:
        """Builds an engine that takes a call which `tried` refused, unless another thread has built one since then.

        Says whether the call is to be tried again.
        """
        with self._lock:
            if self.engine is not tried:
                return True
            before = self._bounds.copy(), dict(self._seen)
            if not self._make_room(args):
                return False
            log.info("%s is built anew for shapes %s", self.name,
                     [tuple(args[place].shape) for place, _, _ in self._model.inputs])  # fmt: skip
            try:
                self.engine = self._build()
            except BaseException:
                self._bounds, self._seen = before  # what is not built has no room
                raise
            return True

    def forward(self, *args: Any) -> Any:
        model = self._model
        given: list[Any] = [args[place].resolve_neg().contiguous() for place, _, _ in model.inputs]
        given += [self._number(name, int(args[place])) for place, name, _ in model.numbers]
        results = None
        while results is None:
            engine = self.engine
            try:
                results = engine._run(given, self._like)
            except ShapeError:
                if not self._renew(engine, args):
                    raise
        tensors: Sequence[Any] = results if isinstance(results, Outputs) else (results,)
        if not model.inputs and self._device.type != "cpu":  # without inputs a run does not know where results belong
            tensors = tuple(tensor.to(self._device) for tensor in tensors)
        if not self._is_plain:
            tensors = self._with_numbers(tensors, args)
        return tuple(tensors) if model.is_list else tensors[0]

    def _number(self, name: str, value: int) -> Any:
        """A number as an input: on the host where it decides shapes, else where the engine runs."""
        if name in self._host_numbers:
            return [value]
        return torch.full((1,), value, dtype=torch.int64, device=self._device)

    def _symbols(self, args: tuple) -> dict[sympy.Symbol, int]:
        """The values that symbols have in a call."""
        found: dict[sympy.Symbol, int] = {}
        for place, _, exprs in self._model.inputs:
            for extent, expr in zip(args[place].shape, exprs):
                _learn(found, expr, int(extent))
        for place, _, symbol in self._model.numbers:
            found[symbol] = int(args[place])
        return found

    def _with_numbers(self, results: Sequence[torch.Tensor], args: tuple) -> list[Any]:
        """All outputs: the engine's tensors as they have to lie in memory, and numbers between them."""
        tensors = iter(results)
        whole: list[Any] = []
        symbols = self._symbols(args) if self._needs_symbols else {}
        for output in self._model.outputs:
            if output is None:
                whole.append(next(tensors))
            elif isinstance(output, Layout):
                whole.append(output.place(next(tensors), symbols))
            else:
                whole.append(output.evaluate(symbols))
        return whole


def _learn(found: dict[sympy.Symbol, int], expr: sympy.Expr, value: int) -> None:
    if expr.is_Symbol:
        found.setdefault(expr, value)
        return
    unknown = [s for s in expr.free_symbols if s not in found]
    if len(unknown) == 1 and expr.is_polynomial(unknown[0]):
        line = sympy.Poly(expr.subs(found), unknown[0])
        if line.degree() == 1:
            slope, start = line.all_coeffs()
            found[unknown[0]] = int((value - start) / slope)
