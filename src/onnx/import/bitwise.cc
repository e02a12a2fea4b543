/// BitShift, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor by arithmetic, and by a table of what two bytes have in
/// common: Kiln's ops, which are TensorRT's, have no bits.
#include <algorithm>
#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/carried_types.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {
namespace {

constexpr int kByte = 256;

/// The integers that both operands are, whether a type of Kiln's carries them or not.
struct Bits {
  SmallInteger type;
  DType computed;  ///< in which arithmetic has all their bits
};

Result<Bits> bits_of_operand(ImportContext& cx, size_t input) {
  const DType dtype = cx.dtype(TRY(cx.input(input)));
  if (const auto carried = small_integer(cx.carried(input))) return Bits{*carried, dtype};
  TRY(require(is_integer(dtype) && cx.carried(input) == ElementType::kUndefined, "'", cx.input_name(input), "' is ",
              cx.type(TRY(cx.input(input))), "; ", cx.def().op_type, " takes integers"));
  return Bits{{bits_of(dtype), dtype != DType::kU8}, dtype == DType::kI64 ? dtype : DType::kI32};
}

Result<Bits> bits_of_both(ImportContext& cx) {
  TRY(require(cx.carried(0) == cx.carried(1) && cx.dtype(TRY(cx.input(0))) == cx.dtype(TRY(cx.input(1))), "'",
              cx.input_name(0), "' and '", cx.input_name(1), "' have two types; ", cx.def().op_type, " needs one"));
  return bits_of_operand(cx, 0);
}

/// Gives what was computed, modulo 2^n, as the type of input 0.
Status output_bits(ImportContext& cx, ValueId y) {
  const ElementType carried = cx.carried(0);
  y = TRY(cast(cx, y, cx.dtype(TRY(cx.input(0)))));
  return cx.output(0, TRY(wrapped(cx, y, carried)), carried);
}

/// What two bytes have in common, at 256 a + b.
ValueId common_bits_table(ImportContext& cx) {
  HostTensor::Fresh fresh = *HostTensor::make(DType::kU8, {kByte * kByte});
  for (int at = 0; at < kByte * kByte; ++at)
    fresh.data[static_cast<size_t>(at)] = static_cast<std::byte>((at / kByte) & (at % kByte));
  return cx.add_constant(fresh.tensor);
}

/// Byte `i` of integers, from the back.
Result<ValueId> byte_of(ImportContext& cx, ValueId x, int i) {
  if (i > 0) x = TRY(binary(cx, ElementWiseKind::kFloorDiv, x, std::ldexp(1.0, 8 * i)));
  const ValueId rest = TRY(binary(cx, ElementWiseKind::kFloorDiv, x, kByte));
  return binary(cx, ElementWiseKind::kSub, x, TRY(binary(cx, ElementWiseKind::kProd, rest, kByte)));
}

/// The bits that are 1 in both.
Result<ValueId> common_bits(ImportContext& cx, ValueId a, ValueId b, int bits) {
  const DType type = cx.dtype(a);
  const ValueId table = common_bits_table(cx);
  ValueId y = ValueId::kNone;
  for (int i = 0; i < (bits + 7) / 8; ++i) {
    const ValueId high = TRY(binary(cx, ElementWiseKind::kProd, TRY(byte_of(cx, a, i)), kByte));
    const ValueId at = TRY(binary(cx, ElementWiseKind::kSum, high, TRY(byte_of(cx, b, i))));
    const ValueId common = TRY(cast(cx, TRY(cx.add(ops::Gather{}, {table, at})), type));
    const ValueId part = TRY(binary(cx, ElementWiseKind::kProd, common, std::ldexp(1.0, 8 * i)));
    y = y == ValueId::kNone ? part : TRY(binary(cx, ElementWiseKind::kSum, y, part));
  }
  return y;
}

/// a + b - `times` of the bits that are 1 in both: 1 gives those in either, 2 those in one of them.
Status sum_without_common(ImportContext& cx, double times) {
  const Bits bits = TRY(bits_of_both(cx));
  const ValueId a = TRY(cast(cx, cx.inputs()[0], bits.computed)), b = TRY(cast(cx, cx.inputs()[1], bits.computed));
  const ValueId common = TRY(binary(cx, ElementWiseKind::kProd, TRY(common_bits(cx, a, b, bits.type.bits)), times));
  return output_bits(cx, TRY(binary(cx, ElementWiseKind::kSub, TRY(binary(cx, ElementWiseKind::kSum, a, b)), common)));
}

Result<ValueId> power_of_two(ImportContext& cx, ValueId exponent) {
  return binary(cx, ElementWiseKind::kPow, scalar_like(cx, 2, exponent), exponent);
}

/// x / 2^by of unsigned integers, in i64; 0 where `by` is negative or has no such bit.
Result<ValueId> shifted_right(ImportContext& cx, ValueId x, ValueId by, int bits) {
  constexpr int kLongest = 62;  // 2^62 is the greatest power that i64 has
  const auto divided = [&](ValueId number, ValueId exponent) -> Result<ValueId> {
    const ValueId positive = TRY(binary(cx, ElementWiseKind::kMax, exponent, 0));
    const ValueId within = TRY(binary(cx, ElementWiseKind::kMin, positive, kLongest));
    return binary(cx, ElementWiseKind::kFloorDiv, number, TRY(power_of_two(cx, within)));
  };
  const ValueId is_all = TRY(binary(cx, ElementWiseKind::kOr, TRY(binary(cx, ElementWiseKind::kLess, by, 0)),
                                    TRY(binary(cx, ElementWiseKind::kGreater, by, bits - 1))));
  if (bits < 64) return select(cx, is_all, scalar_like(cx, 0, x), TRY(divided(x, by)));
  const ValueId less = TRY(binary(cx, ElementWiseKind::kSub, by, 1));
  const ValueId is_none = TRY(binary(cx, ElementWiseKind::kEqual, by, 0));
  const ValueId y = TRY(select(cx, is_none, x, TRY(divided(TRY(unsigned_half(cx, x)), less))));
  return select(cx, is_all, scalar_like(cx, 0, y), y);
}

/// Signed integers shifted right, rounded down; the sign alone, 0 or -1, where `by` is negative or has no such bit.
Result<ValueId> shifted_right_signed(ImportContext& cx, ValueId x, ValueId by, int bits) {
  const ValueId is_all = TRY(binary(cx, ElementWiseKind::kOr, TRY(binary(cx, ElementWiseKind::kLess, by, 0)),
                                    TRY(binary(cx, ElementWiseKind::kGreater, by, bits - 2))));
  const ValueId within = TRY(select(cx, is_all, scalar_like(cx, 0, by), by));
  const ValueId y = TRY(binary(cx, ElementWiseKind::kFloorDiv, x, TRY(power_of_two(cx, within))));
  const ValueId sign = TRY(binary(cx, ElementWiseKind::kMin, TRY(unary(cx, UnaryKind::kSign, x)), 0));
  return select(cx, is_all, sign, y);
}

}  // namespace

