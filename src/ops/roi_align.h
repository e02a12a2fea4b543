/// Regions of an image, resampled to one size.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// The way in which the samples of a bin become one number.
enum class RoiMode : int32_t {
  kAverage,
  kMax  ///< the greatest product of a pixel and its weight, as ONNX has it
};
inline std::span<const std::string_view> enum_names(RoiMode) {
  static constexpr std::array<std::string_view, 2> kNames = {"average", "max"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// The greatest `sampling_ratio` and the most bins along an axis: all samples of a region then are counted in 64 bits
/// and those of a bin in 32, and a damaged plan does not run for hours.
constexpr int64_t kMostRoiSamples = 1024, kMostRoiBins = 16'384;

/// y[r, c, i, j] is made of samples of x[batch_indices[r], c], interpolated linearly, in bin i, j of region r.
///   in   x              float [N, C, H, W]
///        rois           float [R, 4]: x1, y1, x2, y2, times `spatial_scale` in pixels
///        batch_indices  i32 or i64 [R], in [0, N)
///   out  y              x's type [R, C, height, width]
struct RoiAlign {
  static constexpr std::string_view name = "RoiAlign";
  static constexpr int min_inputs = 3, max_inputs = 3;
  RoiMode mode = RoiMode::kAverage;
  int height = 1, width = 1;  ///< bins, at most kMostRoiBins
  int sampling_ratio = 0;  ///< samples of a bin along each axis, at most kMostRoiSamples; 0: as many as it has pixels
  double spatial_scale = 1;
  bool half_pixel = true;  ///< pixel centres are at halves; else regions are a pixel large at least
  static void reflect(auto& self, auto f) {
    f("mode", self.mode);
    f("height", self.height);
    f("width", self.width);
    f("sampling_ratio", self.sampling_ratio);
    f("spatial_scale", self.spatial_scale);
    f("half_pixel", self.half_pixel);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
