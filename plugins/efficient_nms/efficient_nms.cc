// EfficientNMS_TRT, EfficientNMS_ONNX_TRT, EfficientNMS_Explicit_TF_TRT, EfficientNMS_Implicit_TF_TRT: the best boxes
// of each image, without those that overlap better ones of their class.
//   in   boxes    floats [N, B, 4] or [N, B, 1 or C, 4]
//        scores   [N, B, C] or [N, B, C, 1]
//        anchors  [1 or N, B, 4], optional, of EfficientNMS_TRT: boxes are then relative to them. Corners are added;
//                 of centre and size (y, x, h, w): y h' + y', x w' + x', h' exp(h), w' exp(w)
//   out  count    i32 [N, 1]; [N] of the implicit one
//        boxes    [N, K, 4] as corners; 0 behind the count, as the others
//        scores   [N, K]
//        classes  i32 [N, K]
//   or, of EfficientNMS_ONNX_TRT,
//   out  indices  i32 [N K, 3]: image, class and box, image by image, the best first; behind the last one that one
//                 again, and -1 if there is none
// A box goes if its overlap (intersection over union) with a better one is iou_threshold or more, or its score below
// score_threshold. Of pairs in the score order of an image, all of them count, not only TensorRT's best 4096.
//   fields  score_threshold, iou_threshold, max_output_boxes (K), background_class (-1: none), score_activation (1:
//           scores get a sigmoid), class_agnostic, box_coding (0: corners, 1: centre and size)
//   ONNX    score_threshold (0.5), iou_threshold (0.5), max_output_boxes_per_class (K), center_point_box (0)
//   TF      max_output_size_per_class (-1: any number), max_total_size (K; 100), iou_threshold (0.5), score_threshold
//           (0.5), pad_per_class (0; 1: K is at most max_output_size_per_class times C), clip_boxes (0; 1: to 0 ... 1)
#include <cmath>

#include "library/detections.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

enum class Form : uint8_t { kDetections, kFlatCount, kIndices };

struct Settings {
  Suppression how;
  Form form = Form::kDetections;
  bool has_sigmoid = false, is_centre_size = false, clips = false, pads_per_class = false;
};

