#include "steps/non_zero.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::NonZero>();

namespace kiln::steps {

Status NonZero::check(const StepTypes& types) const {
  const StepTensor &x = types.inputs[0], &y = types.outputs[0];
  TRY(require(value_bits(x.dtype) != 0, "a non_zero of ", x.dtype, " has no kernel"));
  TRY(require_linear(types, 0));
  return require(is_index(y.dtype) && y.dtype == op.indices && y.format.is_linear(), "a non_zero's indices are ",
                 y.dtype, " of format ", y.format, "; row-major ", op.indices, " needed, which i32 or i64 may be");
}

Status NonZero::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  return require(y.size() == 2 && y[0] == std::ssize(x) && y[1] <= volume(x), "a non_zero's indices have extents ", y,
                 "; of x ", x, " there are [", x.size(), ", ", volume(x), "] at most");
}

}  // namespace kiln::steps
