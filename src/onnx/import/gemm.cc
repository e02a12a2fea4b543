#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status mat_mul(ImportContext& cx) { return cx.output(TRY(matrix_multiply(cx, TRY(cx.input(0)), TRY(cx.input(1))))); }

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
