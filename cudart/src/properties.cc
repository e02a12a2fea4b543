// What the device is. The host as it is: what only a GPU has is 0, its compute capability too. A GPU as its driver
// says.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <string>

#include "call.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

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

struct PropertyField {
  int attribute;  ///< of the driver, as cudaDeviceAttr
  size_t offset;
  bool is_wide;  ///< a size_t, else an int
};
constexpr auto kInt = false, kWide = true;
/// The fields that the driver has an attribute for. Those of textures and surfaces stay 0: no function here takes them.
constexpr PropertyField kFields[] = {
    {cudaDevAttrMaxThreadsPerBlock, offsetof(cudaDeviceProp, maxThreadsPerBlock), kInt},
    {cudaDevAttrMaxBlockDimX, offsetof(cudaDeviceProp, maxThreadsDim[0]), kInt},
    {cudaDevAttrMaxBlockDimY, offsetof(cudaDeviceProp, maxThreadsDim[1]), kInt},
    {cudaDevAttrMaxBlockDimZ, offsetof(cudaDeviceProp, maxThreadsDim[2]), kInt},
    {cudaDevAttrMaxGridDimX, offsetof(cudaDeviceProp, maxGridSize[0]), kInt},
    {cudaDevAttrMaxGridDimY, offsetof(cudaDeviceProp, maxGridSize[1]), kInt},
    {cudaDevAttrMaxGridDimZ, offsetof(cudaDeviceProp, maxGridSize[2]), kInt},
    {cudaDevAttrMaxSharedMemoryPerBlock, offsetof(cudaDeviceProp, sharedMemPerBlock), kWide},
    {cudaDevAttrTotalConstantMemory, offsetof(cudaDeviceProp, totalConstMem), kWide},
    {cudaDevAttrWarpSize, offsetof(cudaDeviceProp, warpSize), kInt},
    {cudaDevAttrMaxPitch, offsetof(cudaDeviceProp, memPitch), kWide},
    {cudaDevAttrMaxRegistersPerBlock, offsetof(cudaDeviceProp, regsPerBlock), kInt},
    {cudaDevAttrTextureAlignment, offsetof(cudaDeviceProp, textureAlignment), kWide},
    {cudaDevAttrMultiProcessorCount, offsetof(cudaDeviceProp, multiProcessorCount), kInt},
    {cudaDevAttrIntegrated, offsetof(cudaDeviceProp, integrated), kInt},
    {cudaDevAttrCanMapHostMemory, offsetof(cudaDeviceProp, canMapHostMemory), kInt},
    {cudaDevAttrConcurrentKernels, offsetof(cudaDeviceProp, concurrentKernels), kInt},
    {cudaDevAttrEccEnabled, offsetof(cudaDeviceProp, ECCEnabled), kInt},
    {cudaDevAttrPciBusId, offsetof(cudaDeviceProp, pciBusID), kInt},
    {cudaDevAttrPciDeviceId, offsetof(cudaDeviceProp, pciDeviceID), kInt},
    {cudaDevAttrPciDomainId, offsetof(cudaDeviceProp, pciDomainID), kInt},
    {cudaDevAttrAsyncEngineCount, offsetof(cudaDeviceProp, asyncEngineCount), kInt},
    {cudaDevAttrUnifiedAddressing, offsetof(cudaDeviceProp, unifiedAddressing), kInt},
    {cudaDevAttrGlobalMemoryBusWidth, offsetof(cudaDeviceProp, memoryBusWidth), kInt},
    {cudaDevAttrL2CacheSize, offsetof(cudaDeviceProp, l2CacheSize), kInt},
    {cudaDevAttrMaxPersistingL2CacheSize, offsetof(cudaDeviceProp, persistingL2CacheMaxSize), kInt},
    {cudaDevAttrMaxThreadsPerMultiProcessor, offsetof(cudaDeviceProp, maxThreadsPerMultiProcessor), kInt},
    {cudaDevAttrStreamPrioritiesSupported, offsetof(cudaDeviceProp, streamPrioritiesSupported), kInt},
    {cudaDevAttrGlobalL1CacheSupported, offsetof(cudaDeviceProp, globalL1CacheSupported), kInt},
    {cudaDevAttrLocalL1CacheSupported, offsetof(cudaDeviceProp, localL1CacheSupported), kInt},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, offsetof(cudaDeviceProp, sharedMemPerMultiprocessor), kWide},
    {cudaDevAttrMaxRegistersPerMultiprocessor, offsetof(cudaDeviceProp, regsPerMultiprocessor), kInt},
    {cudaDevAttrManagedMemory, offsetof(cudaDeviceProp, managedMemory), kInt},
    {cudaDevAttrIsMultiGpuBoard, offsetof(cudaDeviceProp, isMultiGpuBoard), kInt},
    {cudaDevAttrMultiGpuBoardGroupID, offsetof(cudaDeviceProp, multiGpuBoardGroupID), kInt},
    {cudaDevAttrHostNativeAtomicSupported, offsetof(cudaDeviceProp, hostNativeAtomicSupported), kInt},
    {cudaDevAttrPageableMemoryAccess, offsetof(cudaDeviceProp, pageableMemoryAccess), kInt},
    {cudaDevAttrConcurrentManagedAccess, offsetof(cudaDeviceProp, concurrentManagedAccess), kInt},
    {cudaDevAttrComputePreemptionSupported, offsetof(cudaDeviceProp, computePreemptionSupported), kInt},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, offsetof(cudaDeviceProp, canUseHostPointerForRegisteredMem), kInt},
    {cudaDevAttrCooperativeLaunch, offsetof(cudaDeviceProp, cooperativeLaunch), kInt},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, offsetof(cudaDeviceProp, sharedMemPerBlockOptin), kWide},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables,
     offsetof(cudaDeviceProp, pageableMemoryAccessUsesHostPageTables), kInt},
    {cudaDevAttrDirectManagedMemAccessFromHost, offsetof(cudaDeviceProp, directManagedMemAccessFromHost), kInt},
    {cudaDevAttrMaxBlocksPerMultiprocessor, offsetof(cudaDeviceProp, maxBlocksPerMultiProcessor), kInt},
    {cudaDevAttrReservedSharedMemoryPerBlock, offsetof(cudaDeviceProp, reservedSharedMemPerBlock), kWide},
    {cudaDevAttrHostRegisterSupported, offsetof(cudaDeviceProp, hostRegisterSupported), kInt},
    {cudaDevAttrHostRegisterReadOnlySupported, offsetof(cudaDeviceProp, hostRegisterReadOnlySupported), kInt},
    {cudaDevAttrMemoryPoolsSupported, offsetof(cudaDeviceProp, memoryPoolsSupported), kInt},
    {cudaDevAttrClusterLaunch, offsetof(cudaDeviceProp, clusterLaunch), kInt},
    {cudaDevAttrComputeCapabilityMajor, offsetof(cudaDeviceProp, major), kInt},
    {cudaDevAttrComputeCapabilityMinor, offsetof(cudaDeviceProp, minor), kInt},
};

