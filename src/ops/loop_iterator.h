/// A slice of a tensor for each iteration of a loop.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is the slice of x along `axis` of the iteration's number in the loop `group`; in reverse, counted from the end.
///   in   x   any type, rank >= 1, from outside the loop
///   out  y   x's type without the axis
struct LoopIterator {
  static constexpr std::string_view name = "LoopIterator";
  int group = 0;
  int axis = 0;  ///< of x; negative counts from the back
  bool reverse = false;
  static void reflect(auto& self, auto f) { f("group", self.group), f("axis", self.axis), f("reverse", self.reverse); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
