/// The condition of a conditional.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// Says which branch of the conditional `group` runs.
///   in   condition  bool, one element, from outside the branches
/// It has no output.
struct IfCondition {
  static constexpr std::string_view name = "IfCondition";
  int group = 0;
  static void reflect(auto& self, auto f) { f("group", self.group); }
  int num_outputs() const { return 0; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
