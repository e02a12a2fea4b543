/// Coordinates of the elements that are not zero.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y[a, i] is the coordinate along axis a of the i-th element of x that is not zero, in row-major order. NaN is not
/// zero.
///   in   x   bool, integer or float, any rank
///   out  y   indices[rank of x, n]; the run decides n, at most the number of x's elements
struct NonZero {
  static constexpr std::string_view name = "NonZero";
  DType indices = DType::kI64;  ///< i32 or i64
  static void reflect(auto& self, auto f) { f("indices", self.indices); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
