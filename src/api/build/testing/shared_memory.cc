#include "api/build/testing/shared_memory.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backend/cuda/device/driver.h"

namespace kiln::api::testing {
namespace {

/// The driver, with the first GPU's context current; null where engines run on the CPU.
const cuda::Driver* driver() {
  static const cuda::Driver* const found = []() -> const cuda::Driver* {
    const char* device = std::getenv("KILN_DEVICE");
    const auto driver = cuda::Driver::instance();
    if (!driver || (device && std::string_view(device) == "cpu")) return nullptr;
    cuda::ContextHandle context = nullptr;
    return driver->get().device_primary_ctx_retain(&context, 0) == 0 ? &driver->get() : nullptr;
  }();
  cuda::ContextHandle context = nullptr;
  if (found && found->device_primary_ctx_retain(&context, 0) == 0) {
    found->ctx_set_current(context);
    found->device_primary_ctx_release(0);
  }
  return found;
}

}  // namespace

bool is_on_gpu() { return driver() != nullptr; }

SharedMemory::~SharedMemory() {
  if (managed_) driver()->mem_free(reinterpret_cast<cuda::DevicePointer>(managed_));
}

std::byte* SharedMemory::reserve(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes <= size_) return data();
  size_ = bytes;
  if (!is_on_gpu()) return bytes_.resize(bytes), bytes_.data();
  if (managed_) driver()->mem_free(reinterpret_cast<cuda::DevicePointer>(managed_));
  cuda::DevicePointer memory = 0;
  constexpr unsigned kAttachGlobal = 1;
  if (driver()->mem_alloc_managed(&memory, bytes, kAttachGlobal) != 0) std::abort();
  return managed_ = reinterpret_cast<std::byte*>(memory);
}

}  // namespace kiln::api::testing
