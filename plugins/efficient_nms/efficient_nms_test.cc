#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

constexpr int kImages = 2, kBoxes = 40, kClasses = 3;

Tensor scores_of(int seed) {
  Tensor scores = noise({kImages, kBoxes, kClasses}, seed);
  for (double& value : scores.values) value = 0.5 + value / 2;
  return scores;
}

/// Candidates of an image whose score is `threshold` or more.
std::vector<Candidate> candidates_of(const Tensor& boxes, const Tensor& scores, int image, double threshold,
                                     int background = -1) {
  const auto places = static_cast<int>(boxes.extents[2]);
  std::vector<Candidate> all;
  for (int c = 0; c < kClasses; ++c)
    for (int b = 0; b < kBoxes; ++b) {
      const int place = image * kBoxes + b;
      const double score = scores.values[static_cast<size_t>(place * kClasses + c)];
      if (score >= threshold && c != background)
        all.push_back({score, c, b, box_at(boxes, static_cast<size_t>(place * places + (places == 1 ? 0 : c)))});
    }
  return all;
}

/// The plugin's four outputs.
std::vector<Tensor> outputs_of(const std::vector<std::vector<Candidate>>& images, int64_t most) {
  const auto count = static_cast<int64_t>(images.size());
  std::vector<Tensor> y = {ints({count, 1}, {}), {{count, most, 4}, {}}, {{count, most}, {}}, ints({count, most}, {})};
  for (const auto& image : images) {
    y[0].values.push_back(static_cast<double>(image.size()));
    for (size_t k = 0; k < static_cast<size_t>(most); ++k) {
      const Candidate one = k < image.size() ? image[k] : Candidate{0, 0, 0, {}};
      y[1].values.insert(y[1].values.end(), one.box.begin(), one.box.end());
      y[2].values.push_back(one.score);
      y[3].values.push_back(one.box_class);
    }
  }
  return y;
}

struct Case {
  float score_threshold = 0.4F, iou_threshold = 0.5F;
  int32_t most = 20, background = -1, agnostic = 0, places = 1;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("score_threshold", std::vector<float>{c.score_threshold})
      .set("iou_threshold", std::vector<float>{c.iou_threshold})
      .set("max_output_boxes", std::vector<int32_t>{c.most})
      .set("background_class", std::vector<int32_t>{c.background})
      .set("score_activation", std::vector<int32_t>{0})
      .set("class_agnostic", std::vector<int32_t>{c.agnostic})
      .set("box_coding", std::vector<int32_t>{0});
}

std::vector<Tensor> expected(const Case& c, const Tensor& boxes, const Tensor& scores) {
  std::vector<std::vector<Candidate>> images;
  for (int n = 0; n < kImages; ++n)
    images.push_back(
        suppress(candidates_of(boxes, scores, n, c.score_threshold, c.background), {.iou_threshold = c.iou_threshold,
                                                                                    .touches_at_threshold = true,
                                                                                    .ignores_classes = c.agnostic != 0,
                                                                                    .most = c.most,
                                                                                    .most_of_class = c.most}));
  return outputs_of(images, c.most);
}

TEST(EfficientNms, KeepsTheBestOfEachClass) {
  const Tensor scores = scores_of(7);
  for (const Case& c : {Case{}, Case{.most = 5}, Case{.background = 1}, Case{.agnostic = 1}, Case{.places = kClasses},
                        Case{.agnostic = 1, .places = kClasses}, Case{.score_threshold = 2}, Case{.most = 200}}) {
    const Tensor boxes = overlapping_boxes(kImages, kBoxes, c.places, 3);
    expect_outputs("EfficientNMS_TRT", "1", attributes(c), {boxes, scores}, expected(c, boxes, scores), 1e-5, kAllWays);
  }
}

