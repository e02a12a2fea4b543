// NMS_TRT, NMSDynamic_TRT: SSD's boxes decoded, and the best of them, without those that overlap better ones of their
// class by more than nmsThreshold (intersection over union).
//   in   three in the order that inputOrder tells, each by its index:
//        loc      floats [N, R Lc 4, 1, 1]: boxes relative to priors, Lc = 1 if shared by classes, else C
//        conf     [N, R C, 1, 1]: scores
//        prior    [N or 1, 2, R 4, 1]: corners x1, y1, x2, y2; variances
//   out  y        [N, 1, K, 7]: image, class, score, x1, y1, x2, y2, clipped to 0 ... 1; behind the count
//                 class -1, and 0
//        count    i32 [N, 1, 1, 1]. TensorRT calls it a float, with an integer's bits
// With a prior's centre (cx, cy) and size (w, h), and v its variances, or 1 where varianceEncodedInTarget:
//   codeType 0 (corners)          prior + v l
//            1 (centre and size)  centre cx + v0 l0 w, cy + v1 l1 h; size w exp(v2 l2), h exp(v3 l3)
//            2 (corners in sizes) prior + v l times w or h
//            3 (TensorFlow)       as 1, always with variances, of l with y before x
//   fields  shareLocation, varianceEncodedInTarget, backgroundLabelId, numClasses (C), topK, keepTopK (K),
//           confidenceThreshold, nmsThreshold, inputOrder (0, 2, 1: loc, prior, conf), confSigmoid, isNormalized,
//           codeType (3), scoreBits (without effect here), isBatchAgnostic (1: whether priors of the first image are
//           those of all; NMSDynamic_TRT does not look at it: each image has its priors, unless there are those of one
//           alone). TensorRT leaves what has no default here to chance where it is not given; here shareLocation and
//           isNormalized are then 1, backgroundLabelId -1, varianceEncodedInTarget and confSigmoid 0, and others needed
#include <algorithm>
#include <cmath>

#include "library/detections.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

enum class Code : int64_t { kCorner, kCentreSize, kCornerSize, kTensorFlow };

struct Settings {
  Suppression how;
  std::vector<int64_t> order;
  int64_t num_classes = 0;
  Code code = Code::kTensorFlow;
  bool shares_location = true, has_variance = true, has_sigmoid = false, has_larger_boxes = false, shares_priors = true;
};

