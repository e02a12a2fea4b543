// BatchedNMS_TRT, BatchedNMSDynamic_TRT: the best boxes of each image, without those that overlap better ones of their
// class by more than iouThreshold (intersection over union).
//   in   boxes    floats [N, B, 1 or C, 4]: two corners
//        scores   [N, B, C] or [N, B, C, 1]
//   out  count    i32 [N]; [N, 1] of the dynamic one
//        boxes    [N, K, 4]; 0 behind the count
//        scores   [N, K]; 0 behind the count
//        classes  [N, K], numbers of the boxes' type; -1 behind the count
//   fields  shareLocation (whether boxes are of all classes), backgroundLabelId (-1: none), numClasses (C), topK (best
//           scores of a class that are looked at), keepTopK (K), scoreThreshold (scores have to be above),
//           iouThreshold, isNormalized, clipBoxes (to 0 ... 1), caffeSemantics (boxes that are not normalized are one
//           pixel larger each way when their overlap counts; without it TensorRT's areas are larger, and its
//           intersections are not, but here neither), scoreBits (of TensorRT's sort, without effect here)
#include <cmath>

#include "library/detections.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

struct Settings {
  Suppression how;
  int64_t num_classes = 1;
  bool shares_location = true, has_larger_boxes = false, clips = true, has_flat_count = false;
};

class BatchedNms final : public StandardPlugin {
 public:
  explicit BatchedNms(const Settings& settings) : settings_(settings) {}
  int num_outputs() const override { return 4; }
  Types output_types(std::span<const nv::DataType> inputs) const override {
    return {nv::DataType::kINT32, inputs[0], inputs[0], inputs[0]};
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    TRY(require_scores(inputs, 1));
    TRY(require_extent(inputs, 1, 2, settings_.num_classes, "as numClasses says"));
    TRY(require_extent(inputs, 0, 2, settings_.shares_location ? 1 : settings_.num_classes,
                       "as shareLocation and numClasses say"));
    TRY(require_extent(inputs, 0, 3, 4, "for two corners"));
    for (const size_t axis : {0U, 1U}) TRY(require_equal(inputs, 0, axis, 1, axis));
    const Dim batch = inputs[0][0], most = settings_.how.most;
    const Shape count = settings_.has_flat_count ? Shape{batch} : Shape{batch, 1};
    return std::vector<Shape>{count, {batch, most, 4}, {batch, most}, {batch, most}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    Value boxes = inputs[0].f32();
    if (settings_.shares_location) boxes = squeeze(boxes, {2});
    Value compared = boxes;
    if (settings_.has_larger_boxes) {
      const std::vector<Value> corners = split(boxes, -1, {2, 2});
      compared = concat({min(corners[0], corners[1]), max(corners[0], corners[1]) + 1.0}, -1);
    }
    Value scores = inputs[1].f32();
    if (scores.rank() == 4) scores = squeeze(scores, {3});
    const Detections found = detect(boxes, compared, scores, settings_.how);
    const Value classes = select(found.valid, found.classes, layers.scalar(-1, nv::DataType::kINT32, 2));
    return {settings_.has_flat_count ? squeeze(found.count, {1}) : found.count,
            settings_.clips ? clamp(found.boxes, 0, 1) : found.boxes, found.scores, classes.f32()};
  }

 private:
  Settings settings_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields, bool has_flat_count) {
  Settings settings;
  settings.has_flat_count = has_flat_count;
  settings.shares_location = TRY(fields.flag("shareLocation", true));
  settings.num_classes = TRY(fields.integer("numClasses"));
  settings.how.background_class = TRY(fields.integer("backgroundLabelId", -1));
  settings.how.candidates = TRY(fields.integer("topK"));
  settings.how.most = TRY(fields.integer("keepTopK"));
  settings.how.most_of_class = settings.how.most;
  settings.how.score_threshold = TRY(fields.number("scoreThreshold"));
  settings.how.iou_threshold = TRY(fields.number("iouThreshold"));
  settings.clips = TRY(fields.flag("clipBoxes", true));
  settings.has_larger_boxes = !TRY(fields.flag("isNormalized", true)) && TRY(fields.flag("caffeSemantics", true));
  TRY(require(settings.how.most > 0 && settings.how.most <= kMostOfTopK, "keepTopK is ", settings.how.most, "; 1 to ",
              kMostOfTopK, " are possible"));
  TRY(require(!std::isnan(settings.how.score_threshold), "scoreThreshold is ", settings.how.score_threshold));
  TRY(require(settings.how.candidates > 0, "topK is ", settings.how.candidates));
  TRY(require(settings.how.iou_threshold >= 0 && settings.how.iou_threshold <= 1, "iouThreshold is ",
              settings.how.iou_threshold));
  return std::make_shared<BatchedNms>(settings);
}
Result<std::shared_ptr<const StandardPlugin>> make_static(const Fields& fields) { return make(fields, true); }
Result<std::shared_ptr<const StandardPlugin>> make_dynamic(const Fields& fields) { return make(fields, false); }

}  // namespace

std::vector<Definition> batched_nms() {
  const std::vector<nv::PluginField> fields = {
      field("shareLocation", kInt),  field("backgroundLabelId", kInt), field("numClasses", kInt),
      field("topK", kInt),           field("keepTopK", kInt),          field("scoreThreshold", kFloat),
      field("iouThreshold", kFloat), field("isNormalized", kInt),      field("clipBoxes", kInt),
      field("scoreBits", kInt),      field("caffeSemantics", kInt)};
  return {{.name = "BatchedNMS_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_static},
          {.name = "BatchedNMSDynamic_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_dynamic}};
}

}  // namespace kiln::plugins
