/// Maximum or average of a sliding window.
#pragma once

#include "ops/op.h"
#include "ops/padding_mode.h"

namespace kiln::ops {

/// nvinfer1::PoolingType.
enum class PoolingKind : int32_t { kMax, kAverage, kMaxAverageBlend };
inline std::span<const std::string_view> enum_names(PoolingKind) {
  static constexpr std::string_view kNames[] = {"max", "average", "max_average_blend"};
  return kNames;
}

/// y[n, c, p] = the maximum or the average over t of x[n, c, p * strides - pre_pads + t * dilations], or
/// (1 - blend) * maximum + blend * average. Only elements within x count, and a NaN among them gives NaN. The average
/// divides by their number or, if padding is not excluded, by the number of taps within the padded x. A window without
/// elements has the maximum -infinity (the least integer) and the average 0.
///   in   x   float, or for kMax an integer type of at most 32 bits, [N, C, spatial...], 1 to 3 spatial axes
///   out  y   x's type, [N, C, spatial...]; extents as ops/window.h has them
struct Pooling {
  static constexpr std::string_view name = "Pooling";
  static constexpr Trait traits = Trait::kReduction;
  PoolingKind kind = PoolingKind::kMax;
  std::vector<int64_t> window;  ///< an extent for each spatial axis
  std::vector<int64_t> strides, pre_pads, post_pads, dilations;
  double blend = 0;
  bool average_excludes_padding = true;
  PaddingMode padding = PaddingMode::kExplicitRoundDown;
  static void reflect(auto& self, auto f) {
    f("kind", self.kind);
    f("window", self.window);
    f("strides", self.strides);
    f("pre_pads", self.pre_pads);
    f("post_pads", self.post_pads);
    f("dilations", self.dilations);
    f("blend", self.blend);
    f("average_excludes_padding", self.average_excludes_padding);
    f("padding", self.padding);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
