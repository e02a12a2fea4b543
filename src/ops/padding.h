/// Zeros around, or edges cut off, the last axes.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x with pre[i] zeros before and post[i] after it along the i-th of the last pre.size() axes; negative numbers
/// cut elements off. TensorRT's IPaddingLayer has two.
///   in   x   any type
///   out  y   x's type
struct Padding {
  static constexpr std::string_view name = "Padding";
  static constexpr Trait traits = Trait::kMovement | Trait::kDecomposed;
  std::vector<int64_t> pre, post;
  static void reflect(auto& self, auto f) {
    f("pre", self.pre);
    f("post", self.post);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
