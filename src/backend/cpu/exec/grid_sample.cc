#include "steps/grid_sample.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/sample/sample.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::GridSample& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype, grid = arguments.spec.inputs[1].dtype;
  return loaded_step([op = step.op, dtype, grid, &team = arguments.team](const StepShapes& shapes) {
    const Extents &x = shapes.inputs[0], &positions = shapes.inputs[1];
    GridSampleShape shape{.batches = x[0],
                          .channels = x[1],
                          .samples = volume(std::span(positions).subspan(1, positions.size() - 2)),
                          .axes = static_cast<int>(x.size()) - 2,
                          .dtype = dtype,
                          .grid = grid};
    std::copy(x.begin() + 2, x.end(), shape.image.begin());
    return bound_step([op, &team, shape](const RunArguments& run) {
      grid_sample(team, op, shape, run.inputs[0], run.inputs[1], run.outputs[0]);
    });
  });
}

}  // namespace kiln::cpu
