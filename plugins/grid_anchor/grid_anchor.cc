// GridAnchor_TRT, GridAnchorRect_TRT: SSD's boxes around the cells of several feature maps, in shares of the image. Map
// l of L has scale s_l = minSize + (maxSize - minSize) l / (L - 1); for each aspect ratio r a box of s_l sqrt(r) x s_l
// / sqrt(r), and one of sqrt(s_l s_(l + 1)) each way, with s_L = 1. The first map has three: the first three ratios, of
// scales 0.1, s_0 and s_0.
//   out  y ...    f32 [1, 2, H W P 4, 1] for each map: corners x1, y1, x2, y2, and the variances
//   fields  minSize (0.2), maxSize (0.95). aspectRatios. featureMapShapes  for each map its H = W; of
//           GridAnchorRect_TRT H and W. variance  4. numLayers  L (6)
#include <cmath>

#include "library/anchors.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

struct Map {
  int64_t height, width;
  std::vector<float> widths, heights;
};

class GridAnchor final : public StandardPlugin {
 public:
  GridAnchor(std::vector<Map> maps, std::vector<float> variance)
      : maps_(std::move(maps)), variance_(std::move(variance)) {}
  int num_outputs() const override { return static_cast<int>(maps_.size()); }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape>) const override {
    std::vector<Shape> shapes;
    for (const Map& map : maps_)
      shapes.push_back({1, 2, map.height * map.width * 4 * static_cast<int64_t>(map.widths.size()), 1});
    return shapes;
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value>) const override {
    std::vector<Value> outputs;
    const auto number = [&](double value) { return layers.scalar(value, nv::DataType::kFLOAT, 1); };
    for (const Map& map : maps_)
      outputs.push_back(anchors(layers, {map.height, map.width, number(1 / static_cast<double>(map.height)),
                                         number(1 / static_cast<double>(map.width)), number(1), number(1), 0.5,
                                         map.widths, map.heights, variance_, false}));
    return outputs;
  }

 private:
  std::vector<Map> maps_;
  std::vector<float> variance_;
};

/// The sizes of one map's boxes.
void add_sizes(Map& map, const std::vector<float>& scales, const std::vector<float>& ratios) {
  for (size_t i = 0; i < scales.size(); ++i) {
    map.widths.push_back(scales[i] * std::sqrt(ratios[i]));
    map.heights.push_back(scales[i] / std::sqrt(ratios[i]));
  }
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields, bool is_rectangular) {
  const double least = TRY(fields.number("minSize", 0.2F)), most = TRY(fields.number("maxSize", 0.95F));
  const int64_t count = TRY(fields.integer("numLayers", 6));
  std::vector<float> ratios = TRY(fields.floats("aspectRatios"));
  const std::vector<int64_t> shapes = TRY(fields.integers("featureMapShapes"));
  const std::vector<float> variance = TRY(fields.floats("variance"));
  const auto per_map = static_cast<size_t>(is_rectangular ? 2 : 1);
  TRY(require(count >= 2, "numLayers is ", count, "; 2 at least are needed"));
  TRY(require(shapes.size() == static_cast<size_t>(count) * per_map, "featureMapShapes has ", shapes.size(),
              " numbers; ", static_cast<size_t>(count) * per_map, " are needed"));
  TRY(require(ratios.size() >= 3 && variance.size() == 4, "there are ", ratios.size(), " aspect ratios and ",
              variance.size(), " variances; 3 at least and 4 are needed"));
  const auto scale = [&](int64_t map) {
    if (map == count) return 1.0F;
    return static_cast<float>(least + (most - least) * static_cast<double>(map) / static_cast<double>(count - 1));
  };
  std::vector<Map> maps;
  for (int64_t l = 0; l < count; ++l) {
    const auto at = static_cast<size_t>(l) * per_map;
    Map map{shapes[at], shapes[at + per_map - 1], {}, {}};
    TRY(require(map.height > 0 && map.width > 0, "feature map ", l, " is ", map.height, " by ", map.width,
                "; 1 each way is the least"));
    if (l == 0) {
      add_sizes(map, {0.1F, scale(0), scale(0)}, ratios);
    } else {
      add_sizes(map, std::vector<float>(ratios.size(), scale(l)), ratios);
      add_sizes(map, {std::sqrt(scale(l) * scale(l + 1))}, {1});
    }
    const auto boxes = static_cast<int64_t>(map.widths.size());
    TRY(require(map.height <= kMostAnchors / boxes / map.width, "feature map ", l, " is ", map.height, " by ",
                map.width, " with ", boxes, " boxes a cell; ", kMostAnchors, " boxes of a map at most are possible"));
    maps.push_back(std::move(map));
  }
  return std::make_shared<GridAnchor>(std::move(maps), variance);
}
Result<std::shared_ptr<const StandardPlugin>> make_square(const Fields& fields) { return make(fields, false); }
Result<std::shared_ptr<const StandardPlugin>> make_rectangular(const Fields& fields) { return make(fields, true); }

}  // namespace

std::vector<Definition> grid_anchor() {
  const std::vector<nv::PluginField> fields = {field("minSize", kFloat),      field("maxSize", kFloat),
                                               field("aspectRatios", kFloat), field("featureMapShapes", kInt),
                                               field("variance", kFloat),     field("numLayers", kInt)};
  return {{.name = "GridAnchor_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 0,
           .max_inputs = 0,
           .make = make_square},
          {.name = "GridAnchorRect_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 0,
           .max_inputs = 0,
           .make = make_rectangular}};
}

}  // namespace kiln::plugins
