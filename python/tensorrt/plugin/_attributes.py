"""Attributes of quick plugins: the types that they may have, and the plugin fields that carry them."""

import typing

import numpy as np

from ._parent import trt
from ._tensors import TensorDesc  # noqa: F401  (annotations of attributes stand beside those of tensors)

_FIELD = trt.PluginFieldType
_SCALARS = {int: _FIELD.INT64, float: _FIELD.FLOAT64, bool: _FIELD.INT8, str: _FIELD.CHAR, bytes: _FIELD.UNKNOWN}
_ARRAYS = {
    np.dtype(np.int8): _FIELD.INT8,
    np.dtype(np.int16): _FIELD.INT16,
    np.dtype(np.int32): _FIELD.INT32,
    np.dtype(np.int64): _FIELD.INT64,
    np.dtype(np.float16): _FIELD.FLOAT16,
    np.dtype(np.float32): _FIELD.FLOAT32,
    np.dtype(np.float64): _FIELD.FLOAT64,
    np.dtype(np.bool_): _FIELD.INT8,
}
ALLOWED = "int, float, bool, str, bytes, or numpy.typing.NDArray of int8 to int64, float16 to float64 or bool"


def without_aliases(annotation):
    """The type that an annotation stands for: from numpy 2.5 on numpy.typing.NDArray is an alias (PEP 695)."""
    arguments = typing.get_args(annotation)
    alias = typing.get_origin(annotation) or annotation
    if not hasattr(alias, "__value__"):
        return annotation
    return without_aliases(alias.__value__[arguments] if arguments else alias.__value__)


def _dtype_of(annotation):
    """The dtype of numpy.typing.NDArray[dtype]."""
    arguments = typing.get_args(annotation)
    scalar = typing.get_args(arguments[1]) if len(arguments) > 1 else ()
    return np.dtype(scalar[0]) if scalar and isinstance(scalar[0], type) else None


class Attribute:
    """An attribute as a register function annotates it."""

    def __init__(self, name, annotation):
        """Raises ValueError for a type that no field carries."""
        annotation = without_aliases(annotation)
        self.name = name
        self.annotation = annotation
        self.is_array = annotation is np.ndarray or typing.get_origin(annotation) is np.ndarray
        self.dtype = _dtype_of(annotation) if self.is_array else None  # None: that of each value
        if annotation in _SCALARS or annotation is np.ndarray:
            return
        if not self.is_array or self.dtype not in _ARRAYS:
            raise ValueError(f"attribute '{name}' is annotated with {annotation}; an attribute is {ALLOWED}")

    @property
    def has_known_type(self):
        """Whether the type of its field is known before a value is."""
        return not self.is_array or self.dtype is not None

    def check(self, value):
        """Raises ValueError for a value of another type."""
        if not self.is_array:
            if type(value) is not self.annotation:
                raise ValueError(
                    f"attribute '{self.name}' is {self.annotation.__name__}, and was given {type(value).__name__}"
                )
        elif not isinstance(value, np.ndarray):
            raise ValueError(f"attribute '{self.name}' is a numpy array, and was given {type(value).__name__}")
        elif value.dtype not in _ARRAYS or self.dtype not in (None, value.dtype):
            raise ValueError(
                f"attribute '{self.name}' is an array of {self.dtype or 'a numeric type'}, and was given one of {value.dtype}"
            )

    def field_type(self, value=None):
        """The type of the field; of an array whose annotation names no dtype, that of a value."""
        if not self.is_array:
            return _SCALARS[self.annotation]
        return _ARRAYS[value.dtype if self.dtype is None else self.dtype]

    def to_field(self, value):
        """Returns a PluginField of a value."""
        if isinstance(value, str):
            data = value.encode()
        elif isinstance(value, (bytes, np.ndarray)):
            data = value
        else:
            data = np.array([value])
        return trt.PluginField(self.name, data, self.field_type(value))

    def name_field(self):
        """Returns a PluginField without a value, which tells name and type."""
        return trt.PluginField(self.name, b"", self.field_type())

    def from_field(self, field):
        """Returns the value of a field, which an ONNX model may give in another number type."""
        data = field.data
        if self.is_array:
            return data if self.dtype is None else data.astype(self.dtype)
        if self.annotation is str:
            return data.tobytes().removesuffix(b"\0").decode()  # that of an ONNX model ends with a zero
        if self.annotation is bytes:
            return data.tobytes()
        if data.size != 1:
            raise ValueError(f"attribute '{self.name}' is one {self.annotation.__name__}; its field has {data.size}")
        return self.annotation(data[0])
