"""The CUDA runtime as cuda-python has it: each function returns a tuple, the error and then its results."""
import ctypes
import enum

from . import _calls, _device_attributes, _device_properties

_NO_NAME = _calls.library.cudaGetErrorName(-1)
cudaError_t = enum.IntEnum(  # type: ignore[misc]  # the library has the names
    "cudaError_t",
    {name.decode(): code for code in range(1000) if (name := _calls.library.cudaGetErrorName(code)) != _NO_NAME},
    module=__name__,
)


class cudaMemcpyKind(enum.IntEnum):
    """Direction of a copy."""

    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4


class cudaMemoryType(enum.IntEnum):
    """Where memory is."""

    cudaMemoryTypeUnregistered = 0
    cudaMemoryTypeHost = 1
    cudaMemoryTypeDevice = 2
    cudaMemoryTypeManaged = 3


class cudaStreamCaptureStatus(enum.IntEnum):
    """Whether a stream records a graph instead of running work."""

    cudaStreamCaptureStatusNone = 0
    cudaStreamCaptureStatusActive = 1
    cudaStreamCaptureStatusInvalidated = 2


class cudaStreamCaptureMode(enum.IntEnum):
    """Which unsafe calls are forbidden during a capture."""

    cudaStreamCaptureModeGlobal = 0
    cudaStreamCaptureModeThreadLocal = 1
    cudaStreamCaptureModeRelaxed = 2


class cudaLimit(enum.IntEnum):
    """Limits of kernels. The CPU has none of them."""

    cudaLimitStackSize = 0
    cudaLimitPrintfFifoSize = 1
    cudaLimitMallocHeapSize = 2
    cudaLimitDevRuntimeSyncDepth = 3
    cudaLimitDevRuntimePendingLaunchCount = 4
    cudaLimitMaxL2FetchGranularity = 5
    cudaLimitPersistingL2CacheSize = 6


class cudaGraphExecUpdateResult(enum.IntEnum):
    """Why a graph could not be updated in place."""

    cudaGraphExecUpdateSuccess = 0
    cudaGraphExecUpdateError = 1
    cudaGraphExecUpdateErrorTopologyChanged = 2
    cudaGraphExecUpdateErrorNodeTypeChanged = 3
    cudaGraphExecUpdateErrorFunctionChanged = 4
    cudaGraphExecUpdateErrorParametersChanged = 5
    cudaGraphExecUpdateErrorNotSupported = 6
    cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7
    cudaGraphExecUpdateErrorAttributesChanged = 8


cudaDeviceAttr = _device_attributes.runtime_enum(__name__)
cudaDeviceProp = _device_properties.cudaDeviceProp
cudaUUID_t = _device_properties.cudaUUID_t


class cudaStream_t(_calls.Handle):
    """A queue of work that runs in order; 0 is the default stream."""

    __slots__ = ()


class cudaEvent_t(_calls.Handle):
    """A mark in a stream that can be waited for and timed."""

    __slots__ = ()


class cudaGraph_t(_calls.Handle):
    """Work recorded from a stream."""

    __slots__ = ()


class cudaGraphExec_t(_calls.Handle):
    """A graph that is ready to be launched."""

    __slots__ = ()


class cudaGraphNode_t(_calls.Handle):
    """A piece of a graph's work."""

    __slots__ = ()


class cudaHostFn_t(_calls.Handle):
    """The address of a C function that a stream calls, `void (*)(void*)`."""

    __slots__ = ()


class cudaStreamCallback_t(_calls.Handle):
    """The address of a C function that a stream calls, `void (*)(cudaStream_t, cudaError_t, void*)`."""

    __slots__ = ()


class cudaGraphExecUpdateResultInfo(ctypes.Structure):
    """What cudaGraphExecUpdate says."""

    _fields_ = [("_result", ctypes.c_int), ("_error_node", ctypes.c_void_p), ("_error_from_node", ctypes.c_void_p)]

    @property
    def result(self):
        """Whether the graph was updated, or why not."""
        return cudaGraphExecUpdateResult(self._result)

    @property
    def errorNode(self):
        """The node of the new graph, or null."""
        return cudaGraphNode_t(self._error_node or 0)

    @property
    def errorFromNode(self):
        """The node of the old graph, or null."""
        return cudaGraphNode_t(self._error_from_node or 0)


