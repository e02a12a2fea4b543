/// Sources of the kernels of kernels/scatter.
#pragma once

#include <span>
#include <vector>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/scatter/scatter.h"

namespace kiln::cuda {

/// Kernels that copy and that write units of these sizes.
KernelSource scatter_source(ScatterMode mode, DType indices, std::span<const int> copied, std::span<const int> rows);

struct ScatterReduceSource {
  ops::Scatter op;  ///< with a reduction
  DType data = DType::kF32, indices = DType::kI32;
  std::vector<int> copied;                       ///< bytes of units
  bool may_be_short = true, may_be_long = true;  ///< updates that a block sorts, and more
};
KernelSource scatter_reduce_source(const ScatterReduceSource& what);

}  // namespace kiln::cuda
