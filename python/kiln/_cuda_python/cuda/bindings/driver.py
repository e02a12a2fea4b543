"""The part of the CUDA driver's API that programs around an engine use, over the runtime: there is no driver without a GPU."""
import enum

from . import _calls, _device_attributes, _device_properties, runtime

_RESULTS = """
1 INVALID_VALUE
2 OUT_OF_MEMORY
3 NOT_INITIALIZED
4 DEINITIALIZED
5 PROFILER_DISABLED
6 PROFILER_NOT_INITIALIZED
7 PROFILER_ALREADY_STARTED
8 PROFILER_ALREADY_STOPPED
34 STUB_LIBRARY
36 CALL_REQUIRES_NEWER_DRIVER
46 DEVICE_UNAVAILABLE
100 NO_DEVICE
101 INVALID_DEVICE
102 DEVICE_NOT_LICENSED
200 INVALID_IMAGE
201 INVALID_CONTEXT
202 CONTEXT_ALREADY_CURRENT
205 MAP_FAILED
206 UNMAP_FAILED
207 ARRAY_IS_MAPPED
208 ALREADY_MAPPED
209 NO_BINARY_FOR_GPU
210 ALREADY_ACQUIRED
211 NOT_MAPPED
212 NOT_MAPPED_AS_ARRAY
213 NOT_MAPPED_AS_POINTER
214 ECC_UNCORRECTABLE
215 UNSUPPORTED_LIMIT
216 CONTEXT_ALREADY_IN_USE
217 PEER_ACCESS_UNSUPPORTED
218 INVALID_PTX
219 INVALID_GRAPHICS_CONTEXT
220 NVLINK_UNCORRECTABLE
221 JIT_COMPILER_NOT_FOUND
222 UNSUPPORTED_PTX_VERSION
223 JIT_COMPILATION_DISABLED
224 UNSUPPORTED_EXEC_AFFINITY
225 UNSUPPORTED_DEVSIDE_SYNC
226 CONTAINED
300 INVALID_SOURCE
301 FILE_NOT_FOUND
302 SHARED_OBJECT_SYMBOL_NOT_FOUND
303 SHARED_OBJECT_INIT_FAILED
304 OPERATING_SYSTEM
400 INVALID_HANDLE
401 ILLEGAL_STATE
402 LOSSY_QUERY
500 NOT_FOUND
600 NOT_READY
700 ILLEGAL_ADDRESS
701 LAUNCH_OUT_OF_RESOURCES
702 LAUNCH_TIMEOUT
703 LAUNCH_INCOMPATIBLE_TEXTURING
704 PEER_ACCESS_ALREADY_ENABLED
705 PEER_ACCESS_NOT_ENABLED
708 PRIMARY_CONTEXT_ACTIVE
709 CONTEXT_IS_DESTROYED
710 ASSERT
711 TOO_MANY_PEERS
712 HOST_MEMORY_ALREADY_REGISTERED
713 HOST_MEMORY_NOT_REGISTERED
714 HARDWARE_STACK_ERROR
715 ILLEGAL_INSTRUCTION
716 MISALIGNED_ADDRESS
717 INVALID_ADDRESS_SPACE
718 INVALID_PC
719 LAUNCH_FAILED
720 COOPERATIVE_LAUNCH_TOO_LARGE
721 TENSOR_MEMORY_LEAK
800 NOT_PERMITTED
801 NOT_SUPPORTED
802 SYSTEM_NOT_READY
803 SYSTEM_DRIVER_MISMATCH
804 COMPAT_NOT_SUPPORTED_ON_DEVICE
805 MPS_CONNECTION_FAILED
806 MPS_RPC_FAILURE
807 MPS_SERVER_NOT_READY
808 MPS_MAX_CLIENTS_REACHED
809 MPS_MAX_CONNECTIONS_REACHED
810 MPS_CLIENT_TERMINATED
811 CDP_NOT_SUPPORTED
812 CDP_VERSION_MISMATCH
900 STREAM_CAPTURE_UNSUPPORTED
901 STREAM_CAPTURE_INVALIDATED
902 STREAM_CAPTURE_MERGE
903 STREAM_CAPTURE_UNMATCHED
904 STREAM_CAPTURE_UNJOINED
905 STREAM_CAPTURE_ISOLATION
906 STREAM_CAPTURE_IMPLICIT
907 CAPTURED_EVENT
908 STREAM_CAPTURE_WRONG_THREAD
909 TIMEOUT
910 GRAPH_EXEC_UPDATE_FAILURE
911 EXTERNAL_DEVICE
912 INVALID_CLUSTER_SIZE
913 FUNCTION_NOT_LOADED
914 INVALID_RESOURCE_TYPE
915 INVALID_RESOURCE_CONFIGURATION
999 UNKNOWN
"""
_LINES = [line.split() for line in _RESULTS.strip().splitlines()]
_ERRORS = {f"CUDA_ERROR_{name}": int(number) for number, name in _LINES}
CUresult = enum.IntEnum("CUresult", {"CUDA_SUCCESS": 0, **_ERRORS}, module=__name__)  # type: ignore[misc]
CUdevice_attribute = _device_attributes.driver_enum(__name__)
CUuuid = _device_properties.cudaUUID_t


