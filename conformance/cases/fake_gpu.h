/// A backend for a GPU that the stand-in for the driver plays.
#pragma once

#include <memory>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/tactics/backend.h"

namespace kiln {

struct FakeGpu {
  std::unique_ptr<cuda::CudaDevice> device;
  std::unique_ptr<cuda::CudaBackend> backend;

  FakeGpu(int major, int minor) {
    const cuda::Driver& driver = cuda::fake_driver();
    cuda::fake_cuda_control().reset();
    cuda::fake_cuda_control().set_devices(1, major, minor);
    device = cuda::CudaDevice::create(0, driver).value();
    device->set_executor(std::make_unique<cuda::CudaExecutor>(*device));
    backend = std::make_unique<cuda::CudaBackend>(*device);
  }
};

}  // namespace kiln
