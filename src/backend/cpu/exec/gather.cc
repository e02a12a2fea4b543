#include "steps/gather.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/gather/gather.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Gather& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  const bool wide = arguments.spec.inputs[1].dtype == DType::kI64;
  return loaded_step([op = step.op, bytes, wide, &team = arguments.team](const StepShapes& shapes) -> BindResult {
    const GatherPlan plan = TRY(plan_gather(op, bytes, wide, shapes.inputs[0], shapes.inputs[1]));
    return bound_step([&team, plan](const RunArguments& run) {
      return run_gather(team, plan, run.inputs[0], run.inputs[1], run.outputs[0]).check();
    });
  });
}

}  // namespace kiln::cpu
