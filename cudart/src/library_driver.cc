#include "library_driver.h"

#include <dlfcn.h>

#include <optional>

namespace kiln::cuda {
namespace {

template <class F>
bool bind(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function;
}

std::optional<LibraryDriver> load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // loaded before; never closed
  if (!library) return std::nullopt;
  LibraryDriver d{};
  const bool complete =
      bind(library, d.library_load_data, "cuLibraryLoadData") && bind(library, d.library_unload, "cuLibraryUnload") &&
      bind(library, d.library_get_kernel, "cuLibraryGetKernel") &&
      bind(library, d.library_get_global, "cuLibraryGetGlobal") &&
      bind(library, d.library_get_managed, "cuLibraryGetManaged") &&
      bind(library, d.kernel_get_function, "cuKernelGetFunction") &&
      bind(library, d.func_set_cache_config, "cuFuncSetCacheConfig") &&
      bind(library, d.occupancy_max_active_blocks_with_flags, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags") &&
      bind(library, d.occupancy_available_shared_bytes, "cuOccupancyAvailableDynamicSMemPerBlock") &&
      bind(library, d.occupancy_max_potential_cluster_size, "cuOccupancyMaxPotentialClusterSize");
  return complete ? std::optional(d) : std::nullopt;
}

}  // namespace

const LibraryDriver* library_driver(const Driver& driver) {
  static const std::optional<LibraryDriver> once = load(driver.path);
  return once ? &*once : nullptr;
}

}  // namespace kiln::cuda
