/// An image sampled at given positions.
#pragma once

#include "ops/op.h"
#include "ops/resize.h"
#include "ops/slice.h"

namespace kiln::ops {

/// y[n, c, i] is x[n, c] at position grid[n, i], whose coordinates are those of the last axis first; -1 and 1 are the
/// ends of an axis. Cubic weights have a coefficient of -0.75, and with kClamp each of their pixels is the nearest one
/// inside, as PyTorch and ONNX Runtime have it; ONNX's own reference clamps the position instead. A weight of 0 adds
/// nothing, whatever it weighs.
///   in   x     float [N, C, H, W] or [N, C, D, H, W]
///        grid  float [N, positions ..., 2 or 3], of x's rank
///   out  y     x's type [N, C, positions ...]
struct GridSample {
  static constexpr std::string_view name = "GridSample";
  static constexpr int min_inputs = 2, max_inputs = 2;
  ResizeMode mode = ResizeMode::kLinear;
  SliceMode outside = SliceMode::kFill;  ///< kFill: zeros, kClamp: the nearest pixel, kReflect
  bool align_corners = false;            ///< -1 and 1 are the centres of the outer pixels, not their edges
  static void reflect(auto& self, auto f) {
    f("mode", self.mode);
    f("outside", self.outside);
    f("align_corners", self.align_corners);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
