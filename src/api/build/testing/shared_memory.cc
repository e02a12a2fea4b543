#include "api/build/testing/shared_memory.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backend/cuda/device/driver.h"

namespace kiln::api::testing {
namespace {

struct Gpu {
  const cuda::Driver* driver = nullptr;
  cuda::ContextHandle context = nullptr;
};

/// The driver, with the first GPU's context current; null where engines run on the CPU.
const cuda::Driver* driver() {
  static const Gpu gpu = []() -> Gpu {
    const char* device = std::getenv("KILN_DEVICE");
    const auto driver = cuda::Driver::instance();
    if (!driver || (device && std::string_view(device) == "cpu")) return {};
    cuda::ContextHandle context = nullptr;  // retained for as long as the process lives
    if (driver->get().device_primary_ctx_retain(&context, 0) != 0) return {};
    return {&driver->get(), context};
  }();
  if (gpu.driver) gpu.driver->ctx_set_current(gpu.context);
  return gpu.driver;
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
