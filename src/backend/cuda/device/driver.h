/// NVIDIA's driver API through declarations of our own, loaded when first needed. driver_header_test.cc compares them
/// with NVIDIA's where its headers are installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/cuda/device/driver_types.h"
#include "base/error.h"

namespace kiln::cuda {

/// Its functions, named as there without `cu`; results are CUresult, 0 for success. Where NVIDIA has several versions
/// of a function, driver.cc says which.
struct Driver {
  int (*init)(unsigned flags);
  int (*driver_get_version)(int* version);
  int (*get_error_name)(int result, const char** text);
  int (*get_error_string)(int result, const char** text);

  int (*device_get_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_get_name)(char* name, int size, int device);
  int (*device_get_uuid)(Uuid* uuid, int device);
  int (*device_total_mem)(size_t* bytes, int device);
  int (*device_get_attribute)(int* value, int attribute, int device);
  int (*device_get_pci_bus_id)(char* id, int size, int device);
  int (*device_can_access_peer)(int* can, int device, int peer);
  int (*device_primary_ctx_retain)(ContextHandle* context, int device);
  int (*device_primary_ctx_release)(int device);
  int (*device_primary_ctx_reset)(int device);
  int (*device_primary_ctx_get_state)(int device, unsigned* flags, int* active);

  int (*ctx_get_current)(ContextHandle* context);
  int (*ctx_set_current)(ContextHandle context);
  int (*ctx_get_device)(int* device);
  int (*ctx_synchronize)();
  int (*ctx_get_stream_priority_range)(int* least, int* greatest);
  int (*ctx_enable_peer_access)(ContextHandle peer, unsigned flags);
  int (*ctx_disable_peer_access)(ContextHandle peer);
  int (*ctx_get_limit)(size_t* value, int limit);
  int (*ctx_set_limit)(int limit, size_t value);

  int (*mem_get_info)(size_t* free_bytes, size_t* total_bytes);
  int (*mem_alloc)(DevicePointer* memory, size_t bytes);
  int (*mem_free)(DevicePointer memory);
  int (*mem_alloc_async)(DevicePointer* memory, size_t bytes, StreamHandle stream);
  int (*mem_free_async)(DevicePointer memory, StreamHandle stream);
  int (*mem_alloc_managed)(DevicePointer* memory, size_t bytes, unsigned flags);
  int (*mem_host_alloc)(void** memory, size_t bytes, unsigned flags);
  int (*mem_free_host)(void* memory);
  int (*mem_host_register)(void* memory, size_t bytes, unsigned flags);
  int (*mem_host_unregister)(void* memory);
  int (*mem_host_get_device_pointer)(DevicePointer* device, void* host, unsigned flags);
  int (*mem_host_get_flags)(unsigned* flags, void* host);
  int (*pointer_get_attributes)(unsigned count, int* attributes, void** values, DevicePointer pointer);
  int (*memcpy)(DevicePointer to, DevicePointer from, size_t bytes);
  int (*memcpy_async)(DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream);
  int (*memcpy_htod_async)(DevicePointer to, const void* from, size_t bytes, StreamHandle stream);
  int (*memcpy_dtoh_async)(void* to, DevicePointer from, size_t bytes, StreamHandle stream);
  int (*memcpy_2d_async)(const Copy2d* copy, StreamHandle stream);
  int (*memset_d8_async)(DevicePointer to, unsigned char value, size_t count, StreamHandle stream);
  int (*memset_d2d8_async)(DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height,
                           StreamHandle stream);

  int (*stream_create_with_priority)(StreamHandle* stream, unsigned flags, int priority);
  int (*stream_destroy)(StreamHandle stream);
  int (*stream_synchronize)(StreamHandle stream);
  int (*stream_query)(StreamHandle stream);
  int (*stream_wait_event)(StreamHandle stream, EventHandle event, unsigned flags);
  int (*stream_get_flags)(StreamHandle stream, unsigned* flags);
  int (*stream_get_priority)(StreamHandle stream, int* priority);
  int (*stream_get_ctx)(StreamHandle stream, ContextHandle* context);
  int (*stream_get_id)(StreamHandle stream, unsigned long long* id);
  int (*stream_is_capturing)(StreamHandle stream, int* status);
  int (*stream_get_capture_info)(StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph,
                                 const GraphNodeHandle** latest, size_t* num_latest);
  int (*stream_begin_capture)(StreamHandle stream, int mode);
  int (*stream_end_capture)(StreamHandle stream, GraphHandle* graph);
  int (*thread_exchange_stream_capture_mode)(int* mode);
  int (*launch_host_func)(StreamHandle stream, void (*work)(void*), void* argument);

