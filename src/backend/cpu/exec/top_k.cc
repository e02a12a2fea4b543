#include "steps/top_k.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/sort/top_k.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::TopK& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  const bool wide = arguments.spec.outputs[1].dtype == DType::kI64;
  return loaded_step([step, dtype, wide, &team = arguments.team](const StepShapes& shapes) {
    const LaneExtents e = step.lanes(shapes.inputs[0]);
    const TopKShape shape{.outer = e.outer,
                          .length = e.length,
                          .inner = e.inner,
                          .k = shapes.outputs[0][static_cast<size_t>(step.axis)],
                          .largest = step.largest,
                          .dtype = dtype,
                          .wide_indices = wide};
    return bound_step(
        [&team, shape](const RunArguments& run) {
          top_k(team, shape, run.inputs[0], run.outputs[0], run.outputs[1], run.workspace);
        },
        top_k_workspace(team, shape));
  });
}

}  // namespace kiln::cpu
