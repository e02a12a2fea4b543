#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kChannels = 2;
constexpr int32_t kPooled = 3, kHeight = 1024, kWidth = 1280;

Attributes attributes(int32_t pooled) {
  return Attributes()
      .set("pooled_size", std::vector<int32_t>{pooled})
      .set("image_size", std::vector<int32_t>{3, kHeight, kWidth});
}

/// Levels that are smaller than their image's: samples at its lower and right border are beyond theirs.
std::vector<Tensor> pyramid(int64_t images, nv::DataType type) {
  std::vector<Tensor> levels;
  for (int i = 0; i < 5; ++i)
    levels.push_back(noise({images, kChannels, (kHeight >> (i + 2)) - 1, (kWidth >> (i + 2)) - 2}, 10 + i, type));
  return levels;
}

size_t level_of(double area) {
  size_t level = 0;
  for (const double side : {112.0, 224.0, 448.0, 896.0})
    if (area > side * side) ++level;
  return level;
}

Tensor expected(const Tensor& rois, const std::vector<Tensor>& levels, std::array<int, 6>& used) {
  Tensor y{{rois.extents[0], rois.extents[1], kChannels, kPooled, kPooled}, {}, rois.type};
  for (int64_t r = 0; r < rois.extents[0] * rois.extents[1]; ++r) {
    const double* const roi = &rois.values[static_cast<size_t>(r * 4)];
    const bool is_valid =
        roi[0] >= 0 && roi[1] >= 0 && roi[2] <= kHeight && roi[3] <= kWidth && roi[0] < roi[2] && roi[1] < roi[3];
    const size_t which = level_of((roi[2] - roi[0]) * (roi[3] - roi[1]));
    ++used[is_valid ? which : 5];
    const Tensor& level = levels[which];
    const int64_t h = level.extents[2], w = level.extents[3], image = r / rois.extents[1];
    for (int64_t c = 0; c < kChannels; ++c)
      for (int i = 0; i < kPooled; ++i)
        for (int j = 0; j < kPooled; ++j) {
          const double* const plane = &level.values[static_cast<size_t>((image * kChannels + c) * h * w)];
          const double size = 4 << which;
          const double row = (roi[0] + (roi[2] - roi[0]) * (i + 0.5) / kPooled) / size;
          const double column = (roi[1] + (roi[3] - roi[1]) * (j + 0.5) / kPooled) / size;
          y.values.push_back(is_valid ? between_pixels(plane, h, w, row, column) : 0);
        }
  }
  return y;
}

Tensor regions(nv::DataType type) {
  return {{2, 8, 4},
          {0,   0,    112, 112,  0,    0,  112,  113, 8,   16,  1020, 1264, 1000, 40,   1024, 1280,
           300, 1200, 730, 1280, -1,   10, 60,   70,  10,  10,  10,   50,   60,   1000, 90,   1281,  //
           1,   2,    3,   5,    1008, 0,  1024, 512, 200, 300, 500,  650,  0,    0,    1024, 1280,
           50,  40,   30,  60,   NAN,  0,  1000, 60,  100, 7,   324,  231,  64,   65,   513,  514},
          type,
          1};
}

TEST(MultilevelCropAndResize, TakesEachRegionFromItsLevel) {
  for (const nv::DataType type : {nv::DataType::kFLOAT, nv::DataType::kHALF}) {
    std::vector<Tensor> inputs = pyramid(2, type);
    const Tensor rois = regions(type);
    std::array<int, 6> used{};
    const Tensor y = expected(rois, inputs, used);
    for (const int count : used) EXPECT_GT(count, 0) << "a level is not tested, or no region out of the image";
    inputs.insert(inputs.begin(), rois);
    expect_outputs("MultilevelCropAndResize_TRT", "1", attributes(kPooled), inputs, {y},
                   type == nv::DataType::kHALF ? 1e-3 : 1e-4);
  }
}

TEST(MultilevelCropAndResize, TakesNoRegions) {
  std::vector<Tensor> inputs = pyramid(1, nv::DataType::kFLOAT);
  inputs.insert(inputs.begin(), {{1, 0, 4}, {}, nv::DataType::kFLOAT, 1});
  expect_outputs("MultilevelCropAndResize_TRT", "1", attributes(kPooled), inputs,
                 {{{1, 0, kChannels, kPooled, kPooled}, {}}});
}

TEST(MultilevelCropAndResize, RefusesWhatItDoesNotHave) {
  const auto refusal = [](const Attributes& attributes, int64_t channels) {
    std::vector<Tensor> inputs = pyramid(1, nv::DataType::kFLOAT);
    inputs[4] = noise({1, channels, 8, 16}, 1);
    inputs.insert(inputs.begin(), noise({1, 2, 4}, 1));
    return error_of("MultilevelCropAndResize_TRT", "1", attributes, inputs);
  };
  const Attributes short_image =
      Attributes().set("pooled_size", std::vector<int32_t>{1}).set("image_size", std::vector<int32_t>{3, 4});
  EXPECT_NE(refusal(attributes(0), kChannels).find("pooled_size is 0"), std::string::npos);
  EXPECT_NE(refusal(attributes(16385), kChannels).find("pooled_size is 16385; 1 to 16384 are"), std::string::npos);
  EXPECT_NE(refusal(Attributes(), kChannels).find("pooled_size"), std::string::npos);
  EXPECT_NE(refusal(short_image, kChannels).find("image_size has 2 numbers"), std::string::npos);
  EXPECT_NE(refusal(attributes(1), 3).find("axis 1 of input 5 has to be as long as axis 1 of input 1; it is 3, not 2"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
