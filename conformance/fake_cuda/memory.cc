// Memory and copies.
#include <cstdlib>
#include <cstring>

#include "state.h"

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::DevicePointer;
using kiln::cuda::StreamHandle;

namespace {

constexpr size_t kMostBytes = size_t{16} << 30;

void* at(DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }

/// The low bytes of the value in every element of the rows.
int set(const cuda::MemsetNodeParams& rows, StreamHandle stream) {
  const auto work = [rows] {
    for (size_t row = 0; row < rows.height; ++row)
      for (size_t i = 0; i < rows.width; ++i)
        std::memcpy(at(rows.to + row * rows.pitch + i * rows.element_bytes), &rows.value, rows.element_bytes);
    return 0;
  };
  return submit(stream, work, nullptr, std::make_shared<cuda::MemsetNodeParams>(rows));
}

int allocate(void** memory, size_t bytes, Allocation allocation) {
  if (bytes == 0) return cuda::kInvalidValue;
  if (bytes > kMostBytes) return cuda::kOutOfDeviceMemory;
  void* data = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (!data) return cuda::kOutOfDeviceMemory;
  std::memset(data, is_strict() ? 0 : 0xcd, bytes);  // never zeros by luck
  allocation.bytes = bytes;
  allocation.device = current_context->device;
  const std::lock_guard lock(state().mutex);
  state().allocations[reinterpret_cast<uintptr_t>(data)] = allocation;
  *memory = data;
  return 0;
}

int release(void* memory) {
  if (!memory) return 0;
  const std::lock_guard lock(state().mutex);
  const auto found = state().allocations.find(reinterpret_cast<uintptr_t>(memory));
  if (found == state().allocations.end()) return cuda::kInvalidValue;
  state().allocations.erase(found);
  std::free(memory);
  return 0;
}

bool is_device(const void* pointer, size_t bytes) {
  const Allocation* allocation = find_allocation(pointer, bytes);
  return allocation && allocation->type == cuda::kMemoryDevice;
}

int copy(StreamHandle stream, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return 0;
  return submit(stream, [=] { return std::memmove(to, from, bytes), 0; });
}

}  // namespace

extern "C" {

int cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  if (const int early = enter("cuMemGetInfo_v2")) return early;
  *total_bytes = kMostBytes;
  *free_bytes = kMostBytes - static_cast<size_t>(kiln_fake_cuda()->live_bytes());
  return 0;
}
int cuMemAlloc_v2(DevicePointer* memory, size_t bytes) {
  if (const int early = enter("cuMemAlloc_v2")) return early;
  void* data = nullptr;
  const int result = allocate(&data, bytes, {});
  *memory = reinterpret_cast<DevicePointer>(data);
  return result;
}
int cuMemFree_v2(DevicePointer memory) {
  if (const int early = enter("cuMemFree_v2")) return early;
  wait_for("cuMemFree_v2");
  return release(at(memory));
}
int cuMemAllocAsync(DevicePointer* memory, size_t bytes, StreamHandle stream) {
  if (const int early = enter("cuMemAllocAsync")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  void* data = nullptr;
  const int result = allocate(&data, bytes, {});
  *memory = reinterpret_cast<DevicePointer>(data);
  return result;
}
int cuMemFreeAsync(DevicePointer memory, StreamHandle stream) {
  if (const int early = enter("cuMemFreeAsync")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  return release(at(memory));
}
int cuMemAllocManaged(DevicePointer* memory, size_t bytes, unsigned) {
  if (const int early = enter("cuMemAllocManaged")) return early;
  void* data = nullptr;
  const int result = allocate(&data, bytes, {.managed = true});
  *memory = reinterpret_cast<DevicePointer>(data);
  return result;
}
int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  if (const int early = enter("cuMemHostAlloc")) return early;
  return allocate(memory, bytes, {.type = cuda::kMemoryHost});
}
int cuMemFreeHost(void* memory) {
  if (const int early = enter("cuMemFreeHost")) return early;
  wait_for("cuMemFreeHost");
  return release(memory);
}
int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned) {
  if (const int early = enter("cuMemHostRegister_v2")) return early;
  if (!memory || bytes == 0) return cuda::kInvalidValue;
  const std::lock_guard lock(state().mutex);
  state().allocations[reinterpret_cast<uintptr_t>(memory)] = {bytes, 0, cuda::kMemoryHost, false};
  return 0;
}
int cuMemHostUnregister(void* memory) {
  if (const int early = enter("cuMemHostUnregister")) return early;
  const std::lock_guard lock(state().mutex);
  return state().allocations.erase(reinterpret_cast<uintptr_t>(memory)) ? 0 : 713;
}
int cuMemHostGetDevicePointer_v2(DevicePointer* device, void* host, unsigned) {
  if (const int early = enter("cuMemHostGetDevicePointer_v2")) return early;
  const Allocation* found = find_allocation(host);
  if (!found || found->type != cuda::kMemoryHost) return cuda::kInvalidValue;
  *device = reinterpret_cast<DevicePointer>(host);
  return 0;
}
int cuMemHostGetFlags(unsigned* flags, void* host) {
  if (const int early = enter("cuMemHostGetFlags")) return early;
  if (!find_allocation(host)) return cuda::kInvalidValue;
  *flags = 2;
  return 0;
}
int cuPointerGetAttributes(unsigned count, int* attributes, void** values, DevicePointer pointer) {
  if (const int early = enter("cuPointerGetAttributes")) return early;
  const Allocation* found = find_allocation(at(pointer));
  for (unsigned i = 0; i < count; ++i) switch (attributes[i]) {
      case cuda::kPointerMemoryType: *static_cast<unsigned*>(values[i]) = found ? unsigned(found->type) : 0; break;
      case cuda::kPointerDevice: *static_cast<DevicePointer*>(values[i]) = found ? pointer : 0; break;
      case cuda::kPointerHost:
        *static_cast<void**>(values[i]) = found && found->type == cuda::kMemoryHost ? at(pointer) : nullptr;
        break;
      case cuda::kPointerIsManaged: *static_cast<unsigned*>(values[i]) = found && found->managed; break;
      case cuda::kPointerDeviceOrdinal: *static_cast<int*>(values[i]) = found ? found->device : -2; break;
      default: return cuda::kInvalidValue;
    }
  return 0;
}

