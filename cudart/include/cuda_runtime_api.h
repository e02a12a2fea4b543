// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The host API of the CUDA runtime that TensorRT programs use, with the names and signatures of CUDA 13.0, for C and
// C++. Every call returns cudaSuccess or why it failed, and remembers a failure for cudaGetLastError.

#if defined(__CUDACC__)
#pragma GCC system_header  // for include_next
#include_next <cuda_runtime_api.h>
#if CUDART_VERSION / 1000 != 13
#error "Kiln's CUDA runtime is CUDA 13's; this compiler brings the headers of another version"
#endif
#elif !defined(__CUDA_RUNTIME_API_H__)
#define __CUDA_RUNTIME_API_H__

#include <stddef.h>

#include "driver_types.h"
#include "host_defines.h"

//! Version of this API: 1000 * major + 10 * minor.
#define CUDART_VERSION 13000

// A default argument, where the language has them.
#if defined(__cplusplus)
#define KILN_CUDART_DEFAULT(value) = value
#else
#define KILN_CUDART_DEFAULT(value)
#endif

// With CUDA_API_PER_THREAD_DEFAULT_STREAM, stream 0 is the calling thread's own: the calls are those with another
// suffix.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define cudaMallocAsync cudaMallocAsync_ptsz
#define cudaFreeAsync cudaFreeAsync_ptsz
#define cudaMemcpy cudaMemcpy_ptds
#define cudaMemcpyAsync cudaMemcpyAsync_ptsz
#define cudaMemcpy2D cudaMemcpy2D_ptds
#define cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz
#define cudaMemset cudaMemset_ptds
#define cudaMemsetAsync cudaMemsetAsync_ptsz
#define cudaMemset2D cudaMemset2D_ptds
#define cudaStreamSynchronize cudaStreamSynchronize_ptsz
#define cudaStreamQuery cudaStreamQuery_ptsz
#define cudaStreamWaitEvent cudaStreamWaitEvent_ptsz
#define cudaStreamGetPriority cudaStreamGetPriority_ptsz
#define cudaStreamGetFlags cudaStreamGetFlags_ptsz
#define cudaStreamAddCallback cudaStreamAddCallback_ptsz
#define cudaLaunchHostFunc cudaLaunchHostFunc_ptsz
#define cudaStreamBeginCapture cudaStreamBeginCapture_ptsz
#define cudaStreamEndCapture cudaStreamEndCapture_ptsz
#define cudaStreamIsCapturing cudaStreamIsCapturing_ptsz
#define cudaEventRecord cudaEventRecord_ptsz
#define cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz
#define cudaGraphUpload cudaGraphUpload_ptsz
#define cudaGraphLaunch cudaGraphLaunch_ptsz
#define cudaLaunchKernel cudaLaunchKernel_ptsz
#define cudaLaunchKernelExC cudaLaunchKernelExC_ptsz
#define cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz
#define cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds
#define cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds
#define cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz
#define cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz
#endif

#if defined(__cplusplus)
extern "C" {
#endif

//! As cudaHostFn_t, also told the stream and its status; not for new programs.
typedef void(CUDART_CB* cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* userData);

// --- Errors

//! The last error of the calling thread, which is then forgotten.
cudaError_t CUDARTAPI cudaGetLastError(void);
//! The last error of the calling thread.
cudaError_t CUDARTAPI cudaPeekAtLastError(void);
//! Name of an error, as "cudaErrorNoDevice".
const char* CUDARTAPI cudaGetErrorName(cudaError_t error);
//! An error in words.
const char* CUDARTAPI cudaGetErrorString(cudaError_t error);

// --- Devices and versions

//! Number of devices.
cudaError_t CUDARTAPI cudaGetDeviceCount(int* count);
//! The calling thread's device.
cudaError_t CUDARTAPI cudaGetDevice(int* device);
//! Makes a device the calling thread's.
cudaError_t CUDARTAPI cudaSetDevice(int device);
//! Prepares a device without making it current.
cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
//! Describes a device.
cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device);
//! One fact about a device.
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device);
//! A device's place on PCI as text, cut off at len.
cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* pciBusId, int len, int device);
//! Waits for all work of the current device.
cudaError_t CUDARTAPI cudaDeviceSynchronize(void);
//! Drops all memory and work of the current device.
cudaError_t CUDARTAPI cudaDeviceReset(void);
//! The priorities that streams can have; the greatest is the smaller number.
cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority);
//! Whether one device reaches the memory of another.
cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice);
//! Lets the current device reach another's memory.
cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
//! Takes that back.
cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peerDevice);
//! Sets a resource limit.
cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
//! A resource limit.
cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t* pValue, enum cudaLimit limit);
//! How the host waits for the current device.
cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags);
//! What SetDeviceFlags set.
cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int* flags);
//! CUDART_VERSION of the library that is loaded.
cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* runtimeVersion);
//! The newest CUDA version that the driver supports; 0 if there is no driver.
cudaError_t CUDARTAPI cudaDriverGetVersion(int* driverVersion);

