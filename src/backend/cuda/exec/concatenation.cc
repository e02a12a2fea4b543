#include "steps/concatenation.h"

#include "backend/cuda/exec/concatenation.h"
#include "backend/cuda/exec/move_step.h"
#include "tensor/memory_order.h"

namespace kiln::cuda {

LoadResult load(const steps::Concatenation& step, const LoadArguments& arguments) {
  if (step.of_views)
    return load_moves(arguments, [axis = step.axis](const StepShapes& shapes) {
      return copies_of_views(shapes.outputs[0], shapes.inputs.size(), shapes.params, axis);
    });
  return load_moves(arguments, [axis = step.axis, format = arguments.spec.outputs[0].format](const StepShapes& shapes) {
    std::vector<Extents> inputs;
    for (const Extents& input : shapes.inputs) inputs.push_back(in_memory_order(format, input));
    return concatenation_copies(inputs, axis);
  });
}

}  // namespace kiln::cuda
