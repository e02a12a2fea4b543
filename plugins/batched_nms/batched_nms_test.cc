#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int kImages = 2, kBoxes = 30, kClasses = 3, kKept = 12;

struct Case {
  int32_t shares = 1, background = -1, candidates = 30, normalized = 1, clips = 0, caffe = 1;
  bool is_half = false;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("shareLocation", std::vector<int32_t>{c.shares})
      .set("backgroundLabelId", std::vector<int32_t>{c.background})
      .set("numClasses", std::vector<int32_t>{kClasses})
      .set("topK", std::vector<int32_t>{c.candidates})
      .set("keepTopK", std::vector<int32_t>{kKept})
      .set("scoreThreshold", std::vector<float>{0.3F})
      .set("iouThreshold", std::vector<float>{0.5F})
      .set("isNormalized", std::vector<int32_t>{c.normalized})
      .set("clipBoxes", std::vector<int32_t>{c.clips})
      .set("scoreBits", std::vector<int32_t>{16})
      .set("caffeSemantics", std::vector<int32_t>{c.caffe});
}

std::vector<Candidate> kept(const Case& c, const Tensor& boxes, const Tensor& scores, int image) {
  const auto places = static_cast<int>(boxes.extents[2]);
  std::vector<Candidate> all;
  for (int k = 0; k < kClasses; ++k) {
    std::vector<Candidate> of_class;
    for (int b = 0; b < kBoxes; ++b) {
      const int place = image * kBoxes + b;
      const double score = scores.values[static_cast<size_t>(place * kClasses + k)];
      const Box box = box_at(boxes, static_cast<size_t>(place * places + (places == 1 ? 0 : k)));
      if (score > 0.3F && k != c.background) of_class.push_back({score, k, b, box});
    }
    std::ranges::stable_sort(of_class, std::ranges::greater{}, &Candidate::score);
    if (of_class.size() > static_cast<size_t>(c.candidates)) of_class.resize(static_cast<size_t>(c.candidates));
    all.insert(all.end(), of_class.begin(), of_class.end());
  }
  return suppress(all, {.most = kKept, .most_of_class = kKept, .larger_by = c.normalized || !c.caffe ? 0.0 : 1.0});
}

class BatchedNms : public ::testing::TestWithParam<bool> {
 protected:
  const char* name() const { return GetParam() ? "BatchedNMSDynamic_TRT" : "BatchedNMS_TRT"; }
  Tensor scores = noise({kImages, kBoxes, kClasses}, 5);
};

TEST_P(BatchedNms, KeepsTheBestOfEachClass) {
  for (const Case& c : {Case{}, Case{.background = 0}, Case{.candidates = 4}, Case{.shares = 0}, Case{.clips = 1},
                        Case{.normalized = 0}, Case{.normalized = 0, .caffe = 0}, Case{.is_half = true}}) {
    Tensor boxes = overlapping_boxes(kImages, kBoxes, c.shares ? 1 : kClasses, 3);
    for (double& value : boxes.values) value = c.normalized ? 1.5 * value - 0.2 : 10 * value;
    if (c.is_half) boxes = in_halves(boxes), scores = in_halves(scores);
    std::vector<Tensor> y = {
        ints({kImages}, {}), {{kImages, kKept, 4}, {}}, {{kImages, kKept}, {}}, {{kImages, kKept}, {}}};
    if (GetParam()) y[0].extents.push_back(1);
    for (int n = 0; n < kImages; ++n) {
      const std::vector<Candidate> image = kept(c, boxes, scores, n);
      y[0].values.push_back(static_cast<double>(image.size()));
      for (size_t k = 0; k < kKept; ++k) {
        const Candidate one = k < image.size() ? image[k] : Candidate{0, -1, 0, {}};
        for (const double value : one.box) y[1].values.push_back(c.clips ? std::clamp(value, 0.0, 1.0) : value);
        y[2].values.push_back(one.score);
        y[3].values.push_back(one.box_class);
      }
    }
    expect_outputs(name(), "1", attributes(c), {boxes, scores}, c.is_half ? in_halves(y) : y);
  }
}

TEST_P(BatchedNms, OfNoBoxesHasNoDetections) {
  for (const int32_t shares : {0, 1}) {
    const Tensor boxes{{kImages, 0, shares ? 1 : kClasses, 4}, {}, nv::DataType::kFLOAT, 2};
    std::vector<Tensor> y = {ints({kImages}, {0, 0}),
                             {{kImages, kKept, 4}, std::vector<double>(kImages * kKept * 4, 0)},
                             {{kImages, kKept}, std::vector<double>(kImages * kKept, 0)},
                             {{kImages, kKept}, std::vector<double>(kImages * kKept, -1)}};
    if (GetParam()) y[0].extents.push_back(1);
    expect_outputs(name(), "1", attributes({.shares = shares}), {boxes, {{kImages, 0, kClasses}, {}}}, y);
  }
}

TEST_P(BatchedNms, TakesScoresWithAnExtentOfOneBehind) {
  Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 3), four = scores;
  four.extents.push_back(1);
  expect_outputs(name(), "1", attributes({}), {boxes, four},
                 run(Way::kLayers, name(), "1", attributes({}), {boxes, scores}).outputs);
  four.extents = {kImages, kBoxes, 1, kClasses};
  EXPECT_NE(error_of(name(), "1", attributes({}), {boxes, four}).find("axis 3 of input 1 has to be 1 long"),
            std::string::npos);
}

TEST_P(BatchedNms, RefusesOtherClasses) {
  EXPECT_NE(error_of(name(), "1", attributes({}), {overlapping_boxes(1, 4, 1, 1), noise({1, 4, 2}, 1)})
                .find("axis 2 of input 1 has to be 3 long, as numClasses says; it is 2"),
            std::string::npos);
  EXPECT_NE(error_of(name(), "1", attributes({.shares = 0}), {overlapping_boxes(1, 4, 1, 1), noise({1, 4, 3}, 1)})
                .find("axis 2 of input 0 has to be 3 long, as shareLocation and numClasses say; it is 1"),
            std::string::npos);
  const Attributes unordered = attributes({}).set("scoreThreshold", std::vector<float>{NAN});
  EXPECT_NE(error_of(name(), "1", unordered, {overlapping_boxes(1, 4, 1, 1), noise({1, 4, 3}, 1)})
                .find("scoreThreshold is nan"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Dynamic, BatchedNms, ::testing::Bool());

}  // namespace
}  // namespace kiln::plugins::testing
