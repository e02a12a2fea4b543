// DecodeBbox3DPlugin, of PointPillars: boxes in space, relative to anchors of a grid seen from above. A cell has
// A = 2 C anchors, two of each of C classes.
//   in   scores      f32 [N, H, W, A C]: of each anchor for each class, before their sigmoid
//        deltas      f32 [N, H, W, A 7]
//        directions  f32 [N, H, W, A 2]
//   out  boxes       f32 [N, H W A, 9]: x, y, z, dx, dy, dz, angle, class, score, those whose score reaches
//                    score_thresh, in the order of cells and anchors; 0 behind them. TensorRT's have no order, and
//                    anything behind them
//        count       i32 [N]: of boxes that are valid
// An anchor a of size (dx, dy, dz) and angle r has its centre at x = x_min + column (x_max - x_min) / (W - 1), or x_min
// if W is 1, y likewise by its row, and z = anchor_bottom_height[a / 2] + dz / 2. With e its deltas and
// d = sqrt(dx^2 + dy^2), the box has
//   centre (x + e0 d, y + e1 d, z + e2 dz), size (dx exp(e3), dy exp(e4), dz exp(e5)),
//   angle v - floor(v / period + dir_limit_offset) period + dir_offset + period k, with v = e6 + r - dir_offset,
//   period = 2 pi / num_dir_bins and k = 0 if the first direction is greater than the second, else 1
// Its class is the first of those with the greatest score.
//   fields  point_cloud_range (least x, y, z, greatest x, y, z: 0), anchors (dx, dy, dz, r of each),
//           anchor_bottom_height (of each class), dir_offset (0.78539), dir_limit_offset (0), num_dir_bins (2),
//           score_thresh (0)
#include <cmath>
#include <numbers>

#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

struct Settings {
  std::vector<double> range, anchors, bottom_heights;
  double offset = 0, limit_offset = 0, score_threshold = 0, period = 0;
};

