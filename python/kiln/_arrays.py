"""Arrays of programs: numpy's, PyTorch's and whatever speaks DLPack or an array interface. Nothing is copied here."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import weakref
from typing import Any

import numpy as np

HOST = -1
"""The device of memory that the host reads; others are the ordinals of GPUs."""


class View:
    """An array's memory. `keep` holds what has to live as long as the memory is used; `producer` is the handle of a
    stream whose work writes the memory, where a run has to wait for it."""

    __slots__ = ("contiguous", "device", "dtype", "keep", "pointer", "producer", "shape", "strides", "writable")

    def __init__(self, pointer: int, shape: tuple, dtype: str, device: int, contiguous: bool, keep: Any):
        self.pointer, self.shape, self.dtype, self.device = pointer, shape, dtype, device
        self.contiguous, self.keep, self.writable = contiguous, keep, True
        self.strides: tuple | None = None
        self.producer: int | None = None


@functools.cache
def numpy_dtype(name: str) -> np.dtype:
    """numpy's type of that name; of ml_dtypes for those that numpy lacks."""
    try:
        return np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError):
            raise TypeError(
                f"numpy has no type {name}; install ml_dtypes, or give and take torch tensors"
            ) from None


def where_is(device: int) -> str:
    """Words for a device."""
    return "the host" if device == HOST else f"cuda:{device}"


class NumpyFamily:
    """numpy's arrays."""

    name = "numpy"

    @staticmethod
    @functools.lru_cache(maxsize=256)
    def _dtype_name(dtype: np.dtype) -> str:
        if not dtype.isnative:
            raise TypeError(f"is of numpy's {dtype}, the byte order of another machine; use .astype({dtype.name!r})")
        return dtype.name

    def view(self, array: np.ndarray) -> View:
        flags = array.flags
        if not flags.aligned:
            raise ValueError("is not aligned in memory: use numpy.require(x, requirements='A')")
        seen = View(
            array.__array_interface__["data"][0],
            array.shape,
            self._dtype_name(array.dtype),
            HOST,
            flags.c_contiguous,
            array,
        )
        seen.writable = flags.writeable
        if not seen.contiguous:
            seen.strides = tuple(stride // array.itemsize for stride in array.strides)
        return seen

    def empty(self, shape: tuple, dtype: str, device: int) -> np.ndarray:
        return np.empty(shape, numpy_dtype(dtype))

    def from_bytes(self, memory: Any, size: int, shape: tuple, dtype: str) -> np.ndarray:
        return memory[:size].view(numpy_dtype(dtype)).reshape(shape)

    def empty_bytes(self, size: int, device: int) -> np.ndarray:
        return np.empty(size, np.uint8)

    def stream(self, device: int) -> int | None:
        return None

    def pointer(self, array: np.ndarray) -> int:
        return array.__array_interface__["data"][0]

    def finish(self, array: np.ndarray, like: Any) -> Any:
        return array


class TorchFamily:
    """PyTorch's tensors. Work goes to PyTorch's current stream."""

    name = "torch"

    def __init__(self) -> None:
        torch = sys.modules["torch"]
        self._torch = torch
        names = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64", "bool",
                 "float8_e4m3fn")  # fmt: skip
        self._names = {getattr(torch, name): name for name in names if hasattr(torch, name)}
        self._dtypes = {name: dtype for dtype, name in self._names.items()}
        self._count_modes = getattr(torch._C, "_len_torch_dispatch_stack", int)

    def _is_tracing(self) -> bool:
        """Whether PyTorch records what is done with tensors, by `torch.jit.trace` or `make_fx`."""
        torch = self._torch
        if self._count_modes() and torch.fx.experimental.proxy_tensor.get_proxy_mode() is not None:
            return True
        return torch.jit.is_tracing()

    def view(self, tensor: Any) -> View:
        torch = self._torch
        if tensor.layout is not torch.strided:
            raise TypeError(f"has the layout {tensor.layout}; a dense tensor is needed: use .to_dense()")
        if tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                "requires a gradient, and an engine computes none: call it under torch.no_grad(), or give x.detach()"
            )
        name = self._names.get(tensor.dtype)
        if name is None:
            raise TypeError(f"is of {tensor.dtype}, which engines do not have")
        if tensor.is_neg():  # its memory has the numbers of the other sign
            raise ValueError("is a negated view: use .resolve_neg()")
        kind = tensor.device.type
        if kind == "cuda":
            device = tensor.device.index
        elif kind == "cpu":
            device = HOST
        else:
            raise TypeError(f"is on device {tensor.device}; the host and CUDA devices are known")
        if self._is_tracing():
            raise TypeError("is of a trace, which would keep this call's results as constants: call engines outside of traces")
        try:
            pointer, shape, num_bytes = tensor.data_ptr(), tuple(tensor.shape), tensor.untyped_storage().nbytes()
        except RuntimeError as failure:
            raise TypeError(f"has no memory that an engine can read: {failure}") from None
        if tensor.numel() > 0:
            if num_bytes == 0:
                raise ValueError("has no memory any more: its storage was freed")
            if pointer == 0:
                raise TypeError(f"has no memory: it is a {type(tensor).__name__} that stands for another one")
        seen = View(pointer, shape, name, device, tensor.is_contiguous(), tensor)
        if not seen.contiguous:
            seen.strides = tensor.stride()
        return seen

    def _where(self, device: int) -> Any:
        return "cpu" if device == HOST else self._torch.device("cuda", device)

    def empty(self, shape: tuple, dtype: str, device: int) -> Any:
        if dtype not in self._dtypes:
            raise TypeError(f"this PyTorch has no type {dtype}")
        return self._torch.empty(shape, dtype=self._dtypes[dtype], device=self._where(device))

    def empty_bytes(self, size: int, device: int) -> Any:
        return self._torch.empty(size, dtype=self._torch.uint8, device=self._where(device))

    def from_bytes(self, memory: Any, size: int, shape: tuple, dtype: str) -> Any:
        return memory[:size].view(self._dtypes[dtype]).view(shape)

    def stream(self, device: int) -> int | None:
        return self._torch.cuda.current_stream(device).cuda_stream

    def on_stream(self, handle: int, device: int) -> contextlib.AbstractContextManager:
        """Makes a stream the current one: what is allocated meanwhile is used, and used again, in its order."""
        cuda = self._torch.cuda
        if handle == self.stream(device):
            return contextlib.nullcontext()
        if handle == 0:  # ExternalStream(0) is a stream of PyTorch's pool
            return cuda.stream(cuda.default_stream(device))
        return cuda.stream(cuda.ExternalStream(handle, device=self._torch.device("cuda", device)))

    def pointer(self, tensor: Any) -> int:
        return tensor.data_ptr()

    def finish(self, tensor: Any, like: Any) -> Any:
        return tensor


