#include <gtest/gtest.h>

#include <algorithm>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

/// A plane between its pixels; a little outside it goes on as at its border, farther off it is 0.
double sample(const std::vector<double>& plane, int64_t height, int64_t width, double y, double x) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return 0;
  return between_pixels(plane.data(), height, width, y, x);
}

constexpr int64_t kHeight = 2, kWidth = 3, kRatio = 2;

Tensor expected(const Tensor& x, const Tensor& rois, const Tensor& images, double scale, bool half_pixel) {
  const int64_t channels = x.extents[1], h = x.extents[2], w = x.extents[3];
  Tensor y{{rois.extents[0], channels, kHeight, kWidth}, {}};
  for (int64_t r = 0; r < rois.extents[0]; ++r)
    for (int64_t c = 0; c < channels; ++c) {
      const double* const roi = &rois.values[static_cast<size_t>(r * 4)];
      const double shift = half_pixel ? 0.5 : 0;
      const double x1 = roi[0] * scale - shift, y1 = roi[1] * scale - shift;
      double width = roi[2] * scale - shift - x1, height = roi[3] * scale - shift - y1;
      if (!half_pixel) width = std::max(width, 1.0), height = std::max(height, 1.0);
      const auto image = static_cast<int64_t>(images.values[static_cast<size_t>(r)]);
      const auto first = x.values.begin() + (image * channels + c) * h * w;
      const std::vector<double> plane(first, first + h * w);
      for (int64_t i = 0; i < kHeight; ++i)
        for (int64_t j = 0; j < kWidth; ++j) {
          double total = 0;
          for (int64_t a = 0; a < kRatio; ++a)
            for (int64_t b = 0; b < kRatio; ++b)
              total +=
                  sample(plane, h, w,
                         y1 + height / kHeight * (static_cast<double>(i) + (static_cast<double>(a) + 0.5) / kRatio),
                         x1 + width / kWidth * (static_cast<double>(j) + (static_cast<double>(b) + 0.5) / kRatio));
          y.values.push_back(total / (kRatio * kRatio));
        }
    }
  return y;
}

Attributes attributes(int32_t coordinates, float scale) {
  return Attributes()
      .set("coordinate_transformation_mode", std::vector<int32_t>{coordinates})
      .set("mode", std::vector<int32_t>{1})
      .set("output_height", std::vector<int32_t>{kHeight})
      .set("output_width", std::vector<int32_t>{kWidth})
      .set("sampling_ratio", std::vector<int32_t>{kRatio})
      .set("spatial_scale", std::vector<float>{scale});
}

class RoiAlign : public ::testing::TestWithParam<const char*> {};

TEST_P(RoiAlign, TakesTheMeanOfSamples) {
  const Tensor x = noise({2, 3, 6, 5}, 1), images = ints({4}, {0, 1, 1, 0});
  Tensor rois{{4, 4}, {0, 0, 4, 5, 1, 2, 8, 9, -3, -2, 2, 1, 7, 7, 7.5, 7.25}};
  rois.known_axes = 1;
  for (const int32_t coordinates : {0, 1})
    for (const float scale : {1.0F, 0.5F})
      expect_outputs("ROIAlign_TRT", GetParam(), attributes(coordinates, scale), {x, rois, images},
                     {expected(x, rois, images, scale, coordinates == 1)});
}

TEST_P(RoiAlign, RefusesWhatItDoesNotHave) {
  const Tensor x = noise({1, 1, 4, 4}, 1), rois{{1, 4}, {0, 0, 1, 1}}, images = ints({1}, {0});
  EXPECT_NE(error_of("ROIAlign_TRT", GetParam(), attributes(2, 1), {x, rois, images})
                .find("coordinate_transformation_mode is 2"),
            std::string::npos);
  EXPECT_NE(error_of("ROIAlign_TRT", GetParam(), attributes(0, 0), {x, rois, images}).find("spatial_scale 0"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, RoiAlign, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
