// Allocating, pinning, and what is known of a pointer. Device memory is the host's: pinning it needs nothing.
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "allocations.h"
#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

cudaError_t allocate(const KilnPrivateEntry& kiln, void** memory, size_t size, Memory kind, unsigned int flags) {
  if (!memory) return cudaErrorInvalidValue;
  *memory = nullptr;
  if (size == 0) return cudaSuccess;
  size_t total = 0;
  if (const KilnStatus known = kiln.device.total_memory(&total); known != kKilnOk) return to_cuda(known);
  if (size > total) return cudaErrorMemoryAllocation;  // the system would promise it, and end the process when used
  void* data = nullptr;
  if (const KilnStatus done = kiln.device.allocate(size, &data); done != kKilnOk) return to_cuda(done);
  Allocations::instance().add({static_cast<std::byte*>(data), size, kind, flags});
  *memory = data;
  return cudaSuccess;
}

/// Waits for all work that may use the block, then frees it. Its kind must be `one` or `other`.
cudaError_t release(const KilnPrivateEntry& kiln, void* memory, Memory one, Memory other) {
  if (!memory) return cudaSuccess;
  if (!Allocations::instance().take(memory, one, other)) return cudaErrorInvalidValue;
  const KilnStatus done = kiln.stream.synchronize_all();
  const KilnStatus released = kiln.device.release(memory);
  return to_cuda(done == kKilnOk ? released : done);
}

/// The system's estimate of what can be allocated without swapping, bytes; 0 if it gives none.
size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  size_t kib = 0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(file, unit);
  }
  return 0;
}

/// Allocates memory by the driver's `get(address, size)`; a size of 0 gives a null address.
template <class F>
int allocate_on_gpu(void** memory, size_t size, F get) {
  if (!memory) return cudaErrorInvalidValue;
  *memory = nullptr;
  if (size == 0) return cudaSuccess;
  kiln::cuda::DevicePointer address = 0;
  const int result = get(&address, size);
  if (result == 0) *memory = reinterpret_cast<void*>(address);
  return result;
}

int attributes_on_gpu(const Driver& gpu, cudaPointerAttributes* attributes, const void* pointer) {
  using namespace kiln::cuda;
  if (!attributes) return cudaErrorInvalidValue;
  *attributes = {};
  unsigned type = 0, managed = 0;
  int device = 0;
  int wanted[] = {kPointerMemoryType, kPointerDevice, kPointerHost, kPointerIsManaged, kPointerDeviceOrdinal};
  DevicePointer on_device = 0;
  void* values[] = {&type, &on_device, &attributes->hostPointer, &managed, &device};
  if (const int result = gpu.pointer_get_attributes(5, wanted, values, on(pointer))) return result;
  if (type == 0) {  // nothing that the driver knows
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = const_cast<void*>(pointer);
    return 0;
  }
  attributes->device = device;
  attributes->devicePointer = reinterpret_cast<void*>(on_device);
  attributes->type = managed ? cudaMemoryTypeManaged : type == kMemoryHost ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  return 0;
}

cudaError_t free_async(void* memory, cudaStream_t stream) {
  const auto on_gpu = [&](const Driver& gpu) {
    return memory ? gpu.mem_free_async(on(memory), on(stream)) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!memory) return cudaErrorInvalidValue;
    const auto block = Allocations::instance().find(memory);
    if (!block || block->data != memory || block->memory != Memory::kDevice) return cudaErrorInvalidValue;
    struct Job {
      const KilnPrivateEntry& kiln;
      void* memory;
    };
    auto job = std::make_unique<Job>(kiln, memory);
    const KilnStatus queued = kiln.stream.launch_kept(
        stream,
        [](void* argument, int32_t) {  // also behind work that failed
          const Job& job = *static_cast<Job*>(argument);
          if (Allocations::instance().take(job.memory, Memory::kDevice, Memory::kDevice))
            job.kiln.device.release(job.memory);
        },
        job.get(), [](void* argument) { delete static_cast<Job*>(argument); });
    if (queued == kKilnOk) job.release();
    return to_cuda(queued, cudaErrorStreamCaptureImplicit);
  });
}

cudaError_t malloc_async(void** memory, size_t size, cudaStream_t stream) {
  const auto on_gpu = [&](const Driver& gpu) {
    return allocate_on_gpu(memory, size, [&](auto* at, size_t n) { return gpu.mem_alloc_async(at, n, on(stream)); });
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    uint32_t flags = 0;
    if (const KilnStatus known = kiln.stream.flags(stream, &flags); known != kKilnOk) return to_cuda(known);
    return allocate(kiln, memory, size, Memory::kDevice, 0);  // at once: before the stream's order asks for it
  });
}

}  // namespace

