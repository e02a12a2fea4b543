/// Steps that are one planned copy: what the kernels of moved elements share.
#pragma once

#include <memory>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/copy/copy.h"

namespace kiln::cpu {

/// Runs `copy` from all inputs to output 0; sources beyond the inputs are zeros.
std::unique_ptr<BoundStep> make_copy_step(Team& team, Copy copy, int num_inputs);

/// Plans a copy for given shapes.
class CopyPlanner {
 public:
  virtual ~CopyPlanner() = default;
  virtual Result<Copy> plan(const StepShapes& shapes) const = 0;
};
std::unique_ptr<LoadedStep> make_copy_loader(const LoadArguments& arguments, std::unique_ptr<CopyPlanner> planner);

}  // namespace kiln::cpu
