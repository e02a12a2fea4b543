/// Steps that are planned copies: what the kernels of moved elements share.
#pragma once

#include <functional>
#include <vector>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/move/move.h"

namespace kiln::cuda {

/// Plans a step's copies for given shapes.
using MovePlanner = std::function<Result<std::vector<StridedCopy>>(const StepShapes&)>;
/// A step of copies of elements from its inputs to output 0; elements of less than a byte move as bytes.
LoadResult load_moves(const LoadArguments& arguments, MovePlanner planner);

}  // namespace kiln::cuda
