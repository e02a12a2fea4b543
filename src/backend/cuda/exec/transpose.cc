#include "steps/transpose.h"

#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {

LoadResult load(const steps::Transpose& step, const LoadArguments& arguments) {
  return load_moves(arguments, [perm = step.perm](const StepShapes& shapes) {
    return std::vector{transpose_copy(shapes.inputs[0], perm)};
  });
}

}  // namespace kiln::cuda
