#include "ops/non_max_suppression.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// ONNX has scores by class, then by box.
Status non_max_suppression(ImportContext& cx) {
  const int64_t centers = TRY(cx.node().get_int("center_point_box", 0));
  TRY(require(centers == 0 || centers == 1, "center_point_box is ", centers, "; 0 or 1 needed"));
  const ValueId boxes = TRY(cx.input(0)), scores = TRY(cx.input(1));
  TRY(require(cx.rank(scores) == 3, "scores are ", cx.type(scores), "; rank 3 needed"));
  Values inputs{boxes, TRY(transpose(cx, scores, {0, 2, 1}))};
  for (size_t i = 2; i < 5; ++i) inputs.push_back(cx.optional_input(i));
  const ops::NonMaxSuppression op{.format = centers ? BoxFormat::kCenterSizes : BoxFormat::kCorners};
  return cx.output(TRY(cx.add_all(op, inputs))[0]);
}

}  // namespace kiln::onnx::importers
