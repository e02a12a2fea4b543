/// The same elements under other extents.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y has x's elements in x's row-major order.
///   in   x      any type
///        shape  i32 or i64 [rank of y], on the host; optional, overrides `dims`
///   out  y      x's type; an extent of -1 (one at most) is what the others leave; 0 copies x's extent of the same
///               axis if `zero_is_placeholder`
/// The number of elements must stay: what symbols leave open is assumed and checked at bind.
struct Reshape {
  static constexpr std::string_view name = "Reshape";
  static constexpr Trait traits = Trait::kMovement | Trait::kAlias;
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  std::vector<int64_t> dims;
  bool zero_is_placeholder = true;
  static void reflect(auto& self, auto f) {
    f("dims", self.dims);
    f("zero_is_placeholder", self.zero_is_placeholder);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops

namespace kiln {
/// The shape that x takes when it is reshaped to `dims` with -1 and 0 as Reshape has them, its assumptions made in
/// `cx`.
Result<Shape> reshaped(InferContext& cx, const TensorType& x, const SymbolicValues& dims, bool zero_is_placeholder);
/// The axis of `to` that each axis of `from` becomes where both cut the elements alike, else -1.
std::vector<int> reshape_axes(const Shape& from, const Shape& to);
}  // namespace kiln
