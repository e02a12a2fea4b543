/// The driver's functions for code of programs, which engines do not need and so Driver has not.
#pragma once

#include <cstddef>

#include "backend/cuda/device/driver.h"

namespace kiln::cuda {

using LibraryHandle = struct CudaLibraryObject*;
using KernelHandle = struct CudaKernelObject*;

/// Named as the driver's functions without `cu`.
struct LibraryDriver {
  int (*library_load_data)(LibraryHandle* library, const void* code, int* jit_options, void** jit_values,
                           unsigned num_jit, int* library_options, void** library_values, unsigned num_library);
  int (*library_unload)(LibraryHandle library);
  int (*library_get_kernel)(KernelHandle* kernel, LibraryHandle library, const char* name);
  int (*library_get_global)(DevicePointer* address, size_t* bytes, LibraryHandle library, const char* name);
  int (*library_get_managed)(DevicePointer* address, size_t* bytes, LibraryHandle library, const char* name);
  int (*kernel_get_function)(FunctionHandle* function, KernelHandle kernel);
  int (*func_set_cache_config)(FunctionHandle function, int config);
  int (*occupancy_max_active_blocks_with_flags)(int* blocks, FunctionHandle function, int threads, size_t shared_bytes,
                                                unsigned flags);
  int (*occupancy_available_shared_bytes)(size_t* shared_bytes, FunctionHandle function, int blocks, int threads);
  int (*occupancy_max_potential_cluster_size)(int* size, FunctionHandle function, const LaunchConfig* config);
};

/// Looks the functions up in the library that `driver` was loaded from; null where one is missing. CUDA 12 has all.
const LibraryDriver* library_driver(const Driver& driver);

}  // namespace kiln::cuda
