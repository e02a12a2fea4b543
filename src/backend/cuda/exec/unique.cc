#include "steps/unique.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/exec/tell_sizes.h"
#include "backend/cuda/kernels/sizes.h"
#include "backend/cuda/kernels/sort/unique.h"

namespace kiln::cuda {
namespace {

struct UniqueKernels {
  UniquePlan plan;
  std::vector<Kernel<TopKCall>> sort;
  std::optional<Kernel<UniquePlan::Call>> next_keys;  ///< of slices of several elements
  std::vector<Kernel<UniquePlan::Call>> calls;

  static Result<UniqueKernels> of(UniquePlan plan, const StepCode& code) {
    UniqueKernels all;
    for (const TopKCall& call : plan.sort.calls) all.sort.push_back(TRY(code.kernel(call)));
    if (plan.argument.size > 1) all.next_keys = TRY(code.kernel(plan.next_keys));
    for (const UniquePlan::Call& call : plan.calls) all.calls.push_back(TRY(code.kernel(call)));
    all.plan = std::move(plan);
    return all;
  }

  Status run(const void* x, const RunArguments& run) {
    UniqueArgument& argument = plan.argument;
    plan.place(run.workspace);
    plan.sort.argument.x = plan.last_elements(x);
    argument.sort = plan.sort.argument;
    argument.x = x;
    argument.y = run.outputs[0];
    argument.first = static_cast<int64_t*>(run.outputs[1]);
    argument.inverse = static_cast<int64_t*>(run.outputs[2]);
    argument.counts = static_cast<int64_t*>(run.outputs[3]);
    TRY(sort_items(run));
    void* pointers[] = {&argument, nullptr};
    for (auto& [call, function] : calls) TRY(launch(*run.stream, function, call.shape, pointers));
    return {};
  }

 private:
  /// Passes over the digits of the slices' last elements, then of those before.
  Status sort_items(const RunArguments& run) {
    const auto passes = static_cast<int>(plan.argument.passes / plan.argument.size);
    for (uint32_t round = 0; round < plan.argument.size; ++round) {
      int pass = static_cast<int>(round) * passes;
      void* pointers[] = {&plan.argument, &pass, nullptr};
      if (round > 0) TRY(launch(*run.stream, next_keys->function, next_keys->launch.shape, pointers));
      for (const auto& [call, function] : sort) {
        pass = static_cast<int>(round) * passes + call.pass;
        void* of_pass[] = {&plan.sort.argument, &pass, nullptr};
        TRY(launch(*run.stream, function, call.shape, of_pass));
      }
    }
    return {};
  }
};

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
    TRY(require(is_within(slices.outer, kMostUniqueSlice) && is_within(slices.inner, kMostUniqueSlice) &&
                    slices.outer * slices.inner <= kMostUniqueSlice,
                "a unique of slices of ", slices.outer, " times ", slices.inner, " elements; 1 to ", kMostUniqueSlice,
                " have a kernel here"));
    if (slices.length == 0) return bound_to_nothing();
    UniqueKernels kernels =
        TRY(UniqueKernels::of(plan_unique(dtype, slices, shapes.outputs[1][0], step.op.sorted), code));
    const int64_t workspace_bytes = kernels.plan.workspace_bytes;
    auto run = [&inputs, &device, kernels = std::move(kernels)](const RunArguments& run) mutable -> Status {
      TRY(kernels.run(inputs.at(0, run), run));
      return tell_sizes(device, run, kernels.plan.argument.found, 1);
    };
    return bound_step(std::move(run), workspace_bytes);
  });
}

}  // namespace kiln::cuda