class cudaPointerAttributes(ctypes.Structure):
    """What cudaPointerGetAttributes tells about a pointer."""

    _fields_ = [("_type", ctypes.c_int), ("device", ctypes.c_int), ("_device_pointer", ctypes.c_void_p),
                ("_host_pointer", ctypes.c_void_p), ("_reserved", ctypes.c_long * 8)]

    @property
    def type(self):
        """Where the memory is."""
        return cudaMemoryType(self._type)

    @property
    def devicePointer(self):
        """Its address on the device, or 0."""
        return self._device_pointer or 0

    @property
    def hostPointer(self):
        """Its address on the host, or 0."""
        return self._host_pointer or 0


CUDART_VERSION = 13000
cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 0, 1, 2, 4
cudaHostRegisterDefault, cudaHostRegisterPortable, cudaHostRegisterMapped = 0, 1, 2
cudaStreamDefault, cudaStreamNonBlocking = 0, 1
cudaStreamLegacy, cudaStreamPerThread = 1, 2
cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming, cudaEventInterprocess = 0, 1, 2, 4
cudaMemAttachGlobal, cudaMemAttachHost, cudaMemAttachSingle = 1, 2, 4
cudaDeviceScheduleAuto, cudaDeviceScheduleSpin, cudaDeviceScheduleYield, cudaDeviceScheduleBlockingSync = 0, 1, 2, 4

