#include "steps/gather.h"

#include "backend/cuda/exec/index_fault.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/gather/gather.h"
#include "backend/cuda/kernels/lanes/tile.h"

namespace kiln::cuda {
namespace {

/// The widest units first; the last take any address.
Result<std::vector<Kernel<GatherLaunch>>> kernels_of(const ops::Gather& op, int element_bytes, const StepCode& code,
                                                     const StepShapes& shapes) {
  std::vector<Kernel<GatherLaunch>> kernels;
  for (int most = 16; most >= element_bytes; most /= 2) {
    GatherLaunch launch = TRY(gather_launch(op, element_bytes, most, shapes.inputs[0], shapes.inputs[1]));
    if (launch.unit_bytes != most) continue;
    const auto function = code.function(gather_entry(most));
    if (!function) continue;
    TRY(function->check(launch.shape));
    kernels.push_back({std::move(launch), *function});
  }
  TRY(require(!kernels.empty() && kernels.back().launch.unit_bytes == element_bytes,
              "a gather's code has no kernel for elements of ", element_bytes, " bytes"));
  return kernels;
}

}  // namespace

LoadResult load(const steps::Gather& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([op = step.op, bytes, &device = arguments.device, code = std::move(code),
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    const auto fault =
        std::make_shared<IndexFault>(TRY(IndexFault::create(device, shapes.inputs[0], "what it picked are zeros")));
    auto run = [&inputs, kernels = TRY(kernels_of(op, bytes, code, shapes)), fault](const RunArguments& run) mutable {
      const void* data = inputs.at(0, run);
      void* y = run.outputs[0];
      auto& [plan, function] = first_that(kernels, [&](const GatherLaunch& l) {
        return is_aligned(data, l.unit_bytes) && is_aligned(y, l.unit_bytes);
      });
      plan.argument.data = data;
      plan.argument.indices = inputs.at(1, run);
      plan.argument.y = y;
      int64_t* word = fault->address();
      void* pointers[] = {&plan.argument, &word, nullptr};
      return launch(*run.stream, function, plan.shape, pointers);
    };
    return bound_step(std::move(run), 0, [fault] { return fault->check(); });
  });
}

}  // namespace kiln::cuda
