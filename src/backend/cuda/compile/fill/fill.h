/// Sources of the kernels of kernels/fill.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "ops/fill.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

bool can_fill(FillOperation operation, DType type);
KernelSource fill_source(FillOperation operation, DType type);  ///< the entry is "fill"
KernelSource values_source();                                   ///< the entry is "values"
KernelSource read_values_source(DType type);                    ///< the entry is "read_values"

}  // namespace kiln::cuda
