/// Sources of the kernels of kernels/scatter.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/scatter/scatter.h"

namespace kiln::cuda {

/// Kernels that copy and that write units of these sizes.
KernelSource scatter_source(ScatterMode mode, DType indices, std::span<const int> copied, std::span<const int> rows);

}  // namespace kiln::cuda
