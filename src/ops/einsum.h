/// Sums of products, as an equation says.
#pragma once

#include <string>

#include "ops/op.h"

namespace kiln {

/// An equation such as "bij,bjk->bik" for operands of known ranks: axes by letter, in order. Axes under an ellipsis are
/// digits, counted from the last, so that they align at the right.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;

  /// Without "->" the output has the ellipsis, then the letters that occur once, by the alphabet.
  static Result<EinsumEquation> parse(std::string_view text, std::span<const int> ranks);
};

}  // namespace kiln

namespace kiln::ops {

/// y is the product of all inputs, axes of one label being one, summed over the labels that the output lacks. A label
/// that stands twice in an input takes its diagonal.
///   in   x...  numbers of one type, at least one
///   out  y     their type
struct Einsum {
  static constexpr std::string_view name = "Einsum";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 1, max_inputs = -1;
  std::string equation;
  static void reflect(auto& self, auto f) { f("equation", self.equation); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
