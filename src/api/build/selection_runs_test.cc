// INMSLayer and ITopKLayer with numbers that a run decides, NaN and limits that are too large among them.
#include <gtest/gtest.h>

#include <cmath>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

/// Three boxes of area 1 in one image: the second lies half over the first, the third apart. Scores, both thresholds
/// and the boxes are inputs.
struct Nms {
  Nms() {
    nv::ITensor *boxes = w.input("boxes", {1, 3, 4}), *scores = w.input("scores", {1, 3, 1});
    layer = w->addNMS(*boxes, *scores, *w.number(9));
    layer->setInput(3, *w.input("iou", {}));
    layer->setInput(4, *w.input("score", {}));
    layer->setName("suppress");
    w.mark(layer->getOutput(0));
    w.mark(layer->getOutput(1), "count");
  }
  LoopBench w;
  nv::INMSLayer* layer = nullptr;
};

/// The boxes that are selected, in order.
Ints selected(LoopRun& run, Floats boxes, Floats scores, float iou, float score) {
  auto outputs = run({{"boxes", floats({1, 3, 4}, std::move(boxes))},
                      {"scores", floats({1, 3, 1}, std::move(scores))},
                      {"iou", floats({}, {iou})},
                      {"score", floats({}, {score})}});
  const Ints triples = elements<int32_t>(outputs["y"]), count = elements<int32_t>(outputs["count"]);
  Ints boxes_of;
  for (size_t i = 2; i < triples.size(); i += 3) boxes_of.push_back(triples[i]);
  if (run.error.empty()) {
    EXPECT_EQ(count, Ints{static_cast<int32_t>(boxes_of.size())});
  }
  return boxes_of;
}

/// As ONNX Runtime has it: a box with NaN covers nothing, no score is above NaN, and a threshold has to be a number.
TEST(NmsLayer, TakesNaN) {
  Nms net;
  EXPECT_EQ(net.layer->getType(), nv::LayerType::kNMS);
  EXPECT_EQ(net.layer->getNbInputs(), 5);
  LoopRun run(net.w);
  ASSERT_EQ(run.error, "");
  const Floats boxes{0, 0, 1, 1, 0, 0.5, 1, 1.5, 2, 2, 3, 3}, scores{0.5, 0.9F, 0.7F};
  EXPECT_EQ(selected(run, boxes, scores, 0.2F, 0.1F), (Ints{1, 2})) << run.error;
  Floats odd = boxes;
  odd[4] = NAN;
  EXPECT_EQ(selected(run, odd, scores, 0.2F, 0.1F), (Ints{1, 2, 0})) << run.error;
  EXPECT_EQ(selected(run, Floats(12, NAN), scores, 0, 0.1F), (Ints{1, 2, 0})) << run.error;
  EXPECT_EQ(selected(run, boxes, {0.5, NAN, 0.7F}, 0.2F, 0.1F), (Ints{2, 0})) << run.error;
  EXPECT_EQ(selected(run, boxes, Floats(3, NAN), 0.2F, 0.1F), Ints{}) << run.error;
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(selected(run, boxes, scores, 0.2F, NAN), Ints{}) << run.error;
  EXPECT_EQ(run.error, "");
  for (const float iou : {NAN, -0.5F, 1.5F, INFINITY}) {
    EXPECT_EQ(selected(run, boxes, scores, iou, 0.1F), Ints{});
    EXPECT_NE(run.error.find("step 'suppress': iou_threshold is "), std::string::npos) << run.error;
    EXPECT_NE(run.error.find(", outside [0, 1]"), std::string::npos) << run.error;
  }
}

/// The k of a run is a shape input, with a range in the profile.
TEST(TopKLayer, SaysThatKIsAboveTheAxis) {
  LoopBench w;
  nv::ITensor *x = w.input("x", {2, -1}), *k = w.input("k", {}, nv::DataType::kINT32);
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  for (const auto& [which, number] : {std::pair(nv::OptProfileSelector::kMIN, 1),
                                      {nv::OptProfileSelector::kOPT, 4},
                                      {nv::OptProfileSelector::kMAX, 8}}) {
    const int64_t wide = number;
    EXPECT_TRUE(profile->setShapeValuesV2("k", which, &wide, 1));
    EXPECT_TRUE(profile->setDimensions("x", which, dims({2, number})));
  }
  w.config->addOptimizationProfile(profile);
  nv::ITopKLayer* layer = w->addTopK(*x, nv::TopKOperation::kMAX, 1, 1u << 1);
  layer->setName("best");
  layer->setInput(1, *k);
  w.mark(layer->getOutput(0));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Bytes rows = floats({2, 3}, {1, 3, 2, 6, 4, 5});
  EXPECT_EQ(run.floats_of({{"x", rows}, {"k", scalar(2)}}), (Floats{3, 2, 6, 5})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", rows}, {"k", scalar(3)}}), (Floats{3, 2, 1, 6, 5, 4})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", rows}, {"k", scalar(5)}}), Floats{});
  for (const char* part : {"'best'", "5", "3"}) EXPECT_NE(run.error.find(part), std::string::npos) << run.error;
  EXPECT_EQ(run.floats_of({{"x", rows}, {"k", scalar(0)}}), Floats{});
  EXPECT_NE(run.error.find("'k'"), std::string::npos) << run.error;
}

}  // namespace
}  // namespace kiln::api::testing
