#include "steps/reduce.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/lanes/reduce.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Reduce& step, const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  const DType out = arguments.spec.outputs[0].dtype;
  TRY(require(step.are_neighbours(), "the reduction's axes ", step.axes,
              " are not neighbours in memory, as its kernel needs"));
  TRY(require(can_reduce(x.dtype, out), "no kernel reduces ", x.dtype, " to ", out));
  return loaded_step([step, x, out, &team = arguments.team](const StepShapes& shapes) {
    const LaneExtents e = step.lanes(x.format, shapes.inputs[0]);
    // An average is computed as a sum and divided at the end.
    const Reduction kind = step.averages() ? Reduction::kSum : static_cast<Reduction>(step.kind);
    const int64_t divisor = step.averages() ? e.length : 1;
    const ReduceShape shape{e.outer, e.length, e.inner};
    return bound_step([&team, kind, shape, in = x.dtype, out, divisor](const RunArguments& run) {
      reduce(team, kind, shape, in, run.inputs[0], out, run.outputs[0], divisor);
    });
  });
}

}  // namespace kiln::cpu
