#include "steps/unique.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/sort/unique.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Unique& step, const LoadArguments& arguments) {
  return loaded_step([step, dtype = arguments.spec.inputs[0].dtype](const StepShapes& shapes) {
    const UniqueShape shape{.slices = step.slices(shapes.inputs[0]),
                            .dtype = dtype,
                            .sorted = step.op.sorted,
                            .room = shapes.outputs[1][0]};
    return bound_step(
        [shape](const RunArguments& run) {
          const auto numbers = [&](size_t output) { return static_cast<int64_t*>(run.outputs[output]); };
          const UniqueOutputs outputs{run.outputs[0], numbers(1), numbers(2), numbers(3)};
          const int64_t n = *run.sizes = unique(shape, run.inputs[0], outputs, run.workspace);
          return require(n <= shape.room, n, " are different; the plan has room for ", shape.room);
        },
        unique_workspace(shape));
  });
}

}  // namespace kiln::cpu
