#include "steps/top_k.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::TopK>();

namespace kiln::steps {

Status TopK::check(const StepTypes& types) const {
  const StepTensor &x = types.inputs[0], &indices = types.outputs[1];
  TRY(require(has_sort_key(x.dtype), "a top_k of ", x.dtype, " has no kernel"));
  TRY(require(axis >= 0 && axis < x.rank, "a top_k's axis ", axis, " is outside [0, ", x.rank, ")"));
  TRY(require_linear(types, 0));
  TRY(require_alike(types.outputs[0], x, "top_k's values"));
  return require(is_index(indices.dtype) && indices.format.is_linear(), "a top_k's indices are ", indices.dtype,
                 " of format ", indices.format, "; row-major i32 or i64 needed");
}

Status TopK::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents& values = shapes.outputs[0];
  Extents implied = shapes.inputs[0];
  TRY(require(values.size() == implied.size(), "a top_k's values have extents ", values, ", x has ", implied));
  const auto along = static_cast<size_t>(axis);
  const int64_t length = implied[along], k = values[along];
  TRY(require(k >= 0 && k <= length, "a top_k's k ", k, " is above ", length, ", its row"));
  TRY(require(length < kMostSorted, "a top_k's row has ", length, " elements; fewer than ", kMostSorted, " needed"));
  implied[along] = k;
  TRY(require_extents(values, implied, "top_k's values"));
  return require_extents(shapes.outputs[1], implied, "top_k's indices");
}

}  // namespace kiln::steps
