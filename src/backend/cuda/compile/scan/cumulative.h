/// Sources of the kernels of kernels/scan.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "ops/cumulative.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// Of f32, f16, bf16, i32 or i64.
KernelSource cumulative_source(CumulativeOperation operation, DType dtype);

}  // namespace kiln::cuda
