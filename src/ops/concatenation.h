/// Tensors joined along an axis.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is its inputs one after the other along `axis`.
///   in   any number >= 1, of one type and rank >= 1; extents agree but for `axis`
///   out  y   their type
struct Concatenation {
  static constexpr std::string_view name = "Concatenation";
  static constexpr Trait traits = Trait::kMovement;
  static constexpr int min_inputs = 1, max_inputs = -1;
  int axis = 0;  ///< negative counts from the back
  static void reflect(auto& self, auto f) { f("axis", self.axis); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
