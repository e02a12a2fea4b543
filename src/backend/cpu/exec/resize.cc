#include "backend/cpu/kernels/resize/resize.h"

#include "backend/cpu/exec/executor.h"
#include "steps/by_function.h"
#include "steps/resize.h"

namespace kiln::cpu {
namespace {

/// A step whose inputs decide where y lies in x.
std::unique_ptr<BoundStep> placed_resize(Team& team, ResizePlan plan, const steps::Resize& step, const ResizeHas& has,
                                         const StepShapes& shapes) {
  const int64_t workspace_bytes = plan.workspace_bytes(team.size());
  const int64_t num_roi = has.roi ? shapes.inputs[1][0] : 0, num_scales = has.scales ? shapes.inputs[2][0] : 0;
  return bound_step(
      [&team, &step, plan = std::move(plan), in = shapes.inputs[0], out = shapes.outputs[0], num_roi,
       num_scales](const RunArguments& run) mutable -> Status {
        const auto floats = [&](size_t input, int64_t count) {
          return std::span(static_cast<const float*>(run.inputs[input]), static_cast<size_t>(count));
        };
        TRY(update_resize(plan, step.op, {step.from_sizes, floats(1, num_roi), floats(2, num_scales)}, in, out));
        run_resize(team, plan, run.inputs[0], run.outputs[0], run.workspace);
        return {};
      },
      workspace_bytes);
}

}  // namespace

LoadResult load(const steps::Resize& step, const LoadArguments& arguments) {
  const std::vector<StepTensor>& inputs = arguments.spec.inputs;
  const bool more = inputs.size() > 1;
  const ResizeHas has{.sizes = step.from_sizes, .roi = more && inputs[1].present, .scales = more && inputs[2].present};
  TRY(require(!step.op.antialias || step.op.mode == ResizeMode::kNearest || !has.scales,
              "scales of the run decide how many taps an antialiased resize has; the CPU's tables are made before"));
  return loaded_step([step, has, x = inputs[0], &team = arguments.team](const StepShapes& shapes) -> BindResult {
    ResizePlan plan = TRY(plan_resize(step.op, has, x.dtype, shapes.inputs[0], shapes.outputs[0], x.format));
    if (has.roi || has.scales) return placed_resize(team, std::move(plan), step, has, shapes);
    const int64_t workspace_bytes = plan.workspace_bytes(team.size());
    auto run = [&team, plan = std::move(plan)](const RunArguments& arguments) {
      run_resize(team, plan, arguments.inputs[0], arguments.outputs[0], arguments.workspace);
    };
    return bound_step(std::move(run), workspace_bytes);
  });
}

}  // namespace kiln::cpu
