// Our declarations of the driver API and NVRTC beside NVIDIA's, where its headers are installed (CMake defines
// KILN_CUDA_HEADERS then): numbers, layouts, and the shape of every function.
#include <gtest/gtest.h>

#include "backend/cuda/compile/nvrtc.h"
#include "backend/cuda/device/conditional_nodes.h"
#include "backend/cuda/device/driver.h"
#include "backend/cuda/device/memset_nodes.h"
#include "backend/cuda/device/testing/same_shape.h"

#ifndef KILN_CUDA_HEADERS

TEST(DriverHeader, AgreesWithNvidias) { GTEST_SKIP() << "CUDA's headers are not installed"; }

#else
#include <cuda.h>
#include <cudaTypedefs.h>
#include <nvrtc.h>

namespace kiln::cuda {
namespace {

#define SAME(ours, theirs) static_assert(kSameShape<decltype(Driver::ours), decltype(&theirs)>, #theirs)

SAME(init, cuInit);
SAME(driver_get_version, cuDriverGetVersion);
SAME(get_error_name, cuGetErrorName);
SAME(get_error_string, cuGetErrorString);
SAME(device_get_count, cuDeviceGetCount);
SAME(device_get, cuDeviceGet);
SAME(device_get_name, cuDeviceGetName);
SAME(device_get_uuid, cuDeviceGetUuid);
SAME(device_total_mem, cuDeviceTotalMem);
SAME(device_get_attribute, cuDeviceGetAttribute);
SAME(device_get_pci_bus_id, cuDeviceGetPCIBusId);
SAME(device_can_access_peer, cuDeviceCanAccessPeer);
SAME(device_primary_ctx_retain, cuDevicePrimaryCtxRetain);
SAME(device_primary_ctx_release, cuDevicePrimaryCtxRelease);
SAME(device_primary_ctx_reset, cuDevicePrimaryCtxReset);
SAME(device_primary_ctx_get_state, cuDevicePrimaryCtxGetState);
SAME(ctx_get_current, cuCtxGetCurrent);
SAME(ctx_set_current, cuCtxSetCurrent);
SAME(ctx_get_device, cuCtxGetDevice);
SAME(ctx_synchronize, cuCtxSynchronize);
SAME(ctx_get_stream_priority_range, cuCtxGetStreamPriorityRange);
SAME(ctx_enable_peer_access, cuCtxEnablePeerAccess);
SAME(ctx_disable_peer_access, cuCtxDisablePeerAccess);
SAME(ctx_get_limit, cuCtxGetLimit);
SAME(ctx_set_limit, cuCtxSetLimit);
SAME(mem_get_info, cuMemGetInfo);
SAME(mem_alloc, cuMemAlloc);
SAME(mem_free, cuMemFree);
SAME(mem_alloc_async, cuMemAllocAsync);
SAME(mem_free_async, cuMemFreeAsync);
SAME(mem_alloc_managed, cuMemAllocManaged);
SAME(mem_host_alloc, cuMemHostAlloc);
SAME(mem_free_host, cuMemFreeHost);
SAME(mem_host_register, cuMemHostRegister);
SAME(mem_host_unregister, cuMemHostUnregister);
SAME(mem_host_get_device_pointer, cuMemHostGetDevicePointer);
SAME(mem_host_get_flags, cuMemHostGetFlags);
SAME(pointer_get_attributes, cuPointerGetAttributes);
SAME(memcpy, cuMemcpy);
SAME(memcpy_async, cuMemcpyAsync);
SAME(memcpy_htod_async, cuMemcpyHtoDAsync);
SAME(memcpy_dtoh_async, cuMemcpyDtoHAsync);
SAME(memcpy_2d_async, cuMemcpy2DAsync);
SAME(memset_d8_async, cuMemsetD8Async);
SAME(memset_d2d8_async, cuMemsetD2D8Async);
SAME(stream_create_with_priority, cuStreamCreateWithPriority);
SAME(stream_destroy, cuStreamDestroy);
SAME(stream_synchronize, cuStreamSynchronize);
SAME(stream_query, cuStreamQuery);
SAME(stream_wait_event, cuStreamWaitEvent);
SAME(stream_get_flags, cuStreamGetFlags);
SAME(stream_get_priority, cuStreamGetPriority);
SAME(stream_get_ctx, cuStreamGetCtx);
SAME(stream_get_id, cuStreamGetId);
SAME(stream_is_capturing, cuStreamIsCapturing);
static_assert(kSameShape<decltype(Driver::stream_get_capture_info), PFN_cuStreamGetCaptureInfo_v11030>);
SAME(stream_begin_capture, cuStreamBeginCapture);
SAME(stream_end_capture, cuStreamEndCapture);
SAME(thread_exchange_stream_capture_mode, cuThreadExchangeStreamCaptureMode);
SAME(launch_host_func, cuLaunchHostFunc);
SAME(event_create, cuEventCreate);
SAME(event_destroy, cuEventDestroy);
SAME(event_record_with_flags, cuEventRecordWithFlags);
SAME(event_synchronize, cuEventSynchronize);
SAME(event_query, cuEventQuery);
SAME(event_elapsed_time, cuEventElapsedTime);
SAME(graph_create, cuGraphCreate);
SAME(graph_destroy, cuGraphDestroy);
SAME(graph_get_nodes, cuGraphGetNodes);
SAME(graph_instantiate_with_flags, cuGraphInstantiateWithFlags);
SAME(graph_exec_update, cuGraphExecUpdate);
SAME(graph_kernel_node_get_params, cuGraphKernelNodeGetParams);
SAME(graph_exec_kernel_node_set_params, cuGraphExecKernelNodeSetParams);
SAME(graph_exec_destroy, cuGraphExecDestroy);
SAME(graph_upload, cuGraphUpload);
SAME(graph_launch, cuGraphLaunch);
SAME(module_load_data, cuModuleLoadData);
SAME(module_unload, cuModuleUnload);
SAME(module_get_function, cuModuleGetFunction);
SAME(func_get_attribute, cuFuncGetAttribute);
SAME(func_set_attribute, cuFuncSetAttribute);
#if CUDA_VERSION >= 12040
SAME(func_get_param_info, cuFuncGetParamInfo);
#endif
SAME(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor);
SAME(occupancy_max_active_clusters, cuOccupancyMaxActiveClusters);
SAME(launch_kernel_ex, cuLaunchKernelEx);
SAME(tensor_map_encode_tiled, cuTensorMapEncodeTiled);
SAME(tensor_map_encode_im2col, cuTensorMapEncodeIm2col);

#define SAME_GRAPH_CALL(ours, Theirs) static_assert(kSameShape<decltype(GraphCalls::ours), Theirs>, #Theirs)
SAME_GRAPH_CALL(node_get_type, PFN_cuGraphNodeGetType_v10000);
SAME_GRAPH_CALL(memset_node_get_params, PFN_cuGraphMemsetNodeGetParams_v10000);
SAME_GRAPH_CALL(node_get_dependencies, PFN_cuGraphNodeGetDependencies_v10000);
SAME_GRAPH_CALL(node_get_dependents, PFN_cuGraphNodeGetDependentNodes_v10000);
SAME_GRAPH_CALL(add_kernel_node, PFN_cuGraphAddKernelNode_v12000);
SAME_GRAPH_CALL(add_dependencies, PFN_cuGraphAddDependencies_v10000);
SAME_GRAPH_CALL(destroy_node, PFN_cuGraphDestroyNode_v10000);

#define SAME_CONDITIONAL(ours, Theirs) static_assert(kSameShape<decltype(ConditionalCalls::ours), Theirs>, #Theirs)
SAME_CONDITIONAL(handle_create, PFN_cuGraphConditionalHandleCreate_v12030);
SAME_CONDITIONAL(add_node, PFN_cuGraphAddNode_v12020);
SAME_CONDITIONAL(begin_capture_to_graph, PFN_cuStreamBeginCaptureToGraph_v12030);
SAME_CONDITIONAL(update_capture_dependencies, PFN_cuStreamUpdateCaptureDependencies_v11030);

#define SAME_NVRTC(ours, theirs) static_assert(kSameShape<decltype(Nvrtc::ours), decltype(&theirs)>, #theirs)
SAME_NVRTC(version, nvrtcVersion);
SAME_NVRTC(error_string, nvrtcGetErrorString);
SAME_NVRTC(create_program, nvrtcCreateProgram);
SAME_NVRTC(destroy_program, nvrtcDestroyProgram);
SAME_NVRTC(compile_program, nvrtcCompileProgram);
SAME_NVRTC(cubin_size, nvrtcGetCUBINSize);
SAME_NVRTC(cubin, nvrtcGetCUBIN);
SAME_NVRTC(log_size, nvrtcGetProgramLogSize);
SAME_NVRTC(log, nvrtcGetProgramLog);

#define NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
NUMBER(kSuccess, CUDA_SUCCESS);
NUMBER(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
NUMBER(kOutOfDeviceMemory, CUDA_ERROR_OUT_OF_MEMORY);
NUMBER(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
NUMBER(kDeinitialized, CUDA_ERROR_DEINITIALIZED);
NUMBER(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
NUMBER(kNoDevice, CUDA_ERROR_NO_DEVICE);
NUMBER(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
NUMBER(kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
NUMBER(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
NUMBER(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
NUMBER(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
NUMBER(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
NUMBER(kNameNotFound, CUDA_ERROR_NOT_FOUND);
NUMBER(kNotReady, CUDA_ERROR_NOT_READY);
NUMBER(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
NUMBER(kOutOfLaunchResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
NUMBER(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
NUMBER(kNotPermitted, CUDA_ERROR_NOT_PERMITTED);
NUMBER(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
NUMBER(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
NUMBER(kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
NUMBER(kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
NUMBER(kCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
NUMBER(kCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE);
NUMBER(kCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
NUMBER(kCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
NUMBER(kCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
NUMBER(kCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
NUMBER(kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
NUMBER(kCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);

NUMBER(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(kSharedBytesPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
NUMBER(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
NUMBER(kRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
NUMBER(kClockKhz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
NUMBER(kNumMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
NUMBER(kMemoryClockKhz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
NUMBER(kMemoryBusBits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
NUMBER(kL2Bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
NUMBER(kThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
NUMBER(kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
NUMBER(kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
NUMBER(kSharedBytesPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
NUMBER(kRegistersPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
NUMBER(kSharedBytesPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
NUMBER(kBlocksPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
NUMBER(kPageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
NUMBER(kMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
NUMBER(kFunctionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(kFunctionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
NUMBER(kFunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
NUMBER(kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
NUMBER(kFunctionMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
NUMBER(kFunctionNonPortableCluster, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
NUMBER(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
NUMBER(kPointerDevice, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
NUMBER(kPointerHost, CU_POINTER_ATTRIBUTE_HOST_POINTER);
NUMBER(kPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
NUMBER(kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
NUMBER(kMemoryHost, CU_MEMORYTYPE_HOST);
NUMBER(kMemoryDevice, CU_MEMORYTYPE_DEVICE);
NUMBER(kMemoryArray, CU_MEMORYTYPE_ARRAY);
NUMBER(kMemoryUnified, CU_MEMORYTYPE_UNIFIED);
NUMBER(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
NUMBER(kEventBlockingSync, CU_EVENT_BLOCKING_SYNC);
NUMBER(kEventNoTiming, CU_EVENT_DISABLE_TIMING);
NUMBER(kEventRecordExternal, CU_EVENT_RECORD_EXTERNAL);
NUMBER(kCaptureGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL);
NUMBER(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
NUMBER(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
NUMBER(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE);
NUMBER(kCaptureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
NUMBER(kCaptureBroken, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
NUMBER(kLaunchCluster, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
NUMBER(kLaunchProgrammaticSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
NUMBER(kKernelNode, CU_GRAPH_NODE_TYPE_KERNEL);
NUMBER(kMemsetNode, CU_GRAPH_NODE_TYPE_MEMSET);
NUMBER(kMapU8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
NUMBER(kMapI64, CU_TENSOR_MAP_DATA_TYPE_INT64);
NUMBER(kMapF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
NUMBER(kMapF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
NUMBER(kMapBF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
NUMBER(kMapTF32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
NUMBER(kSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
NUMBER(kSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
NUMBER(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
NUMBER(kL2Promote64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
NUMBER(kL2Promote128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
NUMBER(kL2Promote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
NUMBER(kBeyondZero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
NUMBER(kBeyondNan, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

static_assert(kLegacyStream == 1 && kPerThreadStream == 2);
static_assert(sizeof(DevicePointer) == sizeof(CUdeviceptr) && sizeof(Uuid) == sizeof(CUuuid));
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) >= alignof(CUtensorMap));

#define SAME_OFFSET(Ours, ours, Theirs, theirs) static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs), #theirs)
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
SAME_OFFSET(LaunchConfig, grid, CUlaunchConfig, gridDimX);
SAME_OFFSET(LaunchConfig, block, CUlaunchConfig, blockDimX);
SAME_OFFSET(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_OFFSET(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_OFFSET(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_OFFSET(LaunchConfig, num_attributes, CUlaunchConfig, numAttrs);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME_OFFSET(LaunchAttribute, id, CUlaunchAttribute, id);
SAME_OFFSET(LaunchAttribute, bytes, CUlaunchAttribute, value);
SAME_OFFSET(LaunchAttribute, cluster, CUlaunchAttribute, value.clusterDim);
SAME_OFFSET(LaunchAttribute, programmatic_serialization, CUlaunchAttribute,
            value.programmaticStreamSerializationAllowed);
static_assert(sizeof(Copy2d) == sizeof(CUDA_MEMCPY2D));
SAME_OFFSET(Copy2d, from_x_bytes, CUDA_MEMCPY2D, srcXInBytes);
SAME_OFFSET(Copy2d, from_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_OFFSET(Copy2d, from_host, CUDA_MEMCPY2D, srcHost);
SAME_OFFSET(Copy2d, from_device, CUDA_MEMCPY2D, srcDevice);
SAME_OFFSET(Copy2d, from_pitch, CUDA_MEMCPY2D, srcPitch);
SAME_OFFSET(Copy2d, to_x_bytes, CUDA_MEMCPY2D, dstXInBytes);
SAME_OFFSET(Copy2d, to_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_OFFSET(Copy2d, to_host, CUDA_MEMCPY2D, dstHost);
SAME_OFFSET(Copy2d, to_device, CUDA_MEMCPY2D, dstDevice);
SAME_OFFSET(Copy2d, to_pitch, CUDA_MEMCPY2D, dstPitch);
SAME_OFFSET(Copy2d, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
SAME_OFFSET(Copy2d, height, CUDA_MEMCPY2D, Height);
static_assert(sizeof(GraphUpdateResult) == sizeof(CUgraphExecUpdateResultInfo));
SAME_OFFSET(GraphUpdateResult, error_node, CUgraphExecUpdateResultInfo, errorNode);
static_assert(sizeof(KernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS));
SAME_OFFSET(KernelNodeParams, function, CUDA_KERNEL_NODE_PARAMS, func);
SAME_OFFSET(KernelNodeParams, grid, CUDA_KERNEL_NODE_PARAMS, gridDimX);
SAME_OFFSET(KernelNodeParams, block, CUDA_KERNEL_NODE_PARAMS, blockDimX);
SAME_OFFSET(KernelNodeParams, shared_bytes, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
SAME_OFFSET(KernelNodeParams, arguments, CUDA_KERNEL_NODE_PARAMS, kernelParams);
SAME_OFFSET(KernelNodeParams, extra, CUDA_KERNEL_NODE_PARAMS, extra);
SAME_OFFSET(KernelNodeParams, kernel, CUDA_KERNEL_NODE_PARAMS, kern);
SAME_OFFSET(KernelNodeParams, context, CUDA_KERNEL_NODE_PARAMS, ctx);
static_assert(sizeof(ConditionalNodeParams) == sizeof(CUgraphNodeParams));
SAME_OFFSET(ConditionalNodeParams, conditional.handle, CUgraphNodeParams, conditional.handle);
SAME_OFFSET(ConditionalNodeParams, conditional.graphs, CUgraphNodeParams, conditional.phGraph_out);
SAME_OFFSET(ConditionalNodeParams, conditional.context, CUgraphNodeParams, conditional.ctx);
static_assert(int{kConditionalWhile} == int{CU_GRAPH_COND_TYPE_WHILE});
static_assert(sizeof(MemsetNodeParams) == sizeof(CUDA_MEMSET_NODE_PARAMS));
SAME_OFFSET(MemsetNodeParams, to, CUDA_MEMSET_NODE_PARAMS, dst);
SAME_OFFSET(MemsetNodeParams, pitch, CUDA_MEMSET_NODE_PARAMS, pitch);
SAME_OFFSET(MemsetNodeParams, value, CUDA_MEMSET_NODE_PARAMS, value);
SAME_OFFSET(MemsetNodeParams, element_bytes, CUDA_MEMSET_NODE_PARAMS, elementSize);
SAME_OFFSET(MemsetNodeParams, width, CUDA_MEMSET_NODE_PARAMS, width);
SAME_OFFSET(MemsetNodeParams, height, CUDA_MEMSET_NODE_PARAMS, height);

TEST(DriverHeader, AgreesWithNvidias) { SUCCEED() << "compared with CUDA " << CUDA_VERSION; }

}  // namespace
}  // namespace kiln::cuda
#endif
