// DetectionLayer_TRT, of Mask R-CNN: regions refined by their best class, and the best of them, without those that
// overlap better ones of their class by more than iou_threshold (intersection over union). Corners are y1, x1, y2, x2.
//   in   delta    f32 [N, B, C 4, 1, 1]: for each class dy, dx, log dh, log dw, of standard deviations 0.1 and 0.2
//        scores   f32 [N, B, C, 1, 1]; class 0 is the background
//        regions  f32 [N, B, 4], in 0 ... 1
//   out  y        f32 [N, keep_topk, 6]: corners, clipped to 0 ... 1, class, score; class -1 and 0 where there are
//   fewer fields  num_classes (C). keep_topk. score_threshold  scores below it go. iou_threshold
#include "library/detections.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr double kPlaceDeviation = 0.1, kSizeDeviation = 0.2;

class DetectionLayer final : public StandardPlugin {
 public:
  DetectionLayer(const Suppression& how, int64_t num_classes) : how_(how), num_classes_(num_classes) {}
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 5));
    TRY(require_rank(inputs, 1, 5));
    TRY(require_rank(inputs, 2, 3));
    TRY(require(inputs[1][2].number().value_or(num_classes_) == num_classes_, "num_classes is ", num_classes_,
                "; there are scores of ", inputs[1][2].number().value_or(0), " classes"));
    return std::vector<Shape>{{inputs[2][0], how_.most, 6}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value& regions = inputs[2];
    const Extent batch = regions.extent(0), count = regions.extent(1);
    const TopK best = top_k(reshape(inputs[1], {batch, count, num_classes_}), 1, 2);
    const Value deltas = reshape(inputs[0], {batch, count, num_classes_, 4});
    const Value boxes = refined(regions, squeeze(gather_nd(deltas, unsqueeze(best.indices, {3}), 2), {2}));
    // Only the best class of a region is a candidate.
    const Value classes = layers.iota(num_classes_, nv::DataType::kINT32);
    const Value scores = select(best.indices == reshape(classes, {1, 1, num_classes_}), best.values, kNoScore);
    const Detections found = detect(boxes, boxes, scores, how_);
    const Value label = select(found.valid, found.classes, layers.scalar(-1, nv::DataType::kINT32, 2));
    return {concat({found.boxes, unsqueeze(label.f32(), {2}), unsqueeze(found.scores, {2})}, 2)};
  }

 private:
  static Value refined(const Value& regions, const Value& delta) {
    const std::vector<Value> corners = split(regions, 2, {2, 2}), moved = split(delta, 2, {2, 2});
    const Value size = corners[1] - corners[0];
    const Value centre = (corners[0] + corners[1]) * 0.5 + moved[0] * kPlaceDeviation * size;
    const Value half = size * exp(moved[1] * kSizeDeviation) * 0.5;
    return clamp(concat({centre - half, centre + half}, 2), 0, 1);
  }
  static constexpr double kNoScore = -1e30;
  Suppression how_;
  int64_t num_classes_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Suppression how;
  const int64_t num_classes = TRY(fields.integer("num_classes"));
  how.most = how.most_of_class = TRY(fields.integer("keep_topk"));
  how.score_threshold = just_below(TRY(fields.number("score_threshold")));
  how.iou_threshold = TRY(fields.number("iou_threshold"));
  how.background_class = 0;
  TRY(require(num_classes > 1 && how.most > 0 && how.most <= 3840 && how.iou_threshold >= 0 && how.iou_threshold <= 1,
              "num_classes is ", num_classes, ", keep_topk ", how.most, ", iou_threshold ", how.iou_threshold));
  return std::make_shared<DetectionLayer>(how, num_classes);
}

}  // namespace

std::vector<Definition> detection_layer() {
  return {{"DetectionLayer_TRT",
           "1",
           Generation::kV2,
           {field("num_classes", kInt), field("keep_topk", kInt), field("score_threshold", kFloat),
            field("iou_threshold", kFloat)},
           3,
           3,
           make}};
}

}  // namespace kiln::plugins
