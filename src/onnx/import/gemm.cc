#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

namespace {

/// numpy's matmul of integers, which wrap: MatrixMultiply has floats only, as TensorRT's does.
Result<ValueId> integer_product(ImportContext& cx, ValueId a, ValueId b) {
  const int rank_a = cx.rank(a), rank_b = cx.rank(b);
  TRY(require(rank_a > 0 && rank_b > 0 && cx.dtype(a) == cx.dtype(b), "a is ", cx.type(a), " and b is ", cx.type(b),
              "; matrices or vectors of one type are needed"));
  TRY(require_equal(cx, cx.extent(a, rank_a - 1), cx.extent(b, std::max(rank_b - 2, 0)), "columns of a and rows of b"));
  a = TRY(unsqueeze(cx, a, {rank_a}));  // [..., i, k, 1]
  if (rank_b == 1)
    b = TRY(unsqueeze(cx, b, {1}));  // [k, 1]
  else if (rank_a > 1)
    b = TRY(unsqueeze(cx, b, {rank_b - 2}));  // [..., 1, k, j]
  const int summed = std::max(cx.rank(a), cx.rank(b)) - 2;
  const ValueId y = TRY(reduce(cx, ReduceKind::kSum, TRY(binary(cx, ElementWiseKind::kProd, a, b)), {summed}, false));
  if (rank_b > 1) return y;
  Shape rest = cx.type(y).shape;  // without the column that b got
  rest.pop_back();
  return reshape(cx, y, rest);
}

}  // namespace

Status mat_mul(ImportContext& cx) {
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  return cx.output(is_float(cx.dtype(a)) ? TRY(matrix_multiply(cx, a, b)) : TRY(integer_product(cx, a, b)));
}

/// alpha * a * b + beta * c
Status gemm(ImportContext& cx) {
  using ops::MatrixOp;
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  const bool transpose_a = TRY(cx.node().get_int("transA", 0)) != 0;
  const bool transpose_b = TRY(cx.node().get_int("transB", 0)) != 0;
  const float alpha = TRY(cx.node().get_float("alpha", 1)), beta = TRY(cx.node().get_float("beta", 1));
  TRY(require(cx.rank(a) == 2 && cx.rank(b) == 2, "a is ", cx.type(a), " and b is ", cx.type(b),
              "; matrices are needed"));
  ValueId y = TRY(cx.add(ops::MatrixMultiply{transpose_a ? MatrixOp::kTranspose : MatrixOp::kNone,
                                             transpose_b ? MatrixOp::kTranspose : MatrixOp::kNone},
                         {a, b}));
  if (alpha != 1) y = TRY(binary(cx, ElementWiseKind::kProd, y, alpha));
  if (!cx.has_input(2) || beta == 0) return cx.output(y);
  ValueId c = TRY(cx.input(2));
  if (beta != 1) c = TRY(binary(cx, ElementWiseKind::kProd, c, beta));
  return cx.output(TRY(binary(cx, ElementWiseKind::kSum, y, c)));
}

}  // namespace kiln::onnx::importers
