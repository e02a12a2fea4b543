/// Steps that are planned copies: what the kernels of moved elements share.
#pragma once

#include <vector>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/move/move.h"

namespace kiln::cuda {

/// Plans a step's copies for given shapes.
class MovePlanner {
 public:
  virtual ~MovePlanner() = default;
  virtual Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const = 0;
};
/// A step of copies of elements from its inputs to output 0; elements of less than a byte move as bytes.
Result<std::unique_ptr<LoadedStep>> make_move_loader(const LoadArguments& arguments,
                                                     std::unique_ptr<MovePlanner> planner);

}  // namespace kiln::cuda
