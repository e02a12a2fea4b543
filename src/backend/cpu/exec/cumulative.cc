#include "steps/cumulative.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/scan/cumulative.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Cumulative& step, const LoadArguments& arguments) {
  return loaded_step([step, dtype = arguments.spec.inputs[0].dtype, &team = arguments.team](const StepShapes& shapes) {
    const LaneExtents e = step.lanes(shapes.inputs[0]);
    const CumulativeShape shape{e.outer, e.length, e.inner, dtype, step.operation, step.exclusive, step.reverse};
    return bound_step(
        [&team, shape](const RunArguments& run) { cumulative(team, shape, run.inputs[0], run.outputs[0]); });
  });
}

}  // namespace kiln::cpu
