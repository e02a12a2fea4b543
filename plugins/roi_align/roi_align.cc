// ROIAlign_TRT: regions of images, resampled to one size, as ONNX's RoiAlign has it.
//   in   x              floats [N, C, H, W]
//        rois           [R, 4]: x1, y1, x2, y2, times spatial_scale in pixels
//        batch_indices  i32 [R]: images of the regions
//   out  y              [R, C, output_height, output_width]
//   fields  coordinate_transformation_mode (0: pixel centres are at whole numbers, and regions are a pixel large at
//           least, 1: pixel centres are at halves), mode (0: the maximum of samples, 1: their mean), output_height,
//           output_width (16384 at most), sampling_ratio (samples of a bin along each axis, 1024 at most; 0: as many as
//           it has pixels), spatial_scale
#include <cmath>

#include "library/entry.h"
#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class RoiAlign final : public StandardPlugin {
 public:
  explicit RoiAlign(const KilnRoiAlign& how) : how_(how) {}
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    return before.size() == 2 ? type == nv::DataType::kINT32 : StandardPlugin::takes(type, before);
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    TRY(require_rank(inputs, 1, 2));
    TRY(require_rank(inputs, 2, 1));
    TRY(require_extent(inputs, 1, 1, 4, "as many numbers as a region has"));
    TRY(require_equal(inputs, 1, 0, 2, 0));
    return std::vector<Shape>{{inputs[1][0], inputs[0][1], how_.height, how_.width}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Value& rois = inputs[1];
    return {plugins::roi_align(inputs[0], rois.extent(1).number() ? rois : reshape(rois, {rois.extent(0), 4}),
                               inputs[2], how_)};
  }

 private:
  KilnRoiAlign how_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  KilnRoiAlign how{};
  const int64_t coordinates = TRY(fields.integer("coordinate_transformation_mode", 1));
  const int64_t mode = TRY(fields.integer("mode", 1));
  how.half_pixel = coordinates == 1;
  how.takes_maximum = mode == 0;
  how.height = static_cast<int32_t>(TRY(integer_within(fields, "output_height", 1, {1, kMostPooled})));
  how.width = static_cast<int32_t>(TRY(integer_within(fields, "output_width", 1, {1, kMostPooled})));
  how.sampling_ratio = static_cast<int32_t>(TRY(integer_within(fields, "sampling_ratio", 0, {0, kMostSamples})));
  how.spatial_scale = TRY(fields.number("spatial_scale", 1));
  TRY(require(coordinates == 0 || coordinates == 1, "coordinate_transformation_mode is ", coordinates));
  TRY(require(mode == 0 || mode == 1, "mode is ", mode));
  TRY(require(how.spatial_scale > 0 && std::isfinite(how.spatial_scale), "spatial_scale is ", how.spatial_scale));
  return std::make_shared<RoiAlign>(how);
}

}  // namespace

std::vector<Definition> roi_align() {
  const std::vector<nv::PluginField> fields = {field("coordinate_transformation_mode", kInt),
                                               field("mode", kInt),
                                               field("output_height", kInt),
                                               field("output_width", kInt),
                                               field("sampling_ratio", kInt),
                                               field("spatial_scale", kFloat)};
  return {{.name = "ROIAlign_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make},
          {.name = "ROIAlign_TRT",
           .version = "2",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
