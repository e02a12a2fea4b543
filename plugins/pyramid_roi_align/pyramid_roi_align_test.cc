#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kChannels = 2;

/// Levels of an image of 64 x 128.
constexpr double kHeight = 64, kWidth = 128;

struct Case {
  int32_t transform = 2, ratio = 0, absolute = 1, swap = 0, plus_one = 0, pooled = 3, scale = 16;
  bool legacy = false;
  int32_t height = static_cast<int32_t>(kHeight), width = static_cast<int32_t>(kWidth);
};

std::vector<Tensor> pyramid(int64_t images) {
  std::vector<Tensor> levels;
  for (int i = 0; i < 4; ++i) levels.push_back(noise({images, kChannels, 16 >> i, 32 >> i}, 10 + i));
  return levels;
}

Attributes attributes(const Case& c) {
  Attributes all;
  if (c.legacy) return all.set("legacy", std::vector<int32_t>{1}).set("pooled_size", std::vector<int32_t>{c.pooled});
  return all.set("fpn_scale", std::vector<int32_t>{c.scale})
      .set("pooled_size", std::vector<int32_t>{c.pooled})
      .set("image_size", std::vector<int32_t>{c.height, c.width})
      .set("roi_coords_absolute", std::vector<int32_t>{c.absolute})
      .set("roi_coords_swap", std::vector<int32_t>{c.swap})
      .set("roi_coords_plusone", std::vector<int32_t>{c.plus_one})
      .set("roi_coords_transform", std::vector<int32_t>{c.transform})
      .set("sampling_ratio", std::vector<int32_t>{c.ratio});
}

/// One axis of a region on a level: where sample k of element i is.
struct Axis {
  double start, step;
  int samples;
  double offset;
  double at(int i, int k) const { return start + step * (i + (k + offset) / samples); }
};
Axis axis_of(const Case& c, double a, double b, int64_t extent) {
  const auto length = static_cast<double>(extent);
  if (c.transform == -1 || c.legacy) return {a * (length - 1), (b - a) * (length - 1) / (c.pooled - 1), 1, 0};
  const double shift = c.transform == 2 ? 0.5 : 0, step = (b - a) * length / c.pooled;
  const int samples = c.ratio > 0 ? c.ratio : std::max(1, static_cast<int>(std::ceil(step)));
  return {a * length - shift, step, samples, c.transform == 0 ? 0 : 0.5};
}

size_t level_of(const Case& c, double width, double height) {
  if (c.plus_one) width += 1 / kWidth, height += 1 / kHeight;
  double threshold = c.legacy ? 224.0 * 224 * 2 / (1024 * 1024) / 16 : c.scale * c.scale / (kHeight * kWidth) / 4;
  size_t level = 0;
  for (int i = 0; i < 3; ++i, threshold *= 4)
    if (width * height > threshold) ++level;
  return level;
}

Tensor expected(const Case& c, const Tensor& rois, const std::vector<Tensor>& levels) {
  const int64_t images = rois.extents[0], regions = rois.extents[1];
  const bool is_absolute = c.absolute && !c.legacy, is_swapped = c.swap || c.legacy;
  Tensor y{{images, regions, kChannels, c.pooled, c.pooled}, {}};
  std::array<int, 4> used{};
  for (int64_t n = 0; n < images; ++n)
    for (int64_t r = 0; r < regions; ++r) {
      const double* const roi = &rois.values[static_cast<size_t>((n * regions + r) * 4)];
      const size_t x = is_swapped ? 1 : 0;
      const auto part = [&](double value, double whole) {
        return is_absolute ? std::clamp(value, 0.0, whole) / whole : std::clamp(value, 0.0, 1.0);
      };
      const double left = part(std::min(roi[x], roi[x + 2]), kWidth),
                   right = part(std::max(roi[x], roi[x + 2]), kWidth);
      const double top = part(std::min(roi[1 - x], roi[3 - x]), kHeight),
                   bottom = part(std::max(roi[1 - x], roi[3 - x]), kHeight);
      const size_t which = level_of(c, right - left, bottom - top);
      ++used[which];
      const Tensor& level = levels[which];
      const int64_t h = level.extents[2], w = level.extents[3];
      const Axis down = axis_of(c, top, bottom, h), across = axis_of(c, left, right, w);
      for (int64_t channel = 0; channel < kChannels; ++channel)
        for (int i = 0; i < c.pooled; ++i)
          for (int j = 0; j < c.pooled; ++j) {
            const double* const plane = &level.values[static_cast<size_t>((n * kChannels + channel) * h * w)];
            double total = 0;
            for (int a = 0; a < down.samples; ++a)
              for (int b = 0; b < across.samples; ++b)
                total += between_pixels(plane, h, w, down.at(i, a), across.at(j, b));
            y.values.push_back(total / (down.samples * across.samples));
          }
    }
  for (const int count : used) EXPECT_GT(count, 0) << "a level is not tested";
  return y;
}

