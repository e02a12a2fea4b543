#include "ops/identity.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// Everything was kept: true, of x's shape; before version 10 ones of x's type.
Result<ValueId> whole_mask(ImportContext& cx, ValueId x) {
  const DType type = cx.opset() < 10 ? cx.dtype(x) : DType::kBool;
  return expand(cx, scalar_of(cx, 1, type, cx.rank(x)), cx.type(x).shape);
}

}  // namespace

Status identity(ImportContext& cx) { return cx.output(TRY(cx.add(ops::Identity{}, {TRY(cx.input(0))}))); }

/// As inference has it: nothing is dropped.
Status dropout(ImportContext& cx) {
  if (cx.opset() >= 12 && cx.has_input(2)) {
    const ValueId training = TRY(cx.input(2));
    const double on = TRY(cx.number(training, "training_mode"));
    const bool drops = on != 0 && (!cx.has_input(1) || TRY(cx.number(TRY(cx.input(1)), "ratio")) != 0);
    if (drops) return error(Code::kUnsupported, "training_mode is true; Kiln runs networks, it does not train them");
  }
  const ValueId x = TRY(cx.input(0));
  if (cx.wants(1)) TRY(cx.output(1, TRY(whole_mask(cx, x))));
  return cx.output(TRY(cx.add(ops::Identity{}, {x})));
}

}  // namespace kiln::onnx::importers
