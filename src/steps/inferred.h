/// Whether the tensors of a step that holds an op are those that the op makes of its inputs.
#pragma once

#include <span>

#include "ops/op.h"
#include "steps/step_types.h"

namespace kiln {

/// `constants` as LoadArguments has them, or none. Succeeds without a look where the op reads inputs on the host that
/// are no constants: its extents were found from values that nobody has here.
Status require_inferred(const Op& op, const StepTypes& step, const StepShapes& shapes,
                        std::span<const HostTensor* const> constants = {});

}  // namespace kiln
