/// A CUDA device of the stand-in driver, for tests.
#pragma once

#include <memory>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/testing/fake_cuda.h"

namespace kiln::cuda {

/// Path of the stand-in's library.
const char* fake_driver_path();
/// Its controls; the library is loaded when first asked for.
const fake_cuda::Control& fake_cuda_control();
/// Its functions, started. Never fails where the build made the library.
const Driver& fake_driver();
/// Device 0 of it, with everything else as at the start.
std::unique_ptr<CudaDevice> make_fake_device();

}  // namespace kiln::cuda
