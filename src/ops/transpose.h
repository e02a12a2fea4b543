/// A permutation of axes.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// Axis i of y is axis perm[i] of x.
///   in   x   any type
///   out  y   x's type, extents permuted
struct Transpose {
  static constexpr std::string_view name = "Transpose";
  static constexpr Trait traits = Trait::kMovement;
  std::vector<int64_t> perm;  ///< every axis of x once, counted from the front
  static void reflect(auto& self, auto f) { f("perm", self.perm); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops

namespace kiln {
/// Fails unless `perm` has each of 0 ... rank - 1 once.
Status require_permutation(std::span<const int64_t> perm, int rank);
/// The permutation that makes axis `axis` the first one, and that which brings the first one there; the others stay in
/// their order.
std::vector<int64_t> axis_to_front(int rank, int axis);
std::vector<int64_t> front_to_axis(int rank, int axis);
/// For each element of the transposed tensor, in row-major order, the element of `from` that it is.
std::vector<int64_t> transpose_sources(std::span<const int64_t> from, std::span<const int64_t> perm);
}  // namespace kiln
