/// Sources of the kernels of kernels/recurrence.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/recurrence/recurrence.h"

namespace kiln::cuda {

KernelSource recurrence_source(const RecurrenceKernel& kernel, RecurrencePlace place);

}  // namespace kiln::cuda
