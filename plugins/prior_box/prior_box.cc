// PriorBox_TRT: SSD's boxes around the cells of a feature map. Each minimum size m has a box of m x m; one of
// sqrt(m M) x sqrt(m M) if it has a maximum size M; and for each other aspect ratio r one of m sqrt(r) x m / sqrt(r).
//   in   map      floats [N, C, H, W]
//        image    floats [N, C', H', W'], for its extents
//   out  y        f32 [N, 2, H W P 4, 1]: corners x1, y1, x2, y2, where 1 is the image's width or height; the variances
//   fields  minSize, maxSize (as many, or none), aspectRatios (beside 1), flip (whether 1 / r belongs to r), clip
//           (corners to 0 ... 1), variance (4 numbers), imgH, imgW (0: of `image`), stepH, stepW (of cells in the
//           image; 0: the image's share), offset (of a cell's centre in cells)
#include <algorithm>
#include <cmath>

#include "library/anchors.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

struct Settings {
  std::vector<float> widths, heights, variance;
  double image_height = 0, image_width = 0, step_y = 0, step_x = 0, offset = 0.5;
  bool clips = false;
};

class PriorBox final : public StandardPlugin {
 public:
  explicit PriorBox(Settings settings) : settings_(std::move(settings)) {}
  Types output_types(std::span<const nv::DataType>) const override { return {nv::DataType::kFLOAT}; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    TRY(require_rank(inputs, 1, 4));
    const auto count = static_cast<int64_t>(settings_.widths.size());
    const int64_t height = inputs[0][2].number().value_or(1), width = inputs[0][3].number().value_or(1);
    TRY(require(height <= kMostAnchors / count / std::max<int64_t>(width, 1), "the feature map is ", height, " by ",
                width, " with ", count, " boxes a cell; ", kMostAnchors, " boxes at most are possible"));
    return std::vector<Shape>{{inputs[0][0], 2, inputs[0][2] * inputs[0][3] * (4 * count), 1}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const auto number = [&](double given, const Extent& extent) {
      return given > 0 ? layers.scalar(given, nv::DataType::kFLOAT, 1) : extent.value(layers).f32();
    };
    const Extent height = inputs[0].extent(2), width = inputs[0].extent(3);
    const Value image_height = number(settings_.image_height, inputs[1].extent(2)),
                image_width = number(settings_.image_width, inputs[1].extent(3));
    const auto step = [&](double given, const Value& image, const Extent& cells) {
      return given > 0 ? layers.scalar(given, nv::DataType::kFLOAT, 1) : image / cells.value(layers).f32();
    };
    const Grid grid{height,
                    width,
                    step(settings_.step_y, image_height, height),
                    step(settings_.step_x, image_width, width),
                    image_height,
                    image_width,
                    settings_.offset,
                    settings_.widths,
                    settings_.heights,
                    settings_.variance,
                    settings_.clips};
    const Value boxes = anchors(layers, grid);
    return {broadcast(boxes, {inputs[0].extent(0), 2, boxes.extent(2), 1})};
  }

 private:
  Settings settings_;
};

/// 1, and the others, each once.
std::vector<float> ratios_of(const std::vector<float>& given, bool flips) {
  std::vector<float> ratios = {1};
  for (const float ratio : given) {
    if (std::ranges::any_of(ratios, [&](float known) { return std::abs(known - ratio) < 1e-6F; })) continue;
    ratios.push_back(ratio);
    if (flips) ratios.push_back(1 / ratio);
  }
  return ratios;
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Settings settings;
  const std::vector<float> least = TRY(fields.floats("minSize")), most = TRY(fields.floats("maxSize"));
  TRY(require(!least.empty() && (most.empty() || most.size() == least.size()), "there are ", least.size(),
              " minimum and ", most.size(), " maximum sizes; as many are needed, or no maximum"));
  for (size_t i = 0; i < least.size(); ++i) {
    TRY(require(least[i] > 0, "minimum size ", i, " is ", least[i], "; it has to be above 0"));
    TRY(require(most.empty() || most[i] >= least[i], "maximum size ", i, " is ", most[i], "; the minimum size is ",
                least[i]));
  }
  const std::vector<float> given = TRY(fields.floats("aspectRatios"));
  TRY(require(std::ranges::all_of(given, [](float ratio) { return ratio > 0; }), "an aspect ratio is not positive"));
  const std::vector<float> ratios = ratios_of(given, TRY(fields.flag("flip", true)));
  for (size_t i = 0; i < least.size(); ++i)
    for (size_t r = 0; r < ratios.size() + (most.empty() ? 0 : 1); ++r) {
      const bool is_larger = !most.empty() && r == 1;
      const float size = is_larger ? std::sqrt(least[i] * most[i]) : least[i];
      const float ratio = r == 0 || is_larger ? 1 : ratios[r - (most.empty() ? 0 : 1)];
      settings.widths.push_back(size * std::sqrt(ratio));
      settings.heights.push_back(size / std::sqrt(ratio));
    }
  settings.variance = TRY(fields.floats("variance"));
  TRY(require(settings.variance.size() == 4, "there are ", settings.variance.size(), " variances; 4 are needed"));
  settings.clips = TRY(fields.flag("clip", false));
  settings.image_height = TRY(fields.number("imgH", 0));
  settings.image_width = TRY(fields.number("imgW", 0));
  settings.step_y = TRY(fields.number("stepH", 0));
  settings.step_x = TRY(fields.number("stepW", 0));
  settings.offset = TRY(fields.number("offset", 0.5));
  return std::make_shared<PriorBox>(std::move(settings));
}

}  // namespace

std::vector<Definition> prior_box() {
  return {{.name = "PriorBox_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("minSize", kFloat), field("maxSize", kFloat), field("aspectRatios", kFloat),
                      field("flip", kInt), field("clip", kInt), field("variance", kFloat), field("imgH", kInt),
                      field("imgW", kInt), field("stepH", kFloat), field("stepW", kFloat), field("offset", kFloat)},
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make}};
}

}  // namespace kiln::plugins
