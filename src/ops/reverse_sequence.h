/// The first elements of sequences in reverse order.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x, but for sequence b the first lens[b] elements along `sequence_axis` are in reverse order.
///   in   x     any type, rank >= 2
///        lens  i32 or i64, one a sequence, each at most the sequence's extent
///   out  y     x's type and shape
struct ReverseSequence {
  static constexpr std::string_view name = "ReverseSequence";
  static constexpr Trait traits = Trait::kMovement | Trait::kDecomposed;
  static constexpr int min_inputs = 2, max_inputs = 2;
  int batch_axis = 1, sequence_axis = 0;  ///< of x; negative ones count from the back
  static void reflect(auto& self, auto f) {
    f("batch_axis", self.batch_axis);
    f("sequence_axis", self.sequence_axis);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
