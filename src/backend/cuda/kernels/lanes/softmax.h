/// Softmax along one axis: kernels/lanes/softmax.cuh.
#pragma once

#include "backend/cuda/device/kernel_source.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// x and y are dense [outer, length, inner] of f32, f16 or bf16.
struct SoftmaxShape {
  int64_t outer = 1, length = 1, inner = 1;
};

/// The kernels of a step: rows in registers where there is a tile, and rows of any length; or columns.
struct SoftmaxKernels {
  DType dtype = DType::kF32;
  bool columns = false;
  std::optional<RowTile> tile;
};
KernelSource softmax_source(const SoftmaxKernels& kernels);

/// A launch, its entry by name.
struct SoftmaxLaunch {
  std::string entry;
  LaunchShape shape;
  int64_t numbers[3];  ///< the arguments behind x and y
};
/// With `tile` the kernel that has it, which takes shapes that the tile holds, in aligned memory; else another.
SoftmaxLaunch softmax_launch(const SoftmaxShape& shape, const RowTile* tile);

}  // namespace kiln::cuda