int read_gpu_properties(const Driver& gpu, cudaDeviceProp& prop, int device) {
  prop = {};
  if (const int unknown = gpu.device_get_name(prop.name, sizeof prop.name, device)) return unknown;
  if (const int unknown = gpu.device_total_mem(&prop.totalGlobalMem, device)) return unknown;
  kiln::cuda::Uuid uuid{};
  if (const int unknown = gpu.device_get_uuid(&uuid, device)) return unknown;
  std::memcpy(prop.uuid.bytes, uuid.bytes, sizeof uuid.bytes);
  for (const PropertyField& field : kFields) {
    int value = 0;
    if (gpu.device_get_attribute(&value, field.attribute, device) != 0) continue;  // an older driver lacks some
    const size_t wide = value < 0 ? 0 : static_cast<size_t>(value);
    auto* at = reinterpret_cast<std::byte*>(&prop) + field.offset;
    field.is_wide ? std::memcpy(at, &wide, sizeof wide) : std::memcpy(at, &value, sizeof value);
  }
  return 0;
}

int as_int(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

/// The host's value of an attribute. Attributes without a line here are 0.
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
  const auto on_gpu = [&](const Driver& gpu) -> int {
    int count = 0;
    if (!prop) return cudaErrorInvalidValue;
    if (const int unknown = gpu.device_get_count(&count)) return unknown;
    return device >= 0 && device < count ? read_gpu_properties(gpu, *prop, device) : cudaErrorInvalidDevice;
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!prop) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    return read_properties(kiln, *prop);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  const auto on_gpu = [&](const Driver& gpu) {
    return value ? gpu.device_get_attribute(value, which, device) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!value || which < 1 || which >= cudaDevAttrMax) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    cudaDeviceProp prop;
    if (const cudaError_t unknown = read_properties(kiln, prop); unknown != cudaSuccess) return unknown;
    *value = attribute(prop, which);
    return cudaSuccess;
  });
}
