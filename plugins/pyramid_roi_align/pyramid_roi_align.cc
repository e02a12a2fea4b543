// PyramidROIAlign_TRT: regions of images, each resampled from the level of a feature pyramid that fits its size. An
// element of y is the mean of s x s samples, which are interpolated linearly between pixels; beyond its borders an
// image goes on as at them.
//   in   rois    f32 [N, R, 4]: two corners of each region, x before y. Cut to the image
//        p2 ... p5  f32 [N, C, H, W]: the levels, the finest first
//   out  y       f32 [N, R, C, pooled_size, pooled_size]
// With a region's area in pixels of the image, it is taken from p5 if that is above (2 fpn_scale)^2, else from p4 if
// above fpn_scale^2, else from p3 if above (fpn_scale / 2)^2, else from p2. Areas are compared in FP32, as parts of the
// image's: a region at a threshold goes where the rounding of fpn_scale / sqrt(image area) says. Where the region
// reaches from a to b, in 0 ... 1, sample k of element i is at
//   roi_coords_transform 2   a H - 1/2 + (i + (k + 1/2) / s) d     with d = (b - a) H / pooled_size
//                        1   a H       + (i + (k + 1/2) / s) d
//                        0   a H       + (i + k / s) d
//                       -1   a (H - 1) + i d                       with d = (b - a) (H - 1) / (pooled_size - 1), s = 1
//   fields  pooled_size, 16384 at most (7). image_size  height and width (1024, 1024). fpn_scale (224).
//           sampling_ratio  s, 1024 at most, or 0: d, rounded up (0). roi_coords_absolute  regions are in pixels of the
//           image, else in 0 ... 1 (1). roi_coords_swap  y before x (0). roi_coords_plusone  areas are those of regions
//           a pixel larger each way (0). roi_coords_transform (2). legacy  roi_coords_transform -1, sampling_ratio 1,
//           roi_coords_absolute 0, roi_coords_swap 1, roi_coords_plusone 0, and areas as if the image were 1024 x 1024,
//           fpn_scale 158.4 (0)
#include <cmath>

#include "library/entry.h"
#include "library/pyramid.h"
#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr int kLevels = 4;

/// Where samples are.
enum class Transform : int64_t { kCorners = -1, kNone = 0, kOutputHalfPixel = 1, kHalfPixel = 2 };

struct Settings {
  int64_t pooled = 7, ratio = 0, image_height = 1024, image_width = 1024;
  double least_area_of_p3 = 0;  ///< as a part of the image's
  Transform transform = Transform::kHalfPixel;
  bool is_absolute = true, is_swapped = false, adds_one = false;
};

/// Lower and upper ends along one axis.
struct Ends {
  Value low, high;
};

class PyramidRoiAlign final : public StandardPlugin {
 public:
  explicit PyramidRoiAlign(const Settings& settings) : settings_(settings) {}
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_pyramid(inputs));
    return std::vector<Shape>{{inputs[0][0], inputs[0][1], inputs[1][1], settings_.pooled, settings_.pooled}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override;

 private:
  Ends ends(const Value& a, const Value& b, int64_t image) const;
  Value level_of(const Ends& x, const Ends& y) const;
  Value regions_on(const Value& map, const Ends& x, const Ends& y) const;
  Ends ends_on(const Ends& part, const Value& extent) const;
  KilnRoiAlign how() const {
    const auto pooled = static_cast<int32_t>(settings_.pooled);
    return {.takes_maximum = 0,
            .height = pooled,
            .width = pooled,
            .sampling_ratio = static_cast<int32_t>(settings_.ratio),
            .half_pixel = 1,
            .spatial_scale = 1};
  }
  Settings settings_;
};

/// Where regions begin and end, in 0 ... 1.
Ends PyramidRoiAlign::ends(const Value& a, const Value& b, int64_t image) const {
  const double whole = settings_.is_absolute ? static_cast<double>(image) : 1;
  return {clamp(min(a, b), 0, whole) / whole, clamp(max(a, b), 0, whole) / whole};
}

/// 0 for p2 ... 3 for p5, i32 [M, 1].
Value PyramidRoiAlign::level_of(const Ends& x, const Ends& y) const {
  Value width = x.high - x.low, height = y.high - y.low;
  if (settings_.adds_one) {
    width = width + 1.0 / static_cast<double>(settings_.image_width);
    height = height + 1.0 / static_cast<double>(settings_.image_height);
  }
  const Value area = width * height;
  double least = settings_.least_area_of_p3;
  Value level = (area > least).i32();
  for (int i = 2; i < kLevels; ++i) level = level + (area > (least *= 4)).i32();
  return level;
}

/// Ends in pixels, so that RoiAlign takes the samples that the plugin takes: those of element i at
/// low - 1/2 + (i + (k + 1/2) / s) (high - low) / pooled_size.
Ends PyramidRoiAlign::ends_on(const Ends& part, const Value& extent) const {
  const auto pooled = static_cast<double>(settings_.pooled);
  if (settings_.transform == Transform::kCorners) {
    const Value last = extent - 1.0;
    const Value step = (part.high - part.low) * last / (pooled - 1);
    const Value low = part.low * last - step * 0.5 + 0.5;
    return {low, low + step * pooled};
  }
  Value low = part.low * extent, high = part.high * extent;
  if (settings_.transform == Transform::kOutputHalfPixel) low = low + 0.5, high = high + 0.5;
  if (settings_.transform == Transform::kNone) {
    const Value step = (high - low) / pooled;
    const Value between =
        settings_.ratio > 0 ? step / static_cast<double>(settings_.ratio) : step / max(ceil(step), 1.0);
    const Value shift = 0.5 - between * 0.5;
    low = low + shift, high = high + shift;
  }
  // RoiAlign takes no samples of a region without extent, and 0 is their mean: two roundings of FP32 give it one.
  if (settings_.ratio == 0) high = max(high, low + (low + 1.0) * std::ldexp(1.0, -22));
  return {low, high};
}

