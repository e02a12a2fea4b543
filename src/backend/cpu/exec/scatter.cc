#include "steps/scatter.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/scatter/scatter.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Scatter& step, const LoadArguments& arguments) {
  const DType data = arguments.spec.inputs[0].dtype;
  const bool wide = arguments.spec.inputs[1].dtype == DType::kI64;
  return loaded_step([op = step.op, data, wide](const StepShapes& shapes) -> BindResult {
    const ScatterPlan plan = TRY(plan_scatter(op, data, wide, shapes.inputs[0], shapes.inputs[1]));
    return bound_step([plan](const RunArguments& run) {
      return run_scatter(plan, run.inputs[0], run.inputs[1], run.inputs[2], run.outputs[0]).check();
    });
  });
}

}  // namespace kiln::cpu
