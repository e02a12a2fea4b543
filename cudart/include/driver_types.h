// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of the CUDA runtime's host API, with the names, values and layouts of CUDA 13.0.
// The include guards are those of NVIDIA's headers, so that a program that meets both gets the first only. A CUDA
// compiler gets its own.

#if defined(__CUDACC__)
#pragma GCC system_header  // for include_next
#include_next <driver_types.h>
#elif !defined(__DRIVER_TYPES_H__)
#define __DRIVER_TYPES_H__

#include <stddef.h>

#include "host_defines.h"
#include "vector_types.h"

// Flags of cudaHostAlloc.
#define cudaHostAllocDefault 0x00            //!< Pinned memory.
#define cudaHostAllocPortable 0x01           //!< Pinned for all devices.
#define cudaHostAllocMapped 0x02             //!< Also mapped for the device.
#define cudaHostAllocWriteCombined 0x04      //!< Fast to write and slow to read on the host.

// Flags of cudaHostRegister.
#define cudaHostRegisterDefault 0x00         //!< Pin the memory.
#define cudaHostRegisterPortable 0x01        //!< Pin it for all devices.
#define cudaHostRegisterMapped 0x02          //!< Also map it for the device.
#define cudaHostRegisterIoMemory 0x04        //!< It is memory of an I/O device.
#define cudaHostRegisterReadOnly 0x08        //!< The device only reads it.

// Flags of streams.
#define cudaStreamDefault 0x00               //!< Waits for the legacy default stream, and it for this one.
#define cudaStreamNonBlocking 0x01           //!< Independent of the legacy default stream.

// Flags of events.
#define cudaEventDefault 0x00                //!< Keeps time; waiting spins.
#define cudaEventBlockingSync 0x01           //!< Waiting sleeps.
#define cudaEventDisableTiming 0x02          //!< Keeps no time and is cheaper.
#define cudaEventInterprocess 0x04           //!< Can be shared with another process.

// Flags of cudaEventRecordWithFlags and cudaStreamWaitEvent.
#define cudaEventRecordDefault 0x00          //!< Record.
#define cudaEventRecordExternal 0x01         //!< Record as a node of the captured graph.
#define cudaEventWaitDefault 0x00            //!< Wait.
#define cudaEventWaitExternal 0x01           //!< Wait as a node of the captured graph.

// Flags of cudaSetDeviceFlags: how the host waits, and what is prepared.
#define cudaDeviceScheduleAuto 0x00          //!< The runtime decides.
#define cudaDeviceScheduleSpin 0x01          //!< Spin.
#define cudaDeviceScheduleYield 0x02         //!< Yield the processor.
#define cudaDeviceScheduleBlockingSync 0x04  //!< Sleep.
#define cudaDeviceBlockingSync 0x04          //!< Old name of the same.
#define cudaDeviceScheduleMask 0x07          //!< The bits above.
#define cudaDeviceMapHost 0x08               //!< Allow mapped host memory.
#define cudaDeviceLmemResizeToMax 0x10       //!< Keep local memory at its largest size.
#define cudaDeviceSyncMemops 0x80            //!< Copies wait until they are done.
#define cudaDeviceMask 0xff                  //!< All bits.
#define cudaInitDeviceFlagsAreValid 0x01     //!< cudaInitDevice: heed the flags.

// Flags of cudaMallocManaged.
#define cudaMemAttachGlobal 0x01             //!< Any stream may use the memory.
#define cudaMemAttachHost 0x02               //!< No stream may, until it is attached.
#define cudaMemAttachSingle 0x04             //!< One stream may.

// Flag of cudaDeviceEnablePeerAccess.
#define cudaPeerAccessDefault 0x00           //!< No option.

#define cudaCpuDeviceId ((int)-1)      //!< The host, where a device number is asked for.
#define cudaInvalidDeviceId ((int)-2)  //!< No device.

#define cudaStreamLegacy ((cudaStream_t)0x1)     //!< The default stream that all threads share.
#define cudaStreamPerThread ((cudaStream_t)0x2)  //!< The default stream of the calling thread.

//! Calling convention of callbacks.
#define CUDART_CB