/// Any two boxes overlap by 0 or more: the best of a class is its only one, whatever the form of the plugin.
TEST(EfficientNms, KeepsOneOfAClassWhereNoOverlapIsAllowed) {
  const Tensor scores = scores_of(7), boxes = overlapping_boxes(kImages, kBoxes, 1, 3);
  for (const Case& c : {Case{.iou_threshold = 0}, Case{.iou_threshold = 0, .agnostic = 1}}) {
    const std::vector<Tensor> y = expected(c, boxes, scores);
    EXPECT_EQ(y[0].values, std::vector<double>(kImages, c.agnostic ? 1 : kClasses));
    expect_outputs("EfficientNMS_TRT", "1", attributes(c), {boxes, scores}, y);
  }
  const Attributes tf = Attributes()
                            .set("max_total_size", std::vector<int32_t>{20})
                            .set("iou_threshold", std::vector<float>{0})
                            .set("score_threshold", std::vector<float>{0.4F});
  Tensor flat = boxes;
  flat.extents = {kImages, kBoxes, 4};
  std::vector<Tensor> y = expected({.iou_threshold = 0}, boxes, scores);
  expect_outputs("EfficientNMS_Explicit_TF_TRT", "1", tf, {flat, scores}, y);
  y[0].extents = {kImages};
  expect_outputs("EfficientNMS_Implicit_TF_TRT", "1", tf, {flat, scores}, y);
}

TEST(EfficientNms, TakesBoxesOfRankThree) {
  const Tensor scores = scores_of(8), boxes = overlapping_boxes(kImages, kBoxes, 1, 4);
  Tensor flat = boxes;
  flat.extents = {kImages, kBoxes, 4};
  expect_outputs("EfficientNMS_TRT", "1", attributes({}), {flat, scores}, expected({}, boxes, scores));
}

TEST(EfficientNms, OfNoBoxesHasNoDetections) {
  const Tensor scores{{kImages, 0, kClasses}, {}};
  const std::vector<std::vector<Candidate>> none(kImages);
  for (const Case& c :
       {Case{}, Case{.agnostic = 1}, Case{.places = kClasses}, Case{.agnostic = 1, .places = kClasses}}) {
    const Tensor boxes{{kImages, 0, c.places, 4}, {}, nv::DataType::kFLOAT, c.places > 1 ? 2 : 0};
    expect_outputs("EfficientNMS_TRT", "1", attributes(c), {boxes, scores}, outputs_of(none, c.most));
  }
  const Attributes tf = Attributes()
                            .set("max_output_size_per_class", std::vector<int32_t>{4})
                            .set("max_total_size", std::vector<int32_t>{20})
                            .set("iou_threshold", std::vector<float>{0.5F})
                            .set("score_threshold", std::vector<float>{0.4F});
  const Tensor boxes{{kImages, 0, 4}, {}};
  std::vector<Tensor> y = outputs_of(none, 20);
  expect_outputs("EfficientNMS_Explicit_TF_TRT", "1", tf, {boxes, scores}, y);
  y[0].extents = {kImages};
  expect_outputs("EfficientNMS_Implicit_TF_TRT", "1", tf, {boxes, scores}, y);
}

TEST(EfficientNms, HasASigmoid) {
  const Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 5), raw = noise({kImages, kBoxes, kClasses}, 9);
  Tensor scores = raw;
  for (double& value : scores.values) value = 1 / (1 + std::exp(-value));
  const Attributes with_sigmoid = Attributes()
                                      .set("score_threshold", std::vector<float>{0.55F})
                                      .set("iou_threshold", std::vector<float>{0.5F})
                                      .set("max_output_boxes", std::vector<int32_t>{20})
                                      .set("score_activation", std::vector<int32_t>{1});
  expect_outputs("EfficientNMS_TRT", "1", with_sigmoid, {boxes, raw},
                 expected({.score_threshold = 0.55F}, boxes, scores));
}

TEST(EfficientNms, TakesHalves) {
  const Tensor boxes = in_halves(overlapping_boxes(kImages, kBoxes, 1, 3)), scores = in_halves(scores_of(7));
  expect_outputs("EfficientNMS_TRT", "1", attributes({}), {boxes, scores}, in_halves(expected({}, boxes, scores)));
}

