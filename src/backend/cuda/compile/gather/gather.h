/// Sources of the kernels of kernels/gather.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/gather/gather.h"

namespace kiln::cuda {

/// Kernels for units of these sizes.
KernelSource gather_source(GatherMode mode, DType indices, std::span<const int> unit_bytes);

}  // namespace kiln::cuda