class EfficientNms final : public StandardPlugin {
 public:
  explicit EfficientNms(const Settings& settings) : settings_(settings) {}
  int num_outputs() const override { return settings_.form == Form::kIndices ? 1 : 4; }
  Types output_types(std::span<const nv::DataType> inputs) const override {
    if (settings_.form == Form::kIndices) return {nv::DataType::kINT32};
    return {nv::DataType::kINT32, inputs[0], inputs[0], nv::DataType::kINT32};
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override;
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override;

 private:
  Value decoded(std::span<const Value> inputs) const;
  Value indices(const Detections& found) const;
  Settings settings_;
};

Result<std::vector<Shape>> EfficientNms::output_shapes(std::span<const Shape> inputs) const {
  TRY(require(inputs[0].size() == 3 || inputs[0].size() == 4, "input 0 has rank ", inputs[0].size(),
              "; 3 or 4 is needed"));
  TRY(require_scores(inputs, 1));
  for (const size_t axis : {0U, 1U}) TRY(require_equal(inputs, 0, axis, 1, axis));
  TRY(require_extent(inputs, 0, inputs[0].size() - 1, 4, "as many numbers as a box has"));
  if (inputs[0].size() == 4)
    TRY(require_one_or(inputs[0][2], inputs[1][2], "axis 2 of input 0 has to be 1, or as long as axis 2 of input 1"));
  if (inputs.size() == 3) {
    TRY(require_rank(inputs, 2, 3));
    TRY(require_one_or(inputs[2][0], inputs[0][0], "axis 0 of input 2 has to be 1, or as long as axis 0 of input 0"));
    TRY(require_equal(inputs, 0, 1, 2, 1));
    TRY(require_extent(inputs, 2, 2, 4, "as many numbers as an anchor has"));
  }
  const Dim batch = inputs[0][0];
  Dim most = settings_.how.most;
  if (settings_.pads_per_class && settings_.how.most_of_class > 0)
    most = min(most, inputs[1][2] * settings_.how.most_of_class);
  switch (settings_.form) {
    case Form::kIndices: return std::vector<Shape>{{batch * most, 3}};
    case Form::kFlatCount: return std::vector<Shape>{{batch}, {batch, most, 4}, {batch, most}, {batch, most}};
    case Form::kDetections: break;
  }
  return std::vector<Shape>{{batch, 1}, {batch, most, 4}, {batch, most}, {batch, most}};
}

/// The boxes as two corners.
Value EfficientNms::decoded(std::span<const Value> inputs) const {
  Value boxes = inputs[0].f32();
  if (boxes.rank() == 4 && boxes.extent(2).number() == 1) boxes = squeeze(boxes, {2});
  const auto halves = [](const Value& x) { return split(x, -1, {2, 2}); };
  std::vector<Value> box = halves(boxes);
  if (inputs.size() == 3) {
    Value anchors = inputs[2].f32();
    if (boxes.rank() == 4) anchors = unsqueeze(anchors, {2});
    const std::vector<Value> anchor = halves(anchors);
    if (settings_.is_centre_size)
      box = {box[0] * anchor[1] + anchor[0], anchor[1] * exp(box[1])};
    else  // both with their corners in order
      box = {min(box[0], box[1]) + min(anchor[0], anchor[1]), max(box[0], box[1]) + max(anchor[0], anchor[1])};
  }
  if (settings_.is_centre_size) box = {box[0] - box[1] * 0.5, box[0] + box[1] * 0.5};
  return concat(box, -1);
}

/// Rows of the detections, the valid ones in front.
Value EfficientNms::indices(const Detections& found) const {
  Layers& layers = found.boxes.layers();
  const Extent batch = found.classes.extent(0), count = batch * settings_.how.most;
  const Value image = broadcast(unsqueeze(layers.iota(batch, nv::DataType::kINT32), {1}), {batch, settings_.how.most});
  const Value rows =
      concat({reshape(image, {count, 1}), reshape(found.classes, {count, 1}), reshape(found.indices, {count, 1})}, 1);
  const Value valid = reshape(found.valid, {count}), end = count.value(layers).i32();
  const Value place = select(valid, cumulative_sum(valid.i32(), 0) - 1.0, end);  // invalid ones meet behind the end
  const Value packed = scatter_nd(layers.full({count + 1, 3}, -1, nv::DataType::kINT32), unsqueeze(place, {1}), rows);
  const Value last = max(sum(valid.i32(), {0}) - 1.0, 0.0);
  const Value none = sum(valid.i32(), {0}) < 1.0;
  const Value repeated = gather(packed, min(layers.iota(count, nv::DataType::kINT32), last), 0);
  return select(unsqueeze(none, {1}), layers.scalar(-1, nv::DataType::kINT32, 2), repeated);
}

std::vector<Value> EfficientNms::add_layers(Layers&, std::span<const Value> inputs) const {
  const Value boxes = decoded(inputs);
  Value scores = inputs[1].f32();
  if (scores.rank() == 4) scores = squeeze(scores, {3});
  if (settings_.has_sigmoid) scores = sigmoid(scores);
  Detections found = detect(boxes, boxes, scores, settings_.how);
  if (settings_.form == Form::kIndices) return {indices(found)};
  if (settings_.clips) found.boxes = clamp(found.boxes, 0, 1);
  if (settings_.pads_per_class && settings_.how.most_of_class > 0) {
    const Extent most = min(Extent(settings_.how.most), scores.extent(2) * settings_.how.most_of_class);
    for (Value* one : {&found.boxes, &found.scores, &found.classes}) *one = slice(*one, 1, 0, most);
  }
  return {settings_.form == Form::kFlatCount ? squeeze(found.count, {1}) : found.count, found.boxes, found.scores,
          found.classes};
}

Result<std::shared_ptr<const StandardPlugin>> make(Settings settings) {
  Suppression& how = settings.how;
  TRY(require(how.most > 0 && how.most <= kMostOfTopK, "the greatest number of boxes is ", how.most, "; 1 to ",
              kMostOfTopK, " are possible"));
  TRY(require(!std::isnan(how.score_threshold), "score_threshold is ", how.score_threshold));
  TRY(require(how.iou_threshold >= 0 && how.iou_threshold <= 1, "iou_threshold is ", how.iou_threshold));
  // Whatever the overlap, it is 0 or more: the best of a class is its only one.
  if (how.iou_threshold == 0)
    how.candidates = 1;
  else
    how.iou_threshold = just_below(how.iou_threshold);
  how.score_threshold = just_below(how.score_threshold);
  return std::make_shared<EfficientNms>(settings);
}

/// A field that is 0 or 1, and nothing else.
Result<bool> zero_or_one(const Fields& fields, const char* name) {
  const int64_t value = TRY(fields.integer(name, 0));
  TRY(require(value == 0 || value == 1, name, " is ", value, "; 0 and 1 are possible"));
  return value == 1;
}

Result<std::shared_ptr<const StandardPlugin>> make_plain(const Fields& fields) {
  Settings settings;
  settings.how.score_threshold = TRY(fields.number("score_threshold"));
  settings.how.iou_threshold = TRY(fields.number("iou_threshold"));
  settings.how.most = TRY(fields.integer("max_output_boxes"));
  settings.how.background_class = TRY(fields.integer("background_class", -1));
  settings.how.ignores_classes = TRY(zero_or_one(fields, "class_agnostic"));
  settings.has_sigmoid = TRY(zero_or_one(fields, "score_activation"));
  settings.is_centre_size = TRY(zero_or_one(fields, "box_coding"));
  return make(settings);
}

/// Both thresholds, which need not be given.
Status read_thresholds(const Fields& fields, Suppression& how) {
  how.score_threshold = TRY(fields.number("score_threshold", 0.5));
  how.iou_threshold = TRY(fields.number("iou_threshold", 0.5));
  return {};
}

Result<std::shared_ptr<const StandardPlugin>> make_onnx(const Fields& fields) {
  Settings settings;
  TRY(read_thresholds(fields, settings.how));
  settings.how.most = settings.how.most_of_class = TRY(fields.integer("max_output_boxes_per_class"));
  settings.is_centre_size = TRY(zero_or_one(fields, "center_point_box"));
  settings.form = Form::kIndices;
  return make(settings);
}

template <Form kForm>
Result<std::shared_ptr<const StandardPlugin>> make_tf(const Fields& fields) {
  Settings settings;
  TRY(read_thresholds(fields, settings.how));
  settings.how.most_of_class = TRY(fields.integer("max_output_size_per_class", -1));
  settings.how.most = TRY(fields.integer("max_total_size", settings.how.most));
  settings.pads_per_class = TRY(fields.flag("pad_per_class", false));
  settings.clips = TRY(fields.flag("clip_boxes", false));
  settings.form = kForm;
  return make(settings);
}

}  // namespace

