/// Convolution of images, as neural networks have it: a correlation, with bias.
#pragma once

#include "ops/op.h"
#include "ops/padding_mode.h"

namespace kiln::ops {

/// y[n, o, p] = bias[o] + sum over c, t of w[o, c, t] * x[n, g * C/groups + c, p * strides - pre_pads + t * dilations]
/// with g the group of o, and zeros outside x. p and t range over 1, 2 or 3 spatial axes.
///   in   x     float [N, C, spatial...]
///        w     x's type or, where x is a half, FP32, [O, C/groups, kernel...]; the kernel's extents are constants
///        bias  w's type, [O]; optional
///   out  y     x's type, [N, O, spatial...]; extents as ops/window.h has them
struct Convolution {
  static constexpr std::string_view name = "Convolution";
  static constexpr Trait traits = Trait::kContraction;
  static constexpr int min_inputs = 2, max_inputs = 3;
  std::vector<int64_t> kernel;  ///< w's spatial extents; empty: not stated
  std::vector<int64_t> strides, pre_pads, post_pads, dilations;
  int64_t groups = 1;  ///< C and O are multiples of it; C groups make it depthwise
  PaddingMode padding = PaddingMode::kExplicitRoundDown;
  static void reflect(auto& self, auto f) {
    f("kernel", self.kernel);
    f("strides", self.strides);
    f("pre_pads", self.pre_pads);
    f("post_pads", self.post_pads);
    f("dilations", self.dilations);
    f("groups", self.groups);
    f("padding", self.padding);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
