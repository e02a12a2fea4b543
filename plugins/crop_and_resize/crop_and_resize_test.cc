#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

Tensor expected(const Tensor& x, const Tensor& rois, int64_t height, int64_t width) {
  const int64_t channels = x.extents[1], h = x.extents[2], w = x.extents[3], boxes = rois.extents[1];
  Tensor y{{x.extents[0], boxes, channels, height, width}, {}};
  const auto place = [](double low, double high, int64_t i, int64_t count, int64_t extent) {
    const auto last = static_cast<double>(extent - 1);
    if (count == 1) return (low + high) / 2 * last;
    return low * last + static_cast<double>(i) * (high - low) * last / static_cast<double>(count - 1);
  };
  for (int64_t n = 0; n < x.extents[0]; ++n)
    for (int64_t b = 0; b < boxes; ++b)
      for (int64_t c = 0; c < channels; ++c) {
        const auto first = x.values.begin() + (n * channels + c) * h * w;
        const std::vector<double> plane(first, first + h * w);
        const double* const roi = &rois.values[static_cast<size_t>((n * boxes + b) * 4)];
        for (int64_t i = 0; i < height; ++i)
          for (int64_t j = 0; j < width; ++j) {
            const double row = place(roi[0], roi[2], i, height, h), column = place(roi[1], roi[3], j, width, w);
            const bool is_outside =
                row < 0 || row > static_cast<double>(h - 1) || column < 0 || column > static_cast<double>(w - 1);
            y.values.push_back(is_outside ? 0 : between_pixels_and_zeros(plane.data(), h, w, row, column));
          }
      }
  return y;
}

Attributes size(int32_t height, int32_t width) {
  return Attributes().set("crop_height", std::vector<int32_t>{height}).set("crop_width", std::vector<int32_t>{width});
}

TEST(CropAndResize, SamplesRegions) {
  const Tensor x = noise({2, 3, 5, 6}, 1);
  // The last region of each image reaches out of it.
  const Tensor rois{{2, 3, 4, 1}, {0,   0, 1,    1, 0.125,  0.25,   0.5,    0.875,  -0.5, -0.25, 0.5, 1.25,  //
                                   0.5, 0, 0.25, 1, 0.0625, 0.1875, 0.3125, 0.4375, 0.75, 0.75,  1.5, 2}};
  for (const auto& [name, version] : {std::pair{"CropAndResize", "1"}, std::pair{"CropAndResizeDynamic", "1"},
                                      std::pair{"CropAndResizeDynamic", "2"}})
    for (const auto& [height, width] : {std::pair{4, 3}, std::pair{1, 1}, std::pair{2, 7}})
      expect_outputs(name, version, size(height, width), {x, rois}, {expected(x, rois, height, width)}, 1e-4);
  expect_outputs("CropAndResizeDynamic", "2", size(4, 3), in_halves({x, rois}), {in_halves(expected(x, rois, 4, 3))},
                 kHalfTolerance);
}

TEST(CropAndResize, RefusesEmptyCrops) {
  EXPECT_NE(error_of("CropAndResize", "1", size(0, 3), {noise({1, 1, 2, 2}, 1), noise({1, 1, 4, 1}, 2)})
                .find("crop_height is 0"),
            std::string::npos);
}

/// A region for each image, and not for one alone.
TEST(CropAndResize, RefusesRegionsOfOtherImages) {
  const std::string error =
      error_of("CropAndResize", "1", size(1, 3), {noise({1, 4, 2, 6}, 1), noise({4, 4, 2, 2}, 2)});
  EXPECT_NE(error.find("axis 0 of input 1 has to be as long as axis 0 of input 0; it is 4, not 1"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace kiln::plugins::testing
