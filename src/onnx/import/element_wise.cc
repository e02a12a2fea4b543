#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

Status simple(ImportContext& cx, ElementWiseKind kind) {
  return cx.output(TRY(binary(cx, kind, TRY(cx.input(0)), TRY(cx.input(1)))));
}

/// Combines inputs [first, end) by `kind`, in a chain. Many inputs are split into halves first: if each has a symbol of
/// its own, extents in the middle of a chain are expressions as long as the chain.
Result<ValueId> combined(ImportContext& cx, ElementWiseKind kind, size_t first, size_t end) {
  constexpr size_t kLongestChain = 16;
  if (end - first > kLongestChain) {
    const size_t middle = first + (end - first) / 2;
    const ValueId left = TRY(combined(cx, kind, first, middle)), right = TRY(combined(cx, kind, middle, end));
    return binary(cx, kind, left, right);
  }
  ValueId y = TRY(cx.input(first));
  for (size_t i = first + 1; i < end; ++i) y = TRY(binary(cx, kind, y, TRY(cx.input(i))));
  return y;
}

/// `kind` over any number of inputs.
Result<ValueId> combined(ImportContext& cx, ElementWiseKind kind) {
  return combined(cx, kind, 0, std::max<size_t>(cx.num_inputs(), 1));
}

/// a >= b, or a <= b. For floats it is not the negation of a < b, since every comparison with NaN is false.
Status or_equal(ImportContext& cx, ElementWiseKind strict, ElementWiseKind opposite) {
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  if (!is_float(cx.dtype(a))) return cx.output(TRY(unary(cx, UnaryKind::kNot, TRY(binary(cx, opposite, a, b)))));
  const ValueId beyond = TRY(binary(cx, strict, a, b)), same = TRY(binary(cx, ElementWiseKind::kEqual, a, b));
  return cx.output(TRY(binary(cx, ElementWiseKind::kOr, beyond, same)));
}

}  // namespace

Status add(ImportContext& cx) { return simple(cx, ElementWiseKind::kSum); }
Status sub(ImportContext& cx) { return simple(cx, ElementWiseKind::kSub); }
Status mul(ImportContext& cx) { return simple(cx, ElementWiseKind::kProd); }
Status div(ImportContext& cx) { return simple(cx, ElementWiseKind::kDiv); }
Status equal(ImportContext& cx) { return simple(cx, ElementWiseKind::kEqual); }
Status greater(ImportContext& cx) { return simple(cx, ElementWiseKind::kGreater); }
Status less(ImportContext& cx) { return simple(cx, ElementWiseKind::kLess); }
Status logical_and(ImportContext& cx) { return simple(cx, ElementWiseKind::kAnd); }
Status logical_or(ImportContext& cx) { return simple(cx, ElementWiseKind::kOr); }
Status logical_xor(ImportContext& cx) { return simple(cx, ElementWiseKind::kXor); }
Status greater_or_equal(ImportContext& cx) { return or_equal(cx, ElementWiseKind::kGreater, ElementWiseKind::kLess); }
Status less_or_equal(ImportContext& cx) { return or_equal(cx, ElementWiseKind::kLess, ElementWiseKind::kGreater); }

Status max(ImportContext& cx) { return cx.output(TRY(combined(cx, ElementWiseKind::kMax))); }
Status min(ImportContext& cx) { return cx.output(TRY(combined(cx, ElementWiseKind::kMin))); }
Status sum(ImportContext& cx) { return cx.output(TRY(combined(cx, ElementWiseKind::kSum))); }
Status mean(ImportContext& cx) {
  const ValueId total = TRY(combined(cx, ElementWiseKind::kSum));
  if (cx.num_inputs() == 1) return cx.output(total);
  return cx.output(TRY(binary(cx, ElementWiseKind::kProd, total, 1.0 / static_cast<double>(cx.num_inputs()))));
}

/// Integers give a - b * (a / b), the quotient rounded towards zero with `fmod`, else down; x mod 0 is x. A quotient of
/// floats has more digits than a float, so their remainder is an op of its own.
Status mod(ImportContext& cx) {
  const bool fmod = TRY(cx.node().get_int("fmod", 0)) != 0;
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  TRY(require(fmod || !is_float(cx.dtype(a)), "a is ", cx.type(a), "; for floating types fmod must be 1"));
  if (is_float(cx.dtype(a))) return simple(cx, ElementWiseKind::kMod);
  const ValueId quotient = TRY(binary(cx, fmod ? ElementWiseKind::kDiv : ElementWiseKind::kFloorDiv, a, b));
  const ValueId whole = TRY(binary(cx, ElementWiseKind::kProd, quotient, b));
  return cx.output(TRY(binary(cx, ElementWiseKind::kSub, a, whole)));
}

/// The exponent may have another type; the result has the base's.
Status pow(ImportContext& cx) {
  const ValueId base = TRY(cx.input(0)), exponent = TRY(cx.input(1));
  const DType type = cx.dtype(base);
  if (!is_float(type) && is_float(cx.dtype(exponent))) {
    // In double, so that what is whole stays whole.
    const ValueId wide = TRY(cast(cx, base, DType::kF64)), power = TRY(cast(cx, exponent, DType::kF64));
    return cx.output(TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kPow, wide, power)), type)));
  }
  return cx.output(TRY(binary(cx, ElementWiseKind::kPow, base, TRY(cast(cx, exponent, type)))));
}

Status where(ImportContext& cx) {
  return cx.output(TRY(select(cx, TRY(cx.input(0)), TRY(cx.input(1)), TRY(cx.input(2)))));
}

}  // namespace kiln::onnx::importers
