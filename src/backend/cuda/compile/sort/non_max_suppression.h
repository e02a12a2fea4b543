/// The source of the kernels of kernels/sort/non_max_suppression.cuh.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// Boxes and scores are f32, f16 or bf16. With the kernels of long lists, where there may be some.
KernelSource non_max_suppression_source(DType boxes, DType indices, bool may_be_long);

}  // namespace kiln::cuda
