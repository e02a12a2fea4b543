#include "steps/transpose.h"

#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {

LoadResult load(const steps::Transpose& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  return loaded_copy(arguments, [bytes, perm = step.perm](const StepShapes& shapes) {
    return plan_transpose(bytes, shapes.inputs[0], perm);
  });
}

}  // namespace kiln::cpu
