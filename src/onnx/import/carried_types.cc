#include "onnx/import/carried_types.h"

#include <cmath>
#include <limits>

#include "onnx/dtypes.h"
#include "ops/gather.h"

namespace kiln::onnx {
namespace {

constexpr double kTwoTo63 = 0x1p63;

/// The correctly rounded float of a UINT64: that of its half, in which the last bit says whether anything was lost.
Result<ValueId> float_of_unsigned(ImportContext& cx, ValueId bits, DType to) {
  const ValueId half = TRY(unsigned_half(cx, bits));
  const ValueId twice = TRY(binary(cx, ElementWiseKind::kProd, half, 2));
  const ValueId last = TRY(binary(cx, ElementWiseKind::kSub, bits, twice));
  const ValueId quarter = TRY(binary(cx, ElementWiseKind::kFloorDiv, half, 2));
  const ValueId is_odd =
      TRY(binary(cx, ElementWiseKind::kSub, half, TRY(binary(cx, ElementWiseKind::kProd, quarter, 2))));
  const ValueId is_lost = TRY(binary(cx, ElementWiseKind::kGreater, last, is_odd));
  const ValueId sticky = TRY(binary(cx, ElementWiseKind::kSum, half, TRY(cast(cx, is_lost, DType::kI64))));
  const ValueId large = TRY(binary(cx, ElementWiseKind::kProd, TRY(cast(cx, sticky, to)), 2));
  const ValueId is_large = TRY(binary(cx, ElementWiseKind::kLess, bits, 0));
  return select(cx, is_large, large, TRY(cast(cx, bits, to)));
}

/// Floats truncated to UINT64.
Result<ValueId> unsigned_of_float(ImportContext& cx, ValueId x) {
  const ValueId is_small = TRY(binary(cx, ElementWiseKind::kLess, x, kTwoTo63));
  const ValueId rest = TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kSub, x, kTwoTo63)), DType::kI64));
  return select(cx, is_small, TRY(cast(cx, x, DType::kI64)), TRY(with_signed_order(cx, rest)));
}

/// The greatest power of two, from 2^least to 2^most, that is not above x > 0; 2^least below that.
Result<ValueId> power_of_two_below(ImportContext& cx, ValueId x, int least, int most) {
  const ValueId logarithm =
      TRY(binary(cx, ElementWiseKind::kProd, TRY(unary(cx, UnaryKind::kLog, x)), 1 / std::log(2.0)));
  const ValueId whole = TRY(unary(cx, UnaryKind::kFloor, logarithm));
  const ValueId within = TRY(cast(cx, TRY(activation(cx, ActivationKind::kClip, whole, least, most)), DType::kI32));
  std::vector<double> powers;
  for (int exponent = least; exponent <= most; ++exponent) powers.push_back(std::ldexp(1.0, exponent));
  const ValueId table = cx.add_constant(HostTensor::of(cx.dtype(x), {static_cast<int64_t>(powers.size())}, powers));
  const ValueId at = TRY(binary(cx, ElementWiseKind::kSub, within, least));
  ValueId power = TRY(cx.add(ops::Gather{}, {table, at}));
  // The logarithm is rounded: beside a power of two its floor may be the exponent of a neighbour.
  const ValueId is_above = TRY(binary(cx, ElementWiseKind::kGreater, power, x));
  power = TRY(select(cx, is_above, TRY(binary(cx, ElementWiseKind::kProd, power, 0.5)), power));
  const ValueId next = TRY(binary(cx, ElementWiseKind::kProd, power, 2));
  power = TRY(select(cx, TRY(binary(cx, ElementWiseKind::kGreater, next, x)), power, next));
  return binary(cx, ElementWiseKind::kMax, power, powers[0]);
}

}  // namespace

Result<ValueId> wrapped(ImportContext& cx, ValueId x, ElementType type) {
  const auto integer = small_integer(type);
  if (!integer || integer->bits == 64) return x;
  const double count = std::ldexp(1.0, integer->bits), below = integer->is_signed ? count / 2 : 0;
  const ValueId from_zero = below == 0 ? x : TRY(binary(cx, ElementWiseKind::kSum, x, below));
  const ValueId turns = TRY(binary(cx, ElementWiseKind::kFloorDiv, from_zero, count));
  const ValueId rest = TRY(binary(cx, ElementWiseKind::kSub, x, TRY(binary(cx, ElementWiseKind::kProd, turns, count))));
  return rest;
}