class CUstream_flags(enum.IntEnum):
    """How a stream is created."""

    CU_STREAM_DEFAULT = 0
    CU_STREAM_NON_BLOCKING = 1


class CUevent_flags(enum.IntEnum):
    """How an event is created."""

    CU_EVENT_DEFAULT = 0
    CU_EVENT_BLOCKING_SYNC = 1
    CU_EVENT_DISABLE_TIMING = 2
    CU_EVENT_INTERPROCESS = 4


class CUctx_flags(enum.IntEnum):
    """How a context is created. On the CPU they mean nothing."""

    CU_CTX_SCHED_AUTO = 0
    CU_CTX_SCHED_SPIN = 1
    CU_CTX_SCHED_YIELD = 2
    CU_CTX_SCHED_BLOCKING_SYNC = 4
    CU_CTX_SCHED_MASK = 7
    CU_CTX_MAP_HOST = 8
    CU_CTX_LMEM_RESIZE_TO_MAX = 16


class CUmemAttach_flags(enum.IntEnum):
    """Which streams may use managed memory."""

    CU_MEM_ATTACH_GLOBAL = 1
    CU_MEM_ATTACH_HOST = 2
    CU_MEM_ATTACH_SINGLE = 4


class CUstreamCaptureStatus(enum.IntEnum):
    """Whether a stream records a graph instead of running work."""

    CU_STREAM_CAPTURE_STATUS_NONE = 0
    CU_STREAM_CAPTURE_STATUS_ACTIVE = 1
    CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2


class CUstreamCaptureMode(enum.IntEnum):
    """Which unsafe calls are forbidden during a capture."""

    CU_STREAM_CAPTURE_MODE_GLOBAL = 0
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1
    CU_STREAM_CAPTURE_MODE_RELAXED = 2


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
CUgraph = runtime.cudaGraph_t
CUgraphExec = runtime.cudaGraphExec_t
CUgraphNode = runtime.cudaGraphNode_t
CUhostFn = runtime.cudaHostFn_t
CUstreamCallback = runtime.cudaStreamCallback_t
CUDA_VERSION = runtime.CUDART_VERSION
CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED = 1, 2, 4
CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_DEVICEMAP = 1, 2
CU_STREAM_LEGACY, CU_STREAM_PER_THREAD = 1, 2
_CONTEXT = 1  # the value of the one CUcontext

