/// The source of the kernels of kernels/sort/unique.cuh, and of those that sort for them.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// The kernels for elements of a type that is_told_apart (steps/unique.h), with what slices of several need or not.
KernelSource unique_source(DType dtype, bool of_slices);

}  // namespace kiln::cuda
