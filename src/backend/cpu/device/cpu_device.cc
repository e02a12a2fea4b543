#include "backend/cpu/device/cpu_device.h"

#include <sys/sysinfo.h>

#include <cstdlib>
#include <cstring>

#include "backend/cpu/device/cpu.h"
#include "backend/cpu/device/host_stream.h"
#include "base/large_pages.h"
#include "steps/executor.h"

namespace kiln::cpu {

CpuDevice::CpuDevice(int team_size, TargetUse instructions)
    : instructions_(std::move(instructions)), team_(team_size), standby_(std::make_shared<Standby>()) {}
CpuDevice::~CpuDevice() = default;
void CpuDevice::set_executor(std::unique_ptr<Executor> executor) { executor_ = std::move(executor); }

Result<std::unique_ptr<CpuDevice>> CpuDevice::create(int team_size, std::optional<Target> instructions) {
  TRY(check_cpu());
  TargetUse use = TRY(TargetUse::begin(instructions));
  return std::unique_ptr<CpuDevice>(new CpuDevice(team_size, std::move(use)));
}

std::string CpuDevice::identity() const { return str("cpu ", name_of(target()), ", ", team_.size(), " threads"); }

int64_t CpuDevice::total_memory_bytes() const {
  struct sysinfo info {};
  return sysinfo(&info) == 0 ? static_cast<int64_t>(info.totalram) * info.mem_unit : 0;
}

Result<Buffer> CpuDevice::allocate(int64_t size_bytes) {
  constexpr size_t kAlign = 256;
  if (size_bytes < 0 || size_bytes > (int64_t{1} << 46))
    return error(Code::kOutOfMemory, "cannot allocate ", size_bytes, " bytes");
  // A context's memory of more than half a large page gets whole ones.
  const size_t unit = static_cast<size_t>(size_bytes) > kLargePage / 2 ? kLargePage : kAlign;
  const size_t rounded = (static_cast<size_t>(size_bytes) + unit - 1) / unit * unit;
  void* data = allocate_in_large_pages(kAlign, rounded == 0 ? kAlign : rounded);
  if (!data) return error(Code::kOutOfMemory, "no host memory for ", size_bytes, " bytes");
  return Buffer(data, size_bytes, nullptr, [](void*, void* p, int64_t) { std::free(p); });
}

Result<std::unique_ptr<Stream>> CpuDevice::create_stream() { return create_host_stream(); }

std::unique_ptr<HostStream> CpuDevice::create_host_stream() { return std::make_unique<HostStream>(standby_); }

namespace {
Status copy_in_turn(void* to, const void* from, int64_t size_bytes, Stream& stream) {
  TRY(stream.synchronize());
  if (size_bytes > 0) std::memcpy(to, from, static_cast<size_t>(size_bytes));
  return {};
}
}  // namespace

Status CpuDevice::copy_to_host(void* host, const void* device, int64_t size_bytes, Stream& stream) {
  return copy_in_turn(host, device, size_bytes, stream);
}
Status CpuDevice::copy_from_host(void* device, const void* host, int64_t size_bytes, Stream& stream) {
  return copy_in_turn(device, host, size_bytes, stream);
}

Result<Ref<Executor>> CpuDevice::executor(std::string_view name) {
  if (!executor_ || name != executor_->name())
    return error(Code::kVersion, "the plan needs executor '", name, "'; this device has 'cpu'");
  return std::ref(*executor_);
}

}  // namespace kiln::cpu
