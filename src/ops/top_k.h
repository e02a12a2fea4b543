/// The greatest or least elements along one axis, in their order.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// values are the k elements of each row along `axis` that come first in order, the first one first; values[i] is
/// x[..., indices[i], ...].
///   in   x        numbers, rank >= 1
///        k        i32 or i64, one element, on the host; optional, overrides the attribute
///   out  values   x's type; extent k along `axis`
///        indices  i32 or i64, values' shape
/// Where elements are equal, the one with the lower index comes first. 0 and -0 are equal; NaN is above every other
/// number. k above the axis is an error; what symbols leave open is assumed, checked at bind.
struct TopK {
  static constexpr std::string_view name = "TopK";
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  bool largest = true;  ///< false: the least elements
  int axis = -1;        ///< of x; negative counts from the back
  int64_t k = 1;
  DType indices = DType::kI32;
  static void reflect(auto& self, auto f) {
    f("largest", self.largest);
    f("axis", self.axis);
    f("k", self.k);
    f("indices", self.indices);
  }
  int num_outputs() const { return 2; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
