#include "backend/cuda/device/driver.h"

#include <cstdlib>

#include "backend/cuda/device/shared_library.h"

namespace kiln::cuda {
namespace {

constexpr const char* kUseTheCpu = "; install NVIDIA's driver, or use KILN_DEVICE=cpu";

Status bind_devices(const SharedLibrary& library, Driver& d) {
  TRY(library.bind(d.device_get_count, "cuDeviceGetCount"));
  TRY(library.bind(d.device_get, "cuDeviceGet"));
  TRY(library.bind(d.device_get_name, "cuDeviceGetName"));
  TRY(library.bind(d.device_get_uuid, "cuDeviceGetUuid_v2"));
  TRY(library.bind(d.device_total_mem, "cuDeviceTotalMem_v2"));
  TRY(library.bind(d.device_get_attribute, "cuDeviceGetAttribute"));
  TRY(library.bind(d.device_get_pci_bus_id, "cuDeviceGetPCIBusId"));
  TRY(library.bind(d.device_can_access_peer, "cuDeviceCanAccessPeer"));
  TRY(library.bind(d.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain"));
  TRY(library.bind(d.device_primary_ctx_release, "cuDevicePrimaryCtxRelease_v2"));
  TRY(library.bind(d.device_primary_ctx_reset, "cuDevicePrimaryCtxReset_v2"));
  TRY(library.bind(d.device_primary_ctx_get_state, "cuDevicePrimaryCtxGetState"));
  TRY(library.bind(d.ctx_get_current, "cuCtxGetCurrent"));
  TRY(library.bind(d.ctx_set_current, "cuCtxSetCurrent"));
  TRY(library.bind(d.ctx_get_device, "cuCtxGetDevice"));
  TRY(library.bind(d.ctx_synchronize, "cuCtxSynchronize"));
  TRY(library.bind(d.ctx_get_stream_priority_range, "cuCtxGetStreamPriorityRange"));
  TRY(library.bind(d.ctx_enable_peer_access, "cuCtxEnablePeerAccess"));
  TRY(library.bind(d.ctx_disable_peer_access, "cuCtxDisablePeerAccess"));
  TRY(library.bind(d.ctx_get_limit, "cuCtxGetLimit"));
  return library.bind(d.ctx_set_limit, "cuCtxSetLimit");
}

Status bind_memory(const SharedLibrary& library, Driver& d) {
  TRY(library.bind(d.mem_get_info, "cuMemGetInfo_v2"));
  TRY(library.bind(d.mem_alloc, "cuMemAlloc_v2"));
  TRY(library.bind(d.mem_free, "cuMemFree_v2"));
  TRY(library.bind(d.mem_alloc_async, "cuMemAllocAsync"));
  TRY(library.bind(d.mem_free_async, "cuMemFreeAsync"));
  TRY(library.bind(d.mem_alloc_managed, "cuMemAllocManaged"));
  TRY(library.bind(d.mem_host_alloc, "cuMemHostAlloc"));
  TRY(library.bind(d.mem_free_host, "cuMemFreeHost"));
  TRY(library.bind(d.mem_host_register, "cuMemHostRegister_v2"));
  TRY(library.bind(d.mem_host_unregister, "cuMemHostUnregister"));
  TRY(library.bind(d.mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2"));
  TRY(library.bind(d.mem_host_get_flags, "cuMemHostGetFlags"));
  TRY(library.bind(d.pointer_get_attributes, "cuPointerGetAttributes"));
  TRY(library.bind(d.memcpy, "cuMemcpy"));
  TRY(library.bind(d.memcpy_async, "cuMemcpyAsync"));
  TRY(library.bind(d.memcpy_htod_async, "cuMemcpyHtoDAsync_v2"));
  TRY(library.bind(d.memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2"));
  TRY(library.bind(d.memcpy_2d_async, "cuMemcpy2DAsync_v2"));
  TRY(library.bind(d.memset_d8_async, "cuMemsetD8Async"));
  return library.bind(d.memset_d2d8_async, "cuMemsetD2D8Async");
}

Status bind_streams(const SharedLibrary& library, Driver& d) {
  TRY(library.bind(d.stream_create_with_priority, "cuStreamCreateWithPriority"));
  TRY(library.bind(d.stream_destroy, "cuStreamDestroy_v2"));
  TRY(library.bind(d.stream_synchronize, "cuStreamSynchronize"));
  TRY(library.bind(d.stream_query, "cuStreamQuery"));
  TRY(library.bind(d.stream_wait_event, "cuStreamWaitEvent"));
  TRY(library.bind(d.stream_get_flags, "cuStreamGetFlags"));
  TRY(library.bind(d.stream_get_priority, "cuStreamGetPriority"));
  TRY(library.bind(d.stream_get_ctx, "cuStreamGetCtx"));
  TRY(library.bind(d.stream_get_id, "cuStreamGetId"));
  TRY(library.bind(d.stream_is_capturing, "cuStreamIsCapturing"));
  TRY(library.bind(d.stream_get_capture_info, "cuStreamGetCaptureInfo_v2"));
  TRY(library.bind(d.stream_begin_capture, "cuStreamBeginCapture_v2"));
  TRY(library.bind(d.stream_end_capture, "cuStreamEndCapture"));
  TRY(library.bind(d.thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode"));
  TRY(library.bind(d.launch_host_func, "cuLaunchHostFunc"));
  TRY(library.bind(d.event_create, "cuEventCreate"));
  TRY(library.bind(d.event_destroy, "cuEventDestroy_v2"));
  TRY(library.bind(d.event_record_with_flags, "cuEventRecordWithFlags"));
  TRY(library.bind(d.event_synchronize, "cuEventSynchronize"));
  TRY(library.bind(d.event_query, "cuEventQuery"));
  return library.bind(d.event_elapsed_time, "cuEventElapsedTime");
}

Status bind_graphs_and_kernels(const SharedLibrary& library, Driver& d) {
  TRY(library.bind(d.graph_create, "cuGraphCreate"));
  TRY(library.bind(d.graph_destroy, "cuGraphDestroy"));
  TRY(library.bind(d.graph_get_nodes, "cuGraphGetNodes"));
  TRY(library.bind(d.graph_instantiate_with_flags, "cuGraphInstantiateWithFlags"));
  TRY(library.bind(d.graph_exec_update, "cuGraphExecUpdate_v2"));
  TRY(library.bind(d.graph_kernel_node_get_params, "cuGraphKernelNodeGetParams_v2"));
  TRY(library.bind(d.graph_exec_kernel_node_set_params, "cuGraphExecKernelNodeSetParams_v2"));
  TRY(library.bind(d.graph_exec_destroy, "cuGraphExecDestroy"));
  TRY(library.bind(d.graph_upload, "cuGraphUpload"));
  TRY(library.bind(d.graph_launch, "cuGraphLaunch"));
  TRY(library.bind(d.module_load_data, "cuModuleLoadData"));
  TRY(library.bind(d.module_unload, "cuModuleUnload"));
  TRY(library.bind(d.module_get_function, "cuModuleGetFunction"));
  TRY(library.bind(d.func_get_attribute, "cuFuncGetAttribute"));
  TRY(library.bind(d.func_set_attribute, "cuFuncSetAttribute"));
  static_cast<void>(library.bind(d.func_get_param_info, "cuFuncGetParamInfo"));  // absent from older drivers
  TRY(library.bind(d.occupancy_max_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  TRY(library.bind(d.occupancy_max_active_clusters, "cuOccupancyMaxActiveClusters"));
  TRY(library.bind(d.launch_kernel_ex, "cuLaunchKernelEx"));
  TRY(library.bind(d.tensor_map_encode_tiled, "cuTensorMapEncodeTiled"));
  return library.bind(d.tensor_map_encode_im2col, "cuTensorMapEncodeIm2col");
}

/// Whether the driver is new enough is asked before functions that only newer ones have are looked for.
Status check_version(const SharedLibrary& library, Driver& d) {
  TRY(library.bind(d.driver_get_version, "cuDriverGetVersion"));
  TRY(d.check(d.driver_get_version(&d.version), "version of the driver"));
  if (d.version >= Driver::kOldestVersion) return {};
  return error(Code::kVersion, "the NVIDIA driver '", library.path(), "' supports CUDA ", d.version / 1000, ".",
               d.version % 1000 / 10, "; Kiln needs CUDA ", Driver::kOldestVersion / 1000, ".",
               Driver::kOldestVersion % 1000 / 10, " (driver 525) or later: update it, or use KILN_DEVICE=cpu");
}

Status start(const Driver& d) {
  const int result = d.init(0);
  if (result == kNoDevice)
    return error(Code::kNotFound, "the NVIDIA driver '", d.path,
                 "' sees no GPU; see whether CUDA_VISIBLE_DEVICES hides it, or use KILN_DEVICE=cpu");
  if (result == kStubLibrary)
    return error(Code::kNotFound, "'", d.path, "' is the toolkit's stub, not a driver", kUseTheCpu);
  return d.check(result, "the NVIDIA driver '", d.path, "' does not start");
}

Result<Driver> load_and_start() {
  const char* given = std::getenv("KILN_CUDA_DRIVER");
  Driver driver = TRY(load_driver(given && *given ? given : "libcuda.so.1"));
  TRY(start(driver));
  return driver;
}

}  // namespace

Result<Driver> load_driver(const std::string& path) {
  const auto library = SharedLibrary::open({&path, 1});
  if (!library) return error(Code::kNotFound, "there is no NVIDIA driver (", library.error().message, ")", kUseTheCpu);
  Driver driver{};
  driver.path = library->path();
  TRY(library->bind(driver.init, "cuInit"));
  TRY(library->bind(driver.get_error_name, "cuGetErrorName"));
  TRY(library->bind(driver.get_error_string, "cuGetErrorString"));
  TRY(check_version(*library, driver));
  TRY(bind_devices(*library, driver));
  TRY(bind_memory(*library, driver));
  TRY(bind_streams(*library, driver));
  TRY(bind_graphs_and_kernels(*library, driver));
  return driver;
}

Result<Ref<const Driver>> Driver::instance() {
  static const Result<Driver>& loaded = *new Result<Driver>(load_and_start());
  if (!loaded) return std::unexpected(loaded.error());
  return Ref<const Driver>(*loaded);
}

Error Driver::failure(int result, std::string_view done) const {
  const char *name = nullptr, *text = nullptr;
  if (get_error_name(result, &name) != 0 || !name) name = "CUresult";
  if (get_error_string(result, &text) != 0 || !text) text = "an error the driver has no words for";
  const Code code = result == kOutOfDeviceMemory ? Code::kOutOfMemory : Code::kDevice;
  return {code, str(done, ": ", name, " (", result, "): ", text)};
}

}  // namespace kiln::cuda
