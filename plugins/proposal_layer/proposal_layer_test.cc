#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2;
constexpr int32_t kHeight = 40, kWidth = 56;

Attributes attributes(int32_t candidates, int32_t keep, std::vector<int32_t> image = {3, kHeight, kWidth}) {
  return Attributes()
      .set("prenms_topk", std::vector<int32_t>{candidates})
      .set("keep_topk", std::vector<int32_t>{keep})
      .set("iou_threshold", std::vector<float>{0.6F})
      .set("image_size", std::move(image));
}

std::vector<Box> anchors() {
  std::vector<Box> all;
  for (int level = 2; level <= 6; ++level)
    for (int y = 0; y < kHeight; y += 1 << level)
      for (int x = 0; x < kWidth; x += 1 << level)
        for (const double ratio : {0.5, 1.0, 2.0}) {
          const double h = (8 << level) / std::sqrt(ratio), w = (8 << level) * std::sqrt(ratio);
          all.push_back({(y - h / 2) / (kHeight - 1), (x - w / 2) / (kWidth - 1), (y + h / 2 - 1) / (kHeight - 1),
                         (x + w / 2 - 1) / (kWidth - 1)});
        }
  return all;
}

Box refined(const Box& anchor, const double* delta) {
  Box box{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const double size = anchor[axis + 2] - anchor[axis], half = size * std::exp(0.2 * delta[axis + 2]) / 2;
    const double centre = (anchor[axis] + anchor[axis + 2]) / 2 + 0.1 * delta[axis] * size;
    box[axis] = std::clamp(centre - half, 0.0, 1.0);
    box[axis + 2] = std::clamp(centre + half, 0.0, 1.0);
  }
  return box;
}

/// What a network says of the anchors: foregrounds in `score`.
struct Said {
  Tensor scores, deltas;
};
Said said(double (*score)(double)) {
  const auto count = static_cast<int64_t>(anchors().size());
  Said result{noise({kImages, count, 2, 1}, 1), noise({kImages, count, 4, 1}, 2)};
  for (size_t i = 1; i < result.scores.values.size(); i += 2) {
    result.scores.values[i] = score(result.scores.values[i]);
    result.scores.values[i - 1] = 5;  // the background's do not matter
  }
  return result;
}

Tensor expected(const Said& in, size_t candidates, int64_t keep) {
  const std::vector<Box> all = anchors();
  Tensor y{{kImages, keep, 4}, {}};
  for (size_t n = 0; n < kImages; ++n) {
    std::vector<Candidate> boxes;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t at = n * all.size() + i;
      boxes.push_back(
          {in.scores.values[2 * at + 1], 0, static_cast<int>(i), refined(all[i], &in.deltas.values[4 * at])});
    }
    std::ranges::stable_sort(boxes, std::ranges::greater{}, &Candidate::score);
    boxes.resize(std::min(boxes.size(), candidates));
    std::erase_if(boxes, [](const Candidate& box) { return box.score <= 0.01F; });
    const auto most = static_cast<int>(keep);
    for (const Candidate& box : suppress(boxes, {.iou_threshold = 0.6F, .most = most, .most_of_class = most}))
      y.values.insert(y.values.end(), box.box.begin(), box.box.end());
    y.values.resize((n + 1) * static_cast<size_t>(keep) * 4);
  }
  return y;
}

/// So many rows of the first image are not 0.
int64_t found(const Tensor& y) {
  int64_t count = 0;
  for (int64_t i = 0; i < y.extents[1]; ++i) count += y.values[static_cast<size_t>(4 * i + 3)] != 0;
  return count;
}

TEST(ProposalLayer, KeepsTheBestThatDoNotOverlap) {
  const Said in = said([](double x) { return (x + 1) / 2; });
  const Tensor y = expected(in, 100, 20);
  ASSERT_EQ(found(y), 20);
  expect_outputs("ProposalLayer_TRT", "1", attributes(100, 20), {in.scores, in.deltas}, {y}, 1e-4);
}

TEST(ProposalLayer, HasZerosBehindTheLast) {  // more rows than candidates, and than anchors
  const Said in = said([](double x) { return (x + 1) / 2; });
  const Tensor y = expected(in, 30, 40);
  ASSERT_LT(found(y), 30);
  expect_outputs("ProposalLayer_TRT", "1", attributes(30, 40), {in.scores, in.deltas}, {y}, 1e-4);
  expect_outputs("ProposalLayer_TRT", "1", attributes(1024, 1100), {in.scores, in.deltas}, {expected(in, 1024, 1100)},
                 1e-4);
}

TEST(ProposalLayer, ScoresOfAHundredthAreNone) {
  const Said in = said([](double x) { return x > 0.8 ? x : 0.01F; });
  expect_outputs("ProposalLayer_TRT", "1", attributes(1024, 300), {in.scores, in.deltas}, {expected(in, 1024, 300)},
                 1e-4);
  const Said none = said([](double) { return 0.0; });
  const Tensor zeros = expected(none, 100, 10);
  ASSERT_EQ(found(zeros), 0);
  expect_outputs("ProposalLayer_TRT", "1", attributes(100, 10), {none.scores, none.deltas}, {zeros}, 1e-4);
}

TEST(ProposalLayer, OfEqualScoresTheFirstWins) {
  const Said in = said([](double x) { return x > 0 ? 0.75 : 0.5; });
  expect_outputs("ProposalLayer_TRT", "1", attributes(200, 50), {in.scores, in.deltas}, {expected(in, 200, 50)}, 1e-4);
}

TEST(ProposalLayer, SaysWhatIsWrong) {
  const auto error = [](const Attributes& given, int64_t boxes) {
    return error_of("ProposalLayer_TRT", "1", given, {noise({1, boxes, 2, 1}, 1), noise({1, boxes, 4, 1}, 2)});
  };
  EXPECT_NE(error(attributes(100, 10), 12)
                .find("axis 1 of input 0 has to be 576 long, as many as the image has anchors; it is 12"),
            std::string::npos)
      << error(attributes(100, 10), 12);
  EXPECT_NE(error(attributes(1025, 10), 12).find("prenms_topk is 1025; 1 to 1024 are possible"), std::string::npos);
  EXPECT_NE(error(attributes(100, 0), 12).find("keep_topk is 0"), std::string::npos);
  EXPECT_NE(error(attributes(100, 10, {1, 40, 56}), 12).find("1 channels"), std::string::npos);
  EXPECT_NE(error(attributes(100, 10, {3, 8192, 8192}), 12)
                .find("image_size is 3, 8192, 8192; sides of 2 or more with 4194304 anchors at most"),
            std::string::npos);
  EXPECT_NE(error(attributes(100, 10, {3, 1, 56}), 12).find("image_size is 3, 1, 56"), std::string::npos);
  EXPECT_NE(error(Attributes(), 12).find("field 'prenms_topk' is missing"), std::string::npos);
  // The image of networks that say nothing of it has 1024 rows and columns.
  const Attributes of_any = Attributes()
                                .set("prenms_topk", std::vector<int32_t>{8})
                                .set("keep_topk", std::vector<int32_t>{8})
                                .set("iou_threshold", std::vector<float>{0.5F});
  EXPECT_NE(error(of_any, 12).find("has to be 261888 long, as many as the image has anchors"), std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