class DecodeBbox3D final : public StandardPlugin {
 public:
  explicit DecodeBbox3D(Settings settings)
      : settings_(std::move(settings)),
        num_classes_(static_cast<int64_t>(settings_.bottom_heights.size())),
        num_anchors_(2 * num_classes_) {}
  int num_outputs() const override { return 2; }
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Types output_types(std::span<const nv::DataType>) const override {
    return {nv::DataType::kFLOAT, nv::DataType::kINT32};
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const int64_t channels[] = {num_anchors_ * num_classes_, num_anchors_ * 7, num_anchors_ * 2};
    for (size_t i = 0; i < 3; ++i) {
      TRY(require_rank(inputs, i, 4));
      TRY(require_extent(inputs, i, 3, channels[i], str("as ", num_classes_, " classes need")));
      for (size_t axis = 0; axis < 3 && i > 0; ++axis) TRY(require_equal(inputs, 0, axis, i, axis));
    }
    const Dim batch = inputs[0][0];
    return std::vector<Shape>{{batch, inputs[0][1] * inputs[0][2] * num_anchors_, 9}, {batch}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Extent batch = inputs[0].extent(0), height = inputs[0].extent(1), width = inputs[0].extent(2);
    const Extent all = height * width * num_anchors_;
    const auto of_anchors = [&](const Value& x, int64_t numbers) {
      return reshape(x, {batch, height, width, num_anchors_, numbers});
    };
    const TopK best = top_k(sigmoid(of_anchors(inputs[0], num_classes_)), 1, 4);
    const Value rows = concat({boxes_of(of_anchors(inputs[1], 7), of_anchors(inputs[2], 2)),  //
                               best.indices.f32(), best.values},
                              4);
    const Value score = reshape(best.values, {batch, all});
    const Value is_valid = (score > settings_.score_threshold) || (score == settings_.score_threshold);
    // A valid box goes behind those before it, the others meet behind all.
    const Value place = select(is_valid, cumulative_sum(is_valid.i32(), 1) - 1.0, i32_of(layers, all));
    const Value sample = broadcast(unsqueeze(layers.iota(batch, nv::DataType::kINT32), {1}), {batch, all});
    const Value indices = concat({unsqueeze(sample, {2}), unsqueeze(place, {2})}, 2);
    const Value none = layers.full({batch, all + 1, 9}, 0, nv::DataType::kFLOAT);
    const Value sorted = scatter_nd(none, indices, reshape(rows, {batch, all, 9}));
    return {slice(sorted, 1, 0, all), sum(is_valid.i32(), {1}, false)};
  }

 private:
  /// Number `index` of each anchor, [A, 1].
  Value of_anchor(Layers& layers, size_t index) const {
    std::vector<float> numbers;
    for (size_t i = index; i < settings_.anchors.size(); i += 4)
      numbers.push_back(static_cast<float>(settings_.anchors[i]));
    return layers.constant(dims_of({num_anchors_, 1}), std::move(numbers));
  }
  /// The middle of each cell along one axis (0: x), [extent].
  Value middles(Layers& layers, const Extent& extent, size_t axis) const {
    const double least = settings_.range[axis], greatest = settings_.range[axis + 3];
    const Value steps = max(extent - 1, 1).value(layers).f32();
    return layers.iota(extent, nv::DataType::kFLOAT) * (greatest - least) / steps + least;
  }
  /// x, y, z, dx, dy, dz, angle: [N, H, W, A, 7].
  Value boxes_of(const Value& deltas, const Value& directions) const {
    Layers& layers = deltas.layers();
    const Extent height = deltas.extent(1), width = deltas.extent(2);
    const std::vector<Value> e = split(deltas, 4, {1, 1, 1, 1, 1, 1, 1});
    const Value dx = of_anchor(layers, 0), dy = of_anchor(layers, 1), dz = of_anchor(layers, 2);
    const Value diagonal = sqrt(dx * dx + dy * dy);
    const Value x = reshape(middles(layers, width, 0), {1, 1, width, 1, 1});
    const Value y = reshape(middles(layers, height, 1), {1, height, 1, 1, 1});
    std::vector<float> bottoms;
    for (const double bottom : settings_.bottom_heights) bottoms.insert(bottoms.end(), 2, static_cast<float>(bottom));
    const Value z = dz * 0.5 + layers.constant(dims_of({num_anchors_, 1}), std::move(bottoms));
    return concat({e[0] * diagonal + x, e[1] * diagonal + y, e[2] * dz + z, exp(e[3]) * dx, exp(e[4]) * dy,
                   exp(e[5]) * dz, angle_of(e[6] + of_anchor(layers, 3), directions)},
                  4);
  }
  Value angle_of(const Value& angle, const Value& directions) const {
    const std::vector<Value> two = split(directions, 4, {1, 1});
    const double period = settings_.period;
    const Value v = angle - settings_.offset;
    const Value turned = v - floor(v / period + settings_.limit_offset) * period + settings_.offset;
    return select(two[0] > two[1], turned, turned + period);
  }
  Settings settings_;
  int64_t num_classes_, num_anchors_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Settings settings;
  settings.range = TRY(fields.numbers("point_cloud_range"));
  settings.anchors = TRY(fields.numbers("anchors"));
  settings.bottom_heights = TRY(fields.numbers("anchor_bottom_height"));
  settings.offset = TRY(fields.number("dir_offset", 0.78539));
  settings.limit_offset = TRY(fields.number("dir_limit_offset", 0));
  settings.score_threshold = TRY(fields.number("score_thresh", 0));
  TRY(require(!std::isnan(settings.score_threshold), "score_thresh is ", settings.score_threshold));
  const int64_t bins = TRY(fields.integer("num_dir_bins", 2));
  if (settings.range.empty()) settings.range.resize(6);
  TRY(require(settings.range.size() == 6, "point_cloud_range has ", settings.range.size(), " numbers; 6 are needed"));
  const size_t classes = settings.bottom_heights.size();
  TRY(require(classes > 0 && settings.anchors.size() == 8 * classes, "anchors has ", settings.anchors.size(),
              " numbers, anchor_bottom_height ", classes, "; 8 and 1 of each class are needed"));
  TRY(require(bins > 0, "num_dir_bins is ", bins));
  settings.period = 2 * std::numbers::pi / static_cast<double>(bins);
  return std::make_shared<DecodeBbox3D>(std::move(settings));
}

}  // namespace

std::vector<Definition> decode_bbox_3d() {
  return {{.name = "DecodeBbox3DPlugin",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("point_cloud_range", kFloat), field("anchors", kFloat),
                      field("anchor_bottom_height", kFloat), field("dir_offset", kFloat),
                      field("dir_limit_offset", kFloat), field("num_dir_bins", kInt), field("score_thresh", kFloat)},
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
