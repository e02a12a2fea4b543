/// Conversion between element types.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = x as `to`. To a float: the nearest value, ties to even. From a float to an integer: truncates towards zero and
/// saturates, NaN is 0. Between integers: wraps. To bool: x != 0.
///   in   x   any type
///   out  y   x's shape; i32, i64 and bool keep symbolic values
struct Cast {
  static constexpr std::string_view name = "Cast";
  static constexpr Trait traits = Trait::kPointwise;
  DType to = DType::kF32;
  static void reflect(auto& self, auto f) { f("to", self.to); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
  Scalar scalar() const;
};

}  // namespace kiln::ops
