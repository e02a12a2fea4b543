#include "steps/cumulative.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/scan/cumulative.h"

namespace kiln::cuda {

LoadResult load(const steps::Cumulative& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  return loaded_step([step, dtype, inputs = TRY(StepInputs::upload(arguments)),
                      code = TRY(StepCode::load(arguments))](const StepShapes& shapes) -> BindResult {
    const CumulativePlan plan = plan_cumulative(step, shapes.inputs[0], dtype);
    std::vector<Kernel<CumulativePlan::Call>> kernels;
    for (const CumulativePlan::Call& call : plan.calls) kernels.push_back(TRY(code.kernel(call)));
    auto run = [&inputs, argument = plan.argument,
                kernels = std::move(kernels)](const RunArguments& run) mutable -> Status {
      argument.x = inputs.at(0, run);
      argument.y = run.outputs[0];
      argument.sums = argument.chunks > 1 ? run.workspace : nullptr;
      void* pointers[] = {&argument, nullptr};
      for (const auto& [call, function] : kernels) TRY(launch(*run.stream, function, call.shape, pointers));
      return {};
    };
    return bound_step(std::move(run), plan.workspace_bytes);
  });
}

}  // namespace kiln::cuda
