/// A value that leaves an attention.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x: what the attention `group` has computed.
///   in   x   any type
///   out  y   x's type and values
struct AttentionOutput {
  static constexpr std::string_view name = "AttentionOutput";
  static constexpr Trait traits = Trait::kMovement | Trait::kDecomposed;
  int group = 0;
  static void reflect(auto& self, auto f) { f("group", self.group); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
