// Proposal, ProposalDynamic, of Faster R-CNN: the best boxes that a network proposes, in shares of the image.
//   in   scores   f32 [N, A, H, W]: of the foreground
//        delta    f32 [N, A 4, H, W]: dx, dy, log dw, log dh for each anchor
//   out  y        f32 [N, post_nms_top_n, 4, 1]: corners y1, x1, y2, x2 divided by the last pixel's place, the best
//                 first; 0 where there are fewer
//   fields  input_height, input_width (of the image), rpn_stride, roi_min_size (0: boxes whose corners are so far
//           apart or less come last of all), nms_iou_threshold (boxes that overlap better ones more go), pre_nms_top_n
//           (so many of the best scores are looked at), post_nms_top_n, anchor_sizes (s), anchor_ratios (r)
// A cell's A anchors are, size by size, s sqrt(r) x s / sqrt(r) large; cell i has its centre at (i + 1/2) rpn_stride.
// Boxes are clipped to the image's pixels; one that begins and ends in one pixel is 1 large.
#include <algorithm>
#include <cmath>

#include "library/proposals.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

struct Settings {
  AnchorGrid grid;
  Choice choice;
  double last_row, last_column, least_size;  ///< of the image's pixels; of a box
};

class Proposal final : public StandardPlugin {
 public:
  explicit Proposal(Settings settings) : settings_(std::move(settings)) {}
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const auto num_anchors = std::ssize(settings_.grid.widths);
    for (size_t i = 0; i < 2; ++i) {
      TRY(require_rank(inputs, i, 4));
      const int64_t wanted = (i == 0 ? 1 : 4) * num_anchors;
      TRY(require_extent(inputs, i, 1, wanted, str("as ", num_anchors, " anchors need")));
    }
    for (const size_t axis : {0U, 2U, 3U}) TRY(require_equal(inputs, 0, axis, 1, axis));
    return std::vector<Shape>{{inputs[0][0], settings_.choice.most, 4, 1}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    std::vector<Value> corners = moved_anchors(settings_.grid, inputs[1]);
    for (size_t i = 0; i < corners.size(); ++i)
      corners[i] = clamp(corners[i], 0, i % 2 == 0 ? settings_.last_column : settings_.last_row);
    const Value is_small =
        corners[2] - corners[0] <= settings_.least_size || corners[3] - corners[1] <= settings_.least_size;
    const std::vector<Value> best = split(chosen(corners, inputs[0], is_small, settings_.choice), 2, {1, 1, 1, 1});
    const auto row = static_cast<float>(settings_.last_row), column = static_cast<float>(settings_.last_column);
    const Value last = layers.constant(dims_of({1, 1, 4}), std::vector<float>{row, column, row, column});
    return {unsqueeze(concat({best[1], best[0], best[3], best[2]}, 2) / last, {3})};
  }

 private:
  Settings settings_;
};

Result<std::vector<float>> positive(const Fields& fields, const char* name) {
  std::vector<float> numbers = TRY(fields.floats(name));
  TRY(require(!numbers.empty() && std::ranges::all_of(numbers, [](float number) { return number > 0; }), name, " has ",
              numbers.size(), " numbers; one at least is needed, and all above 0"));
  return numbers;
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Settings settings{};
  auto& [grid, choice, last_row, last_column, least_size] = settings;
  const int64_t height = TRY(fields.integer("input_height")), width = TRY(fields.integer("input_width"));
  const int64_t stride = TRY(fields.integer("rpn_stride"));
  choice.candidates = TRY(fields.integer("pre_nms_top_n"));
  choice.most = TRY(fields.integer("post_nms_top_n"));
  choice.iou_threshold = TRY(fields.number("nms_iou_threshold"));
  least_size = TRY(fields.number("roi_min_size", 0));
  TRY(require(height > 1 && width > 1 && stride > 0 && least_size >= 0, "input_height is ", height, ", input_width ",
              width, ", rpn_stride ", stride, ", roi_min_size ", least_size, "; 2, 2, 1 and 0 at least are possible"));
  TRY(require(choice.candidates > 0 && choice.most > 0 && choice.most <= kMostOfTopK && choice.iou_threshold > 0,
              "pre_nms_top_n is ", choice.candidates, ", post_nms_top_n ", choice.most, ", nms_iou_threshold ",
              choice.iou_threshold, "; 1 at least, 1 to ", kMostOfTopK, " and numbers above 0 are possible"));
  last_row = static_cast<double>(height - 1);
  last_column = static_cast<double>(width - 1);
  grid.stride = static_cast<double>(stride);
  grid.first = grid.stride / 2;
  const std::vector<float> ratios = TRY(positive(fields, "anchor_ratios"));
  for (const float size : TRY(positive(fields, "anchor_sizes")))
    for (const float ratio : ratios) {
      grid.widths.push_back(size * std::sqrt(ratio));
      grid.heights.push_back(size / std::sqrt(ratio));
    }
  return std::make_shared<Proposal>(std::move(settings));
}

}  // namespace

std::vector<Definition> proposal() {
  const std::vector<nv::PluginField> fields = {
      field("input_height", kInt),   field("input_width", kInt),         field("rpn_stride", kInt),
      field("roi_min_size", kFloat), field("nms_iou_threshold", kFloat), field("pre_nms_top_n", kInt),
      field("post_nms_top_n", kInt), field("anchor_sizes", kFloat),      field("anchor_ratios", kFloat)};
  return {{.name = "Proposal",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make},
          {.name = "ProposalDynamic",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make}};
}

}  // namespace kiln::plugins