# A function of the driver, and the runtime's that does it.
_FUNCTIONS = """
cuDriverGetVersion=cudaDriverGetVersion >int
cuDeviceGetCount=cudaGetDeviceCount >int
cuDeviceGetAttribute=cudaDeviceGetAttribute >int attrib:int dev:int
cuDeviceCanAccessPeer=cudaDeviceCanAccessPeer >int dev:int peerDev:int
cuMemAlloc=cudaMalloc >CUdeviceptr bytesize:size
cuMemAllocAsync=cudaMallocAsync >CUdeviceptr bytesize:size hStream:pointer
cuMemAllocManaged=cudaMallocManaged >CUdeviceptr bytesize:size flags:unsigned
cuMemFree=cudaFree dptr:pointer
cuMemFreeAsync=cudaFreeAsync dptr:pointer hStream:pointer
cuMemAllocHost=cudaMallocHost >pointer bytesize:size
cuMemFreeHost=cudaFreeHost p:pointer
cuMemHostAlloc=cudaHostAlloc >pointer bytesize:size Flags:unsigned
cuMemHostRegister=cudaHostRegister p:pointer bytesize:size Flags:unsigned
cuMemHostUnregister=cudaHostUnregister p:pointer
cuMemHostGetDevicePointer=cudaHostGetDevicePointer >CUdeviceptr p:pointer Flags:unsigned
cuMemHostGetFlags=cudaHostGetFlags >unsigned p:pointer
cuMemGetInfo=cudaMemGetInfo >size >size
cuMemsetD8=cudaMemset dstDevice:pointer uc:byte N:size
cuMemsetD8Async=cudaMemsetAsync dstDevice:pointer uc:byte N:size hStream:pointer
cuMemcpy=cudaMemcpy dst:pointer src:pointer ByteCount:size =4
cuMemcpyAsync=cudaMemcpyAsync dst:pointer src:pointer ByteCount:size =4 hStream:pointer
cuMemcpyHtoD=cudaMemcpy dstDevice:pointer srcHost:pointer ByteCount:size =1
cuMemcpyHtoDAsync=cudaMemcpyAsync dstDevice:pointer srcHost:pointer ByteCount:size =1 hStream:pointer
cuMemcpyDtoH=cudaMemcpy dstHost:pointer srcDevice:pointer ByteCount:size =2
cuMemcpyDtoHAsync=cudaMemcpyAsync dstHost:pointer srcDevice:pointer ByteCount:size =2 hStream:pointer
cuMemcpyDtoD=cudaMemcpy dstDevice:pointer srcDevice:pointer ByteCount:size =3
cuMemcpyDtoDAsync=cudaMemcpyAsync dstDevice:pointer srcDevice:pointer ByteCount:size =3 hStream:pointer
cuCtxSynchronize=cudaDeviceSynchronize
cuCtxGetStreamPriorityRange=cudaDeviceGetStreamPriorityRange >int >int
cuStreamCreate=cudaStreamCreateWithFlags >CUstream Flags:unsigned
cuStreamCreateWithPriority=cudaStreamCreateWithPriority >CUstream flags:unsigned priority:int
cuStreamDestroy=cudaStreamDestroy hStream:pointer
cuStreamSynchronize=cudaStreamSynchronize hStream:pointer
cuStreamQuery=cudaStreamQuery hStream:pointer
cuStreamWaitEvent=cudaStreamWaitEvent hStream:pointer hEvent:pointer Flags:unsigned
cuStreamGetPriority=cudaStreamGetPriority hStream:pointer >int
cuStreamGetFlags=cudaStreamGetFlags hStream:pointer >unsigned
cuStreamAddCallback=cudaStreamAddCallback hStream:pointer callback:pointer userData:pointer flags:unsigned
cuLaunchHostFunc=cudaLaunchHostFunc hStream:pointer fn:pointer userData:pointer
cuStreamBeginCapture=cudaStreamBeginCapture hStream:pointer mode:int
cuStreamEndCapture=cudaStreamEndCapture hStream:pointer >CUgraph
cuStreamIsCapturing=cudaStreamIsCapturing hStream:pointer >CUstreamCaptureStatus
cuEventCreate=cudaEventCreateWithFlags >CUevent Flags:unsigned
cuEventDestroy=cudaEventDestroy hEvent:pointer
cuEventRecord=cudaEventRecord hEvent:pointer hStream:pointer
cuEventRecordWithFlags=cudaEventRecordWithFlags hEvent:pointer hStream:pointer flags:unsigned
cuEventSynchronize=cudaEventSynchronize hEvent:pointer
cuEventQuery=cudaEventQuery hEvent:pointer
cuEventElapsedTime=cudaEventElapsedTime >float hStart:pointer hEnd:pointer
cuGraphCreate=cudaGraphCreate >CUgraph flags:unsigned
cuGraphInstantiate=cudaGraphInstantiate >CUgraphExec hGraph:pointer flags:flags64
cuGraphUpload=cudaGraphUpload hGraphExec:pointer hStream:pointer
cuGraphLaunch=cudaGraphLaunch hGraphExec:pointer hStream:pointer
cuGraphExecDestroy=cudaGraphExecDestroy hGraphExec:pointer
cuGraphDestroy=cudaGraphDestroy hGraph:pointer
cuProfilerStart=cudaProfilerStart
cuProfilerStop=cudaProfilerStop
"""
# The numbers of the two APIs' errors are the same, except for these, which the driver counts among the invalid values.
_INVALID_VALUES = [runtime.cudaError_t[f"cudaErrorInvalid{what}"]
                   for what in ("PitchValue", "HostPointer", "DevicePointer", "MemcpyDirection")]


