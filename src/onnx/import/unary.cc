#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

Status simple(ImportContext& cx, UnaryKind kind) { return cx.output(TRY(unary(cx, kind, TRY(cx.input(0))))); }

}  // namespace

Status abs(ImportContext& cx) { return simple(cx, UnaryKind::kAbs); }
Status acos(ImportContext& cx) { return simple(cx, UnaryKind::kAcos); }
Status acosh(ImportContext& cx) { return simple(cx, UnaryKind::kAcosh); }
Status asin(ImportContext& cx) { return simple(cx, UnaryKind::kAsin); }
Status asinh(ImportContext& cx) { return simple(cx, UnaryKind::kAsinh); }
Status atan(ImportContext& cx) { return simple(cx, UnaryKind::kAtan); }
Status atanh(ImportContext& cx) { return simple(cx, UnaryKind::kAtanh); }
Status ceil(ImportContext& cx) { return simple(cx, UnaryKind::kCeil); }
Status cos(ImportContext& cx) { return simple(cx, UnaryKind::kCos); }
Status cosh(ImportContext& cx) { return simple(cx, UnaryKind::kCosh); }
Status erf(ImportContext& cx) { return simple(cx, UnaryKind::kErf); }
Status exp(ImportContext& cx) { return simple(cx, UnaryKind::kExp); }
Status floor(ImportContext& cx) { return simple(cx, UnaryKind::kFloor); }
Status is_nan(ImportContext& cx) { return simple(cx, UnaryKind::kIsNan); }
Status log(ImportContext& cx) { return simple(cx, UnaryKind::kLog); }
Status neg(ImportContext& cx) { return simple(cx, UnaryKind::kNeg); }
Status logical_not(ImportContext& cx) { return simple(cx, UnaryKind::kNot); }
Status reciprocal(ImportContext& cx) { return simple(cx, UnaryKind::kRecip); }
Status round(ImportContext& cx) { return simple(cx, UnaryKind::kRound); }
Status sign(ImportContext& cx) { return simple(cx, UnaryKind::kSign); }
Status sin(ImportContext& cx) { return simple(cx, UnaryKind::kSin); }
Status sinh(ImportContext& cx) { return simple(cx, UnaryKind::kSinh); }
Status sqrt(ImportContext& cx) { return simple(cx, UnaryKind::kSqrt); }
Status tan(ImportContext& cx) { return simple(cx, UnaryKind::kTan); }

Status is_inf(ImportContext& cx) {
  const bool positive = TRY(cx.node().get_int("detect_positive", 1)) != 0;
  const bool negative = TRY(cx.node().get_int("detect_negative", 1)) != 0;
  const ValueId x = TRY(cx.input(0));
  const ValueId either = TRY(unary(cx, UnaryKind::kIsInf, x));
  if (positive && negative) return cx.output(either);
  const ElementWiseKind side = positive ? ElementWiseKind::kGreater : ElementWiseKind::kLess;
  const ValueId wanted = positive || negative ? TRY(binary(cx, side, x, 0)) : TRY(unary(cx, UnaryKind::kNot, either));
  return cx.output(TRY(binary(cx, ElementWiseKind::kAnd, either, wanted)));
}

}  // namespace kiln::onnx::importers
