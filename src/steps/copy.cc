#include "steps/copy.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Copy>();

namespace kiln::steps {

Status Copy::check(const StepTypes& types) const {
  const StepTensor &from = types.inputs[0], &to = types.outputs[0];
  TRY(require(from.dtype == to.dtype, "a copy cannot change ", from.dtype, " to ", to.dtype));
  TRY(require(bits_of(from.dtype) >= 8 || from.format == to.format, "a tensor of ", from.dtype,
              " cannot be reordered from ", from.format, " to ", to.format));
  return {};
}

Status Copy::check(const StepTypes&, const StepShapes& shapes) const {
  return require_extents(shapes.outputs[0], shapes.inputs[0], "a copy");
}

}  // namespace kiln::steps
