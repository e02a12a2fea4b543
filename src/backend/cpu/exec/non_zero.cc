#include "steps/non_zero.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/scan/non_zero.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::NonZero&, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  const bool wide = arguments.spec.outputs[0].dtype == DType::kI64;
  return loaded_step([dtype, wide, &team = arguments.team](const StepShapes& shapes) {
    const NonZeroShape shape{shapes.inputs[0], dtype, wide, shapes.outputs[0][1]};
    return bound_step(
        [&team, shape](const RunArguments& run) {
          const int64_t n = run.sizes[0] = non_zero(team, shape, run.inputs[0], run.outputs[0], run.workspace);
          return require(n <= shape.most, n, " elements are not zero; the plan has room for ", shape.most);
        },
        non_zero_workspace(shape));
  });
}

}  // namespace kiln::cpu
