#include "steps/reduce.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/reduce.h"

namespace kiln::cuda {
namespace {

using ReduceKernels = std::vector<Kernel<ReduceLaunch>>;  // one or two

Result<ReduceKernels> bound_to_code(const StepCode& code, std::vector<ReduceLaunch> launches) {
  ReduceKernels kernels;
  for (ReduceLaunch& launch : launches) kernels.push_back(TRY(code.kernel(std::move(launch))));
  return kernels;
}

Status run_reduce(const void* x, ReduceKernels& kernels, const RunArguments& run) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    const bool is_last = i + 1 == kernels.size();
    ReduceArgument& argument = kernels[i].launch.argument;
    argument.x = i == 0 ? x : run.workspace;
    argument.y = is_last ? run.outputs[0] : run.workspace;
    void* pointers[] = {&argument};
    TRY(launch(*run.stream, kernels[i].function, kernels[i].launch.shape, pointers));
  }
  return {};
}

/// Axes that are no neighbours.
LoadResult load_axes(const steps::Reduce& step, StepInputs inputs, StepCode code, const Format& format) {
  const Function function = TRY(code.function("reduce_axes"));
  return loaded_step([step, format, inputs = std::move(inputs), code = std::move(code),
                      function](const StepShapes& shapes) -> BindResult {
    const Extents x = in_memory_order(format, shapes.inputs[0]);
    AxesLaunch plan = TRY(reduce_axes_launch(x, step.axes, step.averages()));
    TRY(function.check(plan.shape));
    return bound_step([&inputs, function, plan](const RunArguments& run) mutable {
      plan.argument.x = inputs.at(0, run);
      plan.argument.y = run.outputs[0];
      void* pointers[] = {&plan.argument};
      return launch(*run.stream, function, plan.shape, pointers);
    });
  });
}

}  // namespace

LoadResult load(const steps::Reduce& step, const LoadArguments& arguments) {
  TRY(require_one_type(arguments.spec));
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  const StepTensor& from = arguments.spec.inputs[0];
  if (!step.are_neighbours()) return load_axes(step, std::move(inputs), std::move(code), from.format);
  const ReduceTuning tuning = TRY(from_record<ReduceTuning>(arguments.spec.tuning));
  return loaded_step([num_sms = arguments.device.properties().num_multiprocessors, step, tuning, x = from,
                      inputs = std::move(inputs), code = std::move(code)](const StepShapes& shapes) -> BindResult {
    const LaneExtents e = step.lanes(x.format, shapes.inputs[0]);
    TRY(require(tuning.columns || e.inner == 1, "the kernel reduces rows; this tensor has ", e.inner,
                " columns behind the reduced axes"));
    const ReduceShape shape{e.outer, e.length, e.inner};
    const int element = bits_of(x.dtype) / 8;
    const auto launches = [&](int vec) {
      return reduce_launches(shape, tuning.columns, vec, step.averages(), num_sms);
    };
    int64_t align = int64_t{tuning.vec} * element;
    ReduceKernels vectors, elements = TRY(bound_to_code(code, launches(1)));
    std::optional<ReduceLaunch> staged;
    if (tuning.staged) staged = reduce_staged_launch(shape, element, step.averages(), num_sms);
    if (staged) {
      vectors = TRY(bound_to_code(code, {*staged}));
      align = kStageAlign;
    } else if (tuning.vec > 1 && (tuning.columns ? e.inner : e.length) % tuning.vec == 0) {
      vectors = TRY(bound_to_code(code, launches(tuning.vec)));
    }
    const auto run = [&inputs, vectors, elements, align](const RunArguments& run) mutable {
      const void* x = inputs.at(0, run);
      return run_reduce(x, !vectors.empty() && is_aligned(x, align) ? vectors : elements, run);
    };
    return bound_step(run, reduce_workspace_bytes(num_sms));
  });
}

}  // namespace kiln::cuda
