#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2, kRegions = 20, kClasses = 3, kKept = 8;

Attributes attributes(int32_t classes) {
  return Attributes()
      .set("num_classes", std::vector<int32_t>{classes})
      .set("keep_topk", std::vector<int32_t>{kKept})
      .set("score_threshold", std::vector<float>{0.2F})
      .set("iou_threshold", std::vector<float>{0.3F});
}

Box refined(const double* region, const double* delta) {
  Box box{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const double size = region[axis + 2] - region[axis], half = size * std::exp(0.2 * delta[axis + 2]) / 2;
    const double centre = (region[axis] + region[axis + 2]) / 2 + 0.1 * delta[axis] * size;
    box[axis] = std::clamp(centre - half, 0.0, 1.0);
    box[axis + 2] = std::clamp(centre + half, 0.0, 1.0);
  }
  return box;
}

TEST(DetectionLayer, RefinesByTheBestClass) {
  const Tensor delta = noise({kImages, kRegions, kClasses * 4, 1, 1}, 1),
               scores = noise({kImages, kRegions, kClasses, 1, 1}, 2);
  Tensor regions = overlapping_boxes(kImages, kRegions, 1, 3);
  regions.extents = {kImages, kRegions, 4};
  Tensor y{{kImages, kKept, 6}, {}};
  for (int64_t n = 0; n < kImages; ++n) {
    std::vector<Candidate> all;
    for (int64_t r = 0; r < kRegions; ++r) {
      const auto first = scores.values.begin() + (n * kRegions + r) * kClasses;
      const auto best = std::max_element(first, first + kClasses) - first;
      const double score = first[best];
      const size_t at = static_cast<size_t>(((n * kRegions + r) * kClasses + best) * 4);
      if (best != 0 && score >= 0.2F)
        all.push_back({score, static_cast<int>(best), static_cast<int>(r),
                       refined(&regions.values[static_cast<size_t>((n * kRegions + r) * 4)], &delta.values[at])});
    }
    const std::vector<Candidate> kept = suppress(all, {.iou_threshold = 0.3F, .most = kKept, .most_of_class = kKept});
    for (size_t k = 0; k < kKept; ++k) {
      const Candidate one = k < kept.size() ? kept[k] : Candidate{0, -1, 0, {}};
      y.values.insert(y.values.end(), one.box.begin(), one.box.end());
      y.values.push_back(one.box_class);
      y.values.push_back(one.score);
    }
  }
  expect_outputs("DetectionLayer_TRT", "1", attributes(kClasses), {delta, scores, regions}, {y}, 1e-4);
}

TEST(DetectionLayer, OfNoRegionsHasNoDetections) {
  const Tensor delta{{kImages, 0, kClasses * 4, 1, 1}, {}}, scores{{kImages, 0, kClasses, 1, 1}, {}};
  Tensor y{{kImages, kKept, 6}, {}};
  for (int64_t k = 0; k < kImages * kKept; ++k)
    for (const double value : {0, 0, 0, 0, -1, 0}) y.values.push_back(value);
  expect_outputs("DetectionLayer_TRT", "1", attributes(kClasses), {delta, scores, {{kImages, 0, 4}, {}}}, {y});
}

TEST(DetectionLayer, RefusesOtherClasses) {
  EXPECT_NE(error_of("DetectionLayer_TRT", "1", attributes(4),
                     {noise({1, 2, 12, 1, 1}, 1), noise({1, 2, 3, 1, 1}, 2), noise({1, 2, 4}, 3)})
                .find("axis 2 of input 0 has to be 16 long, 4 times num_classes; it is 12"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
