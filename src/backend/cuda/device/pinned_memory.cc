#include "backend/cuda/device/pinned_memory.h"

#include <algorithm>
#include <cstring>

namespace kiln::cuda {

Result<std::shared_ptr<PinnedMemory>> PinnedMemory::create(CudaDevice& device) {
  std::shared_ptr<PinnedMemory> made(new PinnedMemory(device));
  made->spare_.reserve(kMostSpare);  // what gives memory back must not fail
  return made;
}

PinnedMemory::~PinnedMemory() {
  for (void* page : spare_) free(page);
}

Result<Buffer> PinnedMemory::allocate(int64_t size_bytes) {
  const auto size = static_cast<size_t>(std::max(size_bytes, kPageBytes));
  void* memory = nullptr;
  if (size_bytes <= kPageBytes) {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) memory = spare_.back(), spare_.pop_back();
  }
  if (!memory) {
    constexpr unsigned kPortable = 1, kMapped = 2;
    const CurrentContext current(device_);
    const OutsideCaptures outside(device_.driver());
    TRY(device_.driver().check(device_.driver().mem_host_alloc(&memory, size, kPortable | kMapped), "allocating ",
                               size_bytes, " bytes of host memory that the GPU writes"));
  }
  std::memset(memory, 0, size);
  return Buffer(memory, size_bytes, this, &release);
}

void PinnedMemory::release(void* self, void* data, int64_t size_bytes) {
  auto& memory = *static_cast<PinnedMemory*>(self);
  if (size_bytes <= kPageBytes) {
    const std::lock_guard lock(memory.mutex_);
    if (memory.spare_.size() < kMostSpare) return memory.spare_.push_back(data);
  }
  memory.free(data);
}

void PinnedMemory::free(void* data) {
  if (device_.given_up()) return;
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  device_.driver().mem_free_host(data);
}

}  // namespace kiln::cuda
