"""The device that engines run on, and what Python needs of the CUDA driver.

By default engines run on a GPU where there is one, else on the CPU, or where KILN_DEVICE says when the first network is
built or loaded (docs/devices.md). Where that is a GPU, engines for the CPU can be asked for as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pathlib
import platform
from collections.abc import Iterator

from ._bindings import bindings
from ._errors import Error

_NON_BLOCKING = 1
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76


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


class Driver:
    """What the package needs of the CUDA driver: the device that is current, streams, memory and copies."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ.get("KILN_CUDA_DRIVER") or "libcuda.so.1")
        self._contexts: dict[int, ctypes.c_void_p] = {}
        self._call("cuInit", ctypes.c_uint(0))

    def _call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(ctypes.c_int(result), ctypes.byref(text))
            raise Error(f"{name} failed with error {result}: {text.value.decode() if text.value else 'unknown'}")

    def count(self) -> int:
        """The number of GPUs."""
        count = ctypes.c_int(0)
        self._call("cuDeviceGetCount", ctypes.byref(count))
        return count.value

    def current(self) -> int | None:
        """The ordinal of the thread's current GPU; None where it has none yet."""
        context, device = ctypes.c_void_p(), ctypes.c_int(0)
        self._call("cuCtxGetCurrent", ctypes.byref(context))
        if not context.value:
            return None
        self._call("cuCtxGetDevice", ctypes.byref(device))
        return device.value

    def use(self, ordinal: int | None) -> None:
        """Makes a GPU's primary context the thread's current one, as cudaSetDevice does."""
        if ordinal is None:
            self._call("cuCtxSetCurrent", ctypes.c_void_p())
            return
        context = self._contexts.get(ordinal)
        if context is None:
            context, device = ctypes.c_void_p(), ctypes.c_int(0)
            self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self._contexts[ordinal] = context
        self._call("cuCtxSetCurrent", context)

    def describe(self, ordinal: int) -> str:
        """A GPU's name and compute capability."""
        name, device, facts = ctypes.create_string_buffer(256), ctypes.c_int(0), []
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
        self._call("cuDeviceGetName", name, ctypes.c_int(len(name)), device)
        for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
            fact = ctypes.c_int(0)
            self._call("cuDeviceGetAttribute", ctypes.byref(fact), ctypes.c_int(attribute), device)
            facts.append(fact.value)
        return f"{name.value.decode(errors='replace')}, compute capability {facts[0]}.{facts[1]}"

    def create_stream(self) -> int:
        stream = ctypes.c_void_p()
        self._call("cuStreamCreateWithPriority", ctypes.byref(stream), ctypes.c_uint(_NON_BLOCKING), ctypes.c_int(0))
        return stream.value or 0

    def destroy_stream(self, stream: int) -> None:
        self._call("cuStreamDestroy_v2", ctypes.c_void_p(stream))

    def synchronize(self, stream: int) -> None:
        self._call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def allocate(self, size: int) -> int:
        memory = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(size))
        return memory.value

    def release(self, memory: int) -> None:
        self._call("cuMemFree_v2", ctypes.c_uint64(memory))

    def allocate_host(self, size: int) -> int:
        """Memory of the host that is pinned: copies to and from the GPU do not wait for it."""
        memory = ctypes.c_void_p()
        self._call("cuMemHostAlloc", ctypes.byref(memory), ctypes.c_size_t(size), ctypes.c_uint(0))
        return memory.value or 0

    def release_host(self, memory: int) -> None:
        self._call("cuMemFreeHost", ctypes.c_void_p(memory))

    def copy_in(self, to: int, source: int, size: int, stream: int) -> None:
        """Copies from the host, in the stream's order."""
        self._call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_void_p(source), ctypes.c_size_t(size),
                   ctypes.c_void_p(stream))  # fmt: skip

    def copy_out(self, to: int, source: int, size: int, stream: int) -> None:
        """Copies to the host, in the stream's order."""
        self._call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(to), ctypes.c_uint64(source), ctypes.c_size_t(size),
                   ctypes.c_void_p(stream))  # fmt: skip


@functools.cache
def driver() -> Driver:
    """The CUDA driver, which is there where engines run on GPUs.

    Not the CUDA runtime: Kiln's has the file name of NVIDIA's, which PyTorch wants to find in the process.
    """
    return Driver()


@functools.cache
def _default_kind() -> str:
    """The process's kind of device. Raises where KILN_DEVICE asks for what is not there."""
    try:
        return bindings().tensorrt._kiln_device_kind()  # of the extension module
    except RuntimeError as failure:
        raise Error(f"engines cannot run here: {failure}") from None


def choose_device(device: str | None) -> tuple[str, int | None]:
    """The kind of device for an engine and the GPU's number, None on the CPU. Raises where they cannot be had."""
    kind, ordinal = parse_device(device)
    if kind == "cpu":
        return "cpu", None
    if _default_kind() == "cpu":
        if kind is None:
            return "cpu", None
        wish = os.environ.get("KILN_DEVICE")
        reason = f"KILN_DEVICE is {wish!r}" if wish else "no NVIDIA driver with a GPU was found; the log 'kiln' says more"
        raise Error(f"device is {device!r}, but engines of this process run on 'cpu': {reason}")
    if ordinal is None:
        return "cuda", driver().current() or 0
    if ordinal >= driver().count():
        raise Error(f"device is {device!r}, but there are {driver().count()} GPUs")
    return "cuda", ordinal


@functools.cache
def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip() == "model name":
                return value.strip()
    return platform.machine()


def device_name(device: str | None = None) -> str:
    """Names the hardware that engines for a device run on: the processor's model, or a GPU's name and compute capability.

    `device` is as in `compile`. A plan for a GPU runs where the compute capability is the same; a plan that was built on
    other hardware may be slower than one that is built here.
    """
    kind, ordinal = choose_device(device)
    return _processor() if kind == "cpu" or ordinal is None else driver().describe(ordinal)


@contextlib.contextmanager
def current_device(ordinal: int | None) -> Iterator[None]:
    """Makes a GPU the thread's current one meanwhile; does nothing for None, the CPU."""
    if ordinal is None:
        yield
        return
    before = driver().current()
    if before == ordinal:
        yield
        return
    driver().use(ordinal)
    try:
        yield
    finally:
        driver().use(before)


@contextlib.contextmanager
def engines_on(ordinal: int | None) -> Iterator[None]:
    """What the thread builds and loads meanwhile is for a GPU, which becomes the current one; for None it is for the CPU."""
    use_host = bindings().tensorrt._kiln_use_host
    before = use_host(ordinal is None)
    try:
        with current_device(ordinal):
            yield
    finally:
        use_host(before)