_FUNCTIONS = """
cudaGetLastError
cudaPeekAtLastError
cudaRuntimeGetVersion >int
cudaDriverGetVersion >int
cudaGetDeviceCount >int
cudaGetDevice >int
cudaSetDevice device:int
cudaInitDevice device:int deviceFlags:unsigned flags:unsigned
cudaSetDeviceFlags flags:unsigned
cudaGetDeviceFlags >unsigned
cudaDeviceGetAttribute >int attr:cudaDeviceAttr device:int
cudaGetDeviceProperties >cudaDeviceProp device:int
cudaDeviceGetStreamPriorityRange >int >int
cudaDeviceCanAccessPeer >int device:int peerDevice:int
cudaDeviceEnablePeerAccess peerDevice:int flags:unsigned
cudaDeviceDisablePeerAccess peerDevice:int
cudaDeviceSetLimit limit:cudaLimit value:size
cudaDeviceGetLimit >size limit:cudaLimit
cudaDeviceSynchronize
cudaDeviceReset
cudaMalloc >pointer size:size
cudaFree devPtr:pointer
cudaMallocHost >pointer size:size
cudaFreeHost ptr:pointer
cudaHostAlloc >pointer size:size flags:unsigned
cudaHostRegister ptr:pointer size:size flags:unsigned
cudaHostUnregister ptr:pointer
cudaHostGetDevicePointer >pointer pHost:pointer flags:unsigned
cudaHostGetFlags >unsigned pHost:pointer
cudaMallocManaged >pointer size:size flags:unsigned
cudaMallocAsync >pointer size:size hStream:cudaStream_t
cudaFreeAsync devPtr:pointer hStream:cudaStream_t
cudaMemGetInfo >size >size
cudaPointerGetAttributes >cudaPointerAttributes ptr:pointer
cudaMemcpy dst:pointer src:pointer count:size kind:cudaMemcpyKind
cudaMemcpyAsync dst:pointer src:pointer count:size kind:cudaMemcpyKind stream:cudaStream_t
cudaMemcpy2D dst:pointer dpitch:size src:pointer spitch:size width:size height:size kind:cudaMemcpyKind
cudaMemcpy2DAsync dst:pointer dpitch:size src:pointer spitch:size width:size height:size kind:cudaMemcpyKind stream:cudaStream_t
cudaMemset devPtr:pointer value:int count:size
cudaMemsetAsync devPtr:pointer value:int count:size stream:cudaStream_t
cudaMemset2D devPtr:pointer pitch:size value:int width:size height:size
cudaStreamCreate >cudaStream_t
cudaStreamCreateWithFlags >cudaStream_t flags:unsigned
cudaStreamCreateWithPriority >cudaStream_t flags:unsigned priority:int
cudaStreamDestroy stream:cudaStream_t
cudaStreamSynchronize stream:cudaStream_t
cudaStreamQuery stream:cudaStream_t
cudaStreamWaitEvent stream:cudaStream_t event:cudaEvent_t flags:unsigned
cudaStreamGetPriority hStream:cudaStream_t >int
cudaStreamGetFlags hStream:cudaStream_t >unsigned
cudaStreamAddCallback stream:cudaStream_t callback:pointer userData:pointer flags:unsigned
cudaLaunchHostFunc stream:cudaStream_t fn:pointer userData:pointer
cudaStreamBeginCapture stream:cudaStream_t mode:cudaStreamCaptureMode
cudaStreamEndCapture stream:cudaStream_t >cudaGraph_t
cudaStreamIsCapturing stream:cudaStream_t >cudaStreamCaptureStatus
cudaEventCreate >cudaEvent_t
cudaEventCreateWithFlags >cudaEvent_t flags:unsigned
cudaEventDestroy event:cudaEvent_t
cudaEventRecord event:cudaEvent_t stream:cudaStream_t
cudaEventRecordWithFlags event:cudaEvent_t stream:cudaStream_t flags:unsigned
cudaEventSynchronize event:cudaEvent_t
cudaEventQuery event:cudaEvent_t
cudaEventElapsedTime >float start:cudaEvent_t end:cudaEvent_t
cudaGraphCreate >cudaGraph_t flags:unsigned
cudaGraphInstantiate >cudaGraphExec_t graph:cudaGraph_t flags:flags64
cudaGraphInstantiateWithFlags >cudaGraphExec_t graph:cudaGraph_t flags:flags64
cudaGraphUpload graphExec:cudaGraphExec_t stream:cudaStream_t
cudaGraphLaunch graphExec:cudaGraphExec_t stream:cudaStream_t
cudaGraphExecUpdate hGraphExec:cudaGraphExec_t hGraph:cudaGraph_t >cudaGraphExecUpdateResultInfo
cudaGraphExecDestroy graphExec:cudaGraphExec_t
cudaGraphDestroy graph:cudaGraph_t
cudaProfilerStart
cudaProfilerStop
"""


def _error(code):
    try:
        return cudaError_t(code)
    except ValueError:
        return cudaError_t.cudaErrorUnknown


for _line in filter(None, _FUNCTIONS.splitlines()):
    globals()[_line.split()[0]] = _calls.define(_line, globals(), _error)


def cudaGetErrorName(error):
    """cudaGetErrorName(error): the name, as bytes."""
    return cudaError_t.cudaSuccess, _calls.library.cudaGetErrorName(int(error))


def cudaGetErrorString(error):
    """cudaGetErrorString(error): the error in words, as bytes."""
    return cudaError_t.cudaSuccess, _calls.library.cudaGetErrorString(int(error))


def cudaDeviceGetPCIBusId(length, device):
    """cudaDeviceGetPCIBusId(length, device): a device's place on PCI, as bytes, cut off at `length` with its final zero."""
    text = ctypes.create_string_buffer(max(1, length))
    error = _error(_calls.library.cudaDeviceGetPCIBusId(text, ctypes.c_int(length), ctypes.c_int(device)))
    return error, None if error else text.value


def cudaThreadExchangeStreamCaptureMode(mode):
    """cudaThreadExchangeStreamCaptureMode(mode): sets this thread's mode, and returns what it was."""
    exchanged = ctypes.c_int(mode)
    error = _error(_calls.library.cudaThreadExchangeStreamCaptureMode(ctypes.byref(exchanged)))
    return error, None if error else cudaStreamCaptureMode(exchanged.value)


