// What the device is. The host as it is: what only a GPU has is 0, its compute capability too.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <string>

#include "call.h"

using namespace kiln::cudart;

namespace {

/// "model name" of the first core; the architecture where the system has no such line.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
#if defined(__aarch64__)
  return "AArch64";
#else
  return "x86-64";
#endif
}

int cache_size(int name) {
  const long size = sysconf(name);
  return static_cast<int>(std::clamp<long>(size, 0, INT_MAX));
}

cudaError_t read_properties(const KilnPrivateEntry& kiln, cudaDeviceProp& prop) {
  prop = {};
  static const std::string& name = *new std::string("Kiln CPU: " + cpu_model());
  std::strncpy(prop.name, name.c_str(), sizeof prop.name - 1);
  std::memcpy(prop.uuid.bytes, "Kiln CPU device", 16);
  if (const KilnStatus known = kiln.device.total_memory(&prop.totalGlobalMem); known != kKilnOk) return to_cuda(known);
  int32_t threads = 0;
  if (const KilnStatus known = kiln.device.num_threads(&threads); known != kKilnOk) return to_cuda(known);
  prop.multiProcessorCount = threads;
  prop.warpSize = 1;
  prop.memPitch = INT_MAX;
  prop.l2CacheSize = cache_size(_SC_LEVEL2_CACHE_SIZE);
  prop.integrated = 1;
  prop.canMapHostMemory = 1;
  prop.unifiedAddressing = 1;
  prop.concurrentKernels = 1;
  prop.asyncEngineCount = 1;
  prop.managedMemory = 1;
  prop.concurrentManagedAccess = 1;
  prop.directManagedMemAccessFromHost = 1;
  prop.pageableMemoryAccess = 1;
  prop.pageableMemoryAccessUsesHostPageTables = 1;
  prop.canUseHostPointerForRegisteredMem = 1;
  prop.hostNativeAtomicSupported = 1;
  prop.hostRegisterSupported = 1;
  prop.hostRegisterReadOnlySupported = 1;
  prop.memoryPoolsSupported = 1;
  prop.computePreemptionSupported = 1;
  prop.deviceNumaId = prop.hostNumaId = -1;
  return cudaSuccess;
}

int as_int(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

/// What is 0 for the host needs no line.
int attribute(const cudaDeviceProp& prop, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrWarpSize: return prop.warpSize;
    case cudaDevAttrMaxPitch: return as_int(prop.memPitch);
    case cudaDevAttrMultiProcessorCount: return prop.multiProcessorCount;
    case cudaDevAttrIntegrated: return prop.integrated;
    case cudaDevAttrCanMapHostMemory: return prop.canMapHostMemory;
    case cudaDevAttrConcurrentKernels: return prop.concurrentKernels;
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrAsyncEngineCount: return prop.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing: return prop.unifiedAddressing;
    case cudaDevAttrL2CacheSize: return prop.l2CacheSize;
    case cudaDevAttrManagedMemory: return prop.managedMemory;
    case cudaDevAttrConcurrentManagedAccess: return prop.concurrentManagedAccess;
    case cudaDevAttrDirectManagedMemAccessFromHost: return prop.directManagedMemAccessFromHost;
    case cudaDevAttrPageableMemoryAccess: return prop.pageableMemoryAccess;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables: return prop.pageableMemoryAccessUsesHostPageTables;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return prop.canUseHostPointerForRegisteredMem;
    case cudaDevAttrHostNativeAtomicSupported: return prop.hostNativeAtomicSupported;
    case cudaDevAttrHostRegisterSupported: return prop.hostRegisterSupported;
    case cudaDevAttrHostRegisterReadOnlySupported: return prop.hostRegisterReadOnlySupported;
    case cudaDevAttrMemoryPoolsSupported: return prop.memoryPoolsSupported;
    case cudaDevAttrComputePreemptionSupported: return prop.computePreemptionSupported;
    case cudaDevAttrNumaId:
    case cudaDevAttrHostNumaId: return -1;
    default: return 0;
  }
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!prop) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    return read_properties(kiln, *prop);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!value || which < 1 || which >= cudaDevAttrMax) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    cudaDeviceProp prop;
    if (const cudaError_t unknown = read_properties(kiln, prop); unknown != cudaSuccess) return unknown;
    *value = attribute(prop, which);
    return cudaSuccess;
  });
}