def _result(error):
    if error in _INVALID_VALUES:
        return CUresult.CUDA_ERROR_INVALID_VALUE
    try:
        return CUresult(error)
    except ValueError:
        return CUresult.CUDA_ERROR_UNKNOWN


for _line in _FUNCTIONS.split("\n")[1:-1]:
    globals()[_line.partition("=")[0]] = _calls.define(_line, globals(), _result)


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


def _of_properties(dev, read):
    error, found = runtime.cudaGetDeviceProperties(dev)
    return _result(error), None if error else read(found)


def cuDeviceGetName(length, dev):
    """cuDeviceGetName(length, dev): the device's name, as bytes, cut off at `length`."""
    return _of_properties(dev, lambda found: found.name[:length])


def cuDeviceGetUuid(dev):
    """cuDeviceGetUuid(dev): the device's identity."""
    return _of_properties(dev, lambda found: found.uuid)


def cuDeviceTotalMem(dev):
    """cuDeviceTotalMem(dev): the device's memory in bytes."""
    return _of_properties(dev, lambda found: found.totalGlobalMem)


def cuDeviceComputeCapability(dev):
    """cuDeviceComputeCapability(dev): the compute capability, before and after the dot; 0 and 0 on the CPU."""
    error, found = _of_properties(dev, lambda found: (found.major, found.minor))
    return error, *(found or (None, None))


def cuDeviceGetPCIBusId(length, dev):
    """cuDeviceGetPCIBusId(length, dev): the device's place on PCI, as bytes."""
    error, place = runtime.cudaDeviceGetPCIBusId(length, int(dev))
    return _result(error), place


def cuCtxCreate(ctxCreateParams, flags, dev):
    """cuCtxCreate(ctxCreateParams, flags, dev): the one context that there is."""
    error = _result(runtime.cudaSetDevice(dev)[0])
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


def cuCtxGetDevice():
    """cuCtxGetDevice(): the device of the current context."""
    error, device = runtime.cudaGetDevice()
    return _result(error), None if error else CUdevice(device)


def cuCtxDestroy(ctx):
    """cuCtxDestroy(ctx): the one context stays."""
    return (CUresult.CUDA_SUCCESS,)


def cuCtxPushCurrent(ctx):
    """cuCtxPushCurrent(ctx): the one context is current."""
    return (CUresult.CUDA_SUCCESS,)


def cuCtxSetCurrent(ctx):
    """cuCtxSetCurrent(ctx): the one context is current."""
    return (CUresult.CUDA_SUCCESS,)


def cuDevicePrimaryCtxRelease(dev):
    """cuDevicePrimaryCtxRelease(dev): the one context stays."""
    return (CUresult.CUDA_SUCCESS,)


def cuThreadExchangeStreamCaptureMode(mode):
    """cuThreadExchangeStreamCaptureMode(mode): sets this thread's mode, and returns what it was."""
    error, before = runtime.cudaThreadExchangeStreamCaptureMode(mode)
    return _result(error), None if error else CUstreamCaptureMode(before)


def cuGraphGetNodes(hGraph, numNodes=0):
    """cuGraphGetNodes(hGraph, numNodes=0): up to `numNodes` nodes of a graph, and how many it has."""
    error, nodes, count = runtime.cudaGraphGetNodes(hGraph, numNodes)
    return _result(error), nodes, count


__getattr__ = _calls.missing(__name__)
