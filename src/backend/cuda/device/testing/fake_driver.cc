#include "backend/cuda/device/testing/fake_driver.h"

#include <dlfcn.h>

namespace kiln::cuda {

const char* fake_driver_path() { return KILN_FAKE_CUDA_PATH; }

const fake_cuda::Control& fake_cuda_control() {
  static const fake_cuda::Control& control = *[] {
    void* library = dlopen(fake_driver_path(), RTLD_NOW);
    CHECK(library);
    const auto find = reinterpret_cast<const fake_cuda::Control* (*)()>(dlsym(library, "kiln_fake_cuda"));
    CHECK(find);
    return find();
  }();
  return control;
}

const Driver& fake_driver() {
  static const Driver& driver = *new Driver([] {
    fake_cuda_control().reset();
    Result<Driver> loaded = load_driver(fake_driver_path());
    CHECK(loaded && loaded->init(0) == 0);
    return *std::move(loaded);
  }());
  return driver;
}

std::unique_ptr<CudaDevice> make_fake_device() {
  const Driver& driver = fake_driver();
  fake_cuda_control().reset();
  auto device = CudaDevice::create(0, driver);
  CHECK(device);
  return *std::move(device);
}

}  // namespace kiln::cuda