Result<ValueId> with_signed_order(ImportContext& cx, ValueId bits) {
  return binary(cx, ElementWiseKind::kSum, bits, -kTwoTo63);
}

Result<ValueId> unsigned_half(ImportContext& cx, ValueId bits) {
  const ValueId half = TRY(binary(cx, ElementWiseKind::kFloorDiv, bits, 2));
  return select(cx, TRY(binary(cx, ElementWiseKind::kLess, bits, 0)), TRY(with_signed_order(cx, half)), half);
}

Result<ValueId> unsigned_quotient(ImportContext& cx, ValueId a, ValueId b) {
  const ValueId ordered_b = TRY(with_signed_order(cx, b));
  const auto counts = [&](ValueId rest) -> Result<ValueId> {  // 1 where `rest`, unsigned, is not below b
    const ValueId is_below = TRY(binary(cx, ElementWiseKind::kLess, TRY(with_signed_order(cx, rest)), ordered_b));
    return cast(cx, TRY(unary(cx, UnaryKind::kNot, is_below)), DType::kI64);
  };
  // Signed division takes half of the number; the quotient is that times two, or one more.
  const ValueId halves = TRY(binary(cx, ElementWiseKind::kDiv, TRY(unsigned_half(cx, a)), b));
  const ValueId twice = TRY(binary(cx, ElementWiseKind::kProd, halves, 2));
  const ValueId rest = TRY(binary(cx, ElementWiseKind::kSub, a, TRY(binary(cx, ElementWiseKind::kProd, twice, b))));
  const ValueId quotient = TRY(binary(cx, ElementWiseKind::kSum, twice, TRY(counts(rest))));
  const ValueId is_large = TRY(binary(cx, ElementWiseKind::kLess, b, 0));  // beyond 2^63: it is in a once, or not
  return select(cx, is_large, TRY(counts(a)), quotient);
}

Result<ValueId> rounded(ImportContext& cx, ValueId x, const SmallFloat& type, bool saturate) {
  constexpr int kLargestExponent = 16;  // beyond every small float's
  if (cx.dtype(x) != DType::kF64) x = TRY(cast(cx, x, DType::kF32));
  const ValueId size = TRY(unary(cx, UnaryKind::kAbs, x));
  const ValueId power = TRY(power_of_two_below(cx, size, type.least_exponent, kLargestExponent));
  const ValueId step = TRY(binary(cx, ElementWiseKind::kProd, power, std::ldexp(1.0, -type.mantissa_bits)));
  const ValueId steps = TRY(unary(cx, UnaryKind::kRound, TRY(binary(cx, ElementWiseKind::kDiv, size, step))));
  ValueId y = TRY(binary(cx, ElementWiseKind::kProd, steps, step));
  if (saturate) {
    y = TRY(binary(cx, ElementWiseKind::kMin, y, type.largest));
  } else {
    const ValueId is_beyond = TRY(binary(cx, ElementWiseKind::kGreater, y, type.largest));
    y = TRY(select(cx, is_beyond, scalar_like(cx, type.has_infinity ? INFINITY : NAN, y), y));
  }
  const ValueId is_negative = TRY(binary(cx, ElementWiseKind::kLess, x, 0));
  return cast(cx, TRY(select(cx, is_negative, TRY(unary(cx, UnaryKind::kNeg, y)), y)), DType::kF32);
}

Result<ValueId> as_carried(ImportContext& cx, ValueId x, ElementType from, ElementType to, bool saturate) {
  if (const auto type = small_float(to)) {
    if (!is_float(cx.dtype(x))) x = TRY(from_carried(cx, x, from, DType::kF32));
    return rounded(cx, x, *type, saturate);
  }
  const DType carrier = *carrier_of(to);
  if (to == ElementType::kUint64 && is_float(cx.dtype(x))) {
    if (cx.dtype(x) != DType::kF64) x = TRY(cast(cx, x, DType::kF32));
    return unsigned_of_float(cx, x);
  }
  return wrapped(cx, TRY(cast(cx, x, carrier)), to);
}

Result<ValueId> from_carried(ImportContext& cx, ValueId x, ElementType from, DType to) {
  if (from != ElementType::kUint64 || !is_float(to)) return cast(cx, x, to);
  return cast(cx, TRY(float_of_unsigned(cx, x, to == DType::kF64 ? to : DType::kF32)), to);
}

}  // namespace kiln::onnx
