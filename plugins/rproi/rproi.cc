// RPROI_TRT, of Faster R-CNN: the best boxes that a network proposes, and the greatest elements of their cells.
//   in   scores   f32 [N, 2 A, H, W]: of background (A first), foreground
//        delta    f32 [N, A 4, H, W]: dx, dy, log dw, log dh for each anchor
//        map      f32 [N, C, H, W], H and W known when the network is built
//        image    f32 [N, 1, 1, 3]: height, width, scale
//   out  rois     f32 [N, 1, nmsMaxOut, 4]: corners x1, y1, x2, y2 in pixels, the best first; 0 where there are fewer
//        pooled   f32 [N, nmsMaxOut, C, poolingH, poolingW]: see roi_max_pooling.h
//   fields  poolingH, poolingW. featureStride  s. preNmsTop  so many of the best scores are looked at. nmsMaxOut.
//           anchorsRatioCount, anchorsRatios  r. anchorsScaleCount, anchorsScales  k. iouThreshold  boxes that overlap
//           better ones more go. minBoxSize  boxes whose sides are shorter than that many scales come last of all.
//           spatialScale  of pixels to the map's elements
// A cell's A anchors are, ratio by ratio, k a x k round(a r) with a = round(s / sqrt(r)); cell i has its centre at
// (s - 1) / 2 + i s. Boxes are clipped to the image's pixels; one that begins and ends in one pixel is 1 large.
#include <algorithm>
#include <cmath>

#include "library/proposals.h"
#include "library/standard_plugin.h"
#include "rproi/roi_max_pooling.h"

namespace kiln::plugins {
namespace {

struct Settings {
  AnchorGrid grid;
  Choice choice;
  MaxPooling pooling;
  double least_size;
};

class Rproi final : public StandardPlugin {
 public:
  explicit Rproi(Settings settings) : settings_(std::move(settings)) {}
  int num_outputs() const override { return 2; }
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < 4; ++i) TRY(require_rank(inputs, i, 4));
    for (size_t i = 0; i < 2; ++i) {
      const int64_t wanted = (i == 0 ? 2 : 4) * num_anchors();
      TRY(require_extent(inputs, i, 1, wanted, str("as ", num_anchors(), " anchors need")));
      TRY(require_equal(inputs, 2, 0, i, 0));
    }
    for (size_t axis = 2; axis < 4; ++axis) {
      TRY(require(inputs[2][axis].number().value_or(0) > 0, "axis ", axis, " of input 2 is not known, or 0"));
      for (size_t i = 0; i < 2; ++i) TRY(require_equal(inputs, 2, axis, i, axis));
    }
    TRY(require_equal(volume_of(inputs[3]), inputs[2][0] * 3,
                      "input 3 has to have 3 elements for each image of input 2"));
    const auto& [rows, columns, scale] = settings_.pooling;
    const Dim& batch = inputs[2][0];
    return std::vector<Shape>{{batch, 1, settings_.choice.most, 4},
                              {batch, settings_.choice.most, inputs[2][1], rows, columns}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Extent batch = inputs[2].extent(0);
    const Value image = reshape(inputs[3], {batch, 3, 1, 1});
    const auto said = [&](int64_t index) { return slice(image, 1, index, 1); };
    std::vector<Value> corners = moved_anchors(settings_.grid, inputs[1]);
    for (size_t i = 0; i < corners.size(); ++i) corners[i] = min(max(corners[i], 0.0), said(i % 2 == 0 ? 1 : 0) - 1.0);
    const Value least = said(2) * settings_.least_size;
    const Value is_small = corners[2] - corners[0] + 1.0 < least || corners[3] - corners[1] + 1.0 < least;
    const Value scores = slice(inputs[0], 1, num_anchors(), num_anchors());
    const Value rois = chosen(corners, scores, is_small, settings_.choice);
    return {unsqueeze(rois, {1}), max_of_regions(inputs[2], rois, settings_.pooling)};
  }

 private:
  int64_t num_anchors() const { return static_cast<int64_t>(settings_.grid.widths.size()); }
  Settings settings_;
};

Result<std::vector<float>> listed(const Fields& fields, const char* name, const char* name_of_count) {
  std::vector<float> numbers = TRY(fields.floats(name));
  const int64_t count = TRY(fields.integer(name_of_count));
  TRY(require(count > 0 && count <= std::ssize(numbers), name_of_count, " is ", count, "; ", name, " has ",
              numbers.size(), " numbers"));
  numbers.resize(static_cast<size_t>(count));
  TRY(require(std::ranges::all_of(numbers, [](float number) { return number > 0; }), name, " are not all positive"));
  return numbers;
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Settings settings{};
  auto& [grid, choice, pooling, least_size] = settings;
  pooling = {TRY(fields.integer("poolingH")), TRY(fields.integer("poolingW")), TRY(fields.number("spatialScale"))};
  const int64_t stride = TRY(fields.integer("featureStride"));
  choice.candidates = TRY(fields.integer("preNmsTop"));
  choice.most = TRY(fields.integer("nmsMaxOut"));
  choice.iou_threshold = TRY(fields.number("iouThreshold"));
  least_size = TRY(fields.number("minBoxSize"));
  TRY(require(pooling.rows > 0 && pooling.columns > 0 && pooling.scale > 0 && stride > 0, "poolingH is ", pooling.rows,
              ", poolingW ", pooling.columns, ", spatialScale ", pooling.scale, ", featureStride ", stride));
  TRY(require(choice.candidates > 0 && choice.most > 0 && choice.most <= kMostOfTopK && choice.iou_threshold >= 0,
              "preNmsTop is ", choice.candidates, ", nmsMaxOut ", choice.most, ", iouThreshold ", choice.iou_threshold,
              "; 1 at least, 1 to ", kMostOfTopK, " and 0 at least are possible"));
  const auto side = static_cast<float>(stride);
  grid.first = (side - 1) / 2;
  grid.stride = side;
  const std::vector<float> scales = TRY(listed(fields, "anchorsScales", "anchorsScaleCount"));
  for (const float ratio : TRY(listed(fields, "anchorsRatios", "anchorsRatioCount"))) {
    const float width = std::round(std::sqrt(side * side / ratio)), height = std::round(width * ratio);
    for (const float scale : scales) {
      grid.widths.push_back(width * scale);
      grid.heights.push_back(height * scale);
    }
  }
  return std::make_shared<Rproi>(std::move(settings));
}

}  // namespace

std::vector<Definition> rproi() {
  return {{.name = "RPROI_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("poolingH", kInt), field("poolingW", kInt), field("featureStride", kInt),
                      field("preNmsTop", kInt), field("nmsMaxOut", kInt), field("anchorsRatioCount", kInt),
                      field("anchorsScaleCount", kInt), field("iouThreshold", kFloat), field("minBoxSize", kFloat),
                      field("spatialScale", kFloat), field("anchorsRatios", kFloat), field("anchorsScales", kFloat)},
           .min_inputs = 4,
           .max_inputs = 4,
           .make = make}};
}

}  // namespace kiln::plugins
