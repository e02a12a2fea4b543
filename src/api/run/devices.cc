#include "api/run/devices.h"

#include <cstdlib>
#include <string_view>

#include "backend/cpu/exec/executor.h"

namespace kiln::api {

Status check_device_name(std::string_view name) {
  if (name == "cuda")
    return error(Code::kUnsupported, "KILN_DEVICE is 'cuda': this version of Kiln has no CUDA backend; use 'cpu'");
  return require(name.empty() || name == "cpu", "KILN_DEVICE is '", name, "'; it may be 'cpu' or 'cuda'");
}

namespace {

Result<cpu::CpuDevice*> make_host_device() {
  if (const char* wanted = std::getenv("KILN_DEVICE")) TRY(check_device_name(wanted));
  auto device = TRY(cpu::CpuDevice::create());
  device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
  return device.release();
}

}  // namespace

Result<Ref<cpu::CpuDevice>> host_device() {
  static const Result<cpu::CpuDevice*> device = make_host_device();
  cpu::CpuDevice* made = TRY(Result<cpu::CpuDevice*>(device));
  return Ref<cpu::CpuDevice>(*made);
}

Result<Ref<Device>> default_device() {
  cpu::CpuDevice& device = TRY(host_device());
  return Ref<Device>(device);
}

}  // namespace kiln::api
