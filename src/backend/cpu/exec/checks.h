/// Checks of a step's tensors by loaders and binds of several kernels: a plan is input, and kernels index what it
/// names.
#pragma once

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/exec/hook.h"

namespace kiln::cpu {

/// Fails unless every tensor of the step is `dtype`; the first `inputs` inputs only, where that is given.
Status require_types(const StepSpec& spec, DType dtype, size_t inputs = ~size_t{0});

}  // namespace kiln::cpu
