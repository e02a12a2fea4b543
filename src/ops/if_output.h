/// A value that leaves a conditional.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is the value of the branch of the conditional `group` that ran.
///   in   then   any type: the value of the branch for true
///        other  its type and rank: that of the branch for false
///   out  y      their type; the run decides an extent in which they differ
struct IfOutput {
  static constexpr std::string_view name = "IfOutput";
  static constexpr int min_inputs = 2, max_inputs = 2;
  int group = 0;
  static void reflect(auto& self, auto f) { f("group", self.group); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
