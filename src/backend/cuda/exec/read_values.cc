/// Numbers that the host reads: a kernel writes them where the run wants its sizes.
#include "steps/read_values.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/fill/arguments.h"

namespace kiln::cuda {

LoadResult load(const steps::ReadValues&, const LoadArguments& arguments) {
  const StepCode code = TRY(StepCode::load(arguments));
  return loaded_step([inputs = TRY(StepInputs::upload(arguments)), code,
                      function = TRY(code.function("read_values"))](const StepShapes& shapes) -> BindResult {
    LaunchShape shape;
    shape.block[0] = static_cast<uint32_t>(ops::ReadValues::kMost);
    shape.pdl = true;
    TRY(function.check(shape));
    const auto count = static_cast<uint32_t>(volume(shapes.inputs[0]));
    return bound_step([&inputs, function, shape, count](const RunArguments& run) -> Status {
      if (count == 0) return {};
      ReadValuesArgument argument{.x = inputs.at(0, run), .y = run.outputs[0], .numbers = run.sizes, .count = count};
      void* pointers[] = {&argument};
      return launch(*run.stream, function, shape, pointers);
    });
  });
}

}  // namespace kiln::cuda
