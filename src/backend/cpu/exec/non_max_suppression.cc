#include "steps/non_max_suppression.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/sort/non_max_suppression.h"
#include "steps/by_function.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// The limits among a run's inputs. Fails where one is no limit.
Result<SelectionLimits> limits_of(const std::vector<StepTensor>& inputs, const RunArguments& run) {
  const auto number = [&](size_t i) -> std::optional<double> {
    if (i >= inputs.size() || !inputs[i].present) return std::nullopt;
    return load_number(inputs[i].dtype, static_cast<const std::byte*>(run.inputs[i]), 0);
  };
  SelectionLimits limits;
  if (number(2))
    limits.most = std::max<int64_t>(load_integer(inputs[2].dtype, static_cast<const std::byte*>(run.inputs[2]), 0), 0);
  limits.iou = static_cast<float>(number(3).value_or(0));
  if (const auto score = number(4)) limits.score = static_cast<float>(*score);
  TRY(require(limits.iou >= 0 && limits.iou <= 1, "iou_threshold is ", limits.iou, ", outside [0, 1]"));
  return limits;
}

}  // namespace

LoadResult load(const steps::NonMaxSuppression& step, const LoadArguments& arguments) {
  return loaded_step([step, types = StepTypes(arguments.spec), &team = arguments.team](const StepShapes& shapes) {
    const NonMaxSuppressionShape shape{.sizes = step.sizes(shapes),
                                       .dtype = types.inputs[0].dtype,
                                       .format = step.op.format,
                                       .wide_indices = types.outputs[0].dtype == DType::kI64};
    return bound_step(
        [&team, &types, shape](const RunArguments& run) -> Status {
          const SelectionLimits limits = TRY(limits_of(types.inputs, run));
          const int64_t count = *run.sizes =
              non_max_suppression(team, shape, limits, run.inputs[0], run.inputs[1], run.outputs[0], run.workspace);
          *static_cast<int32_t*>(run.outputs[1]) = static_cast<int32_t>(count);
          return require(count <= shape.sizes.room, count, " boxes are selected; the plan has room for ",
                         shape.sizes.room);
        },
        non_max_suppression_workspace(team, shape));
  });
}

}  // namespace kiln::cpu
