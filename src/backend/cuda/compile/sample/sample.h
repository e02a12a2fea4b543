/// Sources of the kernels of kernels/sample.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "ops/grid_sample.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

KernelSource grid_sample_source(DType x, DType grid, ResizeMode mode, int axes);
KernelSource roi_align_source(DType x, DType rois);

}  // namespace kiln::cuda