def cudaGraphGetNodes(graph, numNodes=0):
    """cudaGraphGetNodes(graph, numNodes=0): up to `numNodes` nodes of a graph, and how many it has."""
    count = ctypes.c_size_t(numNodes)
    nodes = (ctypes.c_void_p * numNodes)() if numNodes else None
    error = _error(_calls.library.cudaGraphGetNodes(ctypes.c_void_p(int(graph)), nodes, ctypes.byref(count)))
    return (error, None, None) if error else (error, [cudaGraphNode_t(node or 0) for node in nodes or []], count.value)


class cudaMemAllocationType(enum.IntEnum):
    """What memory a pool has."""

    cudaMemAllocationTypeInvalid = 0
    cudaMemAllocationTypePinned = 1


class cudaMemAllocationHandleType(enum.IntEnum):
    """How a pool's memory may be shared with other processes."""

    cudaMemHandleTypeNone = 0
    cudaMemHandleTypePosixFileDescriptor = 1


class cudaMemLocationType(enum.IntEnum):
    """Where a pool's memory is."""

    cudaMemLocationTypeInvalid = 0
    cudaMemLocationTypeDevice = 1
    cudaMemLocationTypeHost = 2


class cudaMemPoolAttr(enum.IntEnum):
    """What may be asked and said of a pool."""

    cudaMemPoolReuseFollowEventDependencies = 1
    cudaMemPoolReuseAllowOpportunistic = 2
    cudaMemPoolReuseAllowInternalDependencies = 3
    cudaMemPoolAttrReleaseThreshold = 4


class cudaMemLocation:
    """A place of memory."""

    def __init__(self):
        self.type = cudaMemLocationType.cudaMemLocationTypeInvalid
        self.id = 0


class cudaMemPoolProps:
    """What a pool is to be like."""

    def __init__(self):
        self.allocType = cudaMemAllocationType.cudaMemAllocationTypeInvalid
        self.handleTypes = cudaMemAllocationHandleType.cudaMemHandleTypeNone
        self.location = cudaMemLocation()
        self.maxSize = 0


class cudaMemPool_t(_calls.Handle):
    """A pool of memory. All memory that streams allocate comes from one place, which every pool stands for."""

    __slots__ = ()


_POOL = 1  # the value of the one cudaMemPool_t


def cudaMemPoolCreate(poolProps):
    """cudaMemPoolCreate(poolProps): the one pool that there is."""
    made = (poolProps.allocType, poolProps.location.type, poolProps.location.id)
    wanted = (cudaMemAllocationType.cudaMemAllocationTypePinned, cudaMemLocationType.cudaMemLocationTypeDevice, 0)
    if made != wanted or poolProps.handleTypes:
        return cudaError_t.cudaErrorInvalidValue, None
    return cudaError_t.cudaSuccess, cudaMemPool_t(_POOL)


def cudaDeviceGetDefaultMemPool(device):
    """cudaDeviceGetDefaultMemPool(device): the one pool that there is."""
    return (cudaError_t.cudaErrorInvalidDevice, None) if device else (cudaError_t.cudaSuccess, cudaMemPool_t(_POOL))


def cudaMemPoolSetAttribute(memPool, attr, value):
    """cudaMemPoolSetAttribute(memPool, attr, value): taken, and not heeded."""
    cudaMemPoolAttr(attr)
    return (_pool_error(memPool),)


def cudaMemPoolDestroy(memPool):
    """cudaMemPoolDestroy(memPool): the one pool stays."""
    return (_pool_error(memPool),)


def cudaMallocFromPoolAsync(size, memPool, stream):
    """cudaMallocFromPoolAsync(size, memPool, stream): as cudaMallocAsync."""
    error = _pool_error(memPool)
    return (error, None) if error else globals()["cudaMallocAsync"](size, stream)


def _pool_error(pool):
    return cudaError_t.cudaSuccess if int(pool) == _POOL else cudaError_t.cudaErrorInvalidValue


__getattr__ = _calls.missing(__name__)
