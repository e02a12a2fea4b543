"""The device that engines run on, and what Python needs of the CUDA runtime.

One kind of device serves a process: the GPU where there is one, else the CPU, or what KILN_DEVICE says when the first
network is built or loaded (docs/devices.md).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pathlib
import threading
from collections.abc import Iterator

from ._bindings import bindings
from ._errors import Error

_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2
_NON_BLOCKING = 1
_lock = threading.Lock()


def parse_device(device: str | None) -> tuple[str | None, int | None]:
    """Splits 'cpu', 'cuda' or 'cuda:1' into its kind and ordinal."""
    if device is None:
        return None, None
    if type(device).__module__ == "torch" and type(device).__name__ == "device":
        device = str(device)
    if not isinstance(device, str):
        raise TypeError(f"device is {device!r}; it may be 'cpu', 'cuda', 'cuda:N' or None")
    kind, colon, number = device.partition(":")
    if kind == "cpu" and not colon:
        return "cpu", None
    if kind == "cuda" and (not colon or (number.isascii() and number.isdigit())):
        return "cuda", int(number) if colon else None
    raise ValueError(f"device is {device!r}; it may be 'cpu', 'cuda', 'cuda:N' or None")


def _library_folders() -> Iterator[pathlib.Path]:
    """The folders that may hold Kiln's CUDA runtime: beside the libnvinfer that is loaded."""
    bindings()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[-1]
            if "/libnvinfer.so" in path:
                folder = pathlib.Path(path).parent
                yield from (folder, folder / "kiln", folder.parent / "cudart")
                return


class Runtime:
    """Kiln's CUDA runtime: over the driver where engines run on a GPU, over the host's memory elsewhere."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        library.cudaGetErrorString.restype = ctypes.c_char_p
        version = ctypes.c_int(0)
        self._call("cudaDriverGetVersion", ctypes.byref(version))
        self.has_gpu = version.value != 0

    def _call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            text = self._library.cudaGetErrorString(result)
            raise Error(f"{name} failed with error {result}: {text.decode() if text else 'unknown'}")

    def count(self) -> int:
        count = ctypes.c_int(0)
        self._call("cudaGetDeviceCount", ctypes.byref(count))
        return count.value

    def current(self) -> int:
        device = ctypes.c_int(0)
        self._call("cudaGetDevice", ctypes.byref(device))
        return device.value

    def use(self, device: int) -> None:
        self._call("cudaSetDevice", ctypes.c_int(device))

    def create_stream(self) -> int:
        stream = ctypes.c_void_p()
        self._call("cudaStreamCreateWithFlags", ctypes.byref(stream), ctypes.c_uint(_NON_BLOCKING))
        return stream.value or 0

    def destroy_stream(self, stream: int) -> None:
        self._call("cudaStreamDestroy", ctypes.c_void_p(stream))

    def synchronize(self, stream: int) -> None:
        self._call("cudaStreamSynchronize", ctypes.c_void_p(stream))

    def allocate(self, size: int) -> int:
        memory = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(memory), ctypes.c_size_t(size))
        return memory.value or 0

    def release(self, memory: int) -> None:
        self._call("cudaFree", ctypes.c_void_p(memory))

    def copy_in(self, to: int, source: int, size: int, stream: int) -> None:
        self._copy(to, source, size, _HOST_TO_DEVICE, stream)

    def copy_out(self, to: int, source: int, size: int, stream: int) -> None:
        self._copy(to, source, size, _DEVICE_TO_HOST, stream)

    def _copy(self, to: int, source: int, size: int, kind: int, stream: int) -> None:
        self._call(
            "cudaMemcpyAsync",
            ctypes.c_void_p(to),
            ctypes.c_void_p(source),
            ctypes.c_size_t(size),
            ctypes.c_int(kind),
            ctypes.c_void_p(stream),
        )


@functools.cache
def runtime() -> Runtime:
    """Kiln's CUDA runtime; asking it decides the kind of device."""
    tried = []
    for folder in _library_folders():
        path = folder / "libcudart.so.13"
        if path.exists():
            # By its path: the name may be that of NVIDIA's runtime, which PyTorch has loaded.
            return Runtime(ctypes.CDLL(str(path)))
        tried.append(str(path))
    raise ImportError("Kiln's CUDA runtime is missing; looked for " + ", ".join(tried))


_decided: str | None = None


def choose_device(device: str | None) -> tuple[str, int | None]:
    """The kind of device for an engine and the GPU's number, None on the CPU. Raises where they cannot be had."""
    global _decided
    kind, ordinal = parse_device(device)
    with _lock:
        if _decided is None:
            before = os.environ.get("KILN_DEVICE")
            if kind is not None and not before:
                os.environ["KILN_DEVICE"] = kind
            try:
                _decided = "cuda" if runtime().has_gpu else "cpu"
            finally:
                # What is decided stays in the process; children decide by themselves.
                if before is None:
                    os.environ.pop("KILN_DEVICE", None)
    if kind is not None and kind != _decided:
        wish = os.environ.get("KILN_DEVICE")
        reason = f"KILN_DEVICE is {wish!r}" if wish else "that was decided when the first was made"
        if kind == "cuda" and not wish:
            reason = "no NVIDIA driver with a GPU was found, or the first engine of the process chose so"
        raise Error(f"device is {device!r}, but engines of this process run on {_decided!r}: {reason}")
    if _decided == "cpu":
        return "cpu", None
    if ordinal is None:
        return "cuda", runtime().current()
    if ordinal >= runtime().count():
        raise Error(f"device is {device!r}, but there are {runtime().count()} GPUs")
    return "cuda", ordinal


@contextlib.contextmanager
def current_device(ordinal: int | None) -> Iterator[None]:
    """Makes a GPU the thread's current one meanwhile; does nothing for None, the CPU."""
    if ordinal is None:
        yield
        return
    before = runtime().current()
    if before == ordinal:
        yield
        return
    runtime().use(ordinal)
    try:
        yield
    finally:
        runtime().use(before)
