#include <algorithm>

#include "onnx/dtypes.h"
#include "onnx/import/carried_types.h"
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

/// The type of both operands where another carries it; fails where they differ, or are no integers.
Result<ElementType> type_of_both(ImportContext& cx) {
  TRY(require(cx.carried(0) == cx.carried(1), "'", cx.input_name(0), "' and '", cx.input_name(1), "' have two types"));
  TRY(require(!small_float(cx.carried(0)), "'", cx.input_name(0), "' is ", cx.carried(0), "; ", cx.def().op_type,
              " of such elements is not in Kiln"));
  return cx.carried(0);
}

/// a / b, of integers rounded towards zero or down as `kind` has it.
Result<ValueId> quotient(ImportContext& cx, ElementWiseKind kind, ValueId a, ValueId b, ElementType type) {
  return type == ElementType::kUint64 ? unsigned_quotient(cx, a, b) : binary(cx, kind, a, b);
}

/// a >= b, or a <= b. For floats it is not the negation of a < b, since every comparison with NaN is false.
Status or_equal(ImportContext& cx, ElementWiseKind strict, ElementWiseKind opposite) {
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  if (!is_float(cx.dtype(a))) return cx.output(TRY(unary(cx, UnaryKind::kNot, TRY(binary(cx, opposite, a, b)))));
  const ValueId beyond = TRY(binary(cx, strict, a, b)), same = TRY(binary(cx, ElementWiseKind::kEqual, a, b));
  return cx.output(TRY(binary(cx, ElementWiseKind::kOr, beyond, same)));
}

/// The remainder of a quotient that is rounded down, from the one that is rounded towards zero.
Result<ValueId> with_sign_of_divisor(ImportContext& cx, ValueId rest, ValueId b) {
  const auto is_negative = [&](ValueId x) { return binary(cx, ElementWiseKind::kLess, x, 0); };
  const ValueId is_zero = TRY(binary(cx, ElementWiseKind::kEqual, rest, 0));
  const ValueId differ = TRY(binary(cx, ElementWiseKind::kXor, TRY(is_negative(rest)), TRY(is_negative(b))));
  const ValueId moves = TRY(binary(cx, ElementWiseKind::kAnd, differ, TRY(unary(cx, UnaryKind::kNot, is_zero))));
  return select(cx, moves, TRY(binary(cx, ElementWiseKind::kSum, rest, b)), rest);
}

}  // namespace

Status add(ImportContext& cx) { return simple(cx, ElementWiseKind::kSum); }
Status sub(ImportContext& cx) { return simple(cx, ElementWiseKind::kSub); }
Status mul(ImportContext& cx) { return simple(cx, ElementWiseKind::kProd); }
Status div(ImportContext& cx) {
  const ElementType type = TRY(type_of_both(cx));
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  return cx.output(0, TRY(wrapped(cx, TRY(quotient(cx, ElementWiseKind::kDiv, a, b, type)), type)), type);
}
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
  const ElementType type = TRY(type_of_both(cx));
  if (is_float(cx.dtype(a))) {
    TRY(require(fmod || cx.opset() >= 28, "a is ", cx.type(a), "; for floating types fmod must be 1"));
    const ValueId rest = TRY(binary(cx, ElementWiseKind::kMod, a, b));
    return cx.output(fmod ? rest : TRY(with_sign_of_divisor(cx, rest, b)));
  }
  const ValueId times = TRY(quotient(cx, fmod ? ElementWiseKind::kDiv : ElementWiseKind::kFloorDiv, a, b, type));
  const ValueId whole = TRY(binary(cx, ElementWiseKind::kProd, times, b));
  return cx.output(0, TRY(binary(cx, ElementWiseKind::kSub, a, whole)), type);
}

/// The exponent may have another type; the result has the base's.
Status pow(ImportContext& cx) {
  const ElementType of_base = cx.carried(0), of_exponent = cx.carried(1);
  TRY(require(!small_float(of_base) && !small_float(of_exponent), "Pow of FP8 is not in Kiln"));
  const ValueId base = TRY(cx.input(0));
  const DType type = cx.dtype(base);
  ValueId exponent = TRY(cx.input(1)), y = ValueId::kNone;
  if (is_float(cx.dtype(exponent)) && !is_float(type)) {
    // In double, so that what is whole stays whole.
    const ValueId wide = TRY(from_carried(cx, base, of_base, DType::kF64)),
                  power = TRY(cast(cx, exponent, DType::kF64));
    y = TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kPow, wide, power)), type));
  } else {
    y = TRY(binary(cx, ElementWiseKind::kPow, base, TRY(from_carried(cx, exponent, of_exponent, type))));
  }
  return cx.output(0, TRY(wrapped(cx, y, of_base)), of_base);
}

Status where(ImportContext& cx) {
  return cx.output(TRY(select(cx, TRY(cx.input(0)), TRY(cx.input(1)), TRY(cx.input(2)))));
}

}  // namespace kiln::onnx::importers