TEST(EfficientNms, TakesScoresWithAnExtentOfOneBehind) {
  const Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 3), scores = scores_of(7);
  Tensor four = scores;
  four.extents.push_back(1);
  expect_outputs("EfficientNMS_TRT", "1", attributes({}), {boxes, four}, expected({}, boxes, scores));
  four.extents = {kImages, kBoxes, 1, kClasses};
  EXPECT_NE(error_of("EfficientNMS_TRT", "1", attributes({}), {boxes, four}).find("axis 3 of input 1 has to be 1 long"),
            std::string::npos);
}

TEST(EfficientNms, DecodesCentresAndSizes) {
  const Tensor corners = overlapping_boxes(kImages, kBoxes, 1, 6), scores = scores_of(10);
  Tensor boxes = corners, anchors = noise({1, kBoxes, 4}, 11), relative = corners;
  boxes.extents = relative.extents = {kImages, kBoxes, 4};
  for (double& value : anchors.values) value = 0.5 + value / 4;
  for (size_t i = 0; i < boxes.values.size(); i += 4)
    for (size_t axis = 0; axis < 2; ++axis) {
      const double low = corners.values[i + axis], high = corners.values[i + 2 + axis];
      const double anchor = anchors.values[i % anchors.values.size() + axis],
                   size = anchors.values[i % anchors.values.size() + 2 + axis];
      boxes.values[i + axis] = (low + high) / 2;
      boxes.values[i + 2 + axis] = high - low;
      relative.values[i + axis] = ((low + high) / 2 - anchor) / size;
      relative.values[i + 2 + axis] = std::log((high - low) / size);
    }
  const Attributes centre = Attributes()
                                .set("score_threshold", std::vector<float>{0.4F})
                                .set("iou_threshold", std::vector<float>{0.5F})
                                .set("max_output_boxes", std::vector<int32_t>{20})
                                .set("box_coding", std::vector<int32_t>{1});
  expect_outputs("EfficientNMS_TRT", "1", centre, {boxes, scores}, expected({}, corners, scores));
  expect_outputs("EfficientNMS_TRT", "1", centre, {relative, scores, anchors}, expected({}, corners, scores), 1e-4);
}

TEST(EfficientNms, AddsAnchorsToCorners) {
  const Tensor corners = overlapping_boxes(kImages, kBoxes, 1, 12), scores = scores_of(13);
  Tensor anchors = overlapping_boxes(kImages, kBoxes, 1, 14), relative = corners;
  anchors.extents = relative.extents = {kImages, kBoxes, 4};
  // Relative corners are in order, too: these are halves of the boxes, and the anchors the other halves.
  for (size_t i = 0; i < relative.values.size(); ++i) relative.values[i] = anchors.values[i] = corners.values[i] / 2;
  expect_outputs("EfficientNMS_TRT", "1", attributes({}), {relative, scores, anchors}, expected({}, corners, scores),
                 1e-4);
}

TEST(EfficientNms, OfOnnxGivesIndices) {
  const Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 15), scores = scores_of(16);
  constexpr int kMost = 12;
  for (const double threshold : {0.9, 0.98, 2.0}) {
    Tensor y = ints({kImages * kMost, 3}, {});
    for (int n = 0; n < kImages; ++n)
      for (const Candidate& one : suppress(candidates_of(boxes, scores, n, static_cast<float>(threshold)),
                                           {.touches_at_threshold = true, .most = kMost, .most_of_class = kMost}))
        for (const int value : {n, one.box_class, one.index}) y.values.push_back(value);
    while (y.values.size() < kImages * kMost * 3)
      y.values.push_back(y.values.size() >= 3 ? y.values[y.values.size() - 3] : -1);
    expect_outputs("EfficientNMS_ONNX_TRT", "1",
                   Attributes()
                       .set("score_threshold", std::vector<float>{static_cast<float>(threshold)})
                       .set("iou_threshold", std::vector<float>{0.5F})
                       .set("max_output_boxes_per_class", std::vector<int32_t>{kMost})
                       .set("center_point_box", std::vector<int32_t>{0}),
                   {boxes, scores}, {y});
  }
}

