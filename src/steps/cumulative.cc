#include "steps/cumulative.h"

#include "steps/define.h"
#include "tensor/compute_types.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Cumulative>();

namespace kiln::steps {

Status Cumulative::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(require(is_compute_float(x.dtype) || is_index(x.dtype), "running sums of ", x.dtype,
              "; f32, f16, bf16, f64, i32 and i64 are possible"));
  TRY(require(axis >= 0 && axis < x.rank, "the axis ", axis, " of running sums is outside [0, ", x.rank, ")"));
  TRY(require_linear(types, 0));
  return require_alike(types.outputs[0], x, "the output of running sums");
}

Status Cumulative::check(const StepTypes&, const StepShapes& shapes) const {
  return require_extents(shapes.outputs[0], shapes.inputs[0], "the output of running sums");
}

}  // namespace kiln::steps
