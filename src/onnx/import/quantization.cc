#include "onnx/import/quantization.h"

#include <algorithm>

#include "ops/dequantize.h"
#include "ops/gather.h"
#include "ops/quantization.h"
#include "ops/quantize.h"
#include "tensor/view.h"

namespace kiln::onnx {

namespace {

/// Fails where zero points are known to be neither one nor one for each scale.
Status check_count(ImportContext& cx, ValueId zero, ValueId scale) {
  const TensorType &zeros = cx.type(zero), &scales = cx.type(scale);
  const auto count = zeros.volume().constant();
  if (!count || count == 1 || zeros.shape == scales.shape) return {};
  const auto wanted = scales.volume().constant();
  return require(!wanted, "zero point ", zeros, " and scale ", scales, " differ in shape");
}

}  // namespace

Result<ValueId> zero_points(ImportContext& cx, size_t input, DType type, ValueId scale) {
  if (!cx.has_input(input)) return ValueId::kNone;
  const ValueId zero = TRY(cx.input(input));
  TRY(require(cx.dtype(zero) == type, "the zero point is ", cx.type(zero), "; ", type, " is needed"));
  if (scale != ValueId::kNone) TRY(check_count(cx, zero, scale));
  if (const auto elements = cx.constant(zero, ""); elements) {
    const std::vector<double> numbers = View(*elements).numbers();
    if (std::ranges::all_of(numbers, [](double number) { return number == 0; })) return ValueId::kNone;
    TRY(require(is_integer(type), "a zero point of ", type, " is not zero"));
  }
  return is_integer(type) ? zero : ValueId::kNone;
}

Result<ValueId> scales(ImportContext& cx, size_t input) {
  const ValueId scale = TRY(cx.input(input));
  if (const auto elements = cx.constant(scale, ""); elements)
    TRY(in_context(check_scales(*elements), [&] { return str("'", cx.input_name(input), "'"); }));
  return scale;
}

Result<Quantization> quantization(ImportContext& cx, size_t scale, DType type, int axis) {
  const ValueId by = TRY(scales(cx, scale));
  return Quantization{by, TRY(zero_points(cx, scale + 1, type, by)), axis, {}};
}

namespace {

/// The axis of x whose last block is not full, as ONNX allows it; -1 if there is none.
int axis_of_last_block(ImportContext& cx, ValueId x, const Quantization& by) {
  for (size_t i = 0; i < by.block.size() && cx.rank(by.scale) == cx.rank(x); ++i) {
    const auto extent = cx.type(x).shape[i].constant(), scales = cx.type(by.scale).shape[i].constant();
    if (!extent || !scales || by.block[i] < 1 || *extent % by.block[i] == 0) continue;
    if (*scales == *extent / by.block[i] + 1) return static_cast<int>(i);
  }
  return -1;
}

/// Scales and zero points with an element for each of x along `axis`, where they had one for each block.
Status spread_blocks(ImportContext& cx, ValueId x, Quantization& by, int axis) {
  const ValueId places = TRY(indices_along(cx, cx.extent(x, axis), 0, 1));
  const int64_t size = by.block[static_cast<size_t>(axis)];
  const ValueId blocks = TRY(binary(cx, ElementWiseKind::kDiv, places, static_cast<double>(size)));
  const ops::Gather of_blocks{GatherMode::kDefault, axis, 0};
  if (by.zero != ValueId::kNone && cx.type(by.zero).shape == cx.type(by.scale).shape)
    by.zero = TRY(cx.add(of_blocks, {by.zero, blocks}));
  by.scale = TRY(cx.add(of_blocks, {by.scale, blocks}));
  by.block.clear();
  return {};
}

/// The op with its inputs; a zero point gets the shape of the scales.
template <class T>
Result<ValueId> apply(ImportContext& cx, ValueId x, Quantization by, DType to) {
  if (const int axis = axis_of_last_block(cx, x, by); axis >= 0) TRY(spread_blocks(cx, x, by, axis));
  const Shape shape = cx.type(by.scale).shape;
  const bool is_vector = shape.size() == 1 && cx.rank(x) > 1 && shape[0].constant() != 1;
  T op;
  op.to = to;
  op.axis = is_vector ? by.axis : -1;
  op.block = by.block;
  if (by.zero == ValueId::kNone) return cx.add(std::move(op), {x, by.scale});
  ValueId zero = by.zero;
  if (cx.type(zero).shape != shape && sym::provably_equal(cx.type(zero).volume(), 1))
    zero = TRY(expand(cx, TRY(reshape(cx, zero, Shape(shape.size(), 1))), shape));
  return cx.add(std::move(op), {x, by.scale, zero});
}
}  // namespace

Result<ValueId> dequantize(ImportContext& cx, ValueId q, const Quantization& by, DType to) {
  return apply<ops::Dequantize>(cx, q, by, to);
}
Result<ValueId> quantize(ImportContext& cx, ValueId x, const Quantization& by, DType to) {
  return apply<ops::Quantize>(cx, x, by, to);
}

Result<DynamicallyQuantized> quantize_dynamically(ImportContext& cx, ValueId x) {
  constexpr double kLevels = 255;
  TRY(require(cx.dtype(x) == DType::kF32, "x is ", cx.type(x), "; f32 is needed"));
  const auto limit = [&](ReduceKind kind, ElementWiseKind beyond_zero) -> Result<ValueId> {
    const ValueId most = cx.rank(x) == 0 ? x : TRY(reduce(cx, kind, x, axes_between(0, cx.rank(x)), false));
    return binary(cx, beyond_zero, most, 0);
  };
  const ValueId high = TRY(limit(ReduceKind::kMax, ElementWiseKind::kMax));
  const ValueId low = TRY(limit(ReduceKind::kMin, ElementWiseKind::kMin));
  const ValueId range = TRY(binary(cx, ElementWiseKind::kSub, high, low));
  const ValueId is_zero = TRY(binary(cx, ElementWiseKind::kEqual, range, 0));
  const ValueId step = TRY(binary(cx, ElementWiseKind::kDiv, range, kLevels));
  const ValueId scale = TRY(select(cx, is_zero, scalar_like(cx, 1, range), step));
  const ValueId zero = TRY(unary(cx, UnaryKind::kNeg, TRY(binary(cx, ElementWiseKind::kDiv, low, scale))));
  const ValueId within = TRY(activation(cx, ActivationKind::kClip, zero, 0, kLevels));
  const ValueId zero_point = TRY(cast(cx, TRY(unary(cx, UnaryKind::kRound, within)), DType::kU8));
  const Quantization by{scale, zero_point, -1, {}};
  return DynamicallyQuantized{TRY(quantize(cx, x, by, DType::kU8)), by};
}

}  // namespace kiln::onnx
