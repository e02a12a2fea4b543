#include "steps/grid_sample.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/sample/sample.h"

namespace kiln::cuda {

LoadResult load(const steps::GridSample& step, const LoadArguments& arguments) {
  const StepCode code = TRY(StepCode::load(arguments));
  return loaded_step([op = step.op, inputs = TRY(StepInputs::upload(arguments)), code,
                      kernel = TRY(code.function(kGridSampleEntry))](const StepShapes& shapes) -> BindResult {
    GridSampleArgument argument = grid_sample_argument(op, shapes.inputs[0], shapes.inputs[1]);
    const LaunchShape shape = sample_shape(argument.threads);
    TRY(kernel.check(shape));
    return bound_step([&inputs, kernel, argument, shape](const RunArguments& run) mutable {
      argument.x = inputs.at(0, run);
      argument.grid = inputs.at(1, run);
      argument.y = run.outputs[0];
      void* pointers[] = {&argument, nullptr};
      return launch(*run.stream, kernel, shape, pointers);
    });
  });
}

}  // namespace kiln::cuda
