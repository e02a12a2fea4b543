/// Sources of the kernels of normalisations.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

/// The choices that decide the kernels of a step.
struct NormalizationKernels {
  DType dtype = DType::kF32, coefficients = DType::kF32;
  std::optional<RowTile> tile;  ///< of rows; none: a group may be split among blocks
  bool few_rows = false;        ///< with a tile: at the optimum latency matters, not registers
  int vec = 1;                  ///< without a tile: elements of a load, where shape and
                                ///< addresses allow it; else 1
  bool held = false;            ///< without a tile: kernels of normalize_held.h, too
  bool slices = false;          ///< without a tile: and of normalize_slices.h
  bool apart = false;           ///< vectors are for kernels of normalize_apart.h
  std::optional<DType> bytes;   ///< with a tile: the type that results are quantized to
  bool centered = true;         ///< with a tile: the mean counts
};
/// All kernels that steps of this kind run, or those of groups that are wanted.
KernelSource normalization_source(const NormalizationKernels& kernels, std::span<const std::string> wanted = {});

}  // namespace kiln::cuda
