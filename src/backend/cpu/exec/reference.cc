/// Any op by its reference, on dense row-major tensors: the fallback.
#include "steps/reference.h"

#include "backend/cpu/exec/executor.h"
#include "steps/inferred.h"
#include "steps/loaded_op.h"

namespace kiln::cpu {

LoadResult load(const steps::Reference& step, const LoadArguments& arguments) {
  const auto bind = [types = StepTypes(arguments.spec),
                     constants = std::vector(arguments.constants.begin(), arguments.constants.end())](
                        const Op& op, const StepShapes& shapes, std::byte* state) -> BindResult {
    TRY(require_inferred(op, types, shapes, constants));
    return bound_step([&op, state, tensors = ReferenceTensors(types, shapes, static_cast<size_t>(types.num_sizes))](
                          const RunArguments& run) mutable {
      for (size_t i = 0; i < tensors.inputs.size(); ++i)
        tensors.inputs[i].data = static_cast<std::byte*>(const_cast<void*>(run.inputs[i]));
      for (size_t i = 0; i < tensors.outputs.size(); ++i)
        tensors.outputs[i].data = static_cast<std::byte*>(run.outputs[i]);
      ReferenceContext context = tensors.context(state, run.sizes);
      return compute_reference(op, context);
    });
  };
  return loaded_op(step.op, bind);
}

}  // namespace kiln::cpu
