#include "steps/read_values.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::ReadValues>();

namespace kiln::steps {

Status ReadValues::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(require(is_index(x.dtype) || x.dtype == DType::kBool, "numbers are read of ", x.dtype,
              "; i32, i64 or bool needed"));
  TRY(require(types.num_sizes <= ops::ReadValues::kMost, types.num_sizes, " numbers are read; ", ops::ReadValues::kMost,
              " are possible"));
  TRY(require_linear(types, 0));
  return require_alike(types.outputs[0], x, "the copy of numbers");
}

Status ReadValues::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents& x = shapes.inputs[0];
  TRY(require(volume(x) == types.num_sizes, types.num_sizes, " numbers are read of x ", x));
  return require_extents(shapes.outputs[0], x, "the copy of numbers");
}

}  // namespace kiln::steps
