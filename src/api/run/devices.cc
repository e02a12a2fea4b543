#include "api/run/devices.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "backend/cpu/exec/executor.h"
#include "backend/cuda/device/notices.h"
#include "backend/cuda/exec/executor.h"
#include "base/forks.h"

namespace kiln::api {

Status check_device_name(std::string_view name) {
  return require(name.empty() || name == "cpu" || name == "cuda", "KILN_DEVICE is '", name,
                 "'; it may be 'cpu' or 'cuda'");
}

namespace {

cuda::Notices& notices() {
  static cuda::Notices& all = *new cuda::Notices;
  return all;
}

Result<std::unique_ptr<cpu::CpuDevice>> make_host_device() {
  auto device = TRY(cpu::CpuDevice::create());
  device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
  return device;
}

/// GPUs by ordinal, each made when first asked for.
struct Gpus {
  static constexpr int kMost = 64;
  std::mutex mutex;
  std::array<std::unique_ptr<cuda::CudaDevice>, kMost> devices;
};
Gpus& gpus() {
  static Gpus& all = *new Gpus;
  return all;
}

Result<DeviceKind> choose_kind() {
  const char* text = std::getenv("KILN_DEVICE");
  const std::string_view wanted = text ? text : "";
  TRY(check_device_name(wanted));
  if (wanted == "cpu") return DeviceKind::kCpu;
  const auto driver = cuda::Driver::instance();
  if (driver) return DeviceKind::kCuda;
  if (wanted == "cuda") return error(driver.error().code, "KILN_DEVICE is 'cuda': ", driver.error().message);
  // Most machines without a driver have no GPU either; one that has a driver that does not work is worth a warning.
  const Severity severity = driver.error().code == Code::kNotFound ? Severity::kInfo : Severity::kWarning;
  notices().add(severity, str("engines run on the CPU: ", driver.error().message));
  return DeviceKind::kCpu;
}

/// Ordinal of the context that is current on this thread; 0 where none is.
Result<int> current_ordinal(const cuda::Driver& driver) {
  cuda::ContextHandle context = nullptr;
  if (driver.ctx_get_current(&context) != 0 || !context) return 0;
  {
    const std::lock_guard lock(gpus().mutex);
    for (const auto& device : gpus().devices)
      if (device && device->context() == context) return device->ordinal();
  }
  int device = 0;
  TRY(driver.check(driver.ctx_get_device(&device), "which CUDA device is current"));
  return device;
}

}  // namespace

Result<Ref<cpu::CpuDevice>> host_device() {
  static constinit PerProcess<Result<std::unique_ptr<cpu::CpuDevice>>> devices;
  const auto& device = devices.get(make_host_device);
  if (!device) return std::unexpected(device.error());
  return Ref<cpu::CpuDevice>(**device);
}

Result<Ref<cuda::CudaDevice>> cuda_device(int ordinal) {
  TRY(require(ordinal >= 0 && ordinal < Gpus::kMost, "there is no CUDA device ", ordinal));
  const std::lock_guard lock(gpus().mutex);
  auto& device = gpus().devices[static_cast<size_t>(ordinal)];
  if (!device) {
    auto made = TRY(cuda::CudaDevice::create(ordinal));
    made->set_executor(std::make_unique<cuda::CudaExecutor>(*made));
    device = std::move(made);
  }
  return Ref<cuda::CudaDevice>(*device);
}

Result<DeviceKind> default_device_kind() {
  static const Result<DeviceKind>& kind = *new Result<DeviceKind>(choose_kind());
  return kind;
}

namespace {

thread_local bool thread_uses_host = false;

Result<Ref<Device>> device_of(DeviceKind kind) {
  if (kind == DeviceKind::kCpu) {
    cpu::CpuDevice& device = TRY(host_device());
    return Ref<Device>(device);
  }
  const cuda::Driver& driver = TRY(cuda::Driver::instance());
  cuda::CudaDevice& device = TRY(cuda_device(TRY(current_ordinal(driver))));
  return Ref<Device>(device);
}

}  // namespace

Result<Ref<Device>> default_device() { return device_of(TRY(default_device_kind())); }

bool use_host(bool on) { return std::exchange(thread_uses_host, on); }

Result<DeviceKind> engine_device_kind() {
  if (thread_uses_host) return DeviceKind::kCpu;
  return default_device_kind();
}

Result<Ref<Device>> engine_device() { return device_of(TRY(engine_device_kind())); }

void make_engine_device_current() {
  if (engine_device_kind().value_or(DeviceKind::kCpu) != DeviceKind::kCuda) return;
  if (const auto device = device_of(DeviceKind::kCuda))
    const cuda::CurrentContext kept(static_cast<const cuda::CudaDevice&>(device->get()));
}

std::string compute_capability(const cuda::CudaDevice& device) {
  return str(device.properties().compute_major, '.', device.properties().compute_minor);
}

void announce_devices(Log& log) {
  if (default_device_kind()) notices().say(log);  // else whoever needs a device is told why
}

}  // namespace kiln::api
