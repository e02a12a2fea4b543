/// Sources of the kernels of kernels/move.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/move/move.h"
#include "ops/slice.h"

namespace kiln::cuda {

KernelSource move_source(std::span<const MoveKernel> kernels);
/// Elements of 1, 2, 4 or 8 bytes. The entries are those of `slice_launches`.
KernelSource slice_source(int element_bytes, SliceMode mode);

}  // namespace kiln::cuda
