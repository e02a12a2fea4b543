#include "api/entry/device_entry.h"

#include <map>
#include <mutex>

#include "api/entry/status.h"
#include "api/run/devices.h"

namespace kiln::api {
namespace {

/// Memory that `allocate` gave out, by address.
struct Allocations {
  std::mutex mutex;
  std::map<void*, Buffer> buffers;
};
Allocations& allocations() {
  static Allocations& all = *new Allocations;
  return all;
}

KilnStatus allocate(size_t size_bytes, void** memory) {
  return entry_guard([&]() -> Status {
    TRY(require(memory, "the address of the memory is null"));
    TRY(require(size_bytes <= INT64_MAX, size_bytes, " bytes are more than any device has"));
    Device& device = TRY(default_device());
    Buffer buffer = TRY(device.allocate(static_cast<int64_t>(size_bytes)));
    void* data = buffer.data();
    if (data) {
      const std::lock_guard lock(allocations().mutex);
      allocations().buffers.emplace(data, std::move(buffer));
    }
    *memory = data;
    return {};
  });
}

KilnStatus release(void* memory) {
  return entry_guard([&]() -> Status {
    if (!memory) return {};
    const std::lock_guard lock(allocations().mutex);
    return require(allocations().buffers.erase(memory) == 1, "memory at ", reinterpret_cast<uintptr_t>(memory),
                   " was not allocated here, or is freed already");
  });
}

KilnStatus total_memory(size_t* size_bytes) {
  return entry_guard([&]() -> Status {
    TRY(require(size_bytes, "the address of the size is null"));
    Device& device = TRY(default_device());
    *size_bytes = static_cast<size_t>(device.total_memory_bytes());
    return {};
  });
}

KilnStatus identity(const char** text) {
  return entry_guard([&]() -> Status {
    TRY(require(text, "the address of the text is null"));
    Device& device = TRY(default_device());
    static const std::string& kept = *new std::string(device.identity());
    *text = kept.c_str();
    return {};
  });
}

KilnStatus num_threads(int32_t* count) {
  return entry_guard([&]() -> Status {
    TRY(require(count, "the address of the count is null"));
    cpu::CpuDevice& device = TRY(host_device());
    *count = device.team().size();
    return {};
  });
}

KilnStatus driver(const void** driver, size_t* size_bytes) {
  return entry_guard([&]() -> Status {
    TRY(require(driver && size_bytes, "the address of the driver or of its size is null"));
    *driver = nullptr;
    *size_bytes = sizeof(cuda::Driver);
    if (TRY(default_device_kind()) == DeviceKind::kCpu) return {};
    const cuda::Driver& loaded = TRY(cuda::Driver::instance());
    *driver = &loaded;
    return {};
  });
}

}  // namespace

KilnGpuEntry gpu_entry() { return {driver}; }

KilnDeviceEntry device_entry() { return {allocate, release, total_memory, identity, num_threads}; }

}  // namespace kiln::api
