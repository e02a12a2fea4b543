#include "steps/non_zero.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/scan/non_zero.h"

namespace kiln::cuda {

LoadResult load(const steps::NonZero&, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  const StepCode code = TRY(StepCode::load(arguments));
  return loaded_step([dtype, inputs = TRY(StepInputs::upload(arguments)), code,
                      mark = TRY(code.function(kNonZeroMarkEntry)),
                      write = TRY(code.function(kNonZeroWriteEntry))](const StepShapes& shapes) -> BindResult {
    NonZeroPlan plan = plan_non_zero(dtype, shapes.inputs[0], shapes.outputs[0][1]);
    for (const Function& kernel : {mark, write}) TRY(kernel.check(plan.shape));
    auto run = [&inputs, mark, write, plan](const RunArguments& run) mutable -> Status {
      NonZeroArgument& argument = plan.argument;
      if (argument.count == 0) {
        if (run.sizes) *run.sizes = 0;
        return {};
      }
      argument.x = inputs.at(0, run);
      argument.y = run.outputs[0];
      plan.place(run.workspace);
      if (run.sizes) argument.found = run.sizes;
      void* pointers[] = {&argument, nullptr};
      TRY(launch(*run.stream, mark, plan.shape, pointers));
      return launch(*run.stream, write, plan.shape, pointers);
    };
    return bound_step(std::move(run), plan.workspace_bytes);
  });
}

}  // namespace kiln::cuda
