// MultilevelCropAndResize_TRT, of Mask R-CNN: regions of images, each resampled from the level of a feature pyramid
// that fits its size. An element of y is one sample in the middle of its part of the region, interpolated linearly
// between pixels; beyond its borders an image goes on as at them.
//   in   rois    floats [N, R, 4]: y1, x1, y2, x2 in pixels of the image
//        p2 ... p6  [N, C, H, W]: the levels, of which a pixel is 4, 8, 16, 32 and 64 of the image
//   out  y       [N, R, C, pooled_size, pooled_size]; 0 of a region that reaches out of the image or has no extent
// A region is taken from p6 if its area is above 896^2, else from p5 if above 448^2, from p4 if above 224^2, from p3 if
// above 112^2, else from p2. Row i is at y1 / s + (i + 1/2) (y2 - y1) / s / pooled_size, where a pixel is s x s.
//   fields  pooled_size. image_size  channels, height and width (3, 832, 1344)
#include "library/pyramid.h"
#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr size_t kLevels = 5;

class MultilevelCropAndResize final : public StandardPlugin {
 public:
  MultilevelCropAndResize(int64_t pooled, int64_t height, int64_t width)
      : pooled_(pooled), height_(height), width_(width) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_pyramid(inputs));
    return std::vector<Shape>{{inputs[0][0], inputs[0][1], inputs[1][1], pooled_, pooled_}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Extent batch = inputs[0].extent(0), count = inputs[0].extent(1), channels = inputs[1].extent(1);
    const Value rois = reshape(inputs[0].f32(), {batch, count, 4});
    const Value is_valid = is_within(split(rois, 2, {1, 1, 1, 1}));  // [N, R, 1]
    const std::vector<Value> corners = split(select(is_valid, rois, 0), 2, {1, 1, 1, 1});
    const Value level = level_of((corners[2] - corners[0]) * (corners[3] - corners[1]));
    const Extents grid{batch, count, pooled_, pooled_};
    const auto of_samples = [&](const Value& x) {  // [N, R, 1 or P, 1 or P], each sample's own
      return reshape(broadcast(x, grid), {batch, count * (pooled_ * pooled_)});
    };
    const auto of_level = [&](const Value& numbers) { return of_samples(unsqueeze(gather(numbers, level, 0), {3})); };
    const Pyramid pyramid = stacked(layers, inputs.subspan(1));
    const Samples from{pyramid.pixels, of_level(pyramid.heights), of_level(pyramid.widths), of_level(pyramid.firsts)};
    const Value size = gather(layers.constant(dims_of({kLevels}), std::vector<float>{4, 8, 16, 32, 64}), level, 0);
    const Value row = of_samples(unsqueeze(places(layers, corners[0] / size, corners[2] / size), {3}));
    const Value column = of_samples(unsqueeze(places(layers, corners[1] / size, corners[3] / size), {2}));
    const Value sampled = bilinear(from, within(row, from.height), within(column, from.width));
    const Value boxed = transpose(reshape(sampled, {batch, count, pooled_, pooled_, channels}), {0, 1, 4, 2, 3});
    return {select(unsqueeze(is_valid, {3, 4}), boxed, 0)};
  }

 private:
  /// The levels' pixels one behind the other, [N, S, C], and i32 [kLevels] of each level.
  struct Pyramid {
    Value pixels, heights, widths, firsts;
  };
  static Pyramid stacked(Layers& layers, std::span<const Value> levels) {
    std::vector<Value> pixels, heights, widths, firsts;
    Extent first = 0;
    for (const Value& level : levels) {
      const Extent size = level.extent(2) * level.extent(3);
      const Extents rows{level.extent(0), size, level.extent(1)};
      pixels.push_back(reshape(transpose(level.f32(), {0, 2, 3, 1}), rows));
      heights.push_back(level.extent(2).value(layers));
      widths.push_back(level.extent(3).value(layers));
      firsts.push_back(first.value(layers));
      first = first + size;
    }
    return {concat(pixels, 1), concat(heights, 0).i32(), concat(widths, 0).i32(), concat(firsts, 0).i32()};
  }
  Value is_within(const std::vector<Value>& corners) const {
    const Value &y1 = corners[0], &x1 = corners[1], &y2 = corners[2], &x2 = corners[3];
    return (y1 >= 0.0) && (x1 >= 0.0) && (y2 <= static_cast<double>(height_)) && (x2 <= static_cast<double>(width_)) &&
           (y1 < y2) && (x1 < x2);
  }
  /// 0 for p2 ... 4 for p6.
  static Value level_of(const Value& area) {
    double least = 112 * 112;
    Value level = (area > least).i32();
    for (size_t i = 2; i < kLevels; ++i) level = level + (area > (least *= 4)).i32();
    return level;
  }
  /// Where samples between two edges [N, R, 1] are, [N, R, P].
  Value places(Layers& layers, const Value& low, const Value& high) const {
    const Value middle = layers.iota(pooled_, nv::DataType::kFLOAT) + 0.5;
    return low + (high - low) / static_cast<double>(pooled_) * middle;
  }
  static Value within(const Value& place, const Value& extent) { return min(max(place, 0.0), extent.f32() - 1.0); }
  int64_t pooled_, height_, width_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t pooled = TRY(fields.integer("pooled_size"));
  const std::vector<int64_t> image = TRY(image_size(fields, {3, 832, 1344}));
  TRY(require(pooled > 0 && pooled <= kMostPooled, "pooled_size is ", pooled, "; 1 to ", kMostPooled, " are possible"));
  return std::make_shared<MultilevelCropAndResize>(pooled, image[1], image[2]);
}

}  // namespace

std::vector<Definition> multilevel_crop_and_resize() {
  return {{.name = "MultilevelCropAndResize_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("pooled_size", kInt), field("image_size", kInt)},
           .min_inputs = 6,
           .max_inputs = 6,
           .make = make}};
}

}  // namespace kiln::plugins
