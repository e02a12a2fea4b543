#include "steps/softmax.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Softmax>();

namespace kiln::steps {

Status Softmax::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(require(is_kernel_float(x.dtype), "a softmax of ", x.dtype, "; f32, f16 and bf16 are possible"));
  TRY(require(axis >= 0 && axis < x.rank, "a softmax's axis ", axis, " is outside [0, ", x.rank, ")"));
  return require_alike(types.outputs[0], x, "softmax's output");
}

Status Softmax::check(const StepTypes&, const StepShapes& shapes) const {
  return require_extents(shapes.outputs[0], shapes.inputs[0], "softmax's output");
}

}  // namespace kiln::steps
