#include "steps/concatenation.h"

#include "backend/cpu/exec/copy_step.h"
#include "tensor/memory_order.h"

namespace kiln::cpu {

LoadResult load(const steps::Concatenation& step, const LoadArguments& arguments) {
  const StepTensor& y = arguments.spec.outputs[0];
  const int bytes = TRY(element_bytes(y.dtype));
  if (step.of_views)
    return loaded_copy(arguments, [bytes, axis = step.axis](const StepShapes& shapes) {
      std::vector<JoinedInput> inputs;
      for (size_t i = 0; i < shapes.inputs.size(); ++i) {
        const Extents& y = shapes.outputs[0];
        const steps::JoinedView view = steps::Concatenation::view_of(i, y.size(), shapes.params);
        inputs.push_back({y, view.offset, Extents(view.strides.begin(), view.strides.end())});
        inputs.back().extents[static_cast<size_t>(axis)] = view.extent;
      }
      return plan_concatenation(bytes, inputs, axis);
    });
  return loaded_copy(arguments, [bytes, axis = step.axis, format = y.format](const StepShapes& shapes) {
    std::vector<Extents> inputs;
    for (const Extents& input : shapes.inputs) inputs.push_back(in_memory_order(format, input));
    return plan_concatenation(bytes, inputs, axis);
  });
}

}  // namespace kiln::cpu
