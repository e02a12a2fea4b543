/// Transposed convolution: the gradient of a convolution with respect to its input.
#pragma once

#include "ops/op.h"
#include "ops/padding_mode.h"

namespace kiln::ops {

/// Each x[n, c, p] times w[c, o, t] is added to y[n, g * O/groups + o, p * strides - pre_pads + t * dilations], where
/// that exists, with g the group of c; bias[o] is added to all of y[:, o].
///   in   x     float [N, C, spatial...], 1 to 3 spatial axes
///        w     x's type, [C, O/groups, kernel...]; the kernel's extents are constants
///        bias  x's type, [O]; optional
///   out  y     x's type, [N, O, spatial...]: (in - 1) * stride + dilation * (kernel - 1) + 1 - pre - post; kSame*:
///              pads of max(dilation * (kernel - 1) + 1 - stride, 0) in all, so that mostly in * stride is left
struct Deconvolution {
  static constexpr std::string_view name = "Deconvolution";
  static constexpr Trait traits = Trait::kContraction;
  static constexpr int min_inputs = 2, max_inputs = 3;
  std::vector<int64_t> kernel;  ///< w's spatial extents; empty: not stated
  std::vector<int64_t> strides, pre_pads;
  std::vector<int64_t> post_pads;  ///< negative ones lengthen y (ONNX's output_padding)
  std::vector<int64_t> dilations;
  int64_t groups = 1;  ///< C and O are multiples of it
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
