#include "library/mask_rcnn.h"

#include <algorithm>
#include <cmath>

namespace kiln::plugins {

Result<MaskRcnnSettings> MaskRcnnSettings::of(const Fields& fields) {
  constexpr double kLeastScore = 0.01;  // whatever the threshold is, a score is above that
  MaskRcnnSettings settings;
  Suppression& how = settings.how;
  settings.num_classes = TRY(fields.integer("num_classes"));
  how.most = how.most_of_class = TRY(fields.integer("keep_topk"));
  const double score_threshold = TRY(fields.number("score_threshold"));
  TRY(require(!std::isnan(score_threshold), "score_threshold is ", score_threshold));
  how.score_threshold = std::max(just_below(score_threshold), kLeastScore);
  how.iou_threshold = TRY(fields.number("iou_threshold"));
  how.background_class = 0;
  TRY(require(settings.num_classes > 0 && how.most > 0 && how.most <= kMostOfTopK && how.iou_threshold >= 0,
              "num_classes is ", settings.num_classes, ", keep_topk ", how.most, ", iou_threshold ",
              how.iou_threshold));
  how.iou_threshold = std::min(how.iou_threshold, 1.0);
  return settings;
}

std::vector<nv::PluginField> MaskRcnnSettings::fields() {
  return {field("num_classes", kInt), field("keep_topk", kInt), field("score_threshold", kFloat),
          field("iou_threshold", kFloat)};
}

Result<std::vector<Shape>> MaskRcnnDetection::output_shapes(std::span<const Shape> inputs) const {
  TRY(require_rank(inputs, 0, 5));
  TRY(require_rank(inputs, 1, 5));
  TRY(require_rank(inputs, 2, 3));
  const int64_t classes = settings_.num_classes;
  TRY(require_extent(inputs, 0, 2, 4 * classes, "4 times num_classes"));
  TRY(require_extent(inputs, 1, 2, classes, "as num_classes says"));
  TRY(require_extent(inputs, 2, 2, 4, "for two corners"));
  for (const size_t i : {0U, 1U}) {
    for (const size_t axis : {0U, 1U}) TRY(require_equal(inputs, 2, axis, i, axis));
    for (const size_t axis : {3U, 4U}) TRY(require_extent(inputs, i, axis, 1, ""));
  }
  return std::vector<Shape>{{inputs[2][0], settings_.how.most, 6}};
}

std::vector<Value> MaskRcnnDetection::add_layers(Layers& layers, std::span<const Value> inputs) const {
  const Value& regions = inputs[2];
  const Extent batch = regions.extent(0), count = regions.extent(1);
  const int64_t num_classes = settings_.num_classes;
  const Value classes = reshape(layers.iota(num_classes, nv::DataType::kINT32), {1, 1, num_classes});
  Value all = reshape(inputs[1], {batch, count, num_classes});
  if (background_ == Background::kIgnored)
    all = select(classes == 0.0, layers.scalar(kLowestScore, nv::DataType::kFLOAT), all);
  const TopK best = top_k(all, 1, 2);
  const Value deltas = reshape(inputs[0], {batch, count, num_classes, 4});
  const Value boxes = refined(regions, squeeze(gather_nd(deltas, unsqueeze(best.indices, {3}), 2), {2}));
  // Only the best class of a region is a candidate.
  const Value scores = select(best.indices == classes, best.values, kLowestScore);
  const Detections found = detect(boxes, boxes, scores, settings_.how);
  const Value label = select(found.valid, found.classes, layers.scalar(-1, nv::DataType::kINT32, 2));
  return {concat({found.boxes, unsqueeze(label.f32(), {2}), unsqueeze(found.scores, {2})}, 2)};
}

}  // namespace kiln::plugins
