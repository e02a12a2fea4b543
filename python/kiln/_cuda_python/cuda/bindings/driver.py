"""The part of the CUDA driver's API that programs around an engine use, over the runtime: there is no driver without a GPU."""
import enum

from . import _calls, runtime


class CUresult(enum.IntEnum):
    """What a call returns. The numbers are the runtime's."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_DEINITIALIZED = 4
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_NOT_PERMITTED = 800
    CUDA_ERROR_NOT_SUPPORTED = 801
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901
    CUDA_ERROR_UNKNOWN = 999


class CUdevice(_calls.Handle):
    """A device, which is a number."""

    __slots__ = ()


class CUdeviceptr(_calls.Handle):
    """An address of device memory."""

    __slots__ = ()


class CUcontext(_calls.Handle):
    """A context of a device. On the CPU there is one, and it means nothing."""

    __slots__ = ()


class cuuint64_t(_calls.Handle):
    """A number of 64 bits."""

    __slots__ = ()


CUstream = runtime.cudaStream_t
CUevent = runtime.cudaEvent_t
CUDA_VERSION = runtime.CUDART_VERSION
_CONTEXT = 1  # the value of the one CUcontext


def _result(error):
    try:
        return CUresult(int(error))
    except ValueError:
        return CUresult.CUDA_ERROR_UNKNOWN


def _as_driver(called, *kinds):
    """What a function of the runtime returned, as the driver's would: `kinds` make its results."""
    error, *results = called
    return (_result(error), *(made if made is None else kind(made) for kind, made in zip(kinds, results)))


def _renamed(name, function, *kinds):
    def call(*arguments):
        return _as_driver(function(*arguments), *kinds)

    return _calls.named(call, name, function.__doc__.partition("(")[2].rstrip(")").split(", "))


def _same(value):
    return value


for _name, _function, *_kinds in [
    ("cuDriverGetVersion", runtime.cudaDriverGetVersion, _same),
    ("cuDeviceGetCount", runtime.cudaGetDeviceCount, _same),
    ("cuMemAlloc", runtime.cudaMalloc, CUdeviceptr),
    ("cuMemAllocAsync", runtime.cudaMallocAsync, CUdeviceptr),
    ("cuMemFree", runtime.cudaFree),
    ("cuMemFreeAsync", runtime.cudaFreeAsync),
    ("cuMemAllocHost", runtime.cudaMallocHost, _same),
    ("cuMemFreeHost", runtime.cudaFreeHost),
    ("cuMemHostAlloc", runtime.cudaHostAlloc, _same),
    ("cuMemGetInfo", runtime.cudaMemGetInfo, _same, _same),
    ("cuMemsetD8", runtime.cudaMemset),
    ("cuCtxSynchronize", runtime.cudaDeviceSynchronize),
    ("cuStreamCreate", runtime.cudaStreamCreateWithFlags, _same),
    ("cuStreamDestroy", runtime.cudaStreamDestroy),
    ("cuStreamSynchronize", runtime.cudaStreamSynchronize),
    ("cuStreamQuery", runtime.cudaStreamQuery),
    ("cuStreamWaitEvent", runtime.cudaStreamWaitEvent),
    ("cuEventCreate", runtime.cudaEventCreateWithFlags, _same),
    ("cuEventDestroy", runtime.cudaEventDestroy),
    ("cuEventRecord", runtime.cudaEventRecord),
    ("cuEventSynchronize", runtime.cudaEventSynchronize),
    ("cuEventQuery", runtime.cudaEventQuery),
    ("cuEventElapsedTime", runtime.cudaEventElapsedTime, _same),
]:
    globals()[_name] = _renamed(_name, _function, *_kinds)


def _copy(name, kind):
    def call(dst, src, ByteCount):
        return _as_driver(runtime.cudaMemcpy(dst, src, ByteCount, kind))

    def call_async(dst, src, ByteCount, hStream):
        return _as_driver(runtime.cudaMemcpyAsync(dst, src, ByteCount, kind, hStream))

    globals()[name] = _calls.named(call, name, ["dst", "src", "ByteCount"])
    globals()[name + "Async"] = _calls.named(call_async, name + "Async", ["dst", "src", "ByteCount", "hStream"])


_copy("cuMemcpyHtoD", runtime.cudaMemcpyKind.cudaMemcpyHostToDevice)
_copy("cuMemcpyDtoH", runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost)
_copy("cuMemcpyDtoD", runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice)
_copy("cuMemcpy", runtime.cudaMemcpyKind.cudaMemcpyDefault)


def cuGetErrorName(error):
    """cuGetErrorName(error): the name, as bytes."""
    try:
        return CUresult.CUDA_SUCCESS, CUresult(int(error)).name.encode()
    except ValueError:
        return CUresult.CUDA_ERROR_INVALID_VALUE, None


def cuGetErrorString(error):
    """cuGetErrorString(error): the error in words, as bytes."""
    return CUresult.CUDA_SUCCESS, runtime.cudaGetErrorString(error)[1]


def cuInit(Flags):
    """cuInit(Flags): Flags must be 0."""
    if Flags:
        return (CUresult.CUDA_ERROR_INVALID_VALUE,)
    return (_result(runtime.cudaFree(0)[0]),)


def cuDeviceGet(ordinal):
    """cuDeviceGet(ordinal): the device of that number."""
    error, count = runtime.cudaGetDeviceCount()
    if error:
        return _result(error), None
    if not 0 <= ordinal < count:
        return CUresult.CUDA_ERROR_INVALID_DEVICE, None
    return CUresult.CUDA_SUCCESS, CUdevice(ordinal)


def cuDeviceGetName(length, dev):
    """cuDeviceGetName(length, dev): the device's name, as bytes."""
    import kiln

    return CUresult.CUDA_SUCCESS, kiln.device_name().encode()[:length]


def cuDeviceGetAttribute(attrib, dev):
    """cuDeviceGetAttribute(attrib, dev): one fact about a device; the numbers are those of runtime.cudaDeviceAttr."""
    return _as_driver(runtime.cudaDeviceGetAttribute(attrib, int(dev)), _same)


def cuDeviceTotalMem(dev):
    """cuDeviceTotalMem(dev): the device's memory in bytes."""
    error, _, total = runtime.cudaMemGetInfo()
    return _result(error), total


def cuCtxCreate(ctxCreateParams, flags, dev):
    """cuCtxCreate(ctxCreateParams, flags, dev): the one context that there is."""
    error = _result(runtime.cudaSetDevice(int(dev))[0])
    return error, None if error else CUcontext(_CONTEXT)


def cuDevicePrimaryCtxRetain(dev):
    """cuDevicePrimaryCtxRetain(dev): the one context that there is."""
    return cuCtxCreate(None, 0, dev)


def cuCtxGetCurrent():
    """cuCtxGetCurrent(): the one context that there is."""
    return CUresult.CUDA_SUCCESS, CUcontext(_CONTEXT)


def cuCtxPopCurrent():
    """cuCtxPopCurrent(): the one context that there is, which stays current."""
    return cuCtxGetCurrent()


def _ignored(name, argument):
    def call(value):
        return (CUresult.CUDA_SUCCESS,)

    globals()[name] = _calls.named(call, name, [argument])


_ignored("cuCtxDestroy", "ctx")
_ignored("cuCtxPushCurrent", "ctx")
_ignored("cuCtxSetCurrent", "ctx")
_ignored("cuDevicePrimaryCtxRelease", "dev")

__getattr__ = _calls.missing(__name__)
