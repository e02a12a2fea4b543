#include "steps/unique.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/exec/tell_sizes.h"
#include "backend/cuda/kernels/sort/unique.h"

namespace kiln::cuda {
namespace {

/// A step of no elements: there is nothing to launch.
std::unique_ptr<BoundStep> bound_to_nothing() {
  return bound_step([](const RunArguments& run) {
    if (run.sizes) *run.sizes = 0;
  });
}

}  // namespace

LoadResult load(const steps::Unique& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  return loaded_step([step, dtype, inputs = TRY(StepInputs::upload(arguments)), code = TRY(StepCode::load(arguments)),
                      &device = arguments.device](const StepShapes& shapes) -> BindResult {
    const LaneExtents slices = step.slices(shapes.inputs[0]);
    TRY(require(slices.outer * slices.inner == 1, "a unique of slices of ", slices.outer * slices.inner,
                " elements has no kernel here"));
    if (slices.length == 0) return bound_to_nothing();
    UniquePlan plan = plan_unique(dtype, slices.length, shapes.outputs[1][0], step.op.sorted);
    std::vector<Kernel<TopKCall>> sort;
    for (const TopKCall& call : plan.sort.calls) sort.push_back(TRY(code.kernel(call)));
    std::vector<Kernel<UniquePlan::Call>> kernels;
    for (const UniquePlan::Call& call : plan.calls) kernels.push_back(TRY(code.kernel(call)));
    const int64_t workspace_bytes = plan.workspace_bytes;
    auto run = [&inputs, &device, plan = std::move(plan), sort = std::move(sort),
                kernels = std::move(kernels)](const RunArguments& run) mutable -> Status {
      UniqueArgument& argument = plan.argument;
      plan.place(run.workspace);
      plan.sort.argument.x = inputs.at(0, run);
      argument.sort = plan.sort.argument;
      argument.y = run.outputs[0];
      argument.first = static_cast<int64_t*>(run.outputs[1]);
      argument.inverse = static_cast<int64_t*>(run.outputs[2]);
      argument.counts = static_cast<int64_t*>(run.outputs[3]);
      for (auto& [call, function] : sort) {
        void* pointers[] = {&plan.sort.argument, &call.pass, nullptr};
        TRY(launch(*run.stream, function, call.shape, pointers));
      }
      void* pointers[] = {&argument, nullptr};
      for (auto& [call, function] : kernels) TRY(launch(*run.stream, function, call.shape, pointers));
      return tell_sizes(device, run, argument.found, 1);
    };
    return bound_step(std::move(run), workspace_bytes);
  });
}

}  // namespace kiln::cuda
