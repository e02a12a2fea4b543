/// Elements, or slices, without those that are there already.
#pragma once

#include <optional>

#include "ops/op.h"

namespace kiln::ops {

/// The different elements of x; with `axis`, its different slices along that axis, compared element by element. NaN is
/// equal to NaN here, and above all other numbers.
///   in   x        numbers or bool; rank >= 1 with `axis`
///   out  y        x's type: [n], or x's shape with n along `axis`; the run decides n
///        first    i64[n]: where each of them stands in x for the first time
///        inverse  i64[elements of x, or its extent along `axis`]: which of y each of x is
///        counts   i64[n]: how often each of them is there
struct Unique {
  static constexpr std::string_view name = "Unique";
  std::optional<int> axis;  ///< negative counts from the back; none: of all elements
  bool sorted = true;       ///< ascending; false: in the order in which they appear
  static void reflect(auto& self, auto f) { f("axis", self.axis), f("sorted", self.sorted); }
  int num_outputs() const { return 4; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