//! What a call returns. Errors of earlier asynchronous work also show up here.
enum cudaError {
  cudaSuccess = 0,                   //!< The call succeeded; for a query: everything asked about has finished.
  cudaErrorInvalidValue = 1,         //!< An argument is outside its allowed range, or null where it must not be.
  cudaErrorMemoryAllocation = 2,     //!< Not enough memory.
  cudaErrorInitializationError = 3,  //!< The runtime could not start.
  cudaErrorCudartUnloading = 4,      //!< The process is ending; the runtime is gone.
  cudaErrorProfilerDisabled = 5,     //!< Profiling is switched off for this run.
  cudaErrorProfilerNotInitialized = 6,
  cudaErrorProfilerAlreadyStarted = 7,
  cudaErrorProfilerAlreadyStopped = 8,
  cudaErrorInvalidConfiguration = 9,   //!< A launch asks for more threads, blocks or shared memory than there can be.
  cudaErrorInvalidPitchValue = 12,     //!< A pitch is too large or smaller than the width.
  cudaErrorInvalidSymbol = 13,         //!< There is no device variable of that name.
  cudaErrorInvalidHostPointer = 16,    //!< Not a valid host pointer.
  cudaErrorInvalidDevicePointer = 17,  //!< Not a valid device pointer.
  cudaErrorInvalidTexture = 18,
  cudaErrorInvalidTextureBinding = 19,
  cudaErrorInvalidChannelDescriptor = 20,
  cudaErrorInvalidMemcpyDirection = 21,  //!< The copy kind is none of cudaMemcpyKind.
  cudaErrorAddressOfConstant = 22,
  cudaErrorTextureFetchFailed = 23,
  cudaErrorTextureNotBound = 24,
  cudaErrorSynchronizationError = 25,
  cudaErrorInvalidFilterSetting = 26,
  cudaErrorInvalidNormSetting = 27,
  cudaErrorMixedDeviceExecution = 28,
  cudaErrorNotYetImplemented = 31,
  cudaErrorMemoryValueTooLarge = 32,
  cudaErrorStubLibrary = 34,              //!< The driver library that was found is a stub for linking.
  cudaErrorInsufficientDriver = 35,       //!< The installed driver is older than the runtime.
  cudaErrorCallRequiresNewerDriver = 36,  //!< This call needs a newer driver.
  cudaErrorInvalidSurface = 37,
  cudaErrorDuplicateVariableName = 43,
  cudaErrorDuplicateTextureName = 44,
  cudaErrorDuplicateSurfaceName = 45,
  cudaErrorDevicesUnavailable = 46,         //!< All devices are busy or forbidden.
  cudaErrorIncompatibleDriverContext = 49,  //!< The current driver context cannot be used by the runtime.
  cudaErrorMissingConfiguration = 52,       //!< A launch without a configuration.
  cudaErrorPriorLaunchFailure = 53,
  cudaErrorLaunchMaxDepthExceeded = 65,
  cudaErrorLaunchFileScopedTex = 66,
  cudaErrorLaunchFileScopedSurf = 67,
  cudaErrorSyncDepthExceeded = 68,
  cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorInvalidDeviceFunction = 98,  //!< The kernel does not exist, or not for this device.
  cudaErrorNoDevice = 100,              //!< There is no device.
  cudaErrorInvalidDevice = 101,         //!< The device number is out of range, or the device cannot do what is asked.
  cudaErrorDeviceNotLicensed = 102,     //!< The device has no valid licence.
  cudaErrorSoftwareValidityNotEstablished = 103,
  cudaErrorStartupFailure = 127,       //!< The runtime is broken inside.
  cudaErrorInvalidKernelImage = 200,   //!< The kernel image is damaged.
  cudaErrorDeviceUninitialized = 201,  //!< No context is current.
  cudaErrorMapBufferObjectFailed = 205,
  cudaErrorUnmapBufferObjectFailed = 206,
  cudaErrorArrayIsMapped = 207,
  cudaErrorAlreadyMapped = 208,
  cudaErrorNoKernelImageForDevice = 209,  //!< The program holds no code for this device.
  cudaErrorAlreadyAcquired = 210,
  cudaErrorNotMapped = 211,
  cudaErrorNotMappedAsArray = 212,
  cudaErrorNotMappedAsPointer = 213,
  cudaErrorECCUncorrectable = 214,       //!< A memory error that ECC could not mend.
  cudaErrorUnsupportedLimit = 215,       //!< The device has no such limit.
  cudaErrorDeviceAlreadyInUse = 216,     //!< Another thread uses the device exclusively.
  cudaErrorPeerAccessUnsupported = 217,  //!< The two devices cannot reach each other's memory.
  cudaErrorInvalidPtx = 218,             //!< PTX code did not compile.
  cudaErrorInvalidGraphicsContext = 219,
  cudaErrorNvlinkUncorrectable = 220,
  cudaErrorJitCompilerNotFound = 221,    //!< The PTX compiler library is missing.
  cudaErrorUnsupportedPtxVersion = 222,  //!< The PTX is newer than the compiler.
  cudaErrorJitCompilationDisabled = 223,
  cudaErrorUnsupportedExecAffinity = 224,
  cudaErrorUnsupportedDevSideSync = 225,
  cudaErrorContained = 226,
  cudaErrorInvalidSource = 300,
  cudaErrorFileNotFound = 301,                //!< A file was not found.
  cudaErrorSharedObjectSymbolNotFound = 302,  //!< A shared library lacks a symbol.
  cudaErrorSharedObjectInitFailed = 303,      //!< A shared library could not be initialized.
  cudaErrorOperatingSystem = 304,             //!< A call of the operating system failed.
  cudaErrorInvalidResourceHandle = 400,       //!< Not a valid stream, event or graph; it may have been destroyed.
  cudaErrorIllegalState = 401,                //!< The resource is in the wrong state for this call.
  cudaErrorLossyQuery = 402,
  cudaErrorSymbolNotFound = 500,        //!< A named symbol was not found.
  cudaErrorNotReady = 600,              //!< The work asked about has not finished; not a failure.
  cudaErrorIllegalAddress = 700,        //!< A kernel touched memory that is not its own; the process must be restarted.
  cudaErrorLaunchOutOfResources = 701,  //!< A launch needs more registers or threads than the device has.
  cudaErrorLaunchTimeout = 702,         //!< A kernel ran longer than the system allows.
  cudaErrorLaunchIncompatibleTexturing = 703,
  cudaErrorPeerAccessAlreadyEnabled = 704,  //!< Peer access was enabled before.
  cudaErrorPeerAccessNotEnabled = 705,      //!< Peer access was not enabled.
  cudaErrorSetOnActiveProcess = 708,
  cudaErrorContextIsDestroyed = 709,  //!< The current context has been destroyed.
  cudaErrorAssert = 710,              //!< An assertion in a kernel failed.
  cudaErrorTooManyPeers = 711,
  cudaErrorHostMemoryAlreadyRegistered = 712,  //!< The memory was registered before.
  cudaErrorHostMemoryNotRegistered = 713,      //!< The memory was not registered.
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,  //!< A kernel ran into an illegal instruction.
  cudaErrorMisalignedAddress = 716,   //!< A kernel used a misaligned address.
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,  //!< A kernel failed while it ran.
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorTensorMemoryLeak = 721,
  cudaErrorNotPermitted = 800,                //!< The call is not allowed here, as in a host function on a stream.
  cudaErrorNotSupported = 801,                //!< This system or device cannot do it.
  cudaErrorSystemNotReady = 802,              //!< The system is not yet ready for CUDA work.
  cudaErrorSystemDriverMismatch = 803,        //!< Driver and system software do not fit together.
  cudaErrorCompatNotSupportedOnDevice = 804,  //!< The device does not support forward compatibility.
  cudaErrorMpsConnectionFailed = 805,
  cudaErrorMpsRpcFailure = 806,
  cudaErrorMpsServerNotReady = 807,
  cudaErrorMpsMaxClientsReached = 808,
  cudaErrorMpsMaxConnectionsReached = 809,
  cudaErrorMpsClientTerminated = 810,
  cudaErrorCdpNotSupported = 811,
  cudaErrorCdpVersionMismatch = 812,
  cudaErrorStreamCaptureUnsupported = 900,  //!< The call is not allowed while the stream is being captured.
  cudaErrorStreamCaptureInvalidated = 901,  //!< An earlier error has spoilt the capture.
  cudaErrorStreamCaptureMerge = 902,        //!< The call would join two captures.
  cudaErrorStreamCaptureUnmatched = 903,    //!< The capture did not begin on this stream.
  cudaErrorStreamCaptureUnjoined = 904,     //!< The capture ends with work on other streams that was not joined.
  cudaErrorStreamCaptureIsolation = 905,    //!< The call would make captured work depend on work outside the capture.
  cudaErrorStreamCaptureImplicit = 906,     //!< The call would use the default stream, which a capture forbids.
  cudaErrorCapturedEvent = 907,             //!< The event was last recorded in a capture.
  cudaErrorStreamCaptureWrongThread = 908,  //!< Another thread began the capture.
  cudaErrorTimeout = 909,                   //!< The call ran out of time.
  cudaErrorGraphExecUpdateFailure = 910,    //!< The graph cannot be updated in place.
  cudaErrorExternalDevice = 911,
  cudaErrorInvalidClusterSize = 912,
  cudaErrorFunctionNotLoaded = 913,
  cudaErrorInvalidResourceType = 914,
  cudaErrorInvalidResourceConfiguration = 915,
  cudaErrorUnknown = 999,           //!< An unknown failure inside.
  cudaErrorApiFailureBase = 10000,  //!< Not used any more.
};