// --- Memory

//! Allocates device memory.
cudaError_t CUDARTAPI cudaMalloc(void** devPtr, size_t size);
//! Frees it, after all work that uses it; null is allowed.
cudaError_t CUDARTAPI cudaFree(void* devPtr);
//! Allocates pinned host memory.
cudaError_t CUDARTAPI cudaMallocHost(void** ptr, size_t size);
//! Frees it; null is allowed.
cudaError_t CUDARTAPI cudaFreeHost(void* ptr);
//! Allocates pinned host memory with cudaHostAlloc* flags.
cudaError_t CUDARTAPI cudaHostAlloc(void** pHost, size_t size, unsigned int flags);
//! Pins memory of the program.
cudaError_t CUDARTAPI cudaHostRegister(void* ptr, size_t size, unsigned int flags);
//! Takes that back.
cudaError_t CUDARTAPI cudaHostUnregister(void* ptr);
//! The address at which a device sees mapped host memory.
cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags);
//! The flags that host memory was allocated with.
cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int* pFlags, void* pHost);
//! Allocates memory that host and devices share.
cudaError_t CUDARTAPI cudaMallocManaged(void** devPtr, size_t size,
                                        unsigned int flags KILN_CUDART_DEFAULT(cudaMemAttachGlobal));
//! Allocates device memory in the order of a stream.
cudaError_t CUDARTAPI cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream);
//! Frees it in the order of a stream.
cudaError_t CUDARTAPI cudaFreeAsync(void* devPtr, cudaStream_t hStream);
//! Free and total memory of the current device, bytes.
cudaError_t CUDARTAPI cudaMemGetInfo(size_t* free, size_t* total);
//! Where a pointer points to.
cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* ptr);
//! Copies bytes and waits.
cudaError_t CUDARTAPI cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
//! Copies bytes in the order of a stream.
cudaError_t CUDARTAPI cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind,
                                      cudaStream_t stream KILN_CUDART_DEFAULT(0));
//! Copies height rows of width bytes that are a pitch apart, and waits.
cudaError_t CUDARTAPI cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind);
//! The same in the order of a stream.
cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                        size_t height, enum cudaMemcpyKind kind,
                                        cudaStream_t stream KILN_CUDART_DEFAULT(0));
//! Sets bytes.
cudaError_t CUDARTAPI cudaMemset(void* devPtr, int value, size_t count);
//! Sets bytes in the order of a stream.
cudaError_t CUDARTAPI cudaMemsetAsync(void* devPtr, int value, size_t count,
                                      cudaStream_t stream KILN_CUDART_DEFAULT(0));
//! Sets height rows of width bytes.
cudaError_t CUDARTAPI cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height);

// --- Streams

//! Creates a stream.
cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* pStream);
//! Creates a stream with cudaStream* flags.
cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags);
//! Creates a stream with a priority; it is clamped to the range.
cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority);
//! Destroys a stream when its work is done; does not wait.
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream);
//! Waits for all work of a stream.
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream);
//! cudaErrorNotReady while a stream has work.
cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream);
//! Makes later work of a stream wait for an event.
cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                          unsigned int flags KILN_CUDART_DEFAULT(0));
//! Priority of a stream.
cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t hStream, int* priority);
//! Flags of a stream.
cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t hStream, unsigned int* flags);
//! Calls a function on the host in the order of a stream; cudaLaunchHostFunc is its successor.
cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                            unsigned int flags);
//! Calls a function on the host in the order of a stream.
cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData);
//! Makes a stream record a graph instead of running work.
cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
//! Ends that and gives the graph.
cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph);
//! Whether a stream records.
cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* pCaptureStatus);
//! Swaps the calling thread's capture mode.
cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode);

