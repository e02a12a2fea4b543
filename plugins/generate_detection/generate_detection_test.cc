#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2, kRegions = 24, kClasses = 4, kKept = 9;
constexpr int32_t kHeight = 60, kWidth = 90;

Attributes attributes(int32_t classes, float score_threshold = 0.2F) {
  return Attributes()
      .set("num_classes", std::vector<int32_t>{classes})
      .set("keep_topk", std::vector<int32_t>{kKept})
      .set("score_threshold", std::vector<float>{score_threshold})
      .set("iou_threshold", std::vector<float>{0.3F})
      .set("image_size", std::vector<int32_t>{3, kHeight, kWidth});
}

Box refined(const double* region, const double* delta) {
  Box box{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const double last = (axis == 0 ? kHeight : kWidth) - 1;
    const double size = region[axis + 2] - region[axis] + 1;
    const double centre = region[axis] + size / 2 + delta[axis] / 10 * size;
    const double grown = size * std::min(std::exp(delta[axis + 2] / 5), 1000.0 / 16);
    box[axis] = std::clamp(centre - grown / 2, 0.0, last);
    box[axis + 2] = std::clamp(centre + grown / 2 - 1, 0.0, last);
  }
  return box;
}

struct Case {
  Tensor delta, scores, regions;
};
Case random_case() {
  Case all{noise({kImages, kRegions, kClasses * 4, 1, 1}, 1), noise({kImages, kRegions, kClasses, 1, 1}, 2),
           overlapping_boxes(kImages, kRegions, 1, 3)};
  for (double& value : all.delta.values) value *= 4;
  all.delta.values[2] = all.delta.values[6] = 40;  // whatever a region's class: larger than may be
  for (double& value : all.scores.values) value = std::abs(value);
  all.regions.extents = {kImages, kRegions, 4};
  for (size_t i = 0; i < all.regions.values.size(); ++i) all.regions.values[i] *= i % 2 == 0 ? kHeight : kWidth;
  return all;
}

Tensor expected(const Case& from, double score_threshold) {
  Tensor y{{kImages, kKept, 6}, {}};
  for (int64_t n = 0; n < kImages; ++n) {
    std::vector<Candidate> all;
    for (int64_t r = 0; r < kRegions; ++r) {
      const auto first = from.scores.values.begin() + (n * kRegions + r) * kClasses;
      const auto best = std::max_element(first + 1, first + kClasses) - first;
      const size_t at = static_cast<size_t>(((n * kRegions + r) * kClasses + best) * 4);
      if (first[best] >= score_threshold && first[best] > 0.01F)
        all.push_back(
            {first[best], static_cast<int>(best), static_cast<int>(r),
             refined(&from.regions.values[static_cast<size_t>((n * kRegions + r) * 4)], &from.delta.values[at])});
    }
    const std::vector<Candidate> kept = suppress(all, {.iou_threshold = 0.3F, .most = kKept, .most_of_class = kKept});
    for (size_t k = 0; k < kKept; ++k) {
      const Candidate one = k < kept.size() ? kept[k] : Candidate{0, -1, 0, {}};
      y.values.insert(y.values.end(), one.box.begin(), one.box.end());
      y.values.push_back(one.box_class);
      y.values.push_back(one.score);
    }
  }
  return y;
}

TEST(GenerateDetection, RefinesByTheBestClass) {
  const Case c = random_case();
  expect_outputs("GenerateDetection_TRT", "1", attributes(kClasses), {c.delta, c.scores, c.regions},
                 {expected(c, 0.2F)}, 1e-4);
}

TEST(GenerateDetection, AScoreAtTheThresholdStays) {
  Case c = random_case();
  std::ranges::fill(c.scores.values, 0.125);
  for (int64_t r = 0; r < 2 * kRegions; r += 3) c.scores.values[static_cast<size_t>(r * kClasses + 2)] = 0.25;
  for (int64_t r = 1; r < 2 * kRegions; r += 3) c.scores.values[static_cast<size_t>(r * kClasses)] = 1;  // background
  // Only equal scores are left, of which the first are taken; far from each other they do not suppress.
  for (int64_t r = 0; r < 2 * kRegions; ++r) {
    double* const region = &c.regions.values[static_cast<size_t>(r * 4)];
    const double left = static_cast<double>(r % kRegions) * 3;
    const Box box{10, left, 40, left + 1};
    std::ranges::copy(box, region);
  }
  std::ranges::fill(c.delta.values, 0);
  const Tensor y = expected(c, 0.25);
  EXPECT_EQ(y.values[4], 2);
  EXPECT_EQ(y.values[static_cast<size_t>(7 * 6 + 4)], 2);
  EXPECT_EQ(y.values[static_cast<size_t>(8 * 6 + 4)], -1) << "eight of 24 regions reach the threshold";
  expect_outputs("GenerateDetection_TRT", "1", attributes(kClasses, 0.25F), {c.delta, c.scores, c.regions}, {y}, 1e-4);
}

TEST(GenerateDetection, AHundredthIsTheLeastScore) {
  Case c = random_case();
  for (const double scale : {0.02, 0.4}) {  // scores of at most 0.02: some are enough; then none
    for (double& score : c.scores.values) score *= scale;
    const Tensor y = expected(c, 0);
    EXPECT_EQ(y.values[4] == -1, scale == 0.4);
    expect_outputs("GenerateDetection_TRT", "1", attributes(kClasses, 0), {c.delta, c.scores, c.regions}, {y}, 1e-4);
  }
}

TEST(GenerateDetection, OfTheBackgroundAloneThereAreNone) {
  Tensor y{{1, kKept, 6}, {}};
  for (int64_t k = 0; k < kKept; ++k)
    for (int i = 0; i < 6; ++i) y.values.push_back(i == 4 ? -1 : 0);
  Tensor scores = noise({1, 3, 1, 1, 1}, 2);
  std::ranges::fill(scores.values, 0.75);
  expect_outputs("GenerateDetection_TRT", "1", attributes(1), {noise({1, 3, 4, 1, 1}, 1), scores, noise({1, 3, 4}, 3)},
                 {y});
}

TEST(GenerateDetection, OfNoRegionsHasNoDetections) {
  const Tensor delta{{kImages, 0, kClasses * 4, 1, 1}, {}}, scores{{kImages, 0, kClasses, 1, 1}, {}};
  Tensor y{{kImages, kKept, 6}, {}};
  for (int64_t k = 0; k < kImages * kKept; ++k)
    for (const double value : {0, 0, 0, 0, -1, 0}) y.values.push_back(value);
  expect_outputs("GenerateDetection_TRT", "1", attributes(kClasses), {delta, scores, {{kImages, 0, 4}, {}}}, {y});
}

TEST(GenerateDetection, RefusesWhatItDoesNotHave) {
  const std::vector<Tensor> inputs{noise({1, 2, 12, 1, 1}, 1), noise({1, 2, 3, 1, 1}, 2), noise({1, 2, 4}, 3)};
  const auto refusal = [&](const Attributes& attributes) {
    return error_of("GenerateDetection_TRT", "1", attributes, inputs);
  };
  EXPECT_NE(refusal(attributes(4)).find("axis 2 of input 0 has to be 16 long, 4 times num_classes; it is 12"),
            std::string::npos);
  EXPECT_NE(refusal(attributes(0)).find("num_classes is 0"), std::string::npos);
  EXPECT_NE(refusal(Attributes()).find("num_classes"), std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
