#include "steps/unique.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Unique>();

namespace kiln::steps {

Status Unique::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(require(is_told_apart(x.dtype), "a unique of ", x.dtype, " has no kernel"));
  TRY(require(!op.axis || (*op.axis >= -x.rank && *op.axis < x.rank), "a unique's axis ", op.axis.value_or(0),
              " is outside [", -x.rank, ", ", x.rank, ")"));
  TRY(require_linear(types, 0));
  TRY(require_alike(types.outputs[0], x, "unique's y"));
  for (size_t i = 1; i < 4; ++i)
    TRY(require(types.outputs[i].dtype == DType::kI64 && types.outputs[i].format.is_linear(), "a unique's numbers are ",
                types.outputs[i].dtype, "; row-major i64 needed"));
  return {};
}

LaneExtents Unique::slices(const Extents& x) const {
  if (!op.axis) return {.outer = 1, .length = volume(x), .inner = 1};
  const auto axis = static_cast<size_t>(*op.axis < 0 ? *op.axis + std::ssize(x) : *op.axis);
  return lane_extents(x, axis, axis);
}

Status Unique::check(const StepTypes&, const StepShapes& shapes) const {
  const int64_t count = slices(shapes.inputs[0]).length;
  TRY(require(count < kMostSorted, "a unique of ", count, " elements or slices; fewer than ", kMostSorted, " needed"));
  const Extents& first = shapes.outputs[1];
  TRY(require(first.size() == 1 && first[0] <= count, "a unique's first places have extents ", first, "; there are ",
              count, " at most"));
  Extents y{first[0]};
  if (op.axis) {
    y = shapes.inputs[0];
    y[static_cast<size_t>(*op.axis < 0 ? *op.axis + std::ssize(y) : *op.axis)] = first[0];
  }
  TRY(require_extents(shapes.outputs[0], y, "unique's y"));
  TRY(require_extents(shapes.outputs[2], {count}, "unique's inverse"));
  return require_extents(shapes.outputs[3], first, "unique's counts");
}

}  // namespace kiln::steps
