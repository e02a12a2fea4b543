#include "steps/expand.h"

#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {

LoadResult load(const steps::Expand&, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  return loaded_copy(
      arguments, [bytes](const StepShapes& shapes) { return plan_expand(bytes, shapes.inputs[0], shapes.outputs[0]); });
}

}  // namespace kiln::cpu