std::vector<Definition> efficient_nms() {
  const std::vector<nv::PluginField> plain = {field("score_threshold", kFloat), field("iou_threshold", kFloat),
                                              field("max_output_boxes", kInt),  field("background_class", kInt),
                                              field("score_activation", kInt),  field("class_agnostic", kInt),
                                              field("box_coding", kInt)};
  const std::vector<nv::PluginField> onnx = {field("score_threshold", kFloat), field("iou_threshold", kFloat),
                                             field("max_output_boxes_per_class", kInt),
                                             field("center_point_box", kInt)};
  const std::vector<nv::PluginField> tf = {
      field("max_output_size_per_class", kInt), field("max_total_size", kInt), field("iou_threshold", kFloat),
      field("score_threshold", kFloat),         field("pad_per_class", kInt),  field("clip_boxes", kInt)};
  return {{.name = "EfficientNMS_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = plain,
           .min_inputs = 2,
           .max_inputs = 3,
           .make = make_plain},
          {.name = "EfficientNMS_ONNX_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = onnx,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_onnx},
          {.name = "EfficientNMS_Explicit_TF_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = tf,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_tf<Form::kDetections>},
          {.name = "EfficientNMS_Implicit_TF_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = tf,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_tf<Form::kFlatCount>}};
}

}  // namespace kiln::plugins
