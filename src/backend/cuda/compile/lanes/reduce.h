/// Sources of the kernels of reductions.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/lanes/reduce.h"

namespace kiln::cuda {

/// Whether elements of `type` can be folded.
bool can_fold(DType type);

/// The choices that decide the kernels of a step.
struct ReduceKernels : ReduceTuning {
  DType dtype = DType::kF32;
  Fold fold = Fold::kSum;
};
/// All kernels that steps of this kind run, or those of them that are wanted.
KernelSource reduce_source(const ReduceKernels& kernels, std::span<const std::string> wanted = {});
KernelSource reduce_axes_source(DType dtype, Fold fold);  ///< the entry is "reduce_axes"

}  // namespace kiln::cuda
