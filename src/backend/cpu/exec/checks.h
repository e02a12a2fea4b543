/// What loaders and binds of several kernels ask of a step's tensors: a plan is input, and kernels index what it names.
#pragma once

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/exec/hook.h"

namespace kiln::cpu {

/// Fails unless every tensor of the step is `dtype`; the first `inputs` inputs only, where that is given.
Status require_types(const StepSpec& spec, DType dtype, size_t inputs = ~size_t{0});
/// Fails unless an input that is there has `count` elements.
Status require_count(const StepSpec& spec, const StepShapes& shapes, size_t input, int64_t count,
                     std::string_view what);

/// Of a contraction whose result has `columns` channels: bias (input 2), residual (input 3) and what the hook reads.
Status require_epilogue(const StepSpec& spec, const StepShapes& shapes, int64_t columns, const LoadedHook* hook);

}  // namespace kiln::cpu