int cuMemcpy(DevicePointer to, DevicePointer from, size_t bytes) {
  if (const int early = enter("cuMemcpy")) return early;
  wait_for("cuMemcpy");
  return std::memmove(at(to), at(from), bytes), 0;
}
int cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
  const int early = enter("cuMemcpyAsync");
  return early ? early : copy(stream, at(to), at(from), bytes);
}
int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  if (const int early = enter("cuMemcpyHtoDAsync_v2")) return early;
  return is_device(at(to), bytes) ? copy(stream, at(to), from, bytes) : static_cast<int>(cuda::kInvalidValue);
}
int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  if (const int early = enter("cuMemcpyDtoHAsync_v2")) return early;
  return is_device(at(from), bytes) ? copy(stream, to, at(from), bytes) : static_cast<int>(cuda::kInvalidValue);
}
int cuMemcpy2DAsync_v2(const cuda::Copy2d* copy, StreamHandle stream) {
  if (const int early = enter("cuMemcpy2DAsync_v2")) return early;
  const cuda::Copy2d c = *copy;
  return submit(stream, [c] {
    const auto* from =
        static_cast<const std::byte*>(c.from_type == cuda::kMemoryHost ? c.from_host : at(c.from_device));
    auto* to = static_cast<std::byte*>(c.to_type == cuda::kMemoryHost ? c.to_host : at(c.to_device));
    for (size_t row = 0; row < c.height; ++row)
      std::memmove(to + c.to_x_bytes + (c.to_y + row) * c.to_pitch,
                   from + c.from_x_bytes + (c.from_y + row) * c.from_pitch, c.width_bytes);
    return 0;
  });
}
int cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, StreamHandle stream) {
  if (const int early = enter("cuMemsetD8Async")) return early;
  if (!find_allocation(at(to), count)) return cuda::kInvalidValue;
  return set({to, 0, value, 1, count, 1}, stream);
}
int cuMemsetD2D8Async(DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height,
                      StreamHandle stream) {
  if (const int early = enter("cuMemsetD2D8Async")) return early;
  return set({to, pitch, value, 1, width, height}, stream);
}
int cuMemsetD2D16Async(DevicePointer to, size_t pitch, unsigned short value, size_t width, size_t height,
                       StreamHandle stream) {
  if (const int early = enter("cuMemsetD2D16Async")) return early;
  return set({to, pitch, value, 2, width, height}, stream);
}
int cuMemsetD2D32Async(DevicePointer to, size_t pitch, unsigned value, size_t width, size_t height,
                       StreamHandle stream) {
  if (const int early = enter("cuMemsetD2D32Async")) return early;
  return set({to, pitch, value, 4, width, height}, stream);
}

}  // extern "C"
