#include "steps/concatenation.h"

#include "steps/define.h"
#include "steps/view_bounds.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Concatenation>();

namespace kiln::steps {

Status Concatenation::check(const StepTypes& types) const {
  const StepTensor& y = types.outputs[0];
  TRY(element_bytes(y.dtype));
  for (const StepTensor& x : types.inputs) {
    if (!of_views) {
      TRY(require_alike(x, y, "an input of a concatenation"));
      continue;
    }
    TRY(require(x.dtype == y.dtype && x.format.is_linear() && y.format.is_linear(), "a concatenation reads views of ",
                x.dtype, ' ', x.format, " to make ", y.dtype, ' ', y.format, "; one type, row-major, is needed"));
  }
  const size_t params = of_views ? types.inputs.size() * (static_cast<size_t>(y.rank) + 2) : 0;
  TRY(require(static_cast<size_t>(types.num_params) == params, "a concatenation of ", types.inputs.size(),
              " inputs has ", types.num_params, " parameters; it takes ", params));
  return require(axis >= 0 && axis < y.rank, "a concatenation's axis ", axis, " is outside [0, ", y.rank, ")");
}

namespace {

/// Whether views of these tensors fill y.
Status check_views(int axis, const StepShapes& shapes) {
  const Extents& y = shapes.outputs[0];
  const auto along = static_cast<size_t>(axis);
  int64_t sum = 0;
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    const JoinedView view = Concatenation::view_of(i, y.size(), shapes.params);
    TRY(require(view.extent >= 0 && !__builtin_add_overflow(sum, view.extent, &sum), "view ", i,
                " of a concatenation has ", view.extent, " elements along axis ", axis));
    Extents extents = y;
    extents[along] = view.extent;
    TRY(check_view_bounds(view.offset, view.strides, extents, shapes.inputs[i], "a view of a concatenation"));
  }
  return require(sum == y[along], "views of ", sum, " elements along axis ", axis, " do not make ", y);
}

}  // namespace

Status Concatenation::check(const StepTypes& types, const StepShapes& shapes) const {
  if (of_views) return check_views(axis, shapes);
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
