// CropAndResize, CropAndResizeDynamic: regions of images, resampled to one size, as TensorFlow has it: row i of h is
// at y1 (H - 1) + i (y2 - y1) (H - 1) / (h - 1), or in the middle if h is 1; columns likewise. Pixels are interpolated
// linearly; what lies outside of the image is 0.
//   in   x        floats [N, C, H, W]
//        rois     [N, B, 4, 1]: y1, x1, y2, x2, where 1 is the image's last row or column
//   out  y        [N, B, C, crop_height, crop_width]
//   fields  crop_width, crop_height
#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class CropAndResize final : public StandardPlugin {
 public:
  CropAndResize(int64_t height, int64_t width) : height_(height), width_(width) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    TRY(require_rank(inputs, 1, 4));
    TRY(require_equal(inputs, 0, 0, 1, 0));
    TRY(require_equal(inputs[1][2] * inputs[1][3], 4, "a region of input 1 has to have 4 numbers"));
    return std::vector<Shape>{{inputs[0][0], inputs[1][1], inputs[0][1], height_, width_}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value x = inputs[0].f32();
    const Extent batch = x.extent(0), channels = x.extent(1), boxes = inputs[1].extent(1);
    const Value images = reshape(transpose(x, {0, 2, 3, 1}), {batch, x.extent(2) * x.extent(3), channels});
    const Samples from{images, i32_of(layers, x.extent(2)), i32_of(layers, x.extent(3)), {}};
    const std::vector<Value> rois = split(reshape(inputs[1].f32(), {batch, boxes, 4}), 2, {1, 1, 1, 1});
    const Extents grid{batch, boxes, height_, width_};
    const Value y = spread(places(layers, rois[0], rois[2], height_, from.height), 3, grid);
    const Value column = spread(places(layers, rois[1], rois[3], width_, from.width), 2, grid);
    const Value last_row = from.height.f32() - 1.0, last_column = from.width.f32() - 1.0;
    const Value is_inside = (y >= 0.0) && (y <= last_row) && (column >= 0.0) && (column <= last_column);
    const Value samples = select(unsqueeze(is_inside, {2}), bilinear(from, y, column), 0);
    const Value boxed = reshape(samples, {batch, boxes, height_, width_, channels});
    return {transpose(boxed, {0, 1, 4, 2, 3})};
  }

 private:
  /// Where `count` samples between two edges are, [N, B, count].
  static Value places(Layers& layers, const Value& low, const Value& high, int64_t count, const Value& extent) {
    const Value last = unsqueeze(extent.f32() - 1.0, {0});
    if (count == 1) return (low + high) * 0.5 * last;
    const Value i = layers.iota(count, nv::DataType::kFLOAT);
    return low * last + i * ((high - low) * last / static_cast<double>(count - 1));
  }
  /// [N, B, h] or [N, B, w] for each sample: [N, B h w].
  static Value spread(const Value& places, int axis, const Extents& grid) {
    return reshape(broadcast(unsqueeze(places, {axis}), grid), {grid[0], grid[1] * grid[2] * grid[3]});
  }
  int64_t height_, width_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t height = TRY(fields.integer("crop_height")), width = TRY(fields.integer("crop_width"));
  TRY(require(height > 0 && width > 0 && height <= kMostPooled && width <= kMostPooled, "crop_height is ", height,
              ", crop_width ", width, "; 1 to ", kMostPooled, " are possible"));
  return std::make_shared<CropAndResize>(height, width);
}

}  // namespace

std::vector<Definition> crop_and_resize() {
  const std::vector<nv::PluginField> fields = {field("crop_width", kInt), field("crop_height", kInt)};
  return {{.name = "CropAndResize",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make},
          {.name = "CropAndResizeDynamic",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make},
          {.name = "CropAndResizeDynamic",
           .version = "2",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make}};
}

}  // namespace kiln::plugins
