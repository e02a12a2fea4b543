"""Quick plugins: layers that a few decorated functions define.

register describes a plugin's outputs, impl runs it in Python, aot_impl gives a kernel that runs without, autotune
names what it can be tuned over. INetworkDefinition.add_plugin(op.namespace.name(tensors..., attributes...)) adds it.
"""

from ._autotune import AutoTuneCombination
from ._decorators import aot_impl, autotune, impl, op, register
from ._expressions import (
    KernelLaunchParams,
    ShapeExpr,
    ShapeExprs,
    SizeTensorShapeExpr,
    SymExprs,
    SymInt8,
    SymInt16,
    SymInt32,
    SymIntExprs,
    cdiv,
    max,
    min,
)
from ._tensors import Shape, SizeTensorDesc, Tensor, TensorDesc, from_shape_expr, size_tensor

__all__ = [
    "AutoTuneCombination",
    "KernelLaunchParams",
    "Shape",
    "ShapeExpr",
    "ShapeExprs",
    "SizeTensorDesc",
    "SizeTensorShapeExpr",
    "SymExprs",
    "SymInt16",
    "SymInt32",
    "SymInt8",
    "SymIntExprs",
    "Tensor",
    "TensorDesc",
    "aot_impl",
    "autotune",
    "cdiv",
    "from_shape_expr",
    "impl",
    "max",
    "min",
    "op",
    "register",
    "size_tensor",
]
