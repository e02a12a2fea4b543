"""What the module has in Python: context managers, the sizes and numpy types of DataType, small functions."""
import typing
import warnings

from . import tensorrt as _module

DataType = _module.DataType
_NUMPY_NAMES = {
    DataType.FLOAT: "float32",
    DataType.HALF: "float16",
    DataType.INT8: "int8",
    DataType.INT32: "int32",
    DataType.INT64: "int64",
    DataType.BOOL: "bool_",
    DataType.UINT8: "uint8",
}
_BITS = {
    DataType.FLOAT: 32,
    DataType.HALF: 16,
    DataType.BF16: 16,
    DataType.INT8: 8,
    DataType.INT32: 32,
    DataType.INT64: 64,
    DataType.BOOL: 8,
    DataType.UINT8: 8,
    DataType.FP8: 8,
    DataType.E8M0: 8,
    DataType.INT4: 4,
    DataType.FP4: 4,
}


class FallbackString(str):
    """A text; strings stand wherever the module takes one."""

    def __new__(cls, arg0: str):
        return super().__new__(cls, arg0)

    def __init__(self, arg0: str):
        pass


def volume(iterable):
    """Multiplies the extents of a shape: the number of its elements; 1 for a scalar's."""
    result = 1
    for extent in iterable:
        result *= extent
    return result


def nptype(trt_type):
    """The numpy type of a DataType. Raises TypeError for types that numpy lacks (BF16, FP8, INT4, FP4, E8M0)."""
    import numpy

    if trt_type not in _NUMPY_NAMES:
        raise TypeError(f"numpy has no type like {trt_type}")
    return getattr(numpy, _NUMPY_NAMES[trt_type])


def _itemsize(self) -> float:
    """The size of an element in bytes: a fraction where it has fewer than 8 bits."""
    bits = _BITS[self]
    return bits // 8 if bits % 8 == 0 else bits / 8


def _enter(self) -> typing.Self:
    """Warns that context managers are deprecated; gives the object itself."""
    warnings.warn(
        "context managers of tensorrt's objects are deprecated; an object goes when nothing refers to it any more",
        DeprecationWarning,
        stacklevel=2,
    )
    return self


def _exit(self, exc_type: object, exc_value: object, traceback: object) -> None:
    """Does nothing: the object goes when nothing refers to it any more."""


def _add():
    DataType.itemsize = property(_itemsize)
    for name in (
        "ILogger ICudaEngine IExecutionContext Runtime IHostMemory Builder INetworkDefinition OnnxParser IBuilderConfig"
    ).split():
        cls = getattr(_module, name, None)
        if cls is not None:
            cls.__enter__ = _enter
            cls.__exit__ = _exit
    # The severities are reached through Logger, too.
    _module.Logger.Severity = _module.ILogger.Severity
    for name, value in _module.ILogger.Severity.__members__.items():
        setattr(_module.Logger, name, value)
    # By this attribute programs (Polygraphy among them) know an enum of the module.
    for kind in [*vars(_module).values(), _module.ILogger.Severity]:
        if isinstance(kind, type) and hasattr(kind, "__members__"):
            setattr(kind, "__entries", {name: (member, member.__doc__) for name, member in kind.__members__.items()})


_add()