class SsdNms final : public StandardPlugin {
 public:
  explicit SsdNms(Settings settings) : settings_(std::move(settings)) {}
  int num_outputs() const override { return 2; }
  Types output_types(std::span<const nv::DataType> inputs) const override { return {inputs[0], nv::DataType::kINT32}; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < 3; ++i) TRY(require_rank(inputs, i, 4));
    TRY(require_fit(inputs));
    const Dim batch = inputs[at(0)][0];
    return std::vector<Shape>{{batch, 1, settings_.how.most, 7}, {batch, 1, 1, 1}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override;

 private:
  Status require_fit(std::span<const Shape> inputs) const;
  size_t at(size_t which) const { return static_cast<size_t>(settings_.order[which]); }
  Value decoded(const Value& loc, const Value& prior, const Value& variance) const;
  Settings settings_;
};

/// Fails unless locations and scores are those of the priors.
Status SsdNms::require_fit(std::span<const Shape> inputs) const {
  const Shape &loc = inputs[at(0)], &conf = inputs[at(1)], &prior = inputs[at(2)];
  TRY(require_extent(inputs, at(2), 1, 2, "for corners and variances"));
  TRY(require_extent(inputs, at(2), 3, 1, ""));
  TRY(require_divisible(inputs, at(2), 2, 4, "as many numbers as a prior has"));
  TRY(require_equal(inputs, at(0), 0, at(1), 0));
  if (!settings_.shares_priors)
    TRY(require_one_or(prior[0], loc[0],
                       str(axis_text(at(2), 0), " has to be 1, or as long as ", axis_text(at(0), 0))));
  const Dim numbers = loc[1] * loc[2] * loc[3], scores = conf[1] * conf[2] * conf[3];
  TRY(require_equal(numbers, prior[2] * (settings_.shares_location ? 1 : settings_.num_classes),
                    str("an image of input ", at(0), " has to have 4 numbers for each prior of input ", at(2),
                        settings_.shares_location ? "" : " and class")));
  return require_equal(scores * 4, prior[2] * settings_.num_classes,
                       str("an image of input ", at(1),
                           " has to have a score for each of numClasses and each prior of "
                           "input ",
                           at(2)));
}

/// Corners of the boxes, of loc's shape [N, R, Lc, 4]; the others are [N or 1, R, 1, 4].
Value SsdNms::decoded(const Value& loc, const Value& prior, const Value& variance) const {
  const std::vector<Value> corners = split(prior, 3, {2, 2});
  const Value size = corners[1] - corners[0], centre = (corners[0] + corners[1]) * 0.5;
  Value l = loc;
  if (settings_.code == Code::kTensorFlow) {
    const std::vector<Value> four = split(loc, 3, {1, 1, 1, 1});
    l = concat({four[1], four[0], four[3], four[2]}, 3);
  }
  if (settings_.has_variance || settings_.code == Code::kTensorFlow) l = l * variance;
  if (settings_.code == Code::kCorner) return prior + l;
  if (settings_.code == Code::kCornerSize) return prior + l * concat({size, size}, 3);
  const std::vector<Value> moved = split(l, 3, {2, 2});
  const Value middle = moved[0] * size + centre, half = exp(moved[1]) * size * 0.5;
  return concat({middle - half, middle + half}, 3);
}

std::vector<Value> SsdNms::add_layers(Layers& layers, std::span<const Value> inputs) const {
  const Value loc = inputs[at(0)].f32(), conf = inputs[at(1)].f32();
  Value prior = inputs[at(2)].f32();
  if (settings_.shares_priors) prior = slice(prior, 0, 0, 1);
  const Extent batch = loc.extent(0), count = prior.extent(2) / 4;
  const Value priors = reshape(prior, {prior.extent(0), 2, count, 1, 4});
  const int64_t places = settings_.shares_location ? 1 : settings_.num_classes;
  Value boxes = decoded(reshape(loc, {batch, count, places, 4}), pick(priors, 1, 0), pick(priors, 1, 1));
  if (settings_.shares_location) boxes = squeeze(boxes, {2});
  Value scores = reshape(conf, {batch, count, settings_.num_classes});
  if (settings_.has_sigmoid) scores = sigmoid(scores);
  Value compared = boxes;
  if (settings_.has_larger_boxes) {
    const std::vector<Value> corners = split(boxes, -1, {2, 2});
    compared = concat({corners[0], corners[1] + 1.0}, -1);
  }
  const Detections found = detect(boxes, compared, scores, settings_.how);
  const Extents each{batch, settings_.how.most, 1};
  const Value image = broadcast(reshape(layers.iota(batch, nv::DataType::kFLOAT), {batch, 1, 1}), each);
  const Value label = select(found.valid, found.classes, layers.scalar(-1, nv::DataType::kINT32, 2)).f32();
  const Value rows = concat({image, reshape(label, each), reshape(found.scores, each), clamp(found.boxes, 0, 1)}, 2);
  return {unsqueeze(rows, {1}), unsqueeze(found.count, {2, 3})};
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields, bool is_dynamic) {
  Settings settings;
  settings.shares_location = TRY(fields.flag("shareLocation", true));
  settings.has_variance = !TRY(fields.flag("varianceEncodedInTarget", false));
  settings.num_classes = TRY(fields.integer("numClasses"));
  settings.how.background_class = TRY(fields.integer("backgroundLabelId", -1));
  settings.how.candidates = TRY(fields.integer("topK"));
  settings.how.most = settings.how.most_of_class = TRY(fields.integer("keepTopK"));
  settings.how.score_threshold = TRY(fields.number("confidenceThreshold"));
  settings.how.iou_threshold = TRY(fields.number("nmsThreshold"));
  settings.order = TRY(fields.integers("inputOrder"));
  if (settings.order.empty()) settings.order = {0, 2, 1};
  settings.has_sigmoid = TRY(fields.flag("confSigmoid", false));
  settings.has_larger_boxes = !TRY(fields.flag("isNormalized", true));
  settings.shares_priors = TRY(fields.flag("isBatchAgnostic", true)) && !is_dynamic;
  const int64_t code = TRY(fields.integer("codeType", static_cast<int64_t>(settings.code)));
  TRY(require(code >= 0 && code <= 3, "codeType is ", code, "; 0 to 3 are possible"));
  settings.code = static_cast<Code>(code);
  std::vector<int64_t> sorted = settings.order;
  std::ranges::sort(sorted);
  TRY(require(sorted == std::vector<int64_t>{0, 1, 2}, "inputOrder is no order of 0, 1 and 2"));
  TRY(require(settings.how.most > 0 && settings.how.most <= kMostOfTopK && settings.how.candidates > 0, "keepTopK is ",
              settings.how.most, " and topK ", settings.how.candidates, "; 1 to ", kMostOfTopK,
              " and 1 at least are possible"));
  TRY(require(!std::isnan(settings.how.score_threshold), "confidenceThreshold is ", settings.how.score_threshold));
  TRY(require(settings.num_classes > 0 && settings.how.iou_threshold >= 0 && settings.how.iou_threshold <= 1,
              "numClasses is ", settings.num_classes, ", nmsThreshold ", settings.how.iou_threshold));
  return std::make_shared<SsdNms>(std::move(settings));
}
Result<std::shared_ptr<const StandardPlugin>> make_static(const Fields& fields) { return make(fields, false); }
Result<std::shared_ptr<const StandardPlugin>> make_dynamic(const Fields& fields) { return make(fields, true); }

}  // namespace

std::vector<Definition> ssd_nms() {
  const std::vector<nv::PluginField> fields = {field("shareLocation", kInt),
                                               field("varianceEncodedInTarget", kInt),
                                               field("backgroundLabelId", kInt),
                                               field("numClasses", kInt),
                                               field("topK", kInt),
                                               field("keepTopK", kInt),
                                               field("confidenceThreshold", kFloat),
                                               field("nmsThreshold", kFloat),
                                               field("inputOrder", kInt),
                                               field("confSigmoid", kInt),
                                               field("isNormalized", kInt),
                                               field("codeType", kInt),
                                               field("scoreBits", kInt),
                                               field("isBatchAgnostic", kInt)};
  return {{.name = "NMS_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make_static},
          {.name = "NMSDynamic_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make_dynamic}};
}

}  // namespace kiln::plugins
