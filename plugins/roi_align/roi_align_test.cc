#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

struct Case {
  bool half_pixel = false;
  float scale = 1;
  bool takes_maximum = false;
  int32_t ratio = 2;
};

/// A plane between its pixels; a little outside it goes on as at its border, farther off it is 0. Of the maximum, the
/// greatest product of a pixel and its weight.
double sample(const std::vector<double>& plane, int64_t height, int64_t width, double y, double x, bool takes_maximum) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return 0;
  if (!takes_maximum) return between_pixels(plane.data(), height, width, y, x);
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  const double down = y - static_cast<double>(top), over = x - static_cast<double>(left);
  double greatest = -INFINITY;
  for (const int64_t i : {0, 1})
    for (const int64_t j : {0, 1}) {
      const int64_t pixel = std::min(top + i, height - 1) * width + std::min(left + j, width - 1);
      const double weight = (i == 0 ? 1 - down : down) * (j == 0 ? 1 - over : over);
      greatest = std::max(greatest, weight * plane[static_cast<size_t>(pixel)]);
    }
  return greatest;
}

constexpr int64_t kHeight = 2, kWidth = 3;

/// A bin's one number, of samples at `rows` x `columns` places.
double bin(const std::vector<double>& plane, int64_t h, int64_t w, const std::vector<double>& rows,
           const std::vector<double>& columns, bool takes_maximum) {
  double total = 0, greatest = -INFINITY;
  for (const double y : rows)
    for (const double x : columns) {
      const double one = sample(plane, h, w, y, x, takes_maximum);
      total += one;
      greatest = std::max(greatest, one);
    }
  return takes_maximum ? greatest : total / static_cast<double>(rows.size() * columns.size());
}

/// The places of bin `index`'s samples, of `bins` from `start` over `length`.
std::vector<double> places(double start, double length, int64_t index, int64_t bins, int32_t ratio) {
  const double size = length / static_cast<double>(bins);
  const auto count = ratio > 0 ? static_cast<double>(ratio) : std::ceil(size);
  std::vector<double> all;
  for (double k = 0; k < count; ++k) all.push_back(start + size * (static_cast<double>(index) + (k + 0.5) / count));
  return all;
}

Tensor expected(const Tensor& x, const Tensor& rois, const Tensor& images, const Case& how) {
  const int64_t channels = x.extents[1], h = x.extents[2], w = x.extents[3];
  Tensor y{{rois.extents[0], channels, kHeight, kWidth}, {}};
  for (int64_t r = 0; r < rois.extents[0]; ++r)
    for (int64_t c = 0; c < channels; ++c) {
      const double* const roi = &rois.values[static_cast<size_t>(r * 4)];
      const double shift = how.half_pixel ? 0.5 : 0;
      const double x1 = roi[0] * how.scale - shift, y1 = roi[1] * how.scale - shift;
      double width = roi[2] * how.scale - shift - x1, height = roi[3] * how.scale - shift - y1;
      if (!how.half_pixel) width = std::max(width, 1.0), height = std::max(height, 1.0);
      const auto image = static_cast<int64_t>(images.values[static_cast<size_t>(r)]);
      const auto first = x.values.begin() + (image * channels + c) * h * w;
      const std::vector<double> plane(first, first + h * w);
      for (int64_t i = 0; i < kHeight; ++i)
        for (int64_t j = 0; j < kWidth; ++j)
          y.values.push_back(bin(plane, h, w, places(y1, height, i, kHeight, how.ratio),
                                 places(x1, width, j, kWidth, how.ratio), how.takes_maximum));
    }
  return y;
}

Attributes attributes(int32_t coordinates, float scale, const Case& how = {}) {
  return Attributes()
      .set("coordinate_transformation_mode", std::vector<int32_t>{coordinates})
      .set("mode", std::vector<int32_t>{how.takes_maximum ? 0 : 1})
      .set("output_height", std::vector<int32_t>{kHeight})
      .set("output_width", std::vector<int32_t>{kWidth})
      .set("sampling_ratio", std::vector<int32_t>{how.ratio})
      .set("spatial_scale", std::vector<float>{scale});
}

class RoiAlign : public ::testing::TestWithParam<const char*> {};

TEST_P(RoiAlign, TakesMeanOrMaximumOfSamples) {
  const Tensor x = noise({2, 3, 6, 5}, 1), images = ints({4}, {0, 1, 1, 0});
  Tensor rois{{4, 4}, {0, 0, 4, 5, 1, 2, 8, 9, -3, -2, 2, 1, 7, 7, 7.5, 7.25}};
  for (const Case& how :
       {Case{}, Case{.half_pixel = true}, Case{.scale = 0.5F}, Case{.half_pixel = true, .scale = 0.5F},
        Case{.takes_maximum = true}, Case{.half_pixel = true, .takes_maximum = true}, Case{.ratio = 0},
        Case{.half_pixel = true, .ratio = 0}, Case{.scale = 0.75F, .takes_maximum = true, .ratio = 0}})
    expect_outputs("ROIAlign_TRT", GetParam(), attributes(how.half_pixel ? 1 : 0, how.scale, how), {x, rois, images},
                   {expected(x, rois, images, how)}, 1e-5, kAllWays);
  expect_outputs("ROIAlign_TRT", GetParam(), attributes(1, 0.5F, {}), in_halves({x, rois, images}),
                 {in_halves(expected(x, rois, images, {.half_pixel = true, .scale = 0.5F}))}, kHalfTolerance);
}

TEST_P(RoiAlign, RefusesWhatItDoesNotHave) {
  const Tensor x = noise({1, 1, 4, 4}, 1), rois{{1, 4}, {0, 0, 1, 1}}, images = ints({1}, {0});
  EXPECT_NE(error_of("ROIAlign_TRT", GetParam(), attributes(2, 1), {x, rois, images})
                .find("coordinate_transformation_mode is 2"),
            std::string::npos);
  EXPECT_NE(error_of("ROIAlign_TRT", GetParam(), attributes(0, 0), {x, rois, images}).find("spatial_scale is 0"),
            std::string::npos);
  for (const int32_t ratio : {-1, 1025, 46341}) {
    const std::string told =
        error_of("ROIAlign_TRT", GetParam(), attributes(1, 1, {.ratio = ratio}), {x, rois, images});
    EXPECT_NE(told.find(str("sampling_ratio is ", ratio, "; 0 to 1024 are possible")), std::string::npos) << told;
  }
  const Attributes tall = Attributes().set("output_height", std::vector<int32_t>{16385});
  const std::string told = error_of("ROIAlign_TRT", GetParam(), tall, {x, rois, images});
  EXPECT_NE(told.find("output_height is 16385; 1 to 16384 are possible"), std::string::npos) << told;
}

INSTANTIATE_TEST_SUITE_P(Versions, RoiAlign, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
