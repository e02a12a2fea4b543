#include "steps/expand.h"

#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {

LoadResult load(const steps::Expand&, const LoadArguments& arguments) {
  return load_moves(arguments, [](const StepShapes& shapes) {
    return std::vector{expand_copy(shapes.inputs[0], shapes.outputs[0])};
  });
}

}  // namespace kiln::cuda
