/// The source of the kernels of kernels/sort/non_max_suppression.cuh.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// Boxes and scores are f32, f16 or bf16.
KernelSource non_max_suppression_source(DType boxes, DType indices);

}  // namespace kiln::cuda
