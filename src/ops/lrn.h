/// Local response normalization across channels.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = x / (k + alpha / window * s)^beta, s the sum of x^2 over `window` channels: (window - 1) / 2 before the
/// element's own, itself, and the rest behind it. Channels outside of x count as 0.
///   in   x   f32, f16, bf16 or f64, [N, C, ...]
///   out  y   x's type and shape
struct Lrn {
  static constexpr std::string_view name = "Lrn";
  static constexpr Trait traits = Trait::kDecomposed;
  int64_t window = 1;
  double alpha = 1e-4, beta = 0.75, k = 1;
  static void reflect(auto& self, auto f) {
    f("window", self.window);
    f("alpha", self.alpha);
    f("beta", self.beta);
    f("k", self.k);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
