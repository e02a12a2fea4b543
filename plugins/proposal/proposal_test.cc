#include <gtest/gtest.h>

#include <cmath>

#include "testing/reference_proposals.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2, kAnchors = 6, kRows = 5, kColumns = 7;
constexpr int32_t kHeight = 40, kWidth = 56, kStride = 8;

struct Case {
  float iou_threshold = 0.5F, least_size = 4, ratio = 0.5F;
  int32_t candidates = 100, most = 12, height = kHeight;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("input_height", std::vector<int32_t>{c.height})
      .set("input_width", std::vector<int32_t>{kWidth})
      .set("rpn_stride", std::vector<int32_t>{kStride})
      .set("roi_min_size", std::vector<float>{c.least_size})
      .set("nms_iou_threshold", std::vector<float>{c.iou_threshold})
      .set("pre_nms_top_n", std::vector<int32_t>{c.candidates})
      .set("post_nms_top_n", std::vector<int32_t>{c.most})
      .set("anchor_sizes", std::vector<float>{8, 20})
      .set("anchor_ratios", std::vector<float>{1, c.ratio, 3});
}

Tensor scores() { return noise({kImages, kAnchors, kRows, kColumns}, 1); }
Tensor deltas() { return noise({kImages, 4 * kAnchors, kRows, kColumns}, 2); }

Tensor expected(const Case& c, const Tensor& scores, const Tensor& deltas) {
  Proposals how{{},     kStride / 2.0,  kStride, kHeight, kWidth, c.least_size, true, static_cast<size_t>(c.candidates),
                c.most, c.iou_threshold};
  for (const double size : {8, 20})
    for (const double ratio : {1.0, static_cast<double>(c.ratio), 3.0})
      how.anchors.emplace_back(size * std::sqrt(ratio), size / std::sqrt(ratio));
  Tensor y{{kImages, c.most, 4, 1}, {}};
  for (int64_t n = 0; n < kImages; ++n) {
    const std::vector<double> boxes = best_proposals(how, n, scores, deltas);
    for (size_t i = 0; i < boxes.size(); i += 4)
      for (const auto& [at, length] : {std::pair(1, kHeight), {0, kWidth}, {3, kHeight}, {2, kWidth}})
        y.values.push_back(boxes[i + static_cast<size_t>(at)] / (length - 1));
  }
  return y;
}

void expect_right(const Case& c, const Tensor& scores, const Tensor& deltas) {
  const Tensor y = expected(c, scores, deltas);
  for (const char* const plugin : {"Proposal", "ProposalDynamic"})
    expect_outputs(plugin, "1", attributes(c), {scores, deltas}, {y});
}

TEST(Proposal, KeepsTheBestThatDoNotOverlap) { expect_right({}, scores(), deltas()); }

TEST(Proposal, OfEqualScoresTheFirstWins) {
  Tensor equal = scores();
  for (double& score : equal.values) score = score > 0 ? 0.75 : 0.25;
  expect_right({}, equal, deltas());
}

/// Where nothing moves, boxes in the middle are exactly as large as their anchors.
TEST(Proposal, SmallBoxesComeLast) {
  expect_right({.iou_threshold = 2, .least_size = 14, .candidates = 1000, .most = 200}, scores(), deltas());
  Tensor still = deltas();
  for (double& delta : still.values) delta = 0;
  for (const float ratio : {0.25F, 4.0F})  // 4 x 16 or 16 x 4
    expect_right({.least_size = 4, .ratio = ratio, .most = 60}, scores(), still);
}

TEST(Proposal, HasZerosBehindTheLast) {
  const Case c{.iou_threshold = 0.1F, .candidates = 20, .most = 25};
  ASSERT_EQ(expected(c, scores(), deltas()).values.back(), 0);
  expect_right(c, scores(), deltas());
}

TEST(Proposal, SaysWhatIsWrong) {
  const auto error = [](const Case& c, int64_t channels) {
    return error_of("ProposalDynamic", "1", attributes(c), {scores(), noise({kImages, channels, kRows, kColumns}, 2)});
  };
  EXPECT_NE(error({}, 12).find("axis 1 of input 1 has to be 24 long, as 6 anchors need; it is 12"), std::string::npos);
  EXPECT_NE(error({.most = 3841}, 24).find("post_nms_top_n 3841"), std::string::npos);
  EXPECT_NE(error({.candidates = 0}, 24).find("pre_nms_top_n is 0"), std::string::npos);
  EXPECT_NE(error({.height = 1}, 24).find("input_height is 1"), std::string::npos);
  EXPECT_NE(error({.ratio = 0}, 24).find("anchor_ratios has 3 numbers; one at least is needed, and all above 0"),
            std::string::npos);
  EXPECT_NE(error_of("Proposal", "1", Attributes(), {scores(), deltas()}).find("field 'input_height' is missing"),
            std::string::npos);
  EXPECT_NE(error_of("Proposal", "1", attributes({}), {noise({6, 5, 7}, 1), deltas()})
                .find("input 0 has rank 3; 4 is needed"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
