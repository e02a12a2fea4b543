/// Broadcast to a shape.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x repeated along axes where x's extent is 1 and the shape's is not, aligned at the right as numpy does. An
/// extent of 1 in the shape keeps x's.
///   in   x      any type
///        shape  i32 or i64 vector, on the host; optional, overrides `dims`
///   out  y      x's type
struct Expand {
  static constexpr std::string_view name = "Expand";
  static constexpr Trait traits = Trait::kMovement;
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  std::vector<int64_t> dims;
  static void reflect(auto& self, auto f) { f("dims", self.dims); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
