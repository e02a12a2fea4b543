#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kClasses = 3, kAnchors = 2 * kClasses;
const std::vector<float> kRange{-2, 4, -3, 10, 12, 1}, kBottoms{-1.75F, -0.5F, -1.25F};
const std::vector<float> kSizes{4, 1.5, 1.75, 0,       4,    1.5,  1.75, 1.5703125F, 0.75, 0.5, 1.75, 0,
                                1, 0.5, 1.75, 1.5703F, 1.75, 0.75, 1.5,  0,          1.75, 0.5, 1.5,  1.57F};

struct Case {
  int32_t bins = 2;
  float offset = 0.78539F, limit_offset = 0, threshold = 0.625F;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("point_cloud_range", kRange)
      .set("anchors", kSizes)
      .set("anchor_bottom_height", kBottoms)
      .set("dir_offset", std::vector<float>{c.offset})
      .set("dir_limit_offset", std::vector<float>{c.limit_offset})
      .set("num_dir_bins", std::vector<int32_t>{c.bins})
      .set("score_thresh", std::vector<float>{c.threshold});
}

struct Outputs {
  Tensor boxes, count;
};
Outputs expected(const Case& c, const Tensor& scores, const Tensor& deltas, const Tensor& directions) {
  const int64_t images = scores.extents[0], height = scores.extents[1], width = scores.extents[2];
  Outputs result{{{images, height * width * kAnchors, 9}, {}}, ints({images}, {})};
  const auto place = [](size_t axis, int64_t i, int64_t extent) {
    const double part = extent > 1 ? static_cast<double>(i) / static_cast<double>(extent - 1) : 0;
    return kRange[axis] + part * (kRange[axis + 3] - kRange[axis]);
  };
  for (int64_t n = 0; n < images; ++n) {
    int count = 0;
    for (int64_t i = 0; i < height * width * kAnchors; ++i) {
      const auto anchor = static_cast<size_t>(i % kAnchors);
      const auto at = static_cast<size_t>(n * height * width * kAnchors + i);
      double best = 0;
      int label = -1;
      for (int k = 0; k < kClasses; ++k) {
        const auto score = static_cast<double>(
            1 / (1 + std::exp(-static_cast<float>(scores.values[at * kClasses + static_cast<size_t>(k)]))));
        if (label < 0 || score > best) best = score, label = k;
      }
      if (!(best >= c.threshold)) continue;
      ++count;
      const double* const e = &deltas.values[at * 7];
      const float* const size = &kSizes[anchor * 4];
      const double diagonal = std::hypot(size[0], size[1]), period = 2 * std::numbers::pi / c.bins;
      const double v = e[6] + size[3] - c.offset;
      const double turned = v - std::floor(v / period + c.limit_offset) * period + c.offset;
      const bool is_second = directions.values[at * 2] <= directions.values[at * 2 + 1];
      for (const double number :
           {place(0, i / kAnchors % width, width) + e[0] * diagonal,
            place(1, i / kAnchors / width, height) + e[1] * diagonal,
            kBottoms[anchor / 2] + size[2] / 2 + e[2] * size[2], size[0] * std::exp(e[3]), size[1] * std::exp(e[4]),
            size[2] * std::exp(e[5]), turned + (is_second ? period : 0), static_cast<double>(label), best})
        result.boxes.values.push_back(number);
    }
    result.boxes.values.resize(static_cast<size_t>((n + 1) * height * width * kAnchors * 9));
    result.count.values.push_back(count);
  }
  return result;
}

std::vector<Tensor> random_inputs(int64_t images, int64_t height, int64_t width) {
  std::vector<Tensor> inputs;
  for (const int64_t channels : {kAnchors * kClasses, kAnchors * 7, kAnchors * 2})
    inputs.push_back(noise({images, height, width, channels}, static_cast<int>(channels)));
  for (double& value : inputs[1].values) value *= 3;
  return inputs;
}

void check(const Case& c, const std::vector<Tensor>& inputs) {
  const Outputs y = expected(c, inputs[0], inputs[1], inputs[2]);
  expect_outputs("DecodeBbox3DPlugin", "1", attributes(c), inputs, {y.boxes, y.count}, 1e-4);
}

TEST(DecodeBbox3D, DecodesWhatReachesTheThreshold) {
  const std::vector<Tensor> inputs = random_inputs(2, 4, 5);
  const Outputs y = expected({}, inputs[0], inputs[1], inputs[2]);
  for (const double count : y.count.values) {
    EXPECT_GT(count, 10);
    EXPECT_LT(count, 100);
  }
  check({}, inputs);
  check({.bins = 4, .offset = 0.25F, .limit_offset = 0.5F}, inputs);
  check({.threshold = 0.99F}, inputs);  // none
}

TEST(DecodeBbox3D, OneCellIsAtTheLeastCorner) { check({.threshold = 0}, random_inputs(1, 1, 1)); }

TEST(DecodeBbox3D, TheFirstOfEqualClassesAndTheSecondOfEqualDirections) {
  std::vector<Tensor> inputs = random_inputs(1, 2, 2);
  std::ranges::fill(inputs[0].values, 0);  // scores of 1/2, which is the threshold
  for (size_t i = 0; i < inputs[0].values.size(); i += 5) inputs[0].values[i] = i % 2 == 0 ? 40 : 30;  // both are 1
  std::ranges::fill(inputs[2].values, 0.5);
  const Outputs y = expected({.threshold = 0.5F}, inputs[0], inputs[1], inputs[2]);
  EXPECT_EQ(y.count.values[0], 4 * kAnchors);
  check({.threshold = 0.5F}, inputs);
}

TEST(DecodeBbox3D, RefusesWhatItDoesNotHave) {
  const auto refusal = [](const Attributes& attributes, int64_t channels) {
    std::vector<Tensor> inputs = random_inputs(1, 2, 2);
    inputs[1] = noise({1, 2, 2, channels}, 1);
    return error_of("DecodeBbox3DPlugin", "1", attributes, inputs);
  };
  EXPECT_NE(refusal(attributes({.threshold = NAN}), 42).find("score_thresh is nan"), std::string::npos);
  EXPECT_NE(refusal(attributes({.bins = 0}), 42).find("num_dir_bins is 0"), std::string::npos);
  EXPECT_NE(refusal(attributes({}), 21).find("axis 3 of input 1 has to be 42 long, as 3 classes need; it is 21"),
            std::string::npos);
  EXPECT_NE(refusal(Attributes().set("anchors", kSizes), 42).find("anchors has 24 numbers, anchor_bottom_height 0"),
            std::string::npos);
  EXPECT_NE(refusal(Attributes().set("point_cloud_range", kBottoms), 42).find("point_cloud_range has 3 numbers"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
