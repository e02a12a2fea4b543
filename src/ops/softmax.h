/// Softmax along one axis.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = exp(x - m) / sum(exp(x - m)) with m = max(x), both along `axis`. A row of -inf gives NaN, as IEEE has it.
///   in   x   float, rank >= 1
///   out  y   x's type and shape
struct Softmax {
  static constexpr std::string_view name = "Softmax";
  int axis = -1;  ///< of x; negative counts from the back
  static void reflect(auto& self, auto f) { f("axis", self.axis); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
