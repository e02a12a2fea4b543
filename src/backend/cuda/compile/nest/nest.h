/// Sources and choices of the kernels of nests.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/nest/nest.h"

namespace kiln::cuda {

/// The widest variant for these axes, whose tensors are a program's inputs and then its outputs.
NestVariant best_variant(const NestProgram& program, const MergedAxes& axes);
/// Runs anything, an element a thread at a time.
NestVariant plain_variant(const NestProgram& program, bool wide);
/// The source of one kernel a variant, its entry nest_entry(i).
KernelSource nest_kernels(const NestProgram& program, std::span<const NestVariant> variants, NestRounding rounding);

}  // namespace kiln::cuda
