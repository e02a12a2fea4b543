#include "steps/top_k.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/sort/top_k.h"

namespace kiln::cuda {

LoadResult load(const steps::TopK& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  const bool wide = arguments.spec.outputs[1].dtype == DType::kI64;
  return loaded_step([step, dtype, wide, inputs = TRY(StepInputs::upload(arguments)),
                      code = TRY(StepCode::load(arguments))](const StepShapes& shapes) -> BindResult {
    TopKPlan plan = TRY(plan_top_k({.lanes = step.lanes(shapes.inputs[0]),
                                    .k = shapes.outputs[0][static_cast<size_t>(step.axis)],
                                    .dtype = dtype,
                                    .largest = step.largest,
                                    .wide_indices = wide}));
    std::vector<Kernel<TopKCall>> kernels;
    for (const TopKCall& call : plan.calls) kernels.push_back(TRY(code.kernel(call)));
    const int64_t workspace_bytes = plan.workspace_bytes;
    auto run = [&inputs, plan = std::move(plan),
                kernels = std::move(kernels)](const RunArguments& run) mutable -> Status {
      TopKArgument& argument = plan.argument;
      argument.x = inputs.at(0, run);
      argument.values = run.outputs[0];
      argument.indices = run.outputs[1];
      plan.place(run.workspace);
      for (auto& [call, function] : kernels) {
        void* pointers[] = {&argument, &call.pass, nullptr};
        TRY(launch(*run.stream, function, call.shape, pointers));
      }
      return {};
    };
    return bound_step(std::move(run), workspace_bytes);
  });
}

}  // namespace kiln::cuda
