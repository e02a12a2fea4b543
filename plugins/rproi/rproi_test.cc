#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "testing/reference_proposals.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2, kChannels = 3, kHeight = 5, kWidth = 7, kAnchors = 6;
constexpr int32_t kRows = 3, kColumns = 2, kStride = 8;

struct Case {
  float scale = 0.125F, iou_threshold = 0.5F, least_size = 6;
  int32_t candidates = 100, most = 12, num_ratios = 3;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("poolingH", std::vector<int32_t>{kRows})
      .set("poolingW", std::vector<int32_t>{kColumns})
      .set("featureStride", std::vector<int32_t>{kStride})
      .set("preNmsTop", std::vector<int32_t>{c.candidates})
      .set("nmsMaxOut", std::vector<int32_t>{c.most})
      .set("anchorsRatioCount", std::vector<int32_t>{c.num_ratios})
      .set("anchorsScaleCount", std::vector<int32_t>{2})
      .set("iouThreshold", std::vector<float>{c.iou_threshold})
      .set("minBoxSize", std::vector<float>{c.least_size})
      .set("spatialScale", std::vector<float>{c.scale})
      .set("anchorsRatios", std::vector<float>{0.5F, 1, 2})
      .set("anchorsScales", std::vector<float>{1, 2.5F});
}

/// 8 / sqrt(r), rounded, is 11, 8 and 6; times r, rounded, 6 (5.5), 8 and 12.
std::vector<std::pair<double, double>> anchors() {
  std::vector<std::pair<double, double>> all;
  for (const auto& [width, height] : std::vector<std::pair<double, double>>{{11, 6}, {8, 8}, {6, 12}})
    for (const double scale : {1.0, 2.5}) all.emplace_back(width * scale, height * scale);
  return all;
}

struct Inputs {
  Tensor scores = noise({kImages, 2 * kAnchors, kHeight, kWidth}, 1),
         deltas = noise({kImages, 4 * kAnchors, kHeight, kWidth}, 2),
         map = noise({kImages, kChannels, kHeight, kWidth}, 3), image{{kImages, 1, 1, 3}, {40, 56, 1, 30, 50, 2}};
  Inputs() { map.known_axes = 2; }
  std::vector<Tensor> all() const { return {scores, deltas, map, image}; }
};

/// The scores of the foreground.
Tensor foreground(const Tensor& scores) {
  Tensor result{{kImages, kAnchors, kHeight, kWidth}, {}};
  const auto half = kAnchors * kHeight * kWidth;
  for (int64_t n = 0; n < kImages; ++n) {
    const auto first = scores.values.begin() + (2 * n + 1) * half;
    result.values.insert(result.values.end(), first, first + half);
  }
  return result;
}

Tensor rois_of(const Case& c, const Inputs& in) {
  Tensor rois{{kImages, 1, c.most, 4}, {}};
  for (int64_t n = 0; n < kImages; ++n) {
    const double* const image = &in.image.values[static_cast<size_t>(3 * n)];
    const double least = c.least_size * image[2] - 1;
    const Proposals how{
        anchors(),      3.5, kStride, image[0], image[1], least, false, static_cast<size_t>(c.candidates), c.most,
        c.iou_threshold};
    const std::vector<double> boxes = best_proposals(how, n, foreground(in.scores), in.deltas);
    rois.values.insert(rois.values.end(), boxes.begin(), boxes.end());
  }
  return rois;
}

/// The elements [first, last) of cell `i` of `cells`.
std::pair<int, int> cell_of(double low, double high, float scale, int i, int cells, int64_t length) {
  const auto start = static_cast<int>(std::round(static_cast<float>(low) * scale)),
             end = static_cast<int>(std::round(static_cast<float>(high) * scale));
  const float size = static_cast<float>(std::max(end - start + 1, 1)) / static_cast<float>(cells);
  const auto inside = [&](float at) { return std::clamp(static_cast<int>(at) + start, 0, static_cast<int>(length)); };
  return {inside(std::floor(static_cast<float>(i) * size)), inside(std::ceil(static_cast<float>(i + 1) * size))};
}

