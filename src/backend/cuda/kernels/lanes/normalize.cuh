// The parameters that all normalisation kernels share.
#pragma once

#include "backend/cuda/kernels/lanes/arguments.h"
#include "device.cuh"
#include "nest/walk.cuh"

namespace kiln {

using Normalization = cuda::NormalizationArgument;

}  // namespace kiln
