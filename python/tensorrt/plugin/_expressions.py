"""Symbolic integers: extents of tensors, and scalars of kernels, as expressions of the inputs' extents."""

from __future__ import annotations

import contextlib
import operator
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._parent import trt

if TYPE_CHECKING:
    from ._tensors import SizeTensorDesc

_current = threading.local()


@contextlib.contextmanager
def building(builder):
    """Makes `builder`, an IExprBuilder, the one that this thread's expressions are made with."""
    before = getattr(_current, "builder", None)
    _current.builder = builder
    try:
        yield
    finally:
        _current.builder = before


def _builder():
    return getattr(_current, "builder", None)


def _is_int(value):
    return hasattr(value, "__index__") and not isinstance(value, SymExpr)


class SymExpr:
    """Base of symbolic expressions."""


class SymIntExpr(SymExpr):
    """A symbolic integer.

    It is fake, and tells no value, where no shapes are computed: while the library asks for types alone.
    """

    __hash__ = None  # equality is an expression

    def __init__(self, value: int | trt.IDimensionExpr | SymIntExpr | None = None) -> None:
        """value: an int, an IDimensionExpr or another expression; None: a fake one."""
        self._dimension = None
        if isinstance(value, SymIntExpr):
            self._dimension = value._expr
        elif isinstance(value, trt.IDimensionExpr):
            self._dimension = value
        elif value is not None:
            if not _is_int(value):
                raise ValueError(f"a symbolic integer is made of an int or an expression, not {type(value).__name__}")
            if _builder() is not None:
                self._dimension = _builder().constant(operator.index(value))

    @property
    def _expr(self):
        return self._dimension

    @property
    def _is_fake(self):
        return self._expr is None

    def _op(self, op, other):
        if not isinstance(other, SymIntExpr) and not _is_int(other):
            return NotImplemented
        kind = type(self)
        other = other if isinstance(other, SymIntExpr) else kind(other)
        if self._is_fake or other._is_fake:
            return kind()
        return kind(_builder().operation(op, self._expr, other._expr))

    def _reflected(self, op, other):
        return type(self)(other)._op(op, self) if _is_int(other) else NotImplemented

    def __add__(self, other):
        return self._op(trt.DimensionOperation.SUM, other)

    def __radd__(self, other):
        return self._reflected(trt.DimensionOperation.SUM, other)

    def __sub__(self, other):
        return self._op(trt.DimensionOperation.SUB, other)

    def __rsub__(self, other):
        return self._reflected(trt.DimensionOperation.SUB, other)

    def __mul__(self, other):
        return self._op(trt.DimensionOperation.PROD, other)

    def __rmul__(self, other):
        return self._reflected(trt.DimensionOperation.PROD, other)

    def __floordiv__(self, other):
        return self._op(trt.DimensionOperation.FLOOR_DIV, other)

    def __rfloordiv__(self, other):
        return self._reflected(trt.DimensionOperation.FLOOR_DIV, other)

    def __eq__(self, other):
        return self._op(trt.DimensionOperation.EQUAL, other)

    def __lt__(self, other):
        return self._op(trt.DimensionOperation.LESS, other)

    def __bool__(self) -> bool:
        return self.constant_value() != 0

    @property
    def is_constant(self) -> bool:
        """bool: whether the value is known already. RuntimeError where the expression is fake."""
        if self._is_fake:
            raise RuntimeError(f"a fake {type(self).__name__} has no value: no shapes are computed now (see is_fake)")
        return self._expr.is_constant()

    def constant_value(self) -> int:
        """Returns the value. RuntimeError where is_constant is false, or the expression is fake."""
        if not self.is_constant:
            raise RuntimeError(f"the {type(self).__name__} has no value yet: it depends on extents of inputs")
        return self._expr.get_constant_value()

    def __repr__(self) -> str:
        if self._is_fake:
            return f"{type(self).__name__}[fake]"
        return f"{type(self).__name__}[{self.constant_value() if self.is_constant else '?'}]"


