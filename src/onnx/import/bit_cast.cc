/// BitCast. Types that Kiln has are views of one another. Integers of 16 bits are numbers of a wider type here, so that
/// arithmetic takes halves apart and puts them together.
#include "ops/bit_cast.h"

#include "onnx/dtypes.h"
#include "onnx/import/carried_types.h"
#include "onnx/import/importers.h"
#include "ops/cast.h"

namespace kiln::onnx::importers {
namespace {

using enum ElementWiseKind;

Result<ValueId> viewed(ImportContext& cx, ValueId x, DType to) {
  return cx.dtype(x) == to ? Result<ValueId>(x) : cx.add(ops::BitCast{to}, {x});
}

// FP16 has 10 bits of mantissa, FP32 has 23, and their exponents are 15 and 127 more than what they stand for.
constexpr int64_t kSign = 1 << 15, kHalfInfinity = 31 << 10, kFirstNormalHalf = 1 << 10;
constexpr int64_t kOfMantissa = 1 << 13;  ///< an FP32's bits for each of an FP16's
constexpr int64_t kBias = 112 << 10, kBiasOfInfinity = 224 << 10;
constexpr int64_t kFloatInfinity = (kHalfInfinity + kBiasOfInfinity) * kOfMantissa,
                  kFirstNormal = (kFirstNormalHalf + kBias) * kOfMantissa;

/// The bits of an FP16 as the number of an INT16, in i32.
Result<ValueId> bits_of_half(ImportContext& cx, ValueId half) {
  const ValueId x = TRY(cast(cx, half, DType::kF32)), bits = TRY(viewed(cx, x, DType::kI32));
  const ValueId is_negative = TRY(binary(cx, kLess, bits, 0));
  const ValueId size = TRY(select(cx, is_negative, TRY(binary(cx, kSub, bits, -0x1p31)), bits));
  const ValueId is_finite = TRY(binary(cx, kLess, size, static_cast<double>(kFloatInfinity)));
  const ValueId bias = TRY(select(cx, is_finite, scalar_like(cx, kBias, size), scalar_like(cx, kBiasOfInfinity, size)));
  const ValueId normal = TRY(binary(cx, kSub, TRY(binary(cx, kFloorDiv, size, kOfMantissa)), bias));
  // FP32s from 0.5 on lie 2^-24 apart, as subnormal halves do.
  const ValueId beside = TRY(binary(cx, kSum, TRY(unary(cx, UnaryKind::kAbs, x)), 0.5));
  const ValueId subnormal = TRY(binary(cx, kSub, TRY(viewed(cx, beside, DType::kI32)), 0x3f000000));
  const ValueId is_normal = TRY(binary(cx, kLess, size, static_cast<double>(kFirstNormal)));
  const ValueId y = TRY(select(cx, is_normal, subnormal, normal));
  return select(cx, is_negative, TRY(binary(cx, kSub, y, kSign)), y);
}

/// The FP16 whose bits are an INT16's, in i32.
Result<ValueId> half_of_bits(ImportContext& cx, ValueId bits) {
  const ValueId is_negative = TRY(binary(cx, kLess, bits, 0));
  const ValueId size = TRY(select(cx, is_negative, TRY(binary(cx, kSum, bits, kSign)), bits));
  const ValueId is_finite = TRY(binary(cx, kLess, size, kHalfInfinity));
  const ValueId bias = TRY(select(cx, is_finite, scalar_like(cx, kBias, size), scalar_like(cx, kBiasOfInfinity, size)));
  const ValueId wide = TRY(binary(cx, kProd, TRY(binary(cx, kSum, size, bias)), kOfMantissa));
  const ValueId normal = TRY(viewed(cx, wide, DType::kF32));
  const ValueId subnormal = TRY(binary(cx, kProd, TRY(cast(cx, size, DType::kF32)), 0x1p-24));
  const ValueId y = TRY(select(cx, TRY(binary(cx, kLess, size, kFirstNormalHalf)), subnormal, normal));
  return cast(cx, TRY(select(cx, is_negative, TRY(unary(cx, UnaryKind::kNeg, y)), y)), DType::kF16);
}

constexpr double kUpperHalf = 1 << 16;  ///< BF16s are the upper halves of FP32s

/// The bits of elements of 16 bits as numbers of INT16, in i32.
Result<ValueId> to_short(ImportContext& cx, ValueId x) {
  if (cx.dtype(x) == DType::kF16) return bits_of_half(cx, x);
  if (cx.dtype(x) != DType::kBF16) return wrapped(cx, x, ElementType::kInt16);
  return binary(cx, kFloorDiv, TRY(viewed(cx, TRY(cast(cx, x, DType::kF32)), DType::kI32)), kUpperHalf);
}

/// Elements of 16 bits whose type is another in Kiln than in ONNX, or becomes such.
Status short_bits(ImportContext& cx, ValueId x, ElementType to) {
  const ValueId bits = TRY(to_short(cx, x));
  if (to == ElementType::kFloat16) return cx.output(TRY(half_of_bits(cx, bits)));
  if (to != ElementType::kBfloat16) return cx.output(0, TRY(wrapped(cx, bits, to)), to);
  const ValueId wide = TRY(viewed(cx, TRY(binary(cx, kProd, bits, kUpperHalf)), DType::kF32));
  return cx.output(TRY(cast(cx, wide, DType::kBF16)));
}

/// Fails for types whose elements do not have their bits here, or share bytes.
Status check_type(ElementType type, int bits) {
  if (small_float(type))
    return error(Code::kUnsupported, "BitCast of ", type, ", whose numbers are floats of 32 bits here, is not in Kiln");
  if (bits < 8) return error(Code::kUnsupported, "BitCast of ", bits, "-bit elements is not in Kiln");
  return {};
}

}  // namespace

Status bit_cast(ImportContext& cx) {
  ValueId x = TRY(cx.input(0));
  const ElementType from = cx.carried(0);
  const auto to = static_cast<ElementType>(TRY(cx.node().need_int("to")));
  const std::optional<DType> carrier = carrier_of(to);
  const DType dtype = carrier ? *carrier : TRY(in_context(need_dtype(to), [] { return "to"; }));
  const int bits = from == ElementType::kUndefined ? bits_of(cx.dtype(x)) : bits_of(from);
  TRY(require(bits == bits_of(to), "to is ", to, ", which has ", bits_of(to), " bits; x has ", bits));
  TRY(check_type(from, bits));
  TRY(check_type(to, bits));
  if (bits == 16 && (carrier || from != ElementType::kUndefined)) return short_bits(cx, x, to);
  if (from == ElementType::kUint32) x = TRY(cast(cx, x, DType::kI32));
  if (to == ElementType::kUint32)
    return cx.output(0, TRY(wrapped(cx, TRY(cast(cx, TRY(viewed(cx, x, DType::kI32)), dtype)), to)), to);
  if (carrier) return cx.output(0, TRY(viewed(cx, x, dtype)), to);
  // A bool's byte is 0 or 1 in Kiln, and any but 0 is true.
  if (dtype == DType::kBool && cx.dtype(x) != dtype)
    return cx.output(TRY(cx.add(ops::Cast{dtype}, {TRY(viewed(cx, x, DType::kU8))})));
  return cx.output(TRY(viewed(cx, x, dtype)));
}

}  // namespace kiln::onnx::importers