typedef enum cudaError cudaError_t;                //!< What a call returns.
typedef struct CUstream_st* cudaStream_t;          //!< A queue of work that runs in order; null is the default stream.
typedef struct CUevent_st* cudaEvent_t;            //!< A mark in a stream that can be waited for and timed.
typedef struct CUgraph_st* cudaGraph_t;            //!< Work recorded from a stream.
typedef struct CUgraphNode_st* cudaGraphNode_t;    //!< One piece of work of a graph.
typedef struct CUgraphExec_st* cudaGraphExec_t;    //!< A graph that is ready to be launched.
typedef struct CUmemPoolHandle_st* cudaMemPool_t;  //!< A pool of device memory.

#include "kiln_launch_types.h"

//! A function that a stream calls on the host; it must not call this API.
typedef void(CUDART_CB* cudaHostFn_t)(void* userData);

//! Direction of a copy.
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,      //!< Host to host.
  cudaMemcpyHostToDevice = 1,    //!< Host to device.
  cudaMemcpyDeviceToHost = 2,    //!< Device to host.
  cudaMemcpyDeviceToDevice = 3,  //!< Device to device.
  cudaMemcpyDefault = 4,         //!< Worked out from the pointers.
};

//! Where memory is, as cudaPointerGetAttributes reports it.
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,  //!< Host memory that the runtime does not know.
  cudaMemoryTypeHost = 1,          //!< Pinned host memory.
  cudaMemoryTypeDevice = 2,        //!< Device memory.
  cudaMemoryTypeManaged = 3,       //!< Managed memory, reachable from both sides.
};

