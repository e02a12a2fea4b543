/// Softmax along one axis: rows, or columns, which are not the innermost axis.
#include "steps/softmax.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/softmax.h"

namespace kiln::cuda {
namespace {

struct Aligned : SoftmaxLaunch {
  int64_t align = 1;
};

/// The fastest first; the last takes any address.
Result<std::vector<Kernel<Aligned>>> kernels_of(const SoftmaxTuning& tuning, const SoftmaxShape& shape, int64_t element,
                                                const StepCode& code) {
  std::vector<Kernel<Aligned>> kernels;
  if (const auto& columns = tuning.columns) {
    const auto& [vec, held, stored] = *columns;
    TRY(require(held == 0 || shape.length <= most_held(held), "columns have ", shape.length,
                " elements; the kernel's registers hold ", most_held(held)));
    if (vec > 1 && shape.inner % vec == 0 && (!stored || shape.length == held))
      kernels.push_back(TRY(code.kernel(Aligned{softmax_columns_launch(shape, *columns), vec * element})));
    kernels.push_back(TRY(code.kernel(Aligned{softmax_columns_launch(shape, {.vec = 1, .held = held})})));
  } else {
    TRY(require(shape.inner == 1, "the kernel takes rows; this tensor has ", shape.inner, " columns behind the axis"));
    const auto& tile = tuning.tile;
    if (tile && tile->holds(shape.length))
      kernels.push_back(TRY(code.kernel(Aligned{softmax_launch(shape, &*tile), tile->vec * element})));
    kernels.push_back(TRY(code.kernel(Aligned{softmax_launch(shape, nullptr)})));
  }
  return kernels;
}

}  // namespace

LoadResult load(const steps::Softmax& step, const LoadArguments& arguments) {
  const SoftmaxTuning tuning = TRY(from_record<SoftmaxTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([step, x = arguments.spec.inputs[0], tuning, code = std::move(code),
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    const LaneExtents e = step.lanes(x.format, shapes.inputs[0]);
    auto kernels = TRY(kernels_of(tuning, {e.outer, e.length, e.inner}, bits_of(x.dtype) / 8, code));
    return bound_step([&inputs, kernels = std::move(kernels)](const RunArguments& run) mutable {
      const void* from = inputs.at(0, run);
      void* to = run.outputs[0];
      auto& [plan, function] =
          first_that(kernels, [&](const Aligned& l) { return is_aligned(from, l.align) && is_aligned(to, l.align); });
      void* pointers[] = {&from, &to, &plan.numbers[0], &plan.numbers[1], &plan.numbers[2]};
      return launch(*run.stream, function, plan.shape, pointers);
    });
  });
}

}  // namespace kiln::cuda
