/// Steps that are one planned copy: what the kernels of moved elements share.
#pragma once

#include <memory>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/copy/copy.h"
#include "steps/by_function.h"

namespace kiln::cpu {

/// Runs `copy` from all inputs to output 0; sources beyond the inputs are zeros.
std::unique_ptr<BoundStep> copy_step(Team& team, Copy copy, size_t num_inputs);

/// A step that is the copy which `plan` makes of StepShapes.
template <class Plan>
std::unique_ptr<LoadedStep> loaded_copy(const LoadArguments& arguments, Plan plan) {
  return loaded_step([plan = std::move(plan), &team = arguments.team,
                      num_inputs = arguments.spec.inputs.size()](const StepShapes& shapes) -> BindResult {
    return copy_step(team, TRY(Result<Copy>(plan(shapes))), num_inputs);
  });
}

}  // namespace kiln::cpu
