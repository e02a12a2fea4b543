#include "steps/concatenation.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Concatenation>();

namespace kiln::steps {

Status Concatenation::check(const StepTypes& types) const {
  const StepTensor& y = types.outputs[0];
  TRY(element_bytes(y.dtype));
  for (const StepTensor& x : types.inputs) TRY(require_alike(x, y, "an input of a concatenation"));
  return require(axis >= 0 && axis < y.rank, "a concatenation's axis ", axis, " is outside [0, ", y.rank, ")");
}

Status Concatenation::check(const StepTypes& types, const StepShapes& shapes) const {
  const auto along = static_cast<size_t>(types.outputs[0].format.axis_at(axis));
  Extents sum = shapes.outputs[0];
  sum[along] = 0;
  for (const Extents& input : shapes.inputs) {
    TRY(require(input.size() == sum.size() && !__builtin_add_overflow(sum[along], input[along], &sum[along]), "input ",
                input, " of a concatenation does not fit the output ", shapes.outputs[0]));
    Extents rest = input;
    rest[along] = sum[along];
    TRY(require_extents(rest, sum, "an input of a concatenation, with those in front,"));
  }
  return require_extents(shapes.outputs[0], sum, "a concatenation's output");
}

}  // namespace kiln::steps