TEST(EfficientNms, OfTensorFlowLimitsClassesAndClips) {
  Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 17);
  for (double& value : boxes.values) value = 1.5 * value - 0.2;
  const Tensor scores = scores_of(18);
  for (const int32_t pads : {0, 1}) {
    std::vector<std::vector<Candidate>> images;
    for (int n = 0; n < kImages; ++n) {
      images.push_back(suppress(candidates_of(boxes, scores, n, 0.4F),
                                {.touches_at_threshold = true, .most = 20, .most_of_class = 4}));
      for (Candidate& one : images.back())
        for (double& value : one.box) value = std::clamp(value, 0.0, 1.0);
    }
    const Attributes tf = Attributes()
                              .set("max_output_size_per_class", std::vector<int32_t>{4})
                              .set("max_total_size", std::vector<int32_t>{20})
                              .set("iou_threshold", std::vector<float>{0.5F})
                              .set("score_threshold", std::vector<float>{0.4F})
                              .set("pad_per_class", std::vector<int32_t>{pads})
                              .set("clip_boxes", std::vector<int32_t>{1});
    std::vector<Tensor> y = outputs_of(images, pads ? 4 * kClasses : 20);
    expect_outputs("EfficientNMS_Explicit_TF_TRT", "1", tf, {boxes, scores}, y);
    y[0].extents = {kImages};
    expect_outputs("EfficientNMS_Implicit_TF_TRT", "1", tf, {boxes, scores}, y);
  }
}

TEST(EfficientNms, RefusesCodingsThatAreNone) {
  const Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 3), scores = scores_of(7);
  for (const char* name : {"box_coding", "score_activation", "class_agnostic"}) {
    const Attributes plain = Attributes()
                                 .set("score_threshold", std::vector<float>{0.4F})
                                 .set("iou_threshold", std::vector<float>{0.5F})
                                 .set("max_output_boxes", std::vector<int32_t>{12})
                                 .set(name, std::vector<int32_t>{2});
    const std::string told = error_of("EfficientNMS_TRT", "1", plain, {boxes, scores});
    EXPECT_NE(told.find(str(name, " is 2; 0 and 1 are possible")), std::string::npos) << told;
  }
  const Attributes onnx = Attributes()
                              .set("score_threshold", std::vector<float>{0.4F})
                              .set("iou_threshold", std::vector<float>{0.5F})
                              .set("max_output_boxes_per_class", std::vector<int32_t>{12})
                              .set("center_point_box", std::vector<int32_t>{2});
  EXPECT_NE(error_of("EfficientNMS_ONNX_TRT", "1", onnx, {boxes, scores}).find("center_point_box is 2"),
            std::string::npos);
}

TEST(EfficientNms, RefusesWhatDoesNotFit) {
  const Tensor boxes = overlapping_boxes(kImages, kBoxes, 1, 3), scores = scores_of(7);
  EXPECT_NE(error_of("EfficientNMS_TRT", "1", attributes({.most = 0}), {boxes, scores})
                .find("the greatest number of boxes is 0; 1 to 3840 are possible"),
            std::string::npos);
  EXPECT_NE(error_of("EfficientNMS_TRT", "1", attributes({.score_threshold = NAN}), {boxes, scores})
                .find("score_threshold is nan"),
            std::string::npos);
  EXPECT_NE(
      error_of("EfficientNMS_TRT", "1", attributes({.iou_threshold = 2}), {boxes, scores}).find("iou_threshold is 2"),
      std::string::npos);
  EXPECT_NE(error_of("EfficientNMS_TRT", "1", attributes({}), {scores, scores})
                .find("axis 2 of input 0 has to be 4 long, as many numbers as a box has; it is 3"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