/// Regions of all levels, some of them beyond the image or with corners in disorder, one without extent.
Tensor regions(const Case& c, int64_t images) {
  constexpr int64_t kRegions = 14;
  const Tensor centre = noise({images, kRegions, 2}, 5), size = noise({images, kRegions, 2}, 6);
  Tensor rois{{images, kRegions, 4}, {}, nv::DataType::kFLOAT, 1};
  for (size_t i = 0; i < static_cast<size_t>(images * kRegions); ++i) {
    double half[2], middle[2];
    for (size_t axis = 0; axis < 2; ++axis) {
      const auto scale = static_cast<double>(i % 7) / 12;
      half[axis] = i == 4 ? 0 : scale * (1 + 0.2 * size.values[2 * i + axis]) * (i % 3 == 1 ? -1 : 1);
      middle[axis] = 0.5 + 0.4 * centre.values[2 * i + axis];
    }
    const bool is_swapped = c.swap || c.legacy, is_absolute = c.absolute && !c.legacy;
    for (const double side : {-1.0, 1.0})
      for (size_t k = 0; k < 2; ++k) {
        const size_t axis = is_swapped ? 1 - k : k;  // x first
        const double whole = !is_absolute ? 1 : axis == 0 ? kWidth : kHeight;
        rois.values.push_back((middle[axis] + side * half[axis]) * whole);
      }
  }
  return rois;
}

void check(const Case& c) {
  SCOPED_TRACE(::testing::Message() << "transform " << c.transform << " ratio " << c.ratio << " absolute " << c.absolute
                                    << " swap " << c.swap << " plus one " << c.plus_one << " legacy " << c.legacy);
  std::vector<Tensor> inputs = pyramid(2);
  const Tensor rois = regions(c, 2);
  const Tensor y = expected(c, rois, inputs);
  inputs.insert(inputs.begin(), rois);
  expect_outputs("PyramidROIAlign_TRT", "1", attributes(c), inputs, {y}, 1e-4);
}

TEST(PyramidRoiAlign, TakesEachRegionFromItsLevel) {
  for (const int32_t transform : {0, 1, 2})
    for (const int32_t ratio : {0, 1, 2}) check({.transform = transform, .ratio = ratio});
}

TEST(PyramidRoiAlign, ReadsCoordinatesAsToldTo) {
  check({.absolute = 0});
  check({.swap = 1});
  check({.ratio = 2, .absolute = 0, .swap = 1, .plus_one = 1, .scale = 20});
  check({.plus_one = 1, .pooled = 7});
}

TEST(PyramidRoiAlign, WorksAsItDidAtFirst) {
  check({.transform = -1, .ratio = 1, .absolute = 0, .swap = 1});
  check({.pooled = 5, .legacy = true});
}

TEST(PyramidRoiAlign, ASizeAtTheThresholdGoesWhereRoundingSays) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < 4; ++i) {  // each level is its number
    inputs.push_back(noise({1, 1, 16 >> i, 32 >> i}, 1));
    std::ranges::fill(inputs.back().values, 2 + i);
  }
  // 8, 16 and 32 pixels are the thresholds of an fpn_scale of 16.
  inputs.insert(inputs.begin(),
                {{1, 6, 4}, {0, 0, 8, 8, 0, 0, 9, 8, 8, 8, 24, 24, 8, 8, 25, 24, 0, 0, 32, 32, 0, 0, 32, 33}});
  const Case square{.pooled = 1, .height = 64, .width = 64};
  expect_outputs("PyramidROIAlign_TRT", "1", attributes(square), inputs, {{{1, 6, 1, 1, 1}, {2, 3, 3, 4, 4, 5}}});
  // 16 / sqrt(64 x 128) is rounded down: the thresholds are below those of whole pixels.
  const Case oblong{.pooled = 1};
  expect_outputs("PyramidROIAlign_TRT", "1", attributes(oblong), inputs, {{{1, 6, 1, 1, 1}, {3, 3, 4, 4, 5, 5}}});
}

TEST(PyramidRoiAlign, TakesNoRegions) {
  std::vector<Tensor> inputs = pyramid(2);
  inputs.insert(inputs.begin(), {{2, 0, 4}, {}, nv::DataType::kFLOAT, 1});
  expect_outputs("PyramidROIAlign_TRT", "1", attributes({}), inputs, {{{2, 0, kChannels, 3, 3}, {}}});
}

TEST(PyramidRoiAlign, RefusesWhatItDoesNotHave) {
  const auto refusal = [](const Attributes& attributes, int64_t channels) {
    std::vector<Tensor> inputs = pyramid(1);
    inputs[1] = noise({1, channels, 8, 16}, 1);
    inputs.insert(inputs.begin(), noise({1, 2, 4}, 1));
    return error_of("PyramidROIAlign_TRT", "1", attributes, inputs);
  };
  EXPECT_NE(refusal(attributes({.transform = 3}), kChannels).find("roi_coords_transform is 3"), std::string::npos);
  EXPECT_NE(refusal(attributes({.transform = -1}), kChannels).find("they are 0 and 3"), std::string::npos);
  EXPECT_NE(refusal(attributes({.pooled = 0}), kChannels).find("pooled_size is 0"), std::string::npos);
  EXPECT_NE(refusal(attributes({.pooled = 16385}), kChannels).find("pooled_size is 16385; 1 to 16384 are possible"),
            std::string::npos);
  for (const int32_t ratio : {-1, 1025, 46341, INT32_MAX}) {
    const std::string told = refusal(attributes({.ratio = ratio}), kChannels);
    EXPECT_NE(told.find(str("sampling_ratio is ", ratio, "; 0 to 1024 are possible")), std::string::npos) << told;
  }
  EXPECT_NE(refusal(Attributes().set("image_size", std::vector<int32_t>{3, 4, 5}), kChannels).find("has 3 numbers"),
            std::string::npos);
  EXPECT_NE(refusal(attributes({}), 3).find("axis 1 of input 2 has to be as long as axis 1 of input 1; it is 3, not 2"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