//! Who may use a device.
enum cudaComputeMode {
  cudaComputeModeDefault = 0,           //!< Any number of threads and processes.
  cudaComputeModeExclusive = 1,         //!< One thread; not used any more.
  cudaComputeModeProhibited = 2,        //!< Nobody.
  cudaComputeModeExclusiveProcess = 3,  //!< One process.
};

//! Whether a stream records a graph instead of running work.
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,    //!< It runs work.
  cudaStreamCaptureStatusActive = 1,  //!< It records.
  cudaStreamCaptureStatusInvalidated =
      2,  //!< It recorded, and an error has spoilt the graph; the capture must still be ended.
};

//! Which unsafe calls are forbidden during a capture.
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,       //!< Those of all threads.
  cudaStreamCaptureModeThreadLocal = 1,  //!< Those of the capturing thread.
  cudaStreamCaptureModeRelaxed = 2,      //!< None.
};

//! Options of cudaGraphInstantiate, or-ed together.
enum cudaGraphInstantiateFlags {
  cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,  //!< Free what the graph allocated before it is launched again.
  cudaGraphInstantiateFlagUpload = 2,            //!< Upload it at once.
  cudaGraphInstantiateFlagDeviceLaunch = 4,      //!< Let kernels launch it.
  cudaGraphInstantiateFlagUseNodePriority = 8,   //!< Use the priorities of the nodes, not that of the stream.
};

//! Resource limits of a device.
enum cudaLimit {
  cudaLimitStackSize = 0,                     //!< Stack of a kernel's thread, bytes.
  cudaLimitPrintfFifoSize = 1,                //!< Buffer of printf in kernels, bytes.
  cudaLimitMallocHeapSize = 2,                //!< Heap of malloc in kernels, bytes.
  cudaLimitDevRuntimeSyncDepth = 3,           //!< Depth of synchronization between nested kernels.
  cudaLimitDevRuntimePendingLaunchCount = 4,  //!< Launches that nested kernels may have pending.
  cudaLimitMaxL2FetchGranularity = 5,         //!< Granularity of fetches into the L2 cache, bytes.
  cudaLimitPersistingL2CacheSize = 6,         //!< L2 cache set aside for persisting data, bytes.
};

