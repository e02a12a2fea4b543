/// The source of the kernels of kernels/scan/non_zero.cuh.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// The kernels for an x whose type has value_bits (steps/non_zero.h). Types of one width share them.
KernelSource non_zero_source(DType x, DType indices);

}  // namespace kiln::cuda
