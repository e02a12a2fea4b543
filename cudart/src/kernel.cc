// Kernels that the .cu files of a program registered: launches, attributes, occupancy. A GPU's driver runs them; the
// host has none to run them on, and says so.
#include <algorithm>
#include <cstring>

#include "call.h"
#include "code.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;
using kiln::cuda::FunctionHandle;
using kiln::cuda::LaunchConfig;
using kiln::cuda::LibraryDriver;

namespace {

/// Calls `body(driver, kernel)` on a GPU, and returns the driver's error code that it gives. Fails on the host, behind
/// `refused(entry)` for a kernel that a GPU would have.
template <class F, class Refused>
cudaError_t with_kernel(const void* function, F&& body, Refused&& refused) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    Kernel* kernel = find_kernel(function);
    return kernel ? body(gpu, *kernel) : static_cast<int>(cudaErrorInvalidDeviceFunction);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& entry) {
    if (!find_kernel(function)) return cudaErrorInvalidDeviceFunction;
    refused(entry);
    return cudaErrorNoDevice;
  });
}
template <class F>
cudaError_t with_kernel(const void* function, F&& body) {
  return with_kernel(function, std::forward<F>(body), [](const KilnPrivateEntry&) {});
}

/// Calls `body(driver, functions, function)` with the kernel as the current context has it.
template <class F>
cudaError_t with_function(const void* function, F&& body) {
  return with_kernel(function, [&](const Driver& gpu, Kernel& kernel) -> int {
    kiln::cuda::KernelHandle handle = nullptr;
    if (const int failed = load_kernel(gpu, kernel, handle)) return failed;
    const LibraryDriver& calls = *kiln::cuda::library_driver(gpu);  // it has loaded the kernel
    FunctionHandle loaded = nullptr;
    if (const int failed = calls.kernel_get_function(&loaded, handle)) return failed;
    return body(gpu, calls, loaded);
  });
}

/// Whether no device can launch this configuration. The driver says "invalid value" then; the runtime has an error of
/// its own for it.
bool is_impossible(const LaunchConfig& config) {
  constexpr unsigned kMostBlocks[] = {(1u << 31) - 1, 65535, 65535}, kMostThreads[] = {1024, 1024, 64};
  for (int axis = 0; axis < 3; ++axis) {
    if (config.grid[axis] < 1 || config.grid[axis] > kMostBlocks[axis]) return true;
    if (config.block[axis] < 1 || config.block[axis] > kMostThreads[axis]) return true;
  }
  return config.block[0] * config.block[1] * config.block[2] > 1024;
}

cudaError_t launch(const void* function, const LaunchConfig& config, void** arguments) {
  const auto on_gpu = [&](const Driver& gpu, Kernel& kernel) -> int {
    kiln::cuda::KernelHandle handle = nullptr;
    if (const int failed = load_kernel(gpu, kernel, handle)) return failed;
    // The driver takes a kernel for a function, and finds the current context's.
    const int launched = gpu.launch_kernel_ex(&config, reinterpret_cast<FunctionHandle>(handle), arguments, nullptr);
    const bool refused = launched == kiln::cuda::kInvalidValue && is_impossible(config);
    return refused ? static_cast<int>(cudaErrorInvalidConfiguration) : launched;
  };
  return with_kernel(function, on_gpu, [](const KilnPrivateEntry& entry) {
    if (entry.tell_refused_launch) entry.tell_refused_launch();
  });
}

LaunchConfig launch_config(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  return {.grid = {grid.x, grid.y, grid.z},
          .block = {block.x, block.y, block.z},
          .shared_bytes = static_cast<unsigned>(std::min<size_t>(shared, ~0u)),
          .stream = on(stream),
          .attributes = nullptr,
          .num_attributes = 0};
}

/// Attributes are the driver's, bit for bit: driver_header_test.cc compares them.
LaunchConfig launch_config(const cudaLaunchConfig_t& config) {
  LaunchConfig same = launch_config(config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream);
  same.attributes = reinterpret_cast<kiln::cuda::LaunchAttribute*>(config.attrs);
  same.num_attributes = config.numAttrs;
  return same;
}

cudaError_t launch_cooperative(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  kiln::cuda::LaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  const int yes = 1;
  std::memcpy(cooperative.bytes, &yes, sizeof yes);
  LaunchConfig config = launch_config(grid, block, shared, stream);
  config.attributes = &cooperative;
  config.num_attributes = 1;
  return launch(function, config, arguments);
}

cudaError_t launch(const cudaLaunchConfig_t* config, cudaStream_t stream, const void* function, void** arguments) {
  if (!config) return remember(cudaErrorInvalidValue);
  LaunchConfig same = launch_config(*config);
  same.stream = on(stream);
  return launch(function, same, arguments);
}

