#include "onnx/import/carried_quantization.h"

#include <cmath>

#include "onnx/import/carried_types.h"
#include "onnx/import/quantization.h"

namespace kiln::onnx {
namespace {

/// Scales or zero points that are one number, a vector along the node's axis or of blocks, with an element for each of
/// x's along that axis, or one for all of them.
Result<ValueId> spread(ImportContext& cx, ValueId numbers, ValueId x) {
  const int rank = cx.rank(x);
  const int64_t size = TRY(cx.node().get_int("block_size", 0));
  TRY(require(size >= 0, "block_size is ", size));
  if (sym::provably_equal(cx.type(numbers).volume(), 1))
    return reshape(cx, numbers, Shape(static_cast<size_t>(rank), sym::Expr(1)));
  const auto axis = static_cast<size_t>(TRY(cx.axis(TRY(cx.node().get_int("axis", 1)), rank)));
  if (size == 0) {
    TRY(require(cx.rank(numbers) == 1, "'", cx.input_name(1), "' is ", cx.type(numbers), "; one axis is needed"));
    Shape along(static_cast<size_t>(rank), sym::Expr(1));
    along[axis] = cx.extent(numbers, 0);
    return reshape(cx, numbers, along);
  }
  TRY(require(cx.rank(numbers) == rank, "'", cx.input_name(1), "' is ", cx.type(numbers), " and x ", cx.type(x),
              "; of blocks both have the same axes"));
  const ValueId apart = TRY(unsqueeze(cx, numbers, {static_cast<int64_t>(axis) + 1}));
  Shape repeated = cx.type(apart).shape, joined = cx.type(numbers).shape;
  repeated[axis + 1] = size;
  joined[axis] = joined[axis] * size;
  const ValueId all = TRY(reshape(cx, TRY(expand(cx, apart, repeated)), joined));
  const sym::Expr extent = cx.extent(x, static_cast<int>(axis));
  if (sym::provably_equal(extent, joined[axis])) return all;
  return slice(cx, all, {{0}, {extent}, {1}, {static_cast<int64_t>(axis)}});
}

/// Imports QuantizeLinear to a type that another carries: saturate(round(x / scale) + zero point), in FP32.
Status quantize_to_carried(ImportContext& cx, ElementType to) {
  const ValueId x = TRY(cast(cx, TRY(cx.input(0)), DType::kF32));
  const ValueId scale = TRY(spread(cx, TRY(cast(cx, TRY(scales(cx, 1)), DType::kF32)), x));
  ValueId y = TRY(binary(cx, ElementWiseKind::kDiv, x, scale));
  if (const auto type = small_float(to)) {
    const bool saturates = TRY(cx.node().get_int("saturate", 1)) != 0;
    return cx.output(0, TRY(rounded(cx, y, *type, saturates)), to);
  }
  const SmallInteger type = *small_integer(to);
  TRY(require(type.bits <= 16, "QuantizeLinear to ", to, " is not in ONNX"));
  y = TRY(unary(cx, UnaryKind::kRound, y));
  if (cx.has_input(2)) {
    const ValueId zero = TRY(spread(cx, TRY(cast(cx, TRY(cx.input(2)), DType::kF32)), x));
    y = TRY(binary(cx, ElementWiseKind::kSum, y, zero));
  }
  const double count = std::ldexp(1.0, type.bits), least = type.is_signed ? -count / 2 : 0;
  y = TRY(activation(cx, ActivationKind::kClip, y, least, least + count - 1));
  return cx.output(0, TRY(cast(cx, y, DType::kI32)), to);
}

/// Imports DequantizeLinear of FP8 that f32 carries, which has no zero points.
Status dequantize_floats(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  for (const std::string_view of_blocks : {"axis", "block_size"}) cx.node().pass_over(of_blocks);
  const auto given = static_cast<ElementType>(TRY(cx.node().get_int("output_dtype", 0)));
  const DType scale_type = cx.dtype(TRY(cx.input(1)));
  const DType to = given == ElementType::kUndefined ? scale_type : TRY(need_dtype(given));
  const ValueId scale = TRY(spread(cx, TRY(cast(cx, TRY(scales(cx, 1)), DType::kF32)), x));
  return cx.output(TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kProd, x, scale)), to)));
}

/// The type to quantize to where another carries it; kUndefined for a type of Kiln's.
Result<ElementType> carried_result(ImportContext& cx) {
  const auto given = static_cast<ElementType>(TRY(cx.node().get_int("output_dtype", 0)));
  if (given != ElementType::kUndefined) return carrier_of(given) ? given : ElementType::kUndefined;
  return cx.carried(2);
}

}  // namespace

Result<bool> import_carried_quantization(ImportContext& cx) {
  if (cx.def().op_type == "DequantizeLinear" && small_float(cx.carried(0))) {
    TRY(dequantize_floats(cx));
    return true;
  }
  if (cx.def().op_type != "QuantizeLinear") return false;
  const ElementType to = TRY(carried_result(cx));
  if (to == ElementType::kUndefined) return false;
  TRY(quantize_to_carried(cx, to));
  return true;
}

}  // namespace kiln::onnx
