/// Choosing between two tensors element by element.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = condition ? then : else, all broadcast against each other.
///   in   condition  bool
///        then, else one type, any but the 4-bit ones, of condition's rank
///   out  y          the broadcast shape, the type of `then`; integers and bools give symbolic values
struct Select {
  static constexpr std::string_view name = "Select";
  static constexpr Trait traits = Trait::kPointwise;
  static constexpr int min_inputs = 3, max_inputs = 3;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
  Scalar scalar() const;
};

}  // namespace kiln::ops
