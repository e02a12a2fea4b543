// GridSample and RoiAlign.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

const Proto kImage = value("x", kFloat, {2, 3, 8, 9});

TEST(ImportGridSample, NamesOfModesDependOnTheVersion) {
  const auto import = [](std::initializer_list<Proto> attributes, int64_t version) {
    return import_node(node("GridSample", {"x", "g"}, {"y"}, "s", attributes),
                       {kImage, value("g", kFloat, {2, 4, 5, 2})}, {}, version);
  };
  const auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(import({}, 16), "GridSample{mode=linear, outside=fill, align_corners=false}(x, g)");
  has(import({text_attribute("mode", "bicubic"), text_attribute("padding_mode", "border")}, 16),
      "mode=cubic, outside=clamp");
  has(import({text_attribute("mode", "cubic"), text_attribute("padding_mode", "reflection"),
              int_attribute("align_corners", 1)},
             22),
      "mode=cubic, outside=reflect, align_corners=true");
  has(import({text_attribute("mode", "nearest")}, 20), "mode=nearest");
  has(import({text_attribute("mode", "spline")}, 20), "mode is 'spline'; nearest, linear or cubic is needed");
  has(import({text_attribute("padding_mode", "wrap")}, 20),
      "padding_mode is 'wrap'; zeros, border or reflection is needed");
}

TEST(ImportRoiAlign, PixelsLieAtHalvesSinceVersion16) {
  const auto import = [](std::initializer_list<Proto> attributes, int64_t version) {
    return import_node(node("RoiAlign", {"x", "r", "b"}, {"y"}, "s", attributes),
                       {kImage, value("r", kFloat, {5, 4}), value("b", kInt64, {5})}, {}, version);
  };
  const auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(import({}, 10),
      "RoiAlign{mode=average, height=1, width=1, sampling_ratio=0, spatial_scale=1, half_pixel=false}(x, r, b)");
  has(import({int_attribute("output_height", 7), int_attribute("output_width", 5), int_attribute("sampling_ratio", 2),
              float_attribute("spatial_scale", 0.25F), text_attribute("mode", "max")},
             16),
      "RoiAlign{mode=max, height=7, width=5, sampling_ratio=2, spatial_scale=0.25, half_pixel=true}(x, r, b)");
  has(import({text_attribute("coordinate_transformation_mode", "output_half_pixel")}, 22), "half_pixel=false");
  has(import({text_attribute("mode", "min")}, 16), "mode is 'min'; avg or max is needed");
}

}  // namespace
}  // namespace kiln::onnx
