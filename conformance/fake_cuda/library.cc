// Libraries: the code of a program's .cu files, loaded for all contexts. An image is what nvcc's wrapper points to: a
// fat binary that is not compressed, of which only the names count, or "FAKE name name ...", kernels and variables
// alike. A kernel is its function. Every variable has 4096 bytes of zeros.
#include <cstdlib>
#include <cstring>

#include "state.h"

namespace kiln::cuda {

struct CudaLibraryObject {
  CudaModuleObject module;
  std::map<std::string, void*> variables;
};

}  // namespace kiln::cuda

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::DevicePointer;
using kiln::cuda::FunctionHandle;
using LibraryHandle = kiln::cuda::CudaLibraryObject*;

namespace {

constexpr size_t kVariableBytes = 4096;

/// fatbinary_section.h of the toolkit.
struct Wrapper {
  uint32_t magic, version;
  const char* data;
  void* prelinked;
};
struct FatBinary {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};

/// The image that a wrapper points to; empty if `code` is no wrapper.
std::string image_of(const void* code) {
  Wrapper wrapper;
  std::memcpy(&wrapper, code, sizeof wrapper);
  if (wrapper.magic != 0x466243b1) return {};
  if (std::strncmp(wrapper.data, "FAKE", 4) == 0) return wrapper.data;
  FatBinary header;
  std::memcpy(&header, wrapper.data, sizeof header);
  if (header.magic != 0xba55ed50) return {};
  return {wrapper.data, header.header_bytes + header.bytes};
}

bool has_variable(const std::string& image, const std::string& name) {
  return image.starts_with("FAKE") ? has_kernel(image, name) : image.find('\0' + name + '\0') != image.npos;
}

int find_variable(DevicePointer* address, size_t* bytes, LibraryHandle library, const char* name) {
  if (!has_variable(library->module.image, name)) return cuda::kNameNotFound;
  const std::lock_guard lock(state().mutex);
  void*& memory = library->variables[name];
  if (!memory) {
    memory = std::calloc(1, kVariableBytes);
    state().allocations[reinterpret_cast<uintptr_t>(memory)] = {.bytes = kVariableBytes};
  }
  *address = reinterpret_cast<DevicePointer>(memory);
  *bytes = kVariableBytes;
  return 0;
}

}  // namespace

extern "C" {

int cuLibraryLoadData(LibraryHandle* library, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
  if (const int early = enter("cuLibraryLoadData", Needs::kInit)) return early;
  std::string image = image_of(code);
  if (image.empty()) return cuda::kInvalidImage;
  *library = new cuda::CudaLibraryObject{{std::move(image), {}}, {}};
  const std::lock_guard lock(state().mutex);
  ++state().live_objects;
  return 0;
}
int cuLibraryUnload(LibraryHandle library) {
  if (const int early = enter("cuLibraryUnload", Needs::kInit)) return early;
  const std::lock_guard lock(state().mutex);
  for (const auto& [name, memory] : library->variables) {
    state().allocations.erase(reinterpret_cast<uintptr_t>(memory));
    std::free(memory);
  }
  delete library;
  --state().live_objects;
  return 0;
}
int cuLibraryGetKernel(FunctionHandle* kernel, LibraryHandle library, const char* name) {
  if (const int early = enter("cuLibraryGetKernel", Needs::kInit)) return early;
  *kernel = find_function(library->module, name);
  return *kernel ? 0 : static_cast<int>(cuda::kNameNotFound);
}
int cuLibraryGetGlobal(DevicePointer* address, size_t* bytes, LibraryHandle library, const char* name) {
  if (const int early = enter("cuLibraryGetGlobal")) return early;
  return find_variable(address, bytes, library, name);
}
int cuLibraryGetManaged(DevicePointer* address, size_t* bytes, LibraryHandle library, const char* name) {
  if (const int early = enter("cuLibraryGetManaged")) return early;
  return find_variable(address, bytes, library, name);
}
int cuKernelGetFunction(FunctionHandle* function, FunctionHandle kernel) {
  if (const int early = enter("cuKernelGetFunction")) return early;
  *function = kernel;
  return 0;
}
int cuFuncSetCacheConfig(FunctionHandle, int) { return enter("cuFuncSetCacheConfig"); }
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, FunctionHandle, int threads, size_t, unsigned) {
  if (const int early = enter("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")) return early;
  if (threads <= 0) return cuda::kInvalidValue;
  *blocks = 2048 / threads;
  return 0;
}
int cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, FunctionHandle, int blocks, int) {
  if (const int early = enter("cuOccupancyAvailableDynamicSMemPerBlock")) return early;
  if (blocks <= 0) return cuda::kInvalidValue;
  *bytes = (size_t{227} << 10) / static_cast<size_t>(blocks);
  return 0;
}
int cuOccupancyMaxPotentialClusterSize(int* size, FunctionHandle, const cuda::LaunchConfig*) {
  if (const int early = enter("cuOccupancyMaxPotentialClusterSize")) return early;
  *size = 8;
  return 0;
}

}  // extern "C"