class _Argument(trt.ISymExpr):
    """A symbolic integer as the library takes a kernel's arguments."""

    def __init__(self, expr, dtype):
        super().__init__()
        self.type = trt.PluginArgType.INT
        self.dtype = dtype
        self.expr = expr


class SymInt32(SymIntExpr):
    """A symbolic integer that a kernel takes as 32 bits."""

    def __call__(self) -> trt.ISymExpr:
        """Returns the ISymExpr of it. RuntimeError where the expression is fake."""
        if self._is_fake:
            raise RuntimeError("a fake expression cannot be a kernel's argument")
        return _Argument(self._expr, trt.PluginArgDataType.INT32)


class SymInt16(SymIntExpr):
    """A symbolic integer of 16 bits."""


class SymInt8(SymIntExpr):
    """A symbolic integer of 8 bits."""


class ShapeExpr(SymInt32):
    """A symbolic extent of a tensor."""

    def __init__(self, value: int | trt.IDimensionExpr | ShapeExpr | SymIntExpr | None = None) -> None:
        """value: an int, an IDimensionExpr or another expression; None: a fake one."""
        super().__init__(value)

    @property
    def is_fake(self) -> bool:
        """bool: whether no shapes are computed now, so that is_constant and constant_value would raise."""
        return self._is_fake

    @property
    def is_size_tensor(self) -> bool:
        """bool: whether data decides the extent, and an output of the plugin tells it."""
        return False

    def _clone(self):
        return self  # nothing changes an expression


class SizeTensorShapeExpr(ShapeExpr):
    """The extent that a size tensor tells; SizeTensorDesc.expr returns it."""

    def __init__(self, size_tensor_desc: SizeTensorDesc) -> None:
        super().__init__()
        self._desc = size_tensor_desc

    @property
    def _is_fake(self):
        return self._desc.opt.is_fake

    @property
    def _expr(self):
        """The library is told of the size tensor where this is first used: when its output is known."""
        if self._dimension is None and not self._is_fake:
            if self._desc.index is None:
                raise ValueError("a size tensor is used that is no output of the plugin")
            self._dimension = _builder().declare_size_tensor(
                self._desc.index, self._desc.opt._expr, self._desc.upper_bound._expr
            )
        return self._dimension

    def _op(self, op, other):
        raise ValueError("an extent that a size tensor tells has no operations")

    _reflected = _op

    @property
    def is_size_tensor(self) -> bool:
        """bool: True."""
        return True

    @property
    def is_constant(self) -> bool:
        """bool: False. RuntimeError where the expression is fake."""
        if self._is_fake:
            raise RuntimeError("a fake SizeTensorShapeExpr has no value: no shapes are computed now (see is_fake)")
        return False

    def __repr__(self) -> str:
        return "SizeTensorShapeExpr[?]"


class SymExprs:
    """A list, of fixed length, of symbolic expressions."""

    _kind = SymInt32

    def __init__(self, length: int) -> None:
        self._exprs = [None] * length

    @classmethod
    def from_tuple(cls, shape_exprs: Iterable[SymExpr | int]) -> SymExprs:
        """Returns a list of expressions and ints."""
        exprs = [cls._element(one) for one in shape_exprs]
        made = cls(len(exprs))
        made._exprs = exprs
        return made

    @classmethod
    def _element(cls, value):
        if isinstance(value, SymExpr):
            return value
        if _is_int(value):
            return cls._kind(value)
        raise ValueError(f"an int or an expression is needed, not {type(value).__name__}")

    def __iter__(self):
        return iter(self._exprs)

    def __len__(self) -> int:
        return len(self._exprs)

    def __getitem__(self, index):
        return self._exprs[index]

    def __setitem__(self, index, expr):
        self._exprs[index] = self._element(expr)

    def __repr__(self) -> str:
        return f"{type(self).__name__}[{', '.join(map(repr, self._exprs))}]"


