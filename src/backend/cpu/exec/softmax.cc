/// Softmax along one axis.
#include "steps/softmax.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/lanes/softmax.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Softmax& step, const LoadArguments& arguments) {
  return loaded_step([step, x = arguments.spec.inputs[0], &team = arguments.team](const StepShapes& shapes) {
    const LaneExtents e = step.lanes(x.format, shapes.inputs[0]);
    return bound_step([&team, shape = SoftmaxShape{e.outer, e.length, e.inner, x.dtype}](const RunArguments& run) {
      softmax(team, shape, run.inputs[0], run.outputs[0]);
    });
  });
}

}  // namespace kiln::cpu