/// [M, 4]: x1, y1, x2, y2 in pixels of a level.
Value PyramidRoiAlign::regions_on(const Value& map, const Ends& x, const Ends& y) const {
  Layers& layers = map.layers();
  const Ends across = ends_on(x, i32_of(layers, map.extent(3)).f32());
  const Ends down = ends_on(y, i32_of(layers, map.extent(2)).f32());
  return concat({across.low, down.low, across.high, down.high}, 1);
}

std::vector<Value> PyramidRoiAlign::add_layers(Layers& layers, std::span<const Value> inputs) const {
  constexpr double kOutside = -9;  // in pixels: RoiAlign gives 0 there
  const Extent batch = inputs[0].extent(0), count = inputs[0].extent(1), all = batch * count;
  const std::vector<Value> corners = split(reshape(inputs[0], {all, 4}), 1, {1, 1, 1, 1});
  const size_t first_x = settings_.is_swapped ? 1 : 0, first_y = 1 - first_x;
  const Ends x = ends(corners[first_x], corners[first_x + 2], settings_.image_width);
  const Ends y = ends(corners[first_y], corners[first_y + 2], settings_.image_height);
  const Value level = level_of(x, y);
  const Value image = unsqueeze(layers.iota(batch, nv::DataType::kINT32), {1});
  const Value images = reshape(broadcast(image, {batch, count}), {all});
  // A region is taken from all levels, and outside of those that are not its own.
  Value total;
  for (int i = 0; i < kLevels; ++i) {
    const Value& map = inputs[static_cast<size_t>(i) + 1];
    const Value regions = select(level == static_cast<double>(i), regions_on(map, x, y), kOutside);
    const Value pooled = roi_align(map, regions, images, how());
    total = i == 0 ? pooled : total + pooled;
  }
  return {reshape(total, {batch, count, inputs[1].extent(1), settings_.pooled, settings_.pooled})};
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  constexpr double kCanonical = 224;
  Settings settings;
  settings.pooled = TRY(integer_within(fields, "pooled_size", settings.pooled, {1, kMostPooled}));
  settings.ratio = TRY(integer_within(fields, "sampling_ratio", settings.ratio, {0, kMostSamples}));
  settings.is_absolute = TRY(fields.flag("roi_coords_absolute", settings.is_absolute));
  settings.is_swapped = TRY(fields.flag("roi_coords_swap", settings.is_swapped));
  settings.adds_one = TRY(fields.flag("roi_coords_plusone", settings.adds_one));
  const std::vector<int64_t> image = TRY(image_size(fields, {settings.image_height, settings.image_width}));
  settings.image_height = image[0], settings.image_width = image[1];
  int64_t transform = TRY(fields.integer("roi_coords_transform", static_cast<int64_t>(settings.transform)));
  const int64_t scale = TRY(fields.integer("fpn_scale", static_cast<int64_t>(kCanonical)));
  TRY(require(scale > 0, "fpn_scale is ", scale));
  // Each step is rounded to FP32 as TensorRT's are, which decides about regions at a threshold.
  const auto area = static_cast<float>(settings.image_height * settings.image_width);
  const float part = std::sqrt(static_cast<float>(scale) * static_cast<float>(scale) / area);
  settings.least_area_of_p3 = part * part / 4;
  if (TRY(fields.flag("legacy", false))) {
    settings.ratio = 1;
    settings.is_absolute = settings.adds_one = false;
    settings.is_swapped = true;
    settings.least_area_of_p3 = kCanonical * kCanonical * 2 / (1024.0 * 1024.0) / 16;
    transform = -1;
  }
  TRY(require(transform >= -1 && transform <= 2, "roi_coords_transform is ", transform, "; -1 to 2 are possible"));
  settings.transform = static_cast<Transform>(transform);
  TRY(require(settings.transform != Transform::kCorners || (settings.ratio == 1 && settings.pooled > 1),
              "roi_coords_transform is -1, which takes a sampling_ratio of 1 and a pooled_size of 2 or more; they are ",
              settings.ratio, " and ", settings.pooled));
  return std::make_shared<PyramidRoiAlign>(settings);
}

}  // namespace

std::vector<Definition> pyramid_roi_align() {
  return {
      {.name = "PyramidROIAlign_TRT",
       .version = "1",
       .generation = Generation::kV2,
       .fields = {field("fpn_scale", kInt), field("pooled_size", kInt), field("image_size", kInt),
                  field("roi_coords_absolute", kInt), field("roi_coords_swap", kInt), field("roi_coords_plusone", kInt),
                  field("roi_coords_transform", kInt), field("sampling_ratio", kInt), field("legacy", kInt)},
       .min_inputs = 5,
       .max_inputs = 5,
       .make = make}};
}

}  // namespace kiln::plugins