int get_attributes(const Driver& gpu, FunctionHandle function, cudaFuncAttributes& found) {
  // The driver numbers all of cudaFuncAttribute's entries, and before them those that only the structure has.
  int values[16];
  for (int id = 0; id < 16; ++id)
    if (const int failed = gpu.func_get_attribute(&values[id], id, function)) return failed;
  found = {.sharedSizeBytes = static_cast<size_t>(values[1]),
           .constSizeBytes = static_cast<size_t>(values[2]),
           .localSizeBytes = static_cast<size_t>(values[3]),
           .maxThreadsPerBlock = values[0],
           .numRegs = values[4],
           .ptxVersion = values[5],
           .binaryVersion = values[6],
           .cacheModeCA = values[7],
           .maxDynamicSharedSizeBytes = values[cudaFuncAttributeMaxDynamicSharedMemorySize],
           .preferredShmemCarveout = values[cudaFuncAttributePreferredSharedMemoryCarveout],
           .clusterDimMustBeSet = values[cudaFuncAttributeClusterDimMustBeSet],
           .requiredClusterWidth = values[cudaFuncAttributeRequiredClusterWidth],
           .requiredClusterHeight = values[cudaFuncAttributeRequiredClusterHeight],
           .requiredClusterDepth = values[cudaFuncAttributeRequiredClusterDepth],
           .clusterSchedulingPolicyPreference = values[cudaFuncAttributeClusterSchedulingPolicyPreference],
           .nonPortableClusterSizeAllowed = values[cudaFuncAttributeNonPortableClusterSizeAllowed],
           .reserved = {}};
  return 0;
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return launch(function, launch_config(grid, block, shared, stream), arguments);
}
cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                  cudaStream_t stream) {
  return launch(function, launch_config(grid, block, shared, per_thread(stream)), arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch(config, config ? config->stream : nullptr, function, arguments);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch(config, config ? per_thread(config->stream) : nullptr, function, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return launch_cooperative(function, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                             size_t shared, cudaStream_t stream) {
  return launch_cooperative(function, grid, block, arguments, shared, per_thread(stream));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (!attributes) return remember(cudaErrorInvalidValue);
  return with_function(function, [&](const Driver& gpu, const LibraryDriver&, FunctionHandle loaded) {
    return get_attributes(gpu, loaded, *attributes);
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return with_function(function, [&](const Driver& gpu, const LibraryDriver&, FunctionHandle loaded) {
    return gpu.func_set_attribute(loaded, attribute, value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return with_function(function, [&](const Driver&, const LibraryDriver& calls, FunctionHandle loaded) {
    return calls.func_set_cache_config(loaded, config);
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  if (!name) return remember(cudaErrorInvalidValue);
  const Kernel* kernel = find_kernel(function);
  *name = kernel ? kernel->name.c_str() : nullptr;
  return remember(kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* found, const void* function) {
  if (!found) return remember(cudaErrorInvalidValue);
  return with_function(function, [&](const Driver&, const LibraryDriver&, FunctionHandle loaded) {
    *found = reinterpret_cast<cudaFunction_t>(loaded);
    return 0;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* found, const void* function) {
  if (!found) return remember(cudaErrorInvalidValue);
  return with_kernel(function, [&](const Driver& gpu, Kernel& kernel) {
    kiln::cuda::KernelHandle handle = nullptr;
    const int failed = load_kernel(gpu, kernel, handle);
    *found = reinterpret_cast<cudaKernel_t>(handle);
    return failed;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t shared, unsigned int flags) {
  if (!blocks) return remember(cudaErrorInvalidValue);
  return with_function(function, [&](const Driver&, const LibraryDriver& calls, FunctionHandle loaded) {
    return calls.occupancy_max_active_blocks_with_flags(blocks, loaded, threads, shared, flags);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, const void* function, int blocks, int threads) {
  if (!shared) return remember(cudaErrorInvalidValue);
  return with_function(function, [&](const Driver&, const LibraryDriver& calls, FunctionHandle loaded) {
    return calls.occupancy_available_shared_bytes(shared, loaded, blocks, threads);
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  if (!clusters || !config) return remember(cudaErrorInvalidValue);
  return with_function(function, [&](const Driver& gpu, const LibraryDriver&, FunctionHandle loaded) {
    const LaunchConfig same = launch_config(*config);
    return gpu.occupancy_max_active_clusters(clusters, loaded, &same);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const cudaLaunchConfig_t* config) {
  if (!size || !config) return remember(cudaErrorInvalidValue);
  return with_function(function, [&](const Driver&, const LibraryDriver& calls, FunctionHandle loaded) {
    const LaunchConfig same = launch_config(*config);
    return calls.occupancy_max_potential_cluster_size(size, loaded, &same);
  });
}