//! Why a graph could not be updated in place.
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,                         //!< It was updated.
  cudaGraphExecUpdateError = 1,                           //!< Some other reason: see the call's result.
  cudaGraphExecUpdateErrorTopologyChanged = 2,            //!< The nodes or their order differ.
  cudaGraphExecUpdateErrorNodeTypeChanged = 3,            //!< A node has another type.
  cudaGraphExecUpdateErrorFunctionChanged = 4,            //!< A kernel node has another function.
  cudaGraphExecUpdateErrorParametersChanged = 5,          //!< Parameters differ that cannot be changed.
  cudaGraphExecUpdateErrorNotSupported = 6,               //!< The node cannot be updated.
  cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7,  //!< The function differs in a way that cannot be updated.
  cudaGraphExecUpdateErrorAttributesChanged = 8,          //!< Attributes differ that cannot be changed.
};

//! Facts about a device that cudaDeviceGetAttribute returns as one int; most are also members of cudaDeviceProp. The
//! sizes are in bytes, the clock rates in kHz; a yes is 1.
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrMaxTexture1DWidth = 21,
  cudaDevAttrMaxTexture2DWidth = 22,
  cudaDevAttrMaxTexture2DHeight = 23,
  cudaDevAttrMaxTexture3DWidth = 24,
  cudaDevAttrMaxTexture3DHeight = 25,
  cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrMaxTexture2DLayeredWidth = 27,
  cudaDevAttrMaxTexture2DLayeredHeight = 28,
  cudaDevAttrMaxTexture2DLayeredLayers = 29,
  cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrMaxTexture1DLayeredWidth = 42,
  cudaDevAttrMaxTexture1DLayeredLayers = 43,
  cudaDevAttrMaxTexture2DGatherWidth = 45,
  cudaDevAttrMaxTexture2DGatherHeight = 46,
  cudaDevAttrMaxTexture3DWidthAlt = 47,
  cudaDevAttrMaxTexture3DHeightAlt = 48,
  cudaDevAttrMaxTexture3DDepthAlt = 49,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrTexturePitchAlignment = 51,
  cudaDevAttrMaxTextureCubemapWidth = 52,
  cudaDevAttrMaxTextureCubemapLayeredWidth = 53,
  cudaDevAttrMaxTextureCubemapLayeredLayers = 54,
  cudaDevAttrMaxSurface1DWidth = 55,
  cudaDevAttrMaxSurface2DWidth = 56,
  cudaDevAttrMaxSurface2DHeight = 57,
  cudaDevAttrMaxSurface3DWidth = 58,
  cudaDevAttrMaxSurface3DHeight = 59,
  cudaDevAttrMaxSurface3DDepth = 60,
  cudaDevAttrMaxSurface1DLayeredWidth = 61,
  cudaDevAttrMaxSurface1DLayeredLayers = 62,
  cudaDevAttrMaxSurface2DLayeredWidth = 63,
  cudaDevAttrMaxSurface2DLayeredHeight = 64,
  cudaDevAttrMaxSurface2DLayeredLayers = 65,
  cudaDevAttrMaxSurfaceCubemapWidth = 66,
  cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67,
  cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
  cudaDevAttrMaxTexture1DLinearWidth = 69,
  cudaDevAttrMaxTexture2DLinearWidth = 70,
  cudaDevAttrMaxTexture2DLinearHeight = 71,
  cudaDevAttrMaxTexture2DLinearPitch = 72,
  cudaDevAttrMaxTexture2DMipmappedWidth = 73,
  cudaDevAttrMaxTexture2DMipmappedHeight = 74,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxTexture1DMipmappedWidth = 77,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrReserved92 = 92,
  cudaDevAttrReserved93 = 93,
  cudaDevAttrReserved94 = 94,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrReserved96 = 96,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrCanFlushRemoteWrites = 98,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrSparseCudaArraySupported = 112,
  cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrTimelineSemaphoreInteropSupported = 114,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrGPUDirectRDMASupported = 116,
  cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
  cudaDevAttrGPUDirectRDMAWritesOrdering = 118,
  cudaDevAttrMemoryPoolSupportedHandleTypes = 119,
  cudaDevAttrClusterLaunch = 120,
  cudaDevAttrDeferredMappingCudaArraySupported = 121,
  cudaDevAttrReserved122 = 122,
  cudaDevAttrReserved123 = 123,
  cudaDevAttrReserved124 = 124,
  cudaDevAttrIpcEventSupport = 125,
  cudaDevAttrMemSyncDomainCount = 126,
  cudaDevAttrReserved127 = 127,
  cudaDevAttrReserved128 = 128,
  cudaDevAttrReserved129 = 129,
  cudaDevAttrNumaConfig = 130,
  cudaDevAttrNumaId = 131,
  cudaDevAttrReserved132 = 132,
  cudaDevAttrMpsEnabled = 133,
  cudaDevAttrHostNumaId = 134,
  cudaDevAttrD3D12CigSupported = 135,
  cudaDevAttrVulkanCigSupported = 138,
  cudaDevAttrGpuPciDeviceId = 139,
  cudaDevAttrGpuPciSubsystemId = 140,
  cudaDevAttrReserved141 = 141,
  cudaDevAttrHostNumaMemoryPoolsSupported = 142,
  cudaDevAttrHostNumaMultinodeIpcSupported = 143,
  cudaDevAttrHostMemoryPoolsSupported = 144,
  cudaDevAttrReserved145 = 145,
  cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147,
  cudaDevAttrMax = 148,
};

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
//! Identity of a device: 16 bytes.
struct CUuuid_st {
  char bytes[16];
};
typedef struct CUuuid_st CUuuid;
#endif
typedef struct CUuuid_st cudaUUID_t;  //!< Identity of a device.