class SymIntExprs(SymExprs):
    """A list, of fixed length, of symbolic integers: the scalars of a kernel."""

    @classmethod
    def from_tuple(cls, shape_exprs: Iterable[SymIntExpr | int]) -> SymIntExprs:
        """Returns a list of symbolic integers and ints."""
        return super().from_tuple(shape_exprs)

    def __setitem__(self, index: int, value: SymIntExpr | int) -> None:
        super().__setitem__(index, value)

    @classmethod
    def _element(cls, value):
        if isinstance(value, SymExpr) and not isinstance(value, SymIntExpr):
            raise ValueError(f"an int or a symbolic integer is needed, not {type(value).__name__}")
        return super()._element(value)


class ShapeExprs(SymExprs):
    """A tensor's shape: a list of ShapeExpr."""

    _kind = ShapeExpr

    def __init__(self, length: int) -> None:
        if length > trt.Dims.MAX_DIMS:
            raise ValueError(f"a shape has at most {trt.Dims.MAX_DIMS} extents, not {length}")
        super().__init__(length)

    @classmethod
    def _element(cls, value):
        if isinstance(value, SymIntExpr) and not isinstance(value, ShapeExpr):
            value = ShapeExpr(value)
        return super()._element(value)

    @classmethod
    def from_tuple(cls, shape_exprs: Iterable[ShapeExpr | int]) -> ShapeExprs:
        """Returns a shape of symbolic extents and ints."""
        return super().from_tuple(shape_exprs)

    def __setitem__(self, index: int, value: ShapeExpr | int) -> None:
        super().__setitem__(index, value)

    @classmethod
    def fake(cls, rank: int) -> ShapeExprs:
        """Returns a shape of so many fake extents."""
        return cls.from_tuple(ShapeExpr() for _ in range(rank))

    def numel(self) -> ShapeExpr:
        """Returns the product of the extents, a ShapeExpr."""
        product = ShapeExpr(1)
        for extent in self._exprs:
            product = product * extent
        return product

    def _clone(self):
        return type(self).from_tuple(self._exprs)


def _binary(op, first, second):
    if _is_int(first):
        if _is_int(second):
            raise ValueError("one operand at least is a symbolic expression; both are ints")
        first = ShapeExpr(first)
    result = first._op(op, second)
    if result is NotImplemented:
        raise ValueError(f"an int or an expression is needed, not {type(second).__name__}")
    return result


def cdiv(first: int | ShapeExpr, second: int | ShapeExpr) -> ShapeExpr:
    """Returns `first / second`, rounded up, as an expression. ValueError where both are ints."""
    return _binary(trt.DimensionOperation.CEIL_DIV, first, second)


def max(first: int | ShapeExpr, second: int | ShapeExpr) -> ShapeExpr:
    """Returns the larger one as an expression. ValueError where both are ints."""
    return _binary(trt.DimensionOperation.MAX, first, second)


def min(first: int | ShapeExpr, second: int | ShapeExpr) -> ShapeExpr:
    """Returns the smaller one as an expression. ValueError where both are ints."""
    return _binary(trt.DimensionOperation.MIN, first, second)


class KernelLaunchParams:
    """How a kernel is launched: grid_x, grid_y, grid_z, block_x, block_y, block_z, and bytes of shared_mem.

    Each is an int, an IDimensionExpr or a symbolic integer, and is kept as a SymInt32.
    """

    _NAMES = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_mem")

    def __init__(
        self,
        grid_x: int | trt.IDimensionExpr | SymInt32 = 1,
        grid_y: int | trt.IDimensionExpr | SymInt32 = 1,
        grid_z: int | trt.IDimensionExpr | SymInt32 = 1,
        block_x: int | trt.IDimensionExpr | SymInt32 = 1,
        block_y: int | trt.IDimensionExpr | SymInt32 = 1,
        block_z: int | trt.IDimensionExpr | SymInt32 = 1,
        shared_mem: int | trt.IDimensionExpr | SymInt32 = 0,
    ) -> None:
        for name, value in zip(self._NAMES, (grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_mem)):
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name not in self._NAMES:
            raise AttributeError(f"KernelLaunchParams has no attribute '{name}'; it has {', '.join(self._NAMES)}")
        super().__setattr__(name, SymInt32(value))
