// The parameters that all normalisation kernels share.
#pragma once

#include "backend/cuda/kernels/lanes/arguments.h"
#include "device.cuh"
#include "nest/walk.cuh"

namespace kiln {

using Normalization = cuda::NormalizationArgument;

}  // namespace kiln

#define KILN_NORMALIZE(entry, threads, call)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads) entry(const __grid_constant__ kiln::Normalization n) { \
    using namespace kiln;                                                                                      \
    call(n);                                                                                                   \
  }
