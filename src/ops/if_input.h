/// A value that enters the branches of a conditional.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x. What is computed from y belongs to the branches of the conditional `group`, and runs only with its branch.
///   in   x   any type
///   out  y   x's type and values
struct IfInput {
  static constexpr std::string_view name = "IfInput";
  int group = 0;
  static void reflect(auto& self, auto f) { f("group", self.group); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
