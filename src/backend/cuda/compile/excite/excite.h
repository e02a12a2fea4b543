/// Sources of the kernels of kernels/excite.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/excite/excite.h"
#include "ops/nest_program.h"

namespace kiln::cuda {

/// `hidden` and `gate` have one input and one output, floats.
KernelSource excite_source(const ExciteKernel& kernel, const NestProgram& hidden, const NestProgram& gate);

}  // namespace kiln::cuda