  int (*event_create)(EventHandle* event, unsigned flags);
  int (*event_destroy)(EventHandle event);
  int (*event_record_with_flags)(EventHandle event, StreamHandle stream, unsigned flags);
  int (*event_synchronize)(EventHandle event);
  int (*event_query)(EventHandle event);
  int (*event_elapsed_time)(float* ms, EventHandle start, EventHandle end);

  int (*graph_create)(GraphHandle* graph, unsigned flags);
  int (*graph_destroy)(GraphHandle graph);
  int (*graph_get_nodes)(GraphHandle graph, GraphNodeHandle* nodes, size_t* count);
  int (*graph_instantiate_with_flags)(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags);
  int (*graph_exec_update)(GraphExecHandle exec, GraphHandle graph, GraphUpdateResult* result);
  int (*graph_kernel_node_get_params)(GraphNodeHandle node, KernelNodeParams* params);
  int (*graph_exec_kernel_node_set_params)(GraphExecHandle exec, GraphNodeHandle node, const KernelNodeParams* params);
  int (*graph_exec_destroy)(GraphExecHandle exec);
  int (*graph_upload)(GraphExecHandle exec, StreamHandle stream);
  int (*graph_launch)(GraphExecHandle exec, StreamHandle stream);

  int (*module_load_data)(ModuleHandle* module, const void* image);
  int (*module_unload)(ModuleHandle module);
  int (*module_get_function)(FunctionHandle* function, ModuleHandle module, const char* name);
  int (*func_get_attribute)(int* value, int attribute, FunctionHandle function);
  int (*func_set_attribute)(FunctionHandle function, int attribute, int value);
  /// Null: the driver is older than CUDA 12.4.
  int (*func_get_param_info)(FunctionHandle function, size_t index, size_t* offset, size_t* bytes);
  int (*occupancy_max_active_blocks)(int* blocks, FunctionHandle function, int threads, size_t shared_bytes);
  int (*occupancy_max_active_clusters)(int* clusters, FunctionHandle function, const LaunchConfig* config);
  int (*launch_kernel_ex)(const LaunchConfig* config, FunctionHandle function, void** arguments, void** extra);
  int (*tensor_map_encode_tiled)(TensorMap* map, int type, unsigned rank, void* address, const uint64_t* extents,
                                 const uint64_t* strides_bytes, const unsigned* box, const unsigned* element_strides,
                                 int interleave, int swizzle, int l2_promotion, int out_of_bounds);
  int (*tensor_map_encode_im2col)(TensorMap* map, int type, unsigned rank, void* address, const uint64_t* extents,
                                  const uint64_t* strides_bytes, const int* lower_corner, const int* upper_corner,
                                  unsigned channels, unsigned pixels, const unsigned* element_strides, int interleave,
                                  int swizzle, int l2_promotion, int out_of_bounds);

  std::string path;  ///< where it was found
  int version = 0;   ///< the newest CUDA that it supports: 13000 is 13.0

  static constexpr int kOldestVersion = 12000;
  /// The process's, loaded and initialised once: KILN_CUDA_DRIVER (a path), else libcuda.so.1. Fails with kNotFound
  /// without a driver, kVersion with one that is too old, kDevice where it does not start (no device: kNotFound).
  static Result<Ref<const Driver>> instance();

  /// Succeeds if `result` is 0; else kOutOfMemory or kDevice with what was done and the driver's words.
  template <class... Parts>
  [[nodiscard]] Status check(int result, const Parts&... parts) const {
    if (result == 0) [[likely]]
      return {};
    return std::unexpected(failure(result, str(parts...)));
  }
  Error failure(int result, std::string_view done) const;
};

/// The functions of the library at `path`, which need not be NVIDIA's. For tests; others ask `Driver::instance()`.
Result<Driver> load_driver(const std::string& path);

}  // namespace kiln::cuda
