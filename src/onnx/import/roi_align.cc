#include "ops/roi_align.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// Imports RoiAlign. Before opset 16 pixels had their centres at whole numbers.
Status roi_align(ImportContext& cx) {
  const std::string_view mode = TRY(cx.node().get_string("mode", "avg")),
                         older = cx.opset() < 16 ? "output_half_pixel" : "half_pixel",
                         transformation = TRY(cx.node().get_string("coordinate_transformation_mode", older));
  TRY(require(mode == "avg" || mode == "max", "mode is '", mode, "'; avg or max is needed"));
  TRY(require(transformation == "half_pixel" || transformation == "output_half_pixel",
              "coordinate_transformation_mode is '", transformation, "'; half_pixel or output_half_pixel is needed"));
  ops::RoiAlign op;
  op.mode = mode == "max" ? RoiMode::kMax : RoiMode::kAverage;
  op.half_pixel = transformation == "half_pixel";
  op.height = TRY(cx.int_attribute("output_height", 1));
  op.width = TRY(cx.int_attribute("output_width", 1));
  op.sampling_ratio = TRY(cx.int_attribute("sampling_ratio", 0));
  op.spatial_scale = double{TRY(cx.node().get_float("spatial_scale", 1))};
  return cx.output(TRY(cx.add(op, {TRY(cx.input(0)), TRY(cx.input(1)), TRY(cx.input(2))})));
}

}  // namespace kiln::onnx::importers
