#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2;
constexpr int kMaps = 5;

struct Case {
  int32_t candidates = 60, most = 12;
  float least_score = 0.3F, iou_threshold = 0.6F;
  int32_t height = 40, width = 72;
  nv::DataType type = nv::DataType::kFLOAT;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("prenms_topk", std::vector<int32_t>{c.candidates})
      .set("keep_topk", std::vector<int32_t>{c.most})
      .set("fg_threshold", std::vector<float>{c.least_score})
      .set("iou_threshold", std::vector<float>{c.iou_threshold})
      .set("image_size", std::vector<int32_t>{3, c.height, c.width});
}

std::vector<Box> anchors(const Case& c, int map) {
  std::vector<Box> all;
  const int stride = 4 << map;
  for (int y = stride / 2; y < c.height; y += stride)
    for (int x = stride / 2; x < c.width; x += stride)
      for (const auto& [h, w] : {std::pair(4.0, 4.0), {2.8, 5.6}, {5.6, 2.8}})
        all.push_back({y - h * stride, x - w * stride, y + h * stride, x + w * stride});
  return all;
}

Box refined(const Case& c, const Box& anchor, const double* delta) {
  Box box{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const double last = (axis == 0 ? c.height : c.width) - 1, size = anchor[axis + 2] - anchor[axis] + 1;
    const double grown = size * std::min(std::exp(delta[axis + 2]), 1000.0 / 16);
    const double begin = anchor[axis] + size / 2 + delta[axis] * size - grown / 2;
    box[axis] = std::clamp(begin, 0.0, last);
    box[axis + 2] = std::clamp(begin + grown - 1, 0.0, last);
  }
  return box;
}

/// Deltas and scores of each map.
std::vector<Tensor> said(const Case& c) {
  std::vector<Tensor> inputs;
  for (int map = 0; map < kMaps; ++map) {
    const auto count = static_cast<int64_t>(anchors(c, map).size());
    inputs.push_back(noise({kImages, count, 4, 1}, 2 * map + 1, c.type));
    inputs.push_back(noise({kImages, count, 1, 1}, 2 * map + 2, c.type));
    for (double& score : inputs.back().values) score = (score + 1) / 2;
  }
  return inputs;
}

/// The best boxes of image n in one map.
std::vector<Candidate> best_of(const Case& c, const std::vector<Tensor>& in, int map, size_t n) {
  const std::vector<Box> all = anchors(c, map);
  const std::vector<double>&deltas = in[static_cast<size_t>(2 * map)].values,
        &scores = in[static_cast<size_t>(2 * map + 1)].values;
  std::vector<Candidate> boxes;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t at = n * all.size() + i;
    boxes.push_back({scores[at], 0, static_cast<int>(i), refined(c, all[i], &deltas[4 * at])});
  }
  std::ranges::stable_sort(boxes, std::ranges::greater{}, &Candidate::score);
  boxes.resize(std::min(boxes.size(), static_cast<size_t>(c.candidates)));
  std::erase_if(boxes, [&](const Candidate& box) { return box.score < c.least_score; });
  return suppress(boxes, {.iou_threshold = c.iou_threshold, .most = c.most, .most_of_class = c.most});
}

Tensor expected(const Case& c, const std::vector<Tensor>& in) {
  Tensor y{{kImages, c.most, 4}, {}, c.type};
  for (size_t n = 0; n < kImages; ++n) {
    std::vector<Candidate> all;
    for (int map = 0; map < kMaps; ++map) {
      const std::vector<Candidate> some = best_of(c, in, map, n);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &Candidate::score);
    all.resize(static_cast<size_t>(c.most), Candidate{0, 0, 0, {}});
    for (const Candidate& one : all) y.values.insert(y.values.end(), one.box.begin(), one.box.end());
  }
  return y;
}

void expect_right(const Case& c, const std::vector<Tensor>& in, double tolerance = 1e-4) {
  expect_outputs("MultilevelProposeROI_TRT", "1", attributes(c), in, {expected(c, in)}, tolerance);
}

TEST(MultilevelProposeRoi, KeepsTheBestOfAllMaps) { expect_right({}, said({})); }

TEST(MultilevelProposeRoi, TakesHalves) {
  const Case c{.type = nv::DataType::kHALF};
  expect_right(c, said(c), 1e-3);
}

TEST(MultilevelProposeRoi, LooksAtTheBestAlone) { expect_right({.candidates = 5, .most = 30}, said({})); }

