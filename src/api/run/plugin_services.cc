#include "api/run/plugin_services.h"

#include <map>
#include <mutex>

#include "api/run/devices.h"
#include "api/run/refused_launches.h"
#include "api/run/stream_table.h"

namespace kiln::api {
namespace {

constexpr uint32_t kFollowsNobody = 1;  // what plugins queue waits for nothing of the program's

class TableStreams final : public plugin::HostStreams {
  Result<void*> create() override { return StreamTable::instance().create(kFollowsNobody, 0); }
  void destroy(void* stream) override { static_cast<void>(StreamTable::instance().destroy(stream)); }
  void* set_default(void* stream) override { return StreamTable::set_stand_in(stream); }
  int64_t num_refused_launches() const override { return api::num_refused_launches(); }
  Status synchronize(void* stream) override { return TRY(StreamTable::instance().find(stream)).get().synchronize(); }
};

/// Memory of a device, for plugins whose program has set no allocator.
class DeviceMemory final : public nvinfer1::IGpuAllocator {
 public:
  explicit DeviceMemory(Device& device) : device_(device) {}
  void* allocate(uint64_t size, uint64_t alignment, nvinfer1::AllocatorFlags) noexcept override {
    constexpr uint64_t kAlignment = 256;  // of a Buffer
    if (size == 0 || size > uint64_t{INT64_MAX} || alignment > kAlignment) return nullptr;
    try {
      auto memory = device_.allocate(static_cast<int64_t>(size));
      if (!memory) return nullptr;
      const std::lock_guard lock(mutex_);
      void* const at = memory->data();
      given_.emplace(at, *std::move(memory));
      return at;
    } catch (...) {
      return nullptr;
    }
  }
  bool deallocate(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    return !memory || given_.erase(memory) == 1;
  }

 private:
  Device& device_;
  std::mutex mutex_;
  std::map<void*, Buffer> given_;
};

/// One for each device. Never destroyed: a process's last act does not free what its devices gave.
DeviceMemory& memory_of(Device& device) {
  struct All {
    std::mutex mutex;
    std::map<const Device*, DeviceMemory> by_device;
  };
  static All& all = *new All;
  const std::lock_guard lock(all.mutex);
  return all.by_device.try_emplace(&device, device).first->second;
}

}  // namespace

Result<plugin::Services> plugin_services(const Reporter& reporter, nvinfer1::IGpuAllocator* allocator) {
  static TableStreams streams;
  Device& device = TRY(engine_device());
  plugin::Services services;
  if (device.is_host()) services.host_streams = &streams;
  services.allocator = allocator ? allocator : &memory_of(device);
  services.recorder = reporter.current_recorder();
  return services;
}

}  // namespace kiln::api
