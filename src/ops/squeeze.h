/// Removal of axes of extent 1.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x without `axes`, whose extents are 1.
///   in   x     any type
///        axes  i32 or i64 vector of constants; optional, overrides the attribute
///   out  y     x's type. Without any axes, every axis whose extent is known to be 1 goes.
struct Squeeze {
  static constexpr std::string_view name = "Squeeze";
  static constexpr Trait traits = Trait::kMovement | Trait::kAlias;
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  std::vector<int64_t> axes;  ///< of x; negative ones count from the back
  static void reflect(auto& self, auto f) { f("axes", self.axes); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
