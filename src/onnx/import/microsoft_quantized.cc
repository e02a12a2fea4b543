/// Operators of com.microsoft that ONNX Runtime's quantization tools write: an op between Dequantize and Quantize.
#include <algorithm>

#include "onnx/import/importers.h"
#include "onnx/import/lanes.h"
#include "onnx/import/pool.h"
#include "onnx/import/quantization.h"
#include "ops/concatenation.h"
#include "ops/softmax.h"

namespace kiln::onnx::importers::microsoft {
namespace {

/// The numbers of input `x`, whose scale and zero point are the two inputs behind it.
Result<ValueId> numbers(ImportContext& cx, size_t x) {
  const ValueId q = TRY(cx.input(x));
  return dequantize(cx, q, TRY(quantization(cx, x + 1, cx.dtype(q))));
}
/// Ends with y quantized by the scale that is input `scale` and the zero point behind it, to the type of input 0.
Status quantized_output(ImportContext& cx, ValueId y, size_t scale, DType to) {
  return cx.output(TRY(quantize(cx, y, TRY(quantization(cx, scale, to)), to)));
}
Status quantized_output(ImportContext& cx, ValueId y, size_t scale) {
  return quantized_output(cx, y, scale, cx.dtype(TRY(cx.input(0))));
}

Status binary_of(ImportContext& cx, ElementWiseKind kind) {
  return quantized_output(cx, TRY(binary(cx, kind, TRY(numbers(cx, 0)), TRY(numbers(cx, 3)))), 6);
}

Result<ValueId> with_bias(ImportContext& cx, ValueId y, size_t bias) {
  return cx.has_input(bias) ? binary(cx, ElementWiseKind::kSum, y, TRY(cx.input(bias))) : y;
}
int row_axis(ImportContext& cx, ValueId matrix) { return cx.rank(matrix) - 2; }
int column_axis(ImportContext& cx, ValueId matrix) { return cx.rank(matrix) - 1; }

/// A matrix of integers with its scales, input `scale`, and zero points, input `zero`, by column.
Result<ValueId> columns(ImportContext& cx, ValueId b, size_t scale, size_t zero) {
  const ValueId by = TRY(scales(cx, scale));
  return dequantize(cx, b, {by, TRY(zero_points(cx, zero, cx.dtype(b), by)), column_axis(cx, b), {}});
}

}  // namespace

Status qlinear_add(ImportContext& cx) { return binary_of(cx, ElementWiseKind::kSum); }
Status qlinear_mul(ImportContext& cx) { return binary_of(cx, ElementWiseKind::kProd); }

Status qlinear_sigmoid(ImportContext& cx) {
  return quantized_output(cx, TRY(activation(cx, ActivationKind::kSigmoid, TRY(numbers(cx, 0)))), 3);
}
Status qlinear_leaky_relu(ImportContext& cx) {
  const float alpha = TRY(cx.node().get_float("alpha", 0.01F));
  return quantized_output(cx, TRY(activation(cx, ActivationKind::kLeakyRelu, TRY(numbers(cx, 0)), double{alpha})), 3);
}
/// Imports QLinearSoftmax, whose attribute says which version of Softmax it stands for.
Status qlinear_softmax(ImportContext& cx) {
  const ValueId x = TRY(numbers(cx, 0));
  const Lanes lanes = TRY(lanes_of(cx, x, TRY(cx.node().need_int("opset"))));
  const ValueId y = TRY(cx.add(ops::Softmax{lanes.axis}, {lanes.x}));
  return quantized_output(cx, TRY(unflattened(cx, lanes, y, x)), 3);
}
Status qlinear_where(ImportContext& cx) {
  const ValueId chosen = TRY(select(cx, TRY(cx.input(0)), TRY(numbers(cx, 1)), TRY(numbers(cx, 4))));
  return quantized_output(cx, chosen, 7, cx.dtype(TRY(cx.input(1))));
}

Status qlinear_average_pool(ImportContext& cx) {
  const ValueId x = TRY(numbers(cx, 0));
  if (TRY(cx.node().get_int("channels_last", 0)) == 0) return quantized_output(cx, TRY(average_pool_of(cx, x)), 3);
  const int rank = cx.rank(x);
  TRY(require(rank >= 3, "x is ", cx.type(x), "; an image is needed"));
  Ints to_first{0, rank - 1}, to_last{0};
  for (int i = 1; i < rank - 1; ++i) to_first.push_back(i);
  for (int i = 2; i < rank; ++i) to_last.push_back(i);
  to_last.push_back(1);
  const ValueId y = TRY(average_pool_of(cx, TRY(transpose(cx, x, to_first))));
  return quantized_output(cx, TRY(transpose(cx, y, to_last)), 3);
}
Status qlinear_global_average_pool(ImportContext& cx) {
  const ValueId x = TRY(numbers(cx, 0));
  const bool channels_last = TRY(cx.node().get_int("channels_last", 0)) != 0;
  const int rank = cx.rank(x);
  TRY(require(rank >= 3, "x is ", cx.type(x), "; an image is needed"));
  const Ints axes = channels_last ? axes_between(1, rank - 1) : axes_between(2, rank);
  return quantized_output(cx, TRY(reduce(cx, ReduceKind::kAvg, x, axes, true)), 3);
}

/// Imports QLinearConcat: y's scale and zero point, then each tensor with its own.
Status qlinear_concat(ImportContext& cx) {
  TRY(require(cx.num_inputs() >= 5 && cx.num_inputs() % 3 == 2, "QLinearConcat has ", cx.num_inputs(),
              " inputs; two, and three for each tensor, are needed"));
  Values parts;
  for (size_t i = 2; i < cx.num_inputs(); i += 3) parts.push_back(TRY(numbers(cx, i)));
  const int axis = TRY(cx.axis(TRY(cx.node().need_int("axis")), cx.rank(parts[0])));
  return quantized_output(cx, TRY(cx.add(ops::Concatenation{axis}, parts)), 0, cx.dtype(TRY(cx.input(2))));
}

/// Imports QGemm: y is of floats where it has no scale. C is of steps of A's scale times B's and alpha.
Status qgemm(ImportContext& cx) {
  using ops::MatrixOp;
  const ValueId qa = TRY(cx.input(0)), qb = TRY(cx.input(3));
  const bool turned_a = TRY(cx.node().get_int("transA", 0)) != 0, turned_b = TRY(cx.node().get_int("transB", 0)) != 0;
  const float alpha = TRY(cx.node().get_float("alpha", 1));
  const Quantization of_a = TRY(quantization(cx, 1, cx.dtype(qa)));
  const Quantization of_b = TRY(quantization(cx, 4, cx.dtype(qb), turned_b ? 0 : 1));
  const ValueId a = TRY(dequantize(cx, qa, of_a)), b = TRY(dequantize(cx, qb, of_b));
  ValueId y = TRY(cx.add(ops::MatrixMultiply{turned_a ? MatrixOp::kTranspose : MatrixOp::kNone,
                                             turned_b ? MatrixOp::kTranspose : MatrixOp::kNone},
                         {a, b}));
  if (cx.has_input(6)) {
    const ValueId c = TRY(cx.input(6)), scale = TRY(binary(cx, ElementWiseKind::kProd, of_a.scale, of_b.scale));
    const Quantization of_c{scale, ValueId::kNone, cx.rank(c) - 1, {}};
    y = TRY(binary(cx, ElementWiseKind::kSum, y, TRY(dequantize(cx, c, of_c))));
  }
  if (alpha != 1) y = TRY(binary(cx, ElementWiseKind::kProd, y, double{alpha}));
  if (!cx.has_input(7)) return cx.output(y);
  return quantized_output(cx, y, 7);
}

Status mat_mul_integer_to_float(ImportContext& cx) {
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  const ValueId by = TRY(scales(cx, 2));
  const Quantization of_a{by, TRY(zero_points(cx, 4, cx.dtype(a), by)), row_axis(cx, a), {}};
  const ValueId left = TRY(dequantize(cx, a, of_a)), right = TRY(columns(cx, b, 3, 5));
  return cx.output(TRY(with_bias(cx, TRY(matrix_multiply(cx, left, right)), 6)));
}

Status dynamic_quantize_mat_mul(ImportContext& cx) {
  const ValueId b = TRY(columns(cx, TRY(cx.input(1)), 2, 3));
  const DynamicallyQuantized a = TRY(quantize_dynamically(cx, TRY(cx.input(0))));
  return cx.output(TRY(with_bias(cx, TRY(matrix_multiply(cx, TRY(dequantize(cx, a.q, a.by)), b)), 4)));
}

}  // namespace kiln::onnx::importers::microsoft
