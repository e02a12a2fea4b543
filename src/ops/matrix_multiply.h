/// Products of matrices, of vectors and of batches of them.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// How an operand is read; nvinfer1::MatrixOperation.
enum class MatrixOp : int32_t {
  kNone,       ///< matrices in the last two axes
  kTranspose,  ///< the same, transposed
  kVector      ///< vectors in the last axis: a row on the left, a column on the right
};
inline std::span<const std::string_view> enum_names(MatrixOp) {
  static constexpr std::string_view kNames[] = {"none", "transpose", "vector"};
  return kNames;
}

/// y[..., i, j] = sum over k of a[..., i, k] * b[..., k, j], operands read as `a` and `b` say.
///   in   a  float, i32 or i64 [batch..., M, K], transposed [batch..., K, M], or vectors [batch..., K]
///        b  a's type, [batch..., K, N], [batch..., N, K] or [batch..., K]
///   out  y  a's type, [batch..., M, N] without the axes that vectors lack
/// Batch axes are equally many; an extent of 1 is repeated. Integers wrap.
struct MatrixMultiply {
  static constexpr std::string_view name = "MatrixMultiply";
  static constexpr Trait traits = Trait::kContraction;
  static constexpr int min_inputs = 2, max_inputs = 2;
  MatrixOp a = MatrixOp::kNone, b = MatrixOp::kNone;
  static void reflect(auto& self, auto f) {
    f("a", self.a);
    f("b", self.b);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