class _DLDevice(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLVersionedTensor(ctypes.Structure):
    """What a capsule of DLPack 1 holds."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_DLPACK_VERSION = (1, 0)
_DLPACK_READ_ONLY = 1  # of the flags
_DLPACK_TYPES = {
    (0, 8): "int8",
    (0, 16): "int16",
    (0, 32): "int32",
    (0, 64): "int64",
    (1, 8): "uint8",
    (2, 16): "float16",
    (2, 32): "float32",
    (2, 64): "float64",
    (4, 16): "bfloat16",
    (6, 8): "bool",
    (10, 8): "float8_e4m3fn",
}
_DLPACK_HOST = (1, 3)  # plain and pinned memory
_DLPACK_CUDA = (2, 13)  # device and managed memory
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_capsule = ctypes.pythonapi.PyCapsule_IsValid
_is_capsule.restype = ctypes.c_int
_is_capsule.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _is_contiguous(shape: tuple, strides: tuple | None) -> bool:
    if strides is None or 0 in shape:
        return True
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _device_told(array: Any) -> tuple[int, int]:
    """DLPack's kind and number of an array's device."""
    told = array.__dlpack_device__()
    try:
        kind, ordinal = told
        return int(kind), int(ordinal)
    except (TypeError, ValueError):
        raise TypeError(f"answered {told!r} to __dlpack_device__; two numbers are needed") from None


def _export(array: Any, **arguments: Any) -> Any:
    """An array's capsule: of DLPack 1, which says whether the memory is read-only, or of an earlier one."""
    try:
        return array.__dlpack__(max_version=_DLPACK_VERSION, **arguments)
    except TypeError:  # does not know the argument
        return array.__dlpack__(**arguments)


def _read_capsule(capsule: Any) -> tuple[_DLTensor, bool]:
    """The tensor that a capsule holds, and whether it may be written to."""
    if _is_capsule(capsule, b"dltensor_versioned"):
        held = _DLVersionedTensor.from_address(_pointer_of(capsule, b"dltensor_versioned"))
        if held.major != _DLPACK_VERSION[0]:
            raise TypeError(f"has a capsule of DLPack {held.major}.{held.minor}, of which another version was asked for")
        return held.tensor, not held.flags & _DLPACK_READ_ONLY
    if _is_capsule(capsule, b"dltensor"):
        return _DLTensor.from_address(_pointer_of(capsule, b"dltensor")), True
    raise TypeError(f"answered {capsule!r} to __dlpack__; a capsule 'dltensor' is needed")


class _OtherFamily:
    """What families without a name of their own share: results are of the arrays' own library where it takes them."""

    def empty(self, shape: tuple, dtype: str, device: int) -> Any:
        if device == HOST:
            return np.empty(shape, numpy_dtype(dtype))
        cupy = sys.modules.get("cupy")
        if cupy is None:
            raise TypeError("results on a GPU are made by PyTorch or CuPy: import one of them, or give out=")
        with cupy.cuda.Device(device):
            return cupy.empty(shape, dtype)

    def empty_bytes(self, size: int, device: int) -> Any:
        return self.empty((size,), "uint8", device)

    def from_bytes(self, memory: Any, size: int, shape: tuple, dtype: str) -> Any:
        return memory[:size].view(numpy_dtype(dtype)).reshape(shape)

    def stream(self, device: int) -> int | None:
        cupy = sys.modules.get("cupy")
        return cupy.cuda.get_current_stream().ptr if cupy is not None else None

    def on_stream(self, handle: int, device: int) -> contextlib.AbstractContextManager:
        cupy = sys.modules.get("cupy")
        if cupy is None or handle == self.stream(device):
            return contextlib.nullcontext()
        return cupy.cuda.ExternalStream(handle, device)

    def pointer(self, array: Any) -> int:
        if isinstance(array, np.ndarray):
            return array.__array_interface__["data"][0]
        return array.data.ptr  # CuPy's

    def finish(self, array: Any, like: Any) -> Any:
        """`array` as one of the library of `like`, which shares its memory; itself where that cannot be."""
        if isinstance(array, type(like)):
            return array
        namespace = getattr(like, "__array_namespace__", None)
        if namespace is None:
            return array
        try:
            return namespace().from_dlpack(array)
        except (AttributeError, TypeError, BufferError, RuntimeError, ValueError):
            return array


class DlpackFamily(_OtherFamily):
    """Arrays of libraries with `__dlpack__`."""

    name = "dlpack"

    def view(self, array: Any) -> View:
        kind, ordinal = _device_told(array)
        if kind in _DLPACK_HOST:
            device, capsule = HOST, _export(array)
        elif kind in _DLPACK_CUDA:
            device = int(ordinal)
            # 1 is the legacy default stream: the producer's work is ordered before what follows on it.
            capsule = _export(array, stream=self.stream(device) or 1)
        else:
            raise TypeError(f"is on a device of DLPack's kind {kind}; the host and CUDA devices are known")
        tensor, is_writable = _read_capsule(capsule)
        dtype = _DLPACK_TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
        if dtype is None:
            raise TypeError(f"has DLPack's type ({tensor.code}, {tensor.bits}, {tensor.lanes}), which engines do not have")
        shape = tuple(tensor.shape[: tensor.rank])
        strides = tuple(tensor.strides[: tensor.rank]) if tensor.strides else None
        pointer = (tensor.data or 0) + tensor.byte_offset
        seen = View(pointer, shape, dtype, device, _is_contiguous(shape, strides), (array, capsule))
        seen.strides, seen.writable = strides, is_writable
        return seen


class InterfaceFamily(_OtherFamily):
    """Arrays with `__cuda_array_interface__`."""

    name = "array interface"

    def view(self, array: Any) -> View:
        facts = array.__cuda_array_interface__
        try:
            dtype, (pointer, read_only) = np.dtype(facts["typestr"]), facts["data"]
            shape, strides = tuple(facts["shape"]), facts.get("strides")
        except (KeyError, TypeError, ValueError, AttributeError) as failure:
            raise TypeError(f"has a __cuda_array_interface__ that is none: {failure!r}") from None
        if strides is not None:
            strides = tuple(stride // dtype.itemsize for stride in strides)
        device = getattr(getattr(array, "device", None), "id", 0)
        seen = View(pointer, shape, dtype.name, device, _is_contiguous(shape, strides), array)
        seen.writable, seen.strides, seen.producer = not read_only, strides, facts.get("stream")
        return seen


class BufferFamily(NumpyFamily):
    """Objects with `__array_interface__` or Python's buffer protocol."""

    name = "buffer"

    def view(self, array: Any) -> View:
        return super().view(np.asarray(array))


_families: dict[type, Any] = {np.ndarray: NumpyFamily()}
_families_of_programs: weakref.WeakKeyDictionary[type, Any] = weakref.WeakKeyDictionary()  # types may come and go


def _find_family(array: Any) -> Any:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("is a masked array, and engines know no masks: use .filled()")
    if isinstance(array, np.ndarray):
        return _families[np.ndarray]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        known = [family for family in _families.values() if isinstance(family, TorchFamily)]
        return known[0] if known else TorchFamily()
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return DlpackFamily()
    if hasattr(array, "__cuda_array_interface__"):
        return InterfaceFamily()
    if isinstance(array, np.generic) or hasattr(array, "__array_interface__"):
        return BufferFamily()
    if not isinstance(array, (str, list, tuple)):
        try:
            memoryview(array)
            return BufferFamily()
        except TypeError:
            pass
    raise TypeError(
        f"is a {type(array).__name__}; an array of numpy or torch, or one with DLPack or an array interface, is needed"
    )


def family_of(array: Any) -> Any:
    """The family of an array's type. Raises TypeError, without the array's name, for what is no array."""
    kind = type(array)
    family = _families.get(kind) or _families_of_programs.get(kind)
    if family is None:
        family = _find_family(array)
        # PyTorch's own type is asked for in each call; it stays, as numpy's.
        (_families if isinstance(family, TorchFamily) else _families_of_programs)[kind] = family
    return family
