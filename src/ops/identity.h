/// The same tensor under another name.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = x.
///   in   x   any type
///   out  y   x's type and shape, and its values
struct Identity {
  static constexpr std::string_view name = "Identity";
  static constexpr Trait traits = Trait::kPointwise | Trait::kAlias;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
  Scalar scalar() const;
};

}  // namespace kiln::ops
