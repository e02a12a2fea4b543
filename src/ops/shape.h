/// A tensor's extents as a tensor.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y[i] is the extent of axis i of x.
///   in   x   any type
///   out  y   i64[rank of x], with symbolic values
struct Shape {
  static constexpr std::string_view name = "Shape";
  static constexpr Trait traits = Trait::kMovement;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
