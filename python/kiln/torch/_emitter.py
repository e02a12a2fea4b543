"""From a graph of ATen operators to ONNX: what converters of single operators share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch import fx

from ._onnx_graph import OnnxGraph

NAMES = {
    torch.float32: "float32",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int8: "int8",
    torch.uint8: "uint8",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.bool: "bool",
}
FLOATS = ("float32", "float16", "bfloat16")
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)

converters: dict[Any, Callable[..., Any]] = {}
"""By ATen operator: a function of an Emitter and the operator's arguments, which returns the name of the result."""


class Unsupported(Exception):
    """An operator, or a use of it, that has no converter. It stays in PyTorch."""

    node: str | None = None
    """The operator's node, where it is known."""


def converter(*targets: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a converter for operators. None, an operator that this PyTorch lacks, is skipped."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for target in targets:
            if target is not None:
                converters[target] = function
        return function

    return register


def aten(name: str) -> Any:
    """The operator `aten.<name>`, such as 'add.Tensor'; None where this PyTorch has none."""
    packet, _, overload = name.partition(".")
    found = getattr(torch.ops.aten, packet, None)
    return getattr(found, overload or "default", None) if found is not None else None


def value_of(node: Any) -> Any:
    """What tracing knows of a node's result: a fake tensor, a symbolic number, or a tuple of such."""
    return node.meta.get("val") if isinstance(node, fx.Node) else node


def is_symbolic(arg: Any) -> bool:
    """Whether an argument is a number that a run decides."""
    return isinstance(value_of(arg), _SYMBOLIC)


def expression(extent: Any) -> sympy.Expr:
    """The expression of an extent: a number, a symbolic number, or a node of one."""
    extent = value_of(extent)
    return extent.node.expr if isinstance(extent, _SYMBOLIC) else sympy.sympify(extent)


def full_arguments(node: fx.Node) -> list[Any]:
    """All arguments of a node's operator, in the order of its schema, defaults filled in."""
    found: list[Any] = []
    target: Any = node.target
    for i, argument in enumerate(target._schema.arguments):
        if i < len(node.args):
            found.append(node.args[i])
        elif argument.name in node.kwargs:
            found.append(node.kwargs[argument.name])
        elif argument.has_default_value():
            found.append(argument.default_value)
        else:
            raise Unsupported(f"{node.target}: argument {argument.name} is missing")
    return found


class Emitter:
    """Writes nodes of ONNX for nodes of a graph."""

    def __init__(self) -> None:
        self.graph = OnnxGraph()
        self.op = self.graph.op
        self.ints = self.graph.ints
        self.node: fx.Node
        """The node that is being converted."""
        self._names: dict[fx.Node, Any] = {}
        self._dims: dict[sympy.Symbol, str] = {}
        self._expressions: dict[sympy.Expr, str] = {}
        self.assumes_symbols = False
        """Whether any symbol counts as known, for a trial."""

    # Values.

    def set(self, node: fx.Node, name: Any) -> None:
        self._names[node] = name

    def get(self, node: fx.Node) -> Any:
        """The name of a node's result, or the names."""
        if node not in self._names:
            raise Unsupported(f"{node.name} has no value")
        return self._names[node]

    @staticmethod
    def dtype(arg: Any) -> str:
        """The element type of a tensor or of a number."""
        val = value_of(arg)
        if isinstance(val, torch.Tensor):
            name = NAMES.get(val.dtype)
            if name is None:
                raise Unsupported(f"tensors of {val.dtype}")
            return name
        if isinstance(val, (bool, torch.SymBool)):
            return "bool"
        return "int64" if isinstance(val, (int, torch.SymInt)) else "float32"

    @staticmethod
    def shape(arg: Any) -> tuple:
        """The extents: numbers, some of them symbolic."""
        return tuple(value_of(arg).shape)

    def rank(self, arg: Any) -> int:
        return len(self.shape(arg))

    def fixed_shape(self, arg: Any) -> tuple[int, ...]:
        """The extents where all are numbers."""
        shape = self.shape(arg)
        if not all(isinstance(extent, int) for extent in shape):
            raise Unsupported(f"a shape that a run decides: {shape}")
        return shape

    def axis(self, axis: int, rank: int) -> int:
        return axis + rank if axis < 0 else axis

    @property
    def out_dtype(self) -> str:
        """The element type of the node's (first) result."""
        val = value_of(self.node)
        return self.dtype(val[0] if isinstance(val, (tuple, list)) else val)

    def tensor(self, arg: Any, dtype: str | None = None) -> str:
        """A tensor, or a number as a tensor without axes, in the given element type."""
        if isinstance(arg, fx.Node) and not is_symbolic(arg):
            name = self.get(arg)
            if not isinstance(name, str):
                raise Unsupported(f"{arg.name} is a list")
            return name if dtype in (None, self.dtype(arg)) else self.cast(name, dtype)
        dtype = dtype or self.dtype(arg)
        if is_symbolic(arg):
            if isinstance(value_of(arg), torch.SymBool):
                raise Unsupported("a condition on extents")
            number = self.op("Reshape", self.extent(expression(arg)), self.ints([]))
            return number if dtype == "int64" else self.cast(number, dtype)
        if isinstance(arg, (bool, int, float)):
            if dtype not in FLOATS and isinstance(arg, float) and not arg.is_integer():
                raise Unsupported(f"{arg} as {dtype}")
            return self.graph.constant(arg if dtype in FLOATS or dtype == "bool" else int(arg), dtype)
        raise Unsupported(f"an argument {arg!r}")

    def cast(self, name: str, dtype: str) -> str:
        from ._onnx_graph import DTYPES

        return self.op("Cast", name, to=DTYPES[dtype])

    # Extents.

    def know_symbol(self, symbol: sympy.Symbol, name: str) -> None:
        """Says which list of one int64 has a symbol's value."""
        self._dims.setdefault(symbol, name)

    def knows_symbol(self, symbol: sympy.Symbol) -> bool:
        return symbol in self._dims

    def extent(self, expr: sympy.Expr) -> str:
        """A list of one int64: the value of an expression over symbols."""
        name = self._expressions.get(expr)
        if name is None:
            name = self._expressions[expr] = self._make_extent(expr)
        return name

    def _make_extent(self, expr: sympy.Expr) -> str:
        if expr.is_Integer:
            return self.ints([int(expr)])
        if expr.is_Symbol:
            if expr in self._dims:
                return self._dims[expr]
            if self.assumes_symbols:
                return self.ints([1])
            raise Unsupported(f"the number {expr}, which no input of the part has")
        parts = expr.args
        kind = type(expr).__name__
        if kind == "Pow":
            base, power = parts
            if not (power.is_Integer and 1 <= int(power) <= 8):
                raise Unsupported(f"the extent {expr}")
            return self._fold("Mul", [base] * int(power))
        if kind == "FloorDiv" and not all(part.is_nonnegative for part in parts):
            return self._floor_div(*parts)
        binary = {"FloorDiv": "Div", "CleanDiv": "Div", "Mod": "Mod", "PythonMod": "Mod"}
        if kind in ("Add", "Mul", "Max", "Min"):
            return self._fold("Mul" if kind == "Mul" else kind, parts)
        if kind in binary:
            return self._fold(binary[kind], parts)
        raise Unsupported(f"the extent {expr}")

    def _floor_div(self, numerator: sympy.Expr, divisor: sympy.Expr) -> str:
        """Python's quotient. ONNX's Div rounds towards zero; its Mod is Python's."""
        a, b = self.extent(numerator), self.extent(divisor)
        return self.op("Div", self.op("Sub", a, self.op("Mod", a, b)), b)

    def _fold(self, kind: str, parts: Sequence[sympy.Expr]) -> str:
        result = self.extent(parts[0])
        for part in parts[1:]:
            result = self.op(kind, result, self.extent(part))
        return result

    def extents(self, values: Sequence[Any]) -> str:
        """A list of int64 with an element for each number."""
        exprs = [expression(value) for value in values]
        if all(expr.is_Integer for expr in exprs):
            return self.ints([int(expr) for expr in exprs])
        parts: list[str] = []
        numbers: list[int] = []
        for expr in exprs:
            if expr.is_Integer:
                numbers.append(int(expr))
                continue
            if numbers:
                parts.append(self.ints(numbers))
                numbers = []
            parts.append(self.extent(expr))
        if numbers:
            parts.append(self.ints(numbers))
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def reshape(self, name: str, shape: Sequence[Any]) -> str:
        # A zero in the shape means an empty axis, not "as before".
        empty = any(expression(extent).is_Integer and int(expression(extent)) == 0 for extent in shape)
        return self.op("Reshape", name, self.extents(shape), allowzero=1 if empty else None)

    # Conversion.

    def convert(self, node: fx.Node) -> None:
        """Writes the nodes for a node."""
        try:
            self._convert(node)
        except Unsupported as reason:
            reason.node = node.name
            raise

    def _convert(self, node: fx.Node) -> None:
        self.node = node
        self.graph.scope = node.name
        if node.target is operator.getitem:
            source, index = node.args
            parts = self.get(source) if isinstance(source, fx.Node) else ""
            if isinstance(parts, str) or parts[index] is None:
                raise Unsupported(f"output {index} of {source}")
            self.set(node, parts[index])
            return
        function = converters.get(node.target)
        if function is None:
            raise Unsupported(str(node.target))
        self.set(node, function(self, *full_arguments(node)))


def is_number(node: fx.Node) -> bool:
    """Whether a node computes a number out of extents, which needs no operator of its own."""
    return node.op == "call_function" and is_symbolic(node)


def why_unsupported(node: fx.Node) -> str | None:
    """Why a node has to stay in PyTorch; None where it converts. Tries it, apart from its neighbours."""
    trial = Emitter()
    trial.assumes_symbols = True
    try:
        if node.target is operator.getitem:
            source = node.args[0]
            if not isinstance(source, fx.Node):
                return "an item of a list"
            reason = why_unsupported(source)
            if reason is not None:
                return reason
            _feed(trial, source)
            trial.convert(source)
        else:
            _feed(trial, node)
        trial.convert(node)
        return None
    except Unsupported as reason:
        return str(reason)


def _feed(trial: Emitter, node: fx.Node) -> None:
    """Names for all that a node reads."""
    for source in node.all_input_nodes:
        val = value_of(source)
        if isinstance(val, torch.Tensor):
            trial.dtype(val)
            if val.layout is not torch.strided:
                raise Unsupported(f"the layout {val.layout}")
            trial.set(source, source.name)
        elif isinstance(val, (tuple, list)):
            trial.set(source, [f"{source.name}_{i}" for i in range(len(val))])
    val = value_of(node)
    first = val[0] if isinstance(val, (tuple, list)) else val
    if isinstance(first, torch.Tensor):
        trial.dtype(first)
