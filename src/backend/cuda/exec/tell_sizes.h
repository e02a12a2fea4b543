/// How a step tells the sizes that its kernels decide.
#pragma once

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"
#include "steps/executor.h"

namespace kiln::cuda {

/// Copies the sizes that a step has decided from the device to where the run wants them, if anywhere.
inline Status tell_sizes(CudaDevice& device, const RunArguments& run, const int64_t* sizes, size_t count) {
  if (!run.sizes) return {};
  const CurrentContext current(device);
  return device.driver().check(
      device.driver().memcpy_dtoh_async(run.sizes, reinterpret_cast<DevicePointer>(sizes), count * sizeof(int64_t),
                                        static_cast<CudaStream&>(*run.stream).handle()),
      "copying sizes from the GPU");
}

/// Copies size k of a run, a scalar that its step wrote on the device.
inline Status tell_scalar(CudaDevice& device, const RunArguments& run, size_t k, const void* size, DType dtype) {
  if (!run.sizes) return {};
  // An i32 leaves the upper half unwritten: plan/decided_sizes reads the lower one alone.
  const size_t bytes = dtype == DType::kI64 ? sizeof(int64_t) : sizeof(int32_t);
  const CurrentContext current(device);
  return device.driver().check(device.driver().memcpy_dtoh_async(run.sizes + k, reinterpret_cast<DevicePointer>(size),
                                                                 bytes, static_cast<CudaStream&>(*run.stream).handle()),
                               "copying sizes from the GPU");
}

}  // namespace kiln::cuda
