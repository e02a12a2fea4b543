"""numpy's arrays in pinned memory, which a GPU reads and writes at the host's addresses.

Tests of the module `tensorrt` bind the addresses of arrays. KILN_TEST_ARRAYS=pinned makes that right on a GPU as well, where
addresses have to be the device's. Other tests copy, or have tensors of PyTorch's.
"""

import ctypes
import os

import numpy as np

_VERSION_OF_HANDLER = 1
_SET_HANDLER = 304  # of numpy's table of functions, as numpy/__multiarray_api.h tells
_CHUNK = 4 << 20  # bytes that are asked of the driver at least
_LEAST = 256  # bytes of a block, and their alignment

_malloc_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_calloc_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_realloc_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_free_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_pending_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class _Handler(ctypes.Structure):
    """PyDataMem_Handler of numpy."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", _malloc_type),
        ("calloc", _calloc_type),
        ("realloc", _realloc_type),
        ("free", _free_type),
    ]


class _Pool:
    """Blocks of pinned memory by size, a power of two. What the driver gave stays until the process ends.

    Free lists take the place of a lock: a block may be given back between any two steps of a call.
    """

    def __init__(self):
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._context = ctypes.c_void_p()
        device = ctypes.c_int()
        self._call("cuInit", ctypes.c_uint(0))
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._free = {}
        self._sizes = {}  # of all blocks, by address

    def _call(self, name, *arguments):
        result = getattr(self._driver, name)(*arguments)
        if result != 0:
            raise MemoryError(f"{name}: error {result}")

    def _pinned(self, size):
        memory = ctypes.c_void_p()
        self._call("cuCtxPushCurrent_v2", self._context)
        try:
            self._call("cuMemHostAlloc", ctypes.byref(memory), ctypes.c_size_t(size), ctypes.c_uint(0))
        finally:
            self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        return memory.value

    def allocate(self, size):
        size = max(_LEAST, 1 << (size - 1).bit_length()) if size else _LEAST
        blocks = self._free.setdefault(size, [])
        try:
            return blocks.pop()
        except IndexError:
            chunk = max(_CHUNK, size)
            start = self._pinned(chunk)
            for address in range(start, start + chunk, size):
                self._sizes[address] = size
                blocks.append(address)
            return blocks.pop()

    def release(self, address):
        self._free[self._sizes[address]].append(address)

    def size(self, address):
        return self._sizes[address]


def _make_handler(pool):
    def malloc(_, size):
        try:
            return pool.allocate(size)
        except MemoryError:
            return None

    def calloc(_, count, size):
        address = malloc(None, count * size)
        return address and ctypes.memset(address, 0, count * size)

    def realloc(_, old, size):
        address = malloc(None, size)
        if address and old:
            ctypes.memmove(address, old, min(size, pool.size(old)))
            pool.release(old)
        return address

    @_pending_type
    def release(address):
        if address:
            pool.release(address)
        return 0

    # An array may be freed while an exception is being raised, and a callback of ctypes loses that exception. So `free` is
    # a function of C: Py_AddPendingCall(context, address) makes the main thread call `release` later, when no exception
    # is pending. Its queue holds 32 calls or more; a block that finds it full is not used again.
    free = _free_type(ctypes.cast(ctypes.pythonapi.Py_AddPendingCall, ctypes.c_void_p).value)
    handler = _Handler(
        b"pinned", _VERSION_OF_HANDLER, ctypes.cast(release, ctypes.c_void_p), _malloc_type(malloc), _calloc_type(calloc),
        _realloc_type(realloc), free,
    )  # fmt: skip
    handler.release = release  # the context is an address, which keeps nothing
    return handler


def _set_handler(handler):
    """Numpy's arrays are made by `handler` from now on."""
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    table = python.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
    capsule = python.PyCapsule_New(ctypes.addressof(handler), ctypes.addressof(_NAME), None)
    ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)(capsule)


_NAME = ctypes.create_string_buffer(b"mem_handler")  # which a capsule does not copy
HANDLER = None
if os.environ.get("KILN_TEST_ARRAYS") == "pinned":
    HANDLER = _make_handler(_Pool())
    _set_handler(HANDLER)
    # Arrays may be freed until the very end of the process.
    for _kept in (HANDLER, _NAME):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))
