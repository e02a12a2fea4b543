/// Operators of ai.onnx.ml that take numbers.
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"

namespace kiln::onnx::importers::ml {

/// Imports ArrayFeatureExtractor: columns of x, whose last axis they are of.
Status array_feature_extractor(ImportContext& cx) {
  ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) > 0, "x is a scalar; it has no axis"));
  if (cx.rank(x) == 1) x = TRY(unsqueeze(cx, x, {0}));
  const ValueId columns = TRY(cx.input(1));
  const ValueId at = TRY(reshape(cx, columns, {cx.type(columns).volume()}));
  return cx.output(TRY(cx.add(ops::Gather{GatherMode::kDefault, cx.rank(x) - 1, 0}, {x, at})));
}

/// 1 where x > threshold, else 0.
Status binarizer(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const float threshold = TRY(cx.node().get_float("threshold", 0));
  return cx.output(TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kGreater, x, threshold)), cx.dtype(x))));
}

}  // namespace kiln::onnx::importers::ml
