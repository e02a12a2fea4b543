/// Indices as vectors that are on at one place.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y[..., c, ...] with class c along `axis` is values[1] where the index is c, else values[0].
///   in   indices  i32 or i64; negative ones count from the back, others outside [0, depth) are of no class
///        values   any type, [2]: off, on
///        depth    i32 or i64, one element, on the host: the number of classes
///   out  y        values' type; `depth` at `axis`
struct OneHot {
  static constexpr std::string_view name = "OneHot";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 3, max_inputs = 3;
  static constexpr uint32_t host_inputs = 1 << 2;
  int axis = -1;  ///< of y; negative counts from the back
  static void reflect(auto& self, auto f) { f("axis", self.axis); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
