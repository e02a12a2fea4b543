"""Tensors of quick plugins: descriptions while a network is built, and memory while it runs."""

from __future__ import annotations

import math

import numpy as np

from ._expressions import ShapeExpr, ShapeExprs, SizeTensorShapeExpr
from ._parent import trt


class Shape:
    """A tensor's shape as numbers; -1 stands for an extent that is not known."""

    def __init__(
        self, tensor_desc: tuple[int, ...] | trt.DynamicPluginTensorDesc | trt.PluginTensorDesc | None = None
    ) -> None:
        """tensor_desc: a tuple, a PluginTensorDesc or a DynamicPluginTensorDesc, which has bounds, too."""
        self._bounds = None
        if tensor_desc is None:
            self._extents = []
        elif isinstance(tensor_desc, trt.DynamicPluginTensorDesc):
            self._extents = list(tensor_desc.desc.dims)
            self._bounds = tensor_desc
        elif isinstance(tensor_desc, trt.PluginTensorDesc):
            self._extents = list(tensor_desc.dims)
        elif isinstance(tensor_desc, tuple):
            self._extents = list(trt.Dims(tensor_desc))
        else:
            raise ValueError(
                "a Shape is made of a tuple, a PluginTensorDesc or a DynamicPluginTensorDesc, "
                f"not {type(tensor_desc).__name__}"
            )

    def numel(self) -> int:
        """Returns the number of elements. ValueError where is_dynamic is true."""
        if self.is_dynamic:
            raise ValueError(f"{self} has an extent that is not known")
        return math.prod(self._extents)

    def __iter__(self):
        return iter(self._extents)

    def __len__(self) -> int:
        return len(self._extents)

    def __getitem__(self, index):
        return self._extents[index]

    def __setitem__(self, index: int, val: int) -> None:
        self._extents[index] = int(val)

    def __str__(self) -> str:
        return f"Shape{tuple(self._extents)}"

    __repr__ = __str__

    @property
    def is_dynamic(self) -> bool:
        """bool: whether an extent is not known."""
        return -1 in self._extents

    def _bound(self, name):
        if not self.is_dynamic:
            raise ValueError(f"{self} has no '{name}': all its extents are known")
        if self._bounds is None:
            raise AttributeError(f"{self} has no '{name}': only shapes that autotune functions get have bounds")
        return tuple(getattr(self._bounds, name))

    @property
    def opt(self) -> tuple[int, ...]:
        """tuple of int: the extents to tune for. ValueError where all extents are known."""
        return self._bound("opt")

    @property
    def min(self) -> tuple[int, ...]:
        """tuple of int: the least extents. ValueError where all extents are known."""
        return self._bound("min")

    @property
    def max(self) -> tuple[int, ...]:
        """tuple of int: the most extents. ValueError where all extents are known."""
        return self._bound("max")

    def _clone(self):
        copy = Shape()
        copy._extents, copy._bounds = list(self._extents), self._bounds
        return copy


class _Freezable:
    """What can be made read-only."""

    _is_frozen = False

    def _freeze(self):
        object.__setattr__(self, "_is_frozen", True)
        return self

    def _thaw(self):
        object.__setattr__(self, "_is_frozen", False)
        return self

    def __setattr__(self, name, value):
        if self._is_frozen:
            raise ValueError(f"this {type(self).__name__} cannot be changed")
        super().__setattr__(name, value)


def _member(name, kind, doc):
    """A property for the attribute `name`, of the type that `kind` names."""

    def read(self):
        return getattr(self, name)

    def write(self, value):
        setattr(self, name, value)

    read.__annotations__["return"] = kind
    return property(read, write, doc=doc)


