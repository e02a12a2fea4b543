#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kImages = 2, kPriors = 12, kClasses = 3, kKept = 8;

struct Case {
  int32_t code = 1, shares_location = 1, encoded = 0, shares_priors = 1, normalized = 1, prior_images = 1;
  bool is_half = false;
  std::vector<int32_t> order = {0, 1, 2};
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("shareLocation", std::vector<int32_t>{c.shares_location})
      .set("varianceEncodedInTarget", std::vector<int32_t>{c.encoded})
      .set("backgroundLabelId", std::vector<int32_t>{0})
      .set("numClasses", std::vector<int32_t>{kClasses})
      .set("topK", std::vector<int32_t>{kPriors})
      .set("keepTopK", std::vector<int32_t>{kKept})
      .set("confidenceThreshold", std::vector<float>{0.1F})
      .set("nmsThreshold", std::vector<float>{0.4F})
      .set("inputOrder", c.order)
      .set("confSigmoid", std::vector<int32_t>{0})
      .set("isNormalized", std::vector<int32_t>{c.normalized})
      .set("codeType", std::vector<int32_t>{c.code})
      .set("isBatchAgnostic", std::vector<int32_t>{c.shares_priors});
}

Box decoded(const Case& c, const double* l, const double* prior, const double* variance) {
  std::array<double, 4> v{1, 1, 1, 1};
  if (!c.encoded || c.code == 3) std::copy_n(variance, 4, v.begin());
  const double w = prior[2] - prior[0], h = prior[3] - prior[1];
  if (c.code == 0)
    return {prior[0] + v[0] * l[0], prior[1] + v[1] * l[1], prior[2] + v[2] * l[2], prior[3] + v[3] * l[3]};
  if (c.code == 2)
    return {prior[0] + v[0] * l[0] * w, prior[1] + v[1] * l[1] * h, prior[2] + v[2] * l[2] * w,
            prior[3] + v[3] * l[3] * h};
  const int x = c.code == 3 ? 1 : 0;  // where l has its horizontal numbers
  const double cx = (prior[0] + prior[2]) / 2 + v[0] * l[x] * w, cy = (prior[1] + prior[3]) / 2 + v[1] * l[1 - x] * h;
  const double bw = w * std::exp(v[2] * l[2 + x]), bh = h * std::exp(v[3] * l[3 - x]);
  return {cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2};
}

class SsdNms : public ::testing::TestWithParam<const char*> {};

TEST_P(SsdNms, DecodesAndKeepsTheBest) {
  for (const Case& c :
       {Case{}, Case{.code = 0}, Case{.code = 2}, Case{.code = 3}, Case{.encoded = 1}, Case{.shares_location = 0},
        Case{.shares_priors = 0, .prior_images = kImages}, Case{.prior_images = kImages}, Case{.normalized = 0},
        Case{.order = {2, 0, 1}}, Case{.is_half = true}}) {
    const int64_t places = c.shares_location ? 1 : kClasses, prior_images = c.prior_images;
    // The dynamic one takes each image's priors where there are any, whatever isBatchAgnostic says.
    const bool has_own = prior_images > 1 && (!c.shares_priors || std::string_view(GetParam()) == "NMSDynamic_TRT");
    const Tensor loc = noise({kImages, kPriors * places * 4, 1, 1}, 1),
                 conf = noise({kImages, kPriors * kClasses, 1, 1}, 2);
    const Tensor corners = overlapping_boxes(prior_images, kPriors, 1, 3);
    Tensor prior{{prior_images, 2, kPriors * 4, 1}, {}};
    for (int64_t n = 0; n < prior_images; ++n) {
      const auto first = corners.values.begin() + n * kPriors * 4;
      prior.values.insert(prior.values.end(), first, first + kPriors * 4);
      for (int64_t i = 0; i < kPriors * 4; ++i) prior.values.push_back(i % 4 < 2 ? 0.1 : 0.2);
    }
    if (c.is_half) prior = in_halves(prior);  // the others' values are some that halves have
    Tensor y{{kImages, 1, kKept, 7}, {}}, count = ints({kImages, 1, 1, 1}, {});
    for (int64_t n = 0; n < kImages; ++n) {
      std::vector<Candidate> all;
      for (int64_t k = 1; k < kClasses; ++k)  // class 0 is the background
        for (int64_t r = 0; r < kPriors; ++r) {
          const double score = conf.values[static_cast<size_t>((n * kPriors + r) * kClasses + k)];
          const int64_t at = ((n * kPriors + r) * places + (places == 1 ? 0 : k)) * 4;
          const int64_t from = (has_own ? n : 0) * kPriors * 8 + r * 4;
          if (score > 0.1F)
            all.push_back({score, static_cast<int>(k), static_cast<int>(r),
                           decoded(c, &loc.values[static_cast<size_t>(at)], &prior.values[static_cast<size_t>(from)],
                                   &prior.values[static_cast<size_t>(from + kPriors * 4)])});
        }
      const std::vector<Candidate> kept = suppress(
          all, {.iou_threshold = 0.4F, .most = kKept, .most_of_class = kKept, .larger_by = c.normalized ? 0.0 : 1.0});
      count.values.push_back(static_cast<double>(kept.size()));
      for (size_t i = 0; i < kKept; ++i) {
        const Candidate one = i < kept.size() ? kept[i] : Candidate{0, -1, 0, {}};
        for (const double value : {static_cast<double>(n), static_cast<double>(one.box_class), one.score})
          y.values.push_back(value);
        for (const double value : one.box) y.values.push_back(std::clamp(value, 0.0, 1.0));
      }
    }
    std::vector<Tensor> inputs(3);
    for (size_t i = 0; i < 3; ++i) inputs[static_cast<size_t>(c.order[i])] = i == 0 ? loc : i == 1 ? conf : prior;
    if (c.is_half)
      expect_outputs(GetParam(), "1", attributes(c), in_halves(inputs), {in_halves(y), count}, kHalfTolerance);
    else
      expect_outputs(GetParam(), "1", attributes(c), inputs, {y, count}, 1e-4);
  }
}

TEST_P(SsdNms, RefusesWhatItDoesNotHave) {
  const Tensor x = noise({1, 4, 1, 1}, 1);
  for (const char* const field : {"confidenceThreshold", "nmsThreshold"}) {
    const std::string error = error_of(GetParam(), "1", attributes({}).set(field, std::vector<float>{NAN}), {x, x, x});
    EXPECT_NE(error.find(std::string(field) + (field[0] == 'c' ? " is nan" : " nan")), std::string::npos) << error;
  }
  EXPECT_NE(error_of(GetParam(), "1", attributes({.code = 4}), {x, x, x}).find("codeType is 4"), std::string::npos);
  EXPECT_NE(error_of(GetParam(), "1", attributes({.order = {0, 1, 1}}), {x, x, x}).find("inputOrder is no order"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Dynamic, SsdNms, ::testing::Values("NMS_TRT", "NMSDynamic_TRT"));

}  // namespace
}  // namespace kiln::plugins::testing