// --- Events

//! Creates an event.
cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event);
//! Creates an event with cudaEvent* flags.
cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
//! Destroys an event.
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event);
//! Marks the end of the work that a stream has now.
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream KILN_CUDART_DEFAULT(0));
//! The same with flags.
cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream KILN_CUDART_DEFAULT(0),
                                               unsigned int flags KILN_CUDART_DEFAULT(0));
//! Waits until the mark is reached.
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event);
//! cudaErrorNotReady until the mark is reached.
cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event);
//! Time between two marks, ms.
cudaError_t CUDARTAPI cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);

// --- Graphs

//! Creates an empty graph; flags must be 0.
cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags);
//! Makes a graph ready to be launched.
cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                           unsigned long long flags KILN_CUDART_DEFAULT(0));
//! The same.
cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                    unsigned long long flags KILN_CUDART_DEFAULT(0));
//! Prepares a launch on a stream.
cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream);
//! Runs a graph in the order of a stream.
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
//! Takes over the parameters of a graph of the same shape.
cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                          cudaGraphExecUpdateResultInfo* resultInfo);
//! Destroys what GraphInstantiate made.
cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec);
//! Destroys a graph.
cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph);
//! The nodes of a graph; with null nodes their number.
cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes);

// --- Kernels and variables of the .cu files that a program was compiled from. A kernel is meant by the address of its
// host function, or by a cudaKernel_t; a variable by the address of its host shadow. They need a GPU.

//! Launches a kernel; args points to its arguments.
cudaError_t CUDARTAPI cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                       cudaStream_t stream);
//! Launches a kernel with attributes.
cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args);
//! Launches a kernel whose blocks may wait for each other.
cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                                  size_t sharedMem, cudaStream_t stream);
//! What is known of a kernel.
cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes* attr, const void* func);
//! Sets an attribute of a kernel on the current device.
cudaError_t CUDARTAPI cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute attr, int value);
//! What memory a kernel wants on the current device.
cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void* func, enum cudaFuncCache cacheConfig);
//! A kernel's name on the device; the text lives as long as the kernel's code is loaded.
cudaError_t CUDARTAPI cudaFuncGetName(const char** name, const void* func);
//! The driver's handle of a kernel in the current context.
cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr);
//! The driver's handle of a kernel.
cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr);
//! Blocks of a kernel that a multiprocessor holds at once.
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                                    size_t dynamicSMemSize);
//! The same with cudaOccupancy* flags.
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                             int blockSize, size_t dynamicSMemSize,
                                                                             unsigned int flags);
//! Shared memory that a launch may add to each block so that a multiprocessor still holds numBlocks.
cudaError_t CUDARTAPI cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func,
                                                                int numBlocks, int blockSize);
//! Clusters of a launch that the device holds at once.
cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int* numClusters, const void* func,
                                                     const cudaLaunchConfig_t* launchConfig);
//! The largest cluster that a launch can have, in blocks.
cudaError_t CUDARTAPI cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func,
                                                           const cudaLaunchConfig_t* launchConfig);
//! Address of a variable on the current device.
cudaError_t CUDARTAPI cudaGetSymbolAddress(void** devPtr, const void* symbol);
//! Size of a variable, bytes.
cudaError_t CUDARTAPI cudaGetSymbolSize(size_t* size, const void* symbol);
//! Copies count bytes to a variable, from its byte offset on, and waits.
cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count,
                                         size_t offset KILN_CUDART_DEFAULT(0),
                                         enum cudaMemcpyKind kind KILN_CUDART_DEFAULT(cudaMemcpyHostToDevice));
//! Copies count bytes from a variable, from its byte offset on, and waits.
cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count,
                                           size_t offset KILN_CUDART_DEFAULT(0),
                                           enum cudaMemcpyKind kind KILN_CUDART_DEFAULT(cudaMemcpyDeviceToHost));
//! The same in the order of a stream.
cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                              enum cudaMemcpyKind kind, cudaStream_t stream KILN_CUDART_DEFAULT(0));
//! The same in the order of a stream.
cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                                enum cudaMemcpyKind kind, cudaStream_t stream KILN_CUDART_DEFAULT(0));

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // __CUDA_RUNTIME_API_H__
