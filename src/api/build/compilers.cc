#include "api/build/compilers.h"

#include "api/run/devices.h"
#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/compile/nvrtc.h"

namespace kiln::api {

void announce_compilers(Log& log) {
  announce_devices(log);
  const auto driver = cuda::Driver::instance();
  if (!driver || engine_device_kind().value_or(DeviceKind::kCpu) != DeviceKind::kCuda) return;
  static cuda::Notices& notices = *new cuda::Notices;
  const auto nvrtc = cuda::Nvrtc::instance();
  const int newest = driver->get().version / 1000;
  if (!nvrtc)
    notices.add(Severity::kWarning,
                str("layers whose kernels were not compiled before run on the host, which takes long: ",
                    nvrtc.error().message));
  else if (nvrtc->get().major > newest)
    notices.add(Severity::kWarning, str("NVRTC ", nvrtc->get().major, ".", nvrtc->get().minor, " at '",
                                        nvrtc->get().path, "' makes kernels that this driver, of CUDA ", newest,
                                        ", may not load: update the driver, or install NVRTC ", newest));
  notices.say(log);
}

void announce_compiled(Device& device, Log& log) {
  if (device.kind() == DeviceKind::kCuda) cuda::compiler_of(static_cast<cuda::CudaDevice&>(device)).notices().say(log);
}

}  // namespace kiln::api