TEST(MultilevelProposeRoi, HasZerosBehindTheLast) {
  const Case c{.candidates = 1000, .most = 60, .least_score = 0.9F, .iou_threshold = 0.1F};
  ASSERT_EQ(expected(c, said(c)).values.back(), 0);
  expect_right(c, said(c));
}

/// A score that is the threshold stays; of equal ones the first does.
TEST(MultilevelProposeRoi, OfEqualScoresTheFirstWins) {
  const Case c{.candidates = 40, .most = 80, .least_score = 0.25F};
  std::vector<Tensor> in = said(c);
  for (size_t map = 0; map < kMaps; ++map)
    for (double& score : in[2 * map + 1].values) score = score > 0.9 ? 0.5 : score > 0.2 ? 0.25 : 0.125;
  expect_right(c, in);
}

/// Changes the deltas of an anchor of the finest map.
template <class F>
std::vector<Tensor> with_deltas(const Case& c, F change) {
  std::vector<Tensor> in = said(c);
  const std::vector<Box> all = anchors(c, 0);
  for (size_t i = 0; i < in[0].values.size(); i += 4) change(all[i / 4 % all.size()], &in[0].values[i]);
  for (double& score : in[1].values) score = 0.5 + score / 2;
  return in;
}

/// The three anchors of a place become the same half of a pixel, which ends before it begins.
TEST(MultilevelProposeRoi, BoxesOfLessThanAPixelOverlapNothing) {
  const Case c{.most = 60};
  const std::vector<Tensor> in = with_deltas(c, [](const Box& anchor, double* delta) {
    for (size_t axis = 0; axis < 2; ++axis) {
      delta[axis] = 0;
      delta[axis + 2] = std::log(0.5 / (anchor[axis + 2] - anchor[axis] + 1));
    }
  });
  const Tensor y = expected(c, in);
  int64_t ending_early = 0;
  for (size_t i = 0; i < y.values.size(); i += 4) ending_early += y.values[i] > y.values[i + 2];
  ASSERT_GT(ending_early, 50);
  expect_right(c, in);
}

/// Boxes so far above the image that their ends are within it, if they grow as much as they may.
TEST(MultilevelProposeRoi, BoxesGrowToALimit) {
  const std::vector<Tensor> in = with_deltas({}, [](const Box&, double* delta) {
    delta[0] = -31;
    delta[2] = 6;
  });
  expect_right({}, in, 1e-3);
}

/// More candidates than a TopK takes: 4896 anchors of the finest map.
TEST(MultilevelProposeRoi, LooksAt4096) {
  Case c{.candidates = 3840, .most = 3840, .least_score = 0, .height = 128, .width = 204};
  std::vector<Tensor> in = said(c);
  for (size_t map = 1; map < kMaps; ++map)
    for (double& score : in[2 * map + 1].values) score /= 16;  // so that the finest map decides
  const size_t fewer = best_of(c, in, 0, 0).size();
  c.candidates = 4096;
  ASSERT_GT(best_of(c, in, 0, 0).size(), fewer);
  expect_right(c, in, 2e-4);
}

TEST(MultilevelProposeRoi, SaysWhatIsWrong) {
  const auto error = [](const Case& c, const std::vector<Tensor>& in) {
    return error_of("MultilevelProposeROI_TRT", "1", attributes(c), in);
  };
  std::vector<Tensor> in = said({});
  in[3] = noise({kImages, 12, 1, 1}, 1);
  EXPECT_NE(error({}, in).find("axis 1 of input 3 has to be 135 long, as many as its map has anchors; it is 12"),
            std::string::npos)
      << error({}, in);
  in = said({});
  in[1].extents.pop_back();
  EXPECT_NE(error({}, in).find("input 1 has rank 3; 4 is needed"), std::string::npos);
  in.pop_back();
  EXPECT_NE(error({}, in).find("there are 9 inputs; it takes 10"), std::string::npos);
  EXPECT_NE(error({.candidates = 4097}, said({})).find("prenms_topk is 4097"), std::string::npos);
  EXPECT_NE(error({.most = 3841}, said({})).find("keep_topk 3841"), std::string::npos);
  EXPECT_NE(error({.least_score = -1}, said({})).find("fg_threshold is -1"), std::string::npos);
  EXPECT_NE(error({.height = 8192, .width = 8192}, said({})).find("with 4194304 anchors of a map at most"),
            std::string::npos);
  EXPECT_NE(error({.height = 32}, said({})).find("image_size is 3, 32, 72; sides of 33 or more"), std::string::npos);
  EXPECT_NE(error_of("MultilevelProposeROI_TRT", "1", Attributes(), said({})).find("field 'prenms_topk' is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
