/// Transpose, reshape, transpose: TensorRT's IShuffleLayer.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = transpose(reshape(transpose(x, first_perm), dims), second_perm).
///   in   x      any type
///        shape  i32 or i64 vector, on the host; optional, reshapes and overrides `dims`
///   out  y      x's type
struct Shuffle {
  static constexpr std::string_view name = "Shuffle";
  static constexpr Trait traits = Trait::kMovement | Trait::kDecomposed;
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  std::vector<int64_t> first_perm;  ///< empty: identity
  std::vector<int64_t> dims;        ///< as in Reshape
  bool reshape = false;             ///< whether `dims` counts: a reshape to rank 0 has empty dims too
  bool zero_is_placeholder = true;
  std::vector<int64_t> second_perm;  ///< empty: identity
  static void reflect(auto& self, auto f) {
    f("first_perm", self.first_perm);
    f("dims", self.dims);
    f("reshape", self.reshape);
    f("zero_is_placeholder", self.zero_is_placeholder);
    f("second_perm", self.second_perm);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