Status bit_shift(ImportContext& cx) {
  const std::string_view direction = TRY(cx.node().need_string("direction"));
  TRY(require(direction == "LEFT" || direction == "RIGHT", "direction is '", direction, "'; LEFT or RIGHT is needed"));
  const Bits bits = TRY(bits_of_both(cx));
  const ValueId x = TRY(cast(cx, cx.inputs()[0], DType::kI64)), by = TRY(cast(cx, cx.inputs()[1], DType::kI64));
  if (direction == "RIGHT") {
    const bool is_signed = bits.type.is_signed;
    return output_bits(cx, TRY((is_signed ? shifted_right_signed : shifted_right)(cx, x, by, bits.type.bits)));
  }
  return output_bits(cx, TRY(binary(cx, ElementWiseKind::kProd, x, TRY(power_of_two(cx, by)))));
}

Status bitwise_and(ImportContext& cx) {
  const Bits bits = TRY(bits_of_both(cx));
  const ValueId a = TRY(cast(cx, cx.inputs()[0], bits.computed)), b = TRY(cast(cx, cx.inputs()[1], bits.computed));
  return output_bits(cx, TRY(common_bits(cx, a, b, bits.type.bits)));
}
Status bitwise_or(ImportContext& cx) { return sum_without_common(cx, 1); }
Status bitwise_xor(ImportContext& cx) { return sum_without_common(cx, 2); }

/// -1 - x, modulo 2^n.
Status bitwise_not(ImportContext& cx) {
  const Bits bits = TRY(bits_of_operand(cx, 0));
  const ValueId x = TRY(cast(cx, cx.inputs()[0], bits.computed));
  return output_bits(cx, TRY(binary(cx, ElementWiseKind::kSub, scalar_like(cx, -1, x), x)));
}

}  // namespace kiln::onnx::importers
