#include "steps/concatenation.h"

#include "backend/cpu/exec/copy_step.h"
#include "tensor/memory_order.h"

namespace kiln::cpu {

LoadResult load(const steps::Concatenation& step, const LoadArguments& arguments) {
  const StepTensor& y = arguments.spec.outputs[0];
  const int bytes = TRY(element_bytes(y.dtype));
  return loaded_copy(arguments, [bytes, axis = step.axis, format = y.format](const StepShapes& shapes) {
    std::vector<Extents> inputs;
    for (const Extents& input : shapes.inputs) inputs.push_back(in_memory_order(format, input));
    return plan_concatenation(bytes, inputs, axis);
  });
}

}  // namespace kiln::cpu
