#include "steps/non_max_suppression.h"

#include <algorithm>

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::NonMaxSuppression>();

namespace kiln::steps {

Status NonMaxSuppression::check(const StepTypes& types) const {
  const StepTensor &boxes = types.inputs[0], &scores = types.inputs[1];
  TRY(require(is_kernel_float(boxes.dtype) && boxes.dtype == scores.dtype, "boxes of ", boxes.dtype, " and scores of ",
              scores.dtype, "; one of f32, f16 and bf16 needed"));
  TRY(require((boxes.rank == 3 || boxes.rank == 4) && scores.rank == 3, "boxes of rank ", boxes.rank,
              " and scores of rank ", scores.rank, "; 3 or 4, and 3 needed"));
  for (size_t i = 0; i < types.inputs.size(); ++i) {
    const StepTensor& input = types.inputs[i];
    if (!input.present) continue;
    TRY(require_linear(types, i));
    if (i == 2) TRY(require(is_index(input.dtype), "a number of boxes is ", input.dtype, "; i32 or i64 needed"));
    if (i > 2) TRY(require(is_kernel_float(input.dtype), "a threshold is ", input.dtype, "; f32, f16 or bf16 needed"));
  }
  const StepTensor &selected = types.outputs[0], &count = types.outputs[1];
  TRY(require(is_index(selected.dtype) && selected.dtype == op.indices && selected.format.is_linear(),
              "indices of boxes are ", selected.dtype, " of format ", selected.format, "; row-major ", op.indices,
              " needed, which i32 or i64 may be"));
  return require(count.dtype == DType::kI32 && count.format.is_linear(), "the number of selected boxes is ",
                 count.dtype, "; i32 needed");
}

Status NonMaxSuppression::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents &boxes = shapes.inputs[0], &scores = shapes.inputs[1], &selected = shapes.outputs[0];
  const bool fit = boxes[0] == scores[0] && boxes[1] == scores[1] && boxes.back() == 4 &&
                   (boxes.size() == 3 || boxes[2] == 1 || boxes[2] == scores[2]);
  TRY(require(fit, "boxes are ", boxes, " and scores ", scores, "; [b, n, 4] or [b, n, c, 4], and [b, n, c] needed"));
  TRY(require(scores[1] < int64_t{1} << 31, "scores ", scores, " are of 2^31 boxes or more"));
  for (size_t i = 2; i < shapes.inputs.size(); ++i)
    if (types.inputs[i].present) TRY(require_count(shapes.inputs[i], 1, "a limit of selected boxes"));
  TRY(require(selected.size() == 2 && selected[1] == 3 && selected[0] <= volume(scores), "selected boxes are ",
              selected, "; of scores ", scores, " there are [", volume(scores), ", 3] at most"));
  return require_count(shapes.outputs[1], 1, "the number of selected boxes");
}

NonMaxSuppression::Sizes NonMaxSuppression::sizes(const StepShapes& shapes) const {
  const Extents &boxes = shapes.inputs[0], &scores = shapes.inputs[1];
  return {.images = scores[0],
          .boxes = scores[1],
          .classes = scores[2],
          .boxes_by_class = boxes.size() == 4 && boxes[2] > 1,
          .candidates = op.candidates < 0 ? scores[1] : std::min(op.candidates, scores[1]),
          .room = shapes.outputs[0][0]};
}

}  // namespace kiln::steps
