#include "steps/slice.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Slice>();

namespace kiln::steps {

Status Slice::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(element_bytes(x.dtype));
  TRY(require_alike(types.outputs[0], x, "a slice's output"));
  const bool has_fill = types.inputs.size() > 1 && types.inputs[1].present;
  return require(!has_fill || types.inputs[1].dtype == x.dtype, "a slice of ", x.dtype, " is filled with ",
                 types.inputs.back().dtype);
}

Status Slice::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  const size_t rank = x.size();
  TRY(require(y.size() == rank && shapes.params.size() == 2 * rank, "a slice of ", x, " to ", y, " has ",
              shapes.params.size(), " parameters"));
  if (types.inputs.size() > 1 && types.inputs[1].present)
    TRY(require_count(shapes.inputs[1], 1, "what a slice fills with"));
  if (volume(y) == 0) return {};
  const std::span<const int64_t> starts = shapes.params.first(rank), strides = shapes.params.subspan(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t last = 0;
    TRY(require(!__builtin_mul_overflow(y[axis] - 1, strides[axis], &last) &&
                    !__builtin_add_overflow(last, starts[axis], &last),
                "a slice from ", starts[axis], " by ", strides[axis], " overflows 64 bits"));
    TRY(require(mode == SliceMode::kFill || x[axis] > 0, "a slice of ", y, " from ", x, " reads an empty axis"));
    TRY(require(mode != SliceMode::kStrictBounds ||
                    (starts[axis] >= 0 && starts[axis] < x[axis] && last >= 0 && last < x[axis]),
                "a slice from ", starts[axis], " to ", last, " of axis ", axis, " leaves its extent ", x[axis]));
  }
  return {};
}

}  // namespace kiln::steps
