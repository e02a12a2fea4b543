#include "steps/grid_sample.h"

#include "steps/define.h"
#include "steps/inferred.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::GridSample>();

namespace kiln::steps {

Status GridSample::check(const StepTypes& types) const {
  const StepTensor &x = types.inputs[0], &grid = types.inputs[1];
  TRY(require(is_kernel_float(x.dtype) && is_kernel_float(grid.dtype), "grid_sample of ", x.dtype, " at ", grid.dtype,
              "; f32, f16 and bf16 are possible"));
  return require_alike(types.outputs[0], x, "grid_sample's output");
}

Status GridSample::check(const StepTypes& types, const StepShapes& shapes) const {
  TRY(require_inferred(op, types, shapes));
  const int64_t plane = volume(std::span(shapes.inputs[0]).subspan(2));
  return require(plane < int64_t{1} << 31, "an image of ", plane, " pixels; fewer than 2^31 needed");
}

}  // namespace kiln::steps
