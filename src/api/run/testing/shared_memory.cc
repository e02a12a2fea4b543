#include "api/run/testing/shared_memory.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "api/run/devices.h"
#include "api/run/program_stream.h"

namespace kiln::api::testing {
namespace {

/// The GPU that engines run on; null where they run on the CPU.
cuda::CudaDevice* gpu() {
  static cuda::CudaDevice* const device = []() -> cuda::CudaDevice* {
    const auto found = default_device();
    if (!found) throw std::runtime_error(found.error().message);
    return found->get().kind() == DeviceKind::kCuda ? static_cast<cuda::CudaDevice*>(&found->get()) : nullptr;
  }();
  return device;
}

}  // namespace

bool is_on_gpu() { return gpu() != nullptr; }

Status copy_on(void* stream, void* to, const void* from, size_t bytes) {
  if (!is_on_gpu()) return std::memcpy(to, from, bytes), Status();
  ProgramStream opened;
  Stream& queue = TRY(opened.open(*gpu(), stream));
  return gpu()->copy(to, from, static_cast<int64_t>(bytes), queue);
}

void* allocate_shared(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (!is_on_gpu()) return ::operator new(bytes);
  const cuda::CurrentContext current(*gpu());
  cuda::DevicePointer memory = 0;
  constexpr unsigned kAttachGlobal = 1;
  const Status made =
      gpu()->driver().check(gpu()->driver().mem_alloc_managed(&memory, bytes, kAttachGlobal), "managed memory");
  if (!made) throw std::runtime_error(made.error().message);
  return reinterpret_cast<void*>(memory);
}

void free_shared(void* memory) noexcept {
  if (!is_on_gpu()) return ::operator delete(memory);
  const cuda::CurrentContext current(*gpu());
  gpu()->driver().mem_free(reinterpret_cast<cuda::DevicePointer>(memory));
}

void* OutputMemory::reallocateOutputAsync(char const*, void* at, uint64_t size, uint64_t, cudaStream_t) {
  current = at;
  memory.assign(size, std::byte{0x7f});
  return refuses ? nullptr : memory.data();
}

void OutputMemory::notifyShape(char const*, nvinfer1::Dims const& dims) noexcept {
  shape.assign(dims.d, dims.d + dims.nbDims);
}

}  // namespace kiln::api::testing
