/// Sources of the kernels of kernels/sort.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/sort/top_k.h"

namespace kiln::cuda {

/// The kernels of these ways.
KernelSource top_k_source(DType dtype, std::span<const TopKWay> ways);

}  // namespace kiln::cuda