class TensorDesc(_Freezable):
    """What is known of a plugin's input or output while a network is built. It has no data.

    An input's cannot be changed; like() returns one that can.
    """

    def __init__(
        self,
        shape_expr: ShapeExprs | tuple[ShapeExpr | int, ...] | None = None,
        dtype: trt.DataType | None = None,
        format: trt.TensorFormat | None = None,
        scale: float | None = None,
    ) -> None:
        """shape_expr: ShapeExprs, or a tuple of ints and ShapeExprs; dtype: DataType; format: TensorFormat."""
        self._shape_expr = ShapeExprs.from_tuple(shape_expr) if isinstance(shape_expr, (tuple, list)) else shape_expr
        self._dtype = dtype
        self._shape = None
        self._format = format
        self._scale = scale
        self._aliased_to = None

    def _copy(self):
        copy = TensorDesc()
        copy.__dict__.update(self.__dict__)
        copy._thaw()
        copy._aliased_to = None
        if self.shape_expr is not None:
            copy.shape_expr = self.shape_expr._clone()
        if self._shape is not None:
            copy._shape = self._shape._clone()
        return copy

    def like(self) -> TensorDesc:
        """Returns a TensorDesc of the same shape and type, which can be changed."""
        return self._copy()

    def aliased(self) -> TensorDesc:
        """Returns a TensorDesc of the same shape and type, for an output that is this input's memory."""
        copy = self._copy()
        copy._aliased_to = self
        return copy._freeze()

    def get_aliased(self) -> TensorDesc | None:
        """Returns the TensorDesc whose memory it is, or None."""
        return self._aliased_to

    @property
    def is_aliased(self) -> bool:
        """bool: whether it is the memory of another tensor."""
        return self._aliased_to is not None

    @property
    def ndim(self) -> int:
        """int: number of extents."""
        return len(self.shape_expr)

    @property
    def is_size_tensor(self) -> bool:
        """bool: whether it is a SizeTensorDesc."""
        return False

    @property
    def has_shape_expr(self) -> bool:
        """bool: whether shape_expr is there."""
        return self.shape_expr is not None

    @property
    def has_shape(self) -> bool:
        """bool: whether shape, format and scale are known, as they are in autotune and aot_impl functions."""
        return self._shape is not None

    def _known(self, value):
        if not self.has_shape:
            raise ValueError("the TensorDesc has symbolic extents only (shape_expr); has_shape tells where it has more")
        return value

    shape_expr = _member("_shape_expr", "ShapeExprs", "ShapeExprs: the symbolic extents.")
    dtype = _member("_dtype", "trt.DataType", "DataType: type of the elements.")

    @property
    def shape(self) -> Shape:
        """Shape: the extents as numbers. ValueError where has_shape is false."""
        return self._known(self._shape)

    @shape.setter
    def shape(self, value):
        self._shape = value

    @property
    def format(self) -> trt.TensorFormat:
        """TensorFormat: how the tensor lies in memory. ValueError where has_shape is false."""
        return self._known(self._format)

    @format.setter
    def format(self, value):
        self._format = value

    @property
    def scale(self) -> float:
        """float: scale of INT8 data. ValueError where has_shape is false."""
        return self._known(self._scale)

    @scale.setter
    def scale(self, value):
        self._scale = value

    @property
    def is_dynamic(self) -> bool:
        """bool: whether an extent of shape is not known. ValueError where has_shape is false."""
        return self.shape.is_dynamic

    def numel(self) -> int:
        """Returns the number of elements of shape; of symbolic extents, shape_expr.numel() does."""
        return self.shape.numel()


class SizeTensorDesc(TensorDesc):
    """An output, a scalar of INT32 or INT64, that tells an extent which data decides; size_tensor() makes it."""

    def __init__(self, opt: ShapeExpr, upper_bound: ShapeExpr) -> None:
        """opt: ShapeExpr of a usual extent, which tuning takes; upper_bound: of the most that it can be."""
        super().__init__(ShapeExprs(0), trt.int32)
        self._opt = opt if isinstance(opt, ShapeExpr) else ShapeExpr(opt)
        self._upper_bound = upper_bound if isinstance(upper_bound, ShapeExpr) else ShapeExpr(upper_bound)
        self._index = None
        self._size = SizeTensorShapeExpr(self)

    @property
    def is_size_tensor(self) -> bool:
        """bool: True."""
        return True

    @property
    def opt(self) -> ShapeExpr:
        """ShapeExpr: a usual extent, which tuning takes."""
        return self._opt

    @property
    def upper_bound(self) -> ShapeExpr:
        """ShapeExpr: the most that the extent can be."""
        return self._upper_bound

    @property
    def index(self) -> int | None:
        """int: which output of the plugin it is; None before that is known."""
        return self._index

    def _set_index(self, index):
        self._index = index

    def expr(self) -> SizeTensorShapeExpr:
        """Returns the extent that it tells, for the shapes of other outputs."""
        return self._size


def size_tensor(opt: ShapeExpr, upper_bound: ShapeExpr) -> SizeTensorDesc:
    """Returns a SizeTensorDesc: an output that tells an extent which data decides, at most `upper_bound`."""
    return SizeTensorDesc(opt, upper_bound)