Tensor pooled_of(const Case& c, const Inputs& in, const Tensor& rois) {
  Tensor y{{kImages, c.most, kChannels, kRows, kColumns}, {}};
  for (int64_t roi = 0; roi < kImages * c.most; ++roi) {
    const double* const box = &rois.values[static_cast<size_t>(4 * roi)];
    for (int64_t channel = 0; channel < kChannels; ++channel)
      for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < kColumns; ++j) {
          const auto [y1, y2] = cell_of(box[1], box[3], c.scale, i, kRows, kHeight);
          const auto [x1, x2] = cell_of(box[0], box[2], c.scale, j, kColumns, kWidth);
          double greatest = y1 < y2 && x1 < x2 ? -std::numeric_limits<double>::max() : 0;
          for (int64_t h = y1; h < y2; ++h)
            for (int64_t w = x1; w < x2; ++w) {
              const int64_t at = ((roi / c.most * kChannels + channel) * kHeight + h) * kWidth + w;
              greatest = std::max(greatest, in.map.values[static_cast<size_t>(at)]);
            }
          y.values.push_back(greatest);
        }
  }
  return y;
}

void expect_right(const Case& c, const Inputs& in) {
  const Tensor rois = rois_of(c, in);
  expect_outputs("RPROI_TRT", "1", attributes(c), in.all(), {rois, pooled_of(c, in, rois)}, 1e-4);
}

TEST(Rproi, PoolsTheBestProposals) { expect_right({}, {}); }

TEST(Rproi, OfEqualScoresTheFirstWins) {
  Inputs in;
  for (double& score : in.scores.values) score = score > 0 ? 0.75 : 0.25;
  expect_right({}, in);
}

TEST(Rproi, SmallBoxesComeLast) {
  const Case c{.iou_threshold = 0.9F, .least_size = 14, .candidates = 1000, .most = 150};
  expect_right(c, {});
}

TEST(Rproi, HasZerosBehindTheLast) {
  const Case c{.iou_threshold = 0.1F, .candidates = 20, .most = 25};
  const Tensor rois = rois_of(c, {});
  ASSERT_EQ(rois.values[static_cast<size_t>(4 * c.most - 1)], 0);
  expect_right(c, {});
}

/// Anchors that did not move have corners whose thirds are halves: 7.5 / 3 is 3. Many are outside the map.
TEST(Rproi, RoundsHalvesUpAndPoolsNothingOutside) {
  Inputs in;
  for (double& delta : in.deltas.values) delta = 0;
  for (double& element : in.map.values) element -= 3;  // 0 is greater than all
  const Case c{.scale = 1.0F / 3, .least_size = 1};
  const Tensor pooled = pooled_of(c, in, rois_of(c, in));
  ASSERT_GT(std::ranges::count(pooled.values, 0.0), 0);
  ASSERT_LT(std::ranges::count(pooled.values, 0.0), std::ssize(pooled.values));
  expect_right(c, in);
}

TEST(Rproi, SaysWhatIsWrong) {
  const auto error = [](const Case& c, const Inputs& in) {
    return error_of("RPROI_TRT", "1", attributes(c), in.all());
  };
  EXPECT_NE(error({.num_ratios = 2}, {}).find("axis 1 of input 0 has to be 8 long, as 4 anchors need; it is 12"),
            std::string::npos);
  EXPECT_NE(error({.num_ratios = 4}, {}).find("anchorsRatioCount is 4; anchorsRatios has 3 numbers"),
            std::string::npos);
  EXPECT_NE(error({.most = 3841}, {}).find("nmsMaxOut 3841"), std::string::npos);
  EXPECT_NE(error({.scale = 0}, {}).find("spatialScale 0"), std::string::npos);
  Inputs in;
  in.map = noise({kImages, kChannels, kHeight, 8}, 3);
  EXPECT_NE(error({}, in).find("axis 3 of input 0 has to be as long as axis 3 of input 2; it is 7, not 8"),
            std::string::npos);
  in.map.extents.pop_back();
  EXPECT_NE(error({}, in).find("input 2 has rank 3; 4 is needed"), std::string::npos);
  in = Inputs();
  in.map.known_axes = 0;
  EXPECT_NE(
      run(Way::kDynamicLayers, "RPROI_TRT", "1", attributes({}), in.all()).error.find("axis 2 of input 2 is not known"),
      std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
