/// Products and convolutions of quantized operands, as ops between Dequantize and Quantize.
#include "onnx/import/importers.h"
#include "onnx/import/quantization.h"
#include "onnx/import/window.h"
#include "ops/convolution.h"

namespace kiln::onnx::importers {
namespace {

/// Fails where the zero points of q are known to be neither one, nor a vector along `axis` (-1: of none), nor of q's
/// rank.
Status check_zero_points(ImportContext& cx, ValueId q, ValueId zero, int axis) {
  const TensorType &type = cx.type(q), &zeros = cx.type(zero);
  const auto count = zeros.volume().constant();
  if (!count || count == 1) return {};
  if (axis < 0)
    return error(Code::kInvalidArgument, "the zero point of ", type, " is ", zeros, "; one number is needed");
  const auto wanted = type.shape[static_cast<size_t>(axis)].constant();
  const bool fits = zeros.rank() == 1 ? !wanted || *count == *wanted : zeros.rank() == type.rank();
  return require(fits, "the zero point of ", type, " is ", zeros, "; one number, or one for each of the ",
                 type.shape[static_cast<size_t>(axis)], " of axis ", axis, ", is needed");
}

/// Integers without a scale: a scale of 1 for each zero point, input `zero`.
Result<ValueId> without_zero_point(ImportContext& cx, ValueId q, size_t zero, int axis) {
  if (cx.has_input(zero)) TRY(check_zero_points(cx, q, TRY(cx.input(zero)), axis));
  Quantization by{ValueId::kNone, TRY(zero_points(cx, zero, cx.dtype(q))), axis, {}};
  by.scale = scalar_of(cx, 1, DType::kF32);
  if (by.zero != ValueId::kNone && cx.rank(by.zero) > 0)
    by.scale = TRY(expand(cx, by.scale, Shape(cx.type(by.zero).shape)));
  return dequantize(cx, q, by);
}

/// Sums of integers. FP32 has them exactly up to 2^24; a kernel that adds products along another way rounds to them.
Result<ValueId> as_integers(ImportContext& cx, ValueId sums) {
  return cast(cx, TRY(unary(cx, UnaryKind::kRound, sums)), DType::kI32);
}

Result<ValueId> convolve(ImportContext& cx, ValueId x, Values operands) {
  WindowAttributes w = TRY(window_attributes(cx, TRY(spatial_axes(cx, x))));
  const int64_t groups = TRY(cx.node().get_int("group", 1));
  return cx.add(ops::Convolution{std::move(w.kernel), std::move(w.strides), std::move(w.pre_pads),
                                 std::move(w.post_pads), std::move(w.dilations), groups, w.padding},
                operands);
}

int row_axis(ImportContext& cx, ValueId matrix) { return cx.rank(matrix) - 2; }
int column_axis(ImportContext& cx, ValueId matrix) { return cx.rank(matrix) - 1; }

}  // namespace

Status mat_mul_integer(ImportContext& cx) {
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  const ValueId left = TRY(without_zero_point(cx, a, 2, row_axis(cx, a)));
  const ValueId right = TRY(without_zero_point(cx, b, 3, column_axis(cx, b)));
  return cx.output(TRY(as_integers(cx, TRY(matrix_multiply(cx, left, right)))));
}

Status conv_integer(ImportContext& cx) {
  const ValueId x = TRY(without_zero_point(cx, TRY(cx.input(0)), 2, -1));
  const ValueId w = TRY(without_zero_point(cx, TRY(cx.input(1)), 3, 0));
  return cx.output(TRY(as_integers(cx, TRY(convolve(cx, x, {x, w})))));
}

Status qlinear_mat_mul(ImportContext& cx) {
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(3));
  const DType to = cx.dtype(TRY(cx.input(7)));
  const ValueId left = TRY(dequantize(cx, a, TRY(quantization(cx, 1, cx.dtype(a), row_axis(cx, a)))));
  const ValueId right = TRY(dequantize(cx, b, TRY(quantization(cx, 4, cx.dtype(b), column_axis(cx, b)))));
  const ValueId y = TRY(matrix_multiply(cx, left, right));
  return cx.output(TRY(quantize(cx, y, TRY(quantization(cx, 6, to, row_axis(cx, y))), to)));
}

/// Imports QLinearConv. Its bias is of steps of x's scale times w's.
Status qlinear_conv(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), w = TRY(cx.input(3));
  const DType to = cx.dtype(TRY(cx.input(7)));
  const Quantization of_x = TRY(quantization(cx, 1, cx.dtype(x))), of_w = TRY(quantization(cx, 4, cx.dtype(w), 0));
  Values operands{TRY(dequantize(cx, x, of_x)), TRY(dequantize(cx, w, of_w))};
  if (cx.has_input(8)) {
    const ValueId scale = TRY(binary(cx, ElementWiseKind::kProd, of_x.scale, of_w.scale));
    operands.push_back(TRY(dequantize(cx, TRY(cx.input(8)), {scale, ValueId::kNone, 0, {}})));
  }
  const ValueId y = TRY(convolve(cx, operands[0], operands));
  return cx.output(TRY(quantize(cx, y, TRY(quantization(cx, 6, to)), to)));
}

}  // namespace kiln::onnx::importers