def from_shape_expr(shape_expr: tuple[ShapeExpr | int, ...] | ShapeExprs, dtype: trt.DataType) -> TensorDesc:
    """Returns a TensorDesc of this shape (ShapeExprs, or a tuple of ints and ShapeExpr) and DataType."""
    if isinstance(shape_expr, ShapeExprs):
        shape_expr = shape_expr._clone()
    elif not isinstance(shape_expr, (tuple, list)):
        raise ValueError(f"shape_expr is a tuple or ShapeExprs, not {type(shape_expr).__name__}")
    return TensorDesc(shape_expr, dtype)


class Tensor(_Freezable):
    """A plugin's input or output while it runs: memory, and how it lies there. It cannot be changed.

    Device memory is for torch.as_tensor and others that know __cuda_array_interface__; where the CPU runs the network,
    numpy.asarray and torch.from_dlpack give arrays of the same memory.
    """

    def __init__(self) -> None:
        self._data_ptr = None
        self._dtype = None
        self._shape = None
        self._format = None
        self._scale = None
        self._strides = None
        self._aliased_to = None
        self._stream = None

    @property
    def ndim(self) -> int:
        """int: number of extents."""
        return len(self.shape)

    data_ptr = _member("_data_ptr", "int", "int: address of the memory.")
    dtype = _member("_dtype", "trt.DataType", "DataType: type of the elements.")
    shape = _member("_shape", "Shape", "Shape: the extents; -1 where data decides one.")
    format = _member("_format", "trt.TensorFormat", "TensorFormat: how the tensor lies in memory.")
    scale = _member("_scale", "float", "float: scale of INT8 data.")
    strides = _member("_strides", "tuple[int, ...]", "tuple of int: steps of the extents, in elements.")

    @property
    def is_data_dependent(self) -> bool:
        """bool: whether data decides an extent, so that the plugin has to tell it."""
        return self.shape.is_dynamic

    def numel(self) -> int:
        """Returns the number of elements. ValueError where data decides it."""
        if self.is_data_dependent:
            raise ValueError(f"data decides how many elements the tensor of {self.shape} has")
        return self.shape.numel()

    @property
    def is_aliased(self) -> bool:
        """bool: whether it is the memory of another tensor."""
        return self._aliased_to is not None

    def get_aliased(self) -> Tensor | None:
        """Returns the Tensor whose memory it is, or None."""
        return self._aliased_to

    def aliased(self, shape: Shape | tuple[int, ...] | trt.PluginTensorDesc | None = None) -> Tensor:
        """Returns a Tensor of the same memory and another shape: a Shape, a tuple or a PluginTensorDesc.

        ValueError where that has more elements than this one, as far as both are known.
        """
        copy = Tensor()
        copy.__dict__.update(self.__dict__)
        copy._thaw()
        copy._aliased_to = self
        if shape is None:
            return copy
        copy.shape = shape if isinstance(shape, Shape) else Shape(shape if not isinstance(shape, list) else tuple(shape))
        if not self.is_data_dependent and not copy.is_data_dependent and copy.numel() > self.numel():
            raise ValueError(f"{copy.shape} has more elements than {self.shape}, whose memory it is to be")
        strides, count = [], 1
        for extent in reversed(copy.shape):
            strides.append(count)
            count *= extent
        copy.strides = tuple(reversed(strides))
        return copy

    def _interface(self):
        if self.is_data_dependent:
            raise ValueError(
                f"data decides an extent of {self.shape}: aliased(shape) has the memory with the extents that it gets"
            )
        dtype = np.dtype(trt.nptype(self.dtype))
        return {
            "version": 3,
            "shape": tuple(self.shape),
            "typestr": dtype.str,
            "data": (self.data_ptr, False),
            "strides": tuple(stride * dtype.itemsize for stride in self.strides),
        }

    @property
    def __cuda_array_interface__(self):
        if trt.tensorrt._is_host_memory(self.data_ptr):
            raise AttributeError("the tensor is in host memory: numpy.asarray or torch.from_dlpack take it")
        return {**self._interface(), "stream": self._stream or 1}  # the protocol's 1 is the default stream

    @property
    def __array_interface__(self):
        if not trt.tensorrt._is_host_memory(self.data_ptr):
            raise AttributeError("the tensor is in device memory: torch.as_tensor(tensor, device='cuda') takes it")
        return self._interface()

    def __array__(self, dtype=None, copy=None):
        """What numpy calls where there is no __array_interface__; else it would make an array of one object."""
        raise TypeError("the tensor is in device memory: torch.as_tensor(tensor, device='cuda') takes it")

    def __dlpack__(self, **options):
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self):
        return np.asarray(self).__dlpack_device__()