cudaError_t cudaMalloc(void** memory, size_t size) {
  const auto on_gpu = [&](const Driver& gpu) { return allocate_on_gpu(memory, size, gpu.mem_alloc); };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) { return allocate(kiln, memory, size, Memory::kDevice, 0); });
}

cudaError_t cudaFree(void* memory) {
  const auto on_gpu = [&](const Driver& gpu) { return memory ? gpu.mem_free(on(memory)) : 0; };
  return call(on_gpu,
              [&](const KilnPrivateEntry& kiln) { return release(kiln, memory, Memory::kDevice, Memory::kManaged); });
}

cudaError_t cudaMallocHost(void** memory, size_t size) { return cudaHostAlloc(memory, size, cudaHostAllocDefault); }

cudaError_t cudaHostAlloc(void** memory, size_t size, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!memory || (flags & ~7u)) return cudaErrorInvalidValue;
    *memory = nullptr;
    return size == 0 ? 0 : gpu.mem_host_alloc(memory, size, flags);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (flags & ~7u) return cudaErrorInvalidValue;
    return allocate(kiln, memory, size, Memory::kHost, flags);
  });
}

cudaError_t cudaFreeHost(void* memory) {
  const auto on_gpu = [&](const Driver& gpu) { return memory ? gpu.mem_free_host(memory) : 0; };
  return call(on_gpu,
              [&](const KilnPrivateEntry& kiln) { return release(kiln, memory, Memory::kHost, Memory::kHost); });
}

cudaError_t cudaMallocManaged(void** memory, size_t size, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (size == 0) return cudaErrorInvalidValue;
    return allocate_on_gpu(memory, size, [&](auto* at, size_t n) { return gpu.mem_alloc_managed(at, n, flags); });
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return cudaErrorInvalidValue;
    return allocate(kiln, memory, size, Memory::kManaged, 0);
  });
}

cudaError_t cudaHostRegister(void* memory, size_t size, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) { return gpu.mem_host_register(memory, size, flags); };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!memory || size == 0 || (flags & ~0xfu)) return cudaErrorInvalidValue;
    const Block block{static_cast<std::byte*>(memory), size, Memory::kRegistered, flags};
    return Allocations::instance().add(block) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  const auto on_gpu = [&](const Driver& gpu) { return gpu.mem_host_unregister(memory); };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!memory) return cudaErrorInvalidValue;
    const auto taken = Allocations::instance().take(memory, Memory::kRegistered, Memory::kRegistered);
    return taken ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!device || !host) return cudaErrorInvalidValue;
    return gpu.mem_host_get_device_pointer(reinterpret_cast<kiln::cuda::DevicePointer*>(device), host, flags);
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!device || !host || flags != 0) return cudaErrorInvalidValue;
    const auto block = Allocations::instance().find(host);
    if (!block || block->memory == Memory::kDevice) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  const auto on_gpu = [&](const Driver& gpu) {
    return flags && host ? gpu.mem_host_get_flags(flags, host) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!flags || !host) return cudaErrorInvalidValue;
    const auto block = Allocations::instance().find(host);
    if (!block || (block->memory != Memory::kHost && block->memory != Memory::kRegistered))
      return cudaErrorInvalidValue;
    *flags = block->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const auto on_gpu = [&](const Driver& gpu) { return attributes_on_gpu(gpu, attributes, pointer); };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!attributes) return cudaErrorInvalidValue;
    void* at = const_cast<void*>(pointer);
    *attributes = {};
    const auto block = Allocations::instance().find(pointer);
    if (!block) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = at;
      return cudaSuccess;
    }
    attributes->device = 0;
    attributes->devicePointer = at;
    attributes->hostPointer = block->memory == Memory::kDevice ? nullptr : at;
    attributes->type = block->memory == Memory::kDevice    ? cudaMemoryTypeDevice
                       : block->memory == Memory::kManaged ? cudaMemoryTypeManaged
                                                           : cudaMemoryTypeHost;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const auto on_gpu = [&](const Driver& gpu) {
    return free && total ? gpu.mem_get_info(free, total) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!free || !total) return cudaErrorInvalidValue;
    if (const KilnStatus known = kiln.device.total_memory(total); known != kKilnOk) return to_cuda(known);
    *free = std::min(available_memory(), *total);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** memory, size_t size, cudaStream_t stream) {
  return malloc_async(memory, size, stream);
}
cudaError_t cudaMallocAsync_ptsz(void** memory, size_t size, cudaStream_t stream) {
  return malloc_async(memory, size, per_thread(stream));
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) { return free_async(memory, stream); }
cudaError_t cudaFreeAsync_ptsz(void* memory, cudaStream_t stream) { return free_async(memory, per_thread(stream)); }