//! What cudaGetDeviceProperties tells about a device.
struct cudaDeviceProp {
  char name[256];                              //!< Name, for people.
  cudaUUID_t uuid;                             //!< Identity of the device.
  char luid[8];                                //!< Locally unique identity (Windows).
  unsigned int luidDeviceNodeMask;             //!< Node of the luid (Windows).
  size_t totalGlobalMem;                       //!< Device memory, bytes.
  size_t sharedMemPerBlock;                    //!< Shared memory of a block, bytes.
  int regsPerBlock;                            //!< 32-bit registers of a block.
  int warpSize;                                //!< Threads of a warp.
  size_t memPitch;                             //!< Largest pitch of a copy, bytes.
  int maxThreadsPerBlock;                      //!< Threads of a block.
  int maxThreadsDim[3];                        //!< Extents of a block: x, y, z.
  int maxGridSize[3];                          //!< Extents of a grid: x, y, z.
  size_t totalConstMem;                        //!< Constant memory, bytes.
  int major;                                   //!< Compute capability before the dot.
  int minor;                                   //!< Compute capability after the dot.
  size_t textureAlignment;                     //!< Alignment of textures, bytes.
  size_t texturePitchAlignment;                //!< Alignment of a texture's rows, bytes.
  int multiProcessorCount;                     //!< Multiprocessors.
  int integrated;                              //!< 1: shares memory with the host.
  int canMapHostMemory;                        //!< 1: can map host memory.
  int maxTexture1D;                            //!< Largest extents of textures of this kind.
  int maxTexture1DMipmap;                      //!< Largest extents of textures of this kind.
  int maxTexture2D[2];                         //!< Largest extents of textures of this kind.
  int maxTexture2DMipmap[2];                   //!< Largest extents of textures of this kind.
  int maxTexture2DLinear[3];                   //!< Largest extents of textures of this kind.
  int maxTexture2DGather[2];                   //!< Largest extents of textures of this kind.
  int maxTexture3D[3];                         //!< Largest extents of textures of this kind.
  int maxTexture3DAlt[3];                      //!< Largest extents of textures of this kind.
  int maxTextureCubemap;                       //!< Largest extents of textures of this kind.
  int maxTexture1DLayered[2];                  //!< Largest extents of textures of this kind.
  int maxTexture2DLayered[3];                  //!< Largest extents of textures of this kind.
  int maxTextureCubemapLayered[2];             //!< Largest extents of textures of this kind.
  int maxSurface1D;                            //!< Largest extents of surfaces of this kind.
  int maxSurface2D[2];                         //!< Largest extents of surfaces of this kind.
  int maxSurface3D[3];                         //!< Largest extents of surfaces of this kind.
  int maxSurface1DLayered[2];                  //!< Largest extents of surfaces of this kind.
  int maxSurface2DLayered[3];                  //!< Largest extents of surfaces of this kind.
  int maxSurfaceCubemap;                       //!< Largest extents of surfaces of this kind.
  int maxSurfaceCubemapLayered[2];             //!< Largest extents of surfaces of this kind.
  size_t surfaceAlignment;                     //!< Alignment of surfaces, bytes.
  int concurrentKernels;                       //!< 1: runs several kernels at a time.
  int ECCEnabled;                              //!< 1: memory errors are corrected.
  int pciBusID;                                //!< Bus on PCI.
  int pciDeviceID;                             //!< Device on PCI.
  int pciDomainID;                             //!< Domain on PCI.
  int tccDriver;                               //!< 1: driven by TCC (Windows).
  int asyncEngineCount;                        //!< Copy engines.
  int unifiedAddressing;                       //!< 1: one address space with the host.
  int memoryBusWidth;                          //!< Width of the memory bus, bits.
  int l2CacheSize;                             //!< L2 cache, bytes.
  int persistingL2CacheMaxSize;                //!< Share of L2 that can hold persisting data, bytes.
  int maxThreadsPerMultiProcessor;             //!< Resident threads of a multiprocessor.
  int streamPrioritiesSupported;               //!< 1: streams have priorities.
  int globalL1CacheSupported;                  //!< 1: L1 caches globals.
  int localL1CacheSupported;                   //!< 1: L1 caches locals.
  size_t sharedMemPerMultiprocessor;           //!< Shared memory of a multiprocessor, bytes.
  int regsPerMultiprocessor;                   //!< 32-bit registers of a multiprocessor.
  int managedMemory;                           //!< 1: has managed memory.
  int isMultiGpuBoard;                         //!< 1: one of several on a board.
  int multiGpuBoardGroupID;                    //!< Which board that is.
  int hostNativeAtomicSupported;               //!< 1: atomics work on host memory.
  int pageableMemoryAccess;                    //!< 1: reads pageable host memory.
  int concurrentManagedAccess;                 //!< 1: managed memory may be used from both sides at once.
  int computePreemptionSupported;              //!< 1: kernels can be preempted.
  int canUseHostPointerForRegisteredMem;       //!< 1: registered memory has one address for both sides.
  int cooperativeLaunch;                       //!< 1: has cooperative launches.
  size_t sharedMemPerBlockOptin;               //!< Shared memory of a block on request, bytes.
  int pageableMemoryAccessUsesHostPageTables;  //!< 1: pageable access goes through the host's page tables.
  int directManagedMemAccessFromHost;          //!< 1: the host reads managed memory in place.
  int maxBlocksPerMultiProcessor;              //!< Resident blocks of a multiprocessor.
  int accessPolicyMaxWindowSize;               //!< Largest access policy window, bytes.
  size_t reservedSharedMemPerBlock;            //!< Shared memory that the system takes of each block, bytes.
  int hostRegisterSupported;                   //!< 1: has cudaHostRegister.
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;  //!< 1: has cudaMallocAsync.
  int gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;  //!< 1: has clusters of blocks.
  int unifiedFunctionPointers;
  int deviceNumaConfig;
  int deviceNumaId;
  int mpsEnabled;  //!< 1: runs under a multi-process service.
  int hostNumaId;
  unsigned int gpuPciDeviceID;
  unsigned int gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[56];  //!< For later versions.
};

//! What cudaPointerGetAttributes tells about a pointer.
struct cudaPointerAttributes {
  enum cudaMemoryType type;  //!< Where the memory is.
  int device;                //!< Its device, or -2.
  void* devicePointer;       //!< Its address on the device, or null.
  void* hostPointer;         //!< Its address on the host, or null.
  long reserved[8];          //!< For later versions.
};

//! Where an update of a graph failed.
typedef struct cudaGraphExecUpdateResultInfo_st {
  enum cudaGraphExecUpdateResult result;  //!< Why.
  cudaGraphNode_t errorNode;              //!< The node of the new graph, or null.
  cudaGraphNode_t errorFromNode;          //!< The node of the old graph, or null.
} cudaGraphExecUpdateResultInfo;

#endif  // __DRIVER_TYPES_H__
