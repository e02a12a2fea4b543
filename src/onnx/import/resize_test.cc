// Resize and Upsample where the rule of coordinates, the region or the scales need more than a row of a table.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto mode(std::string_view coordinates) { return text_attribute("coordinate_transformation_mode", coordinates); }
/// What the graph says of its Resize after "Resize{".
std::string resize_in(const std::string& text) {
  const size_t at = text.find("Resize{");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}
bool contains(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

TEST(ImportResize, CornersOfScalesThatMakeNoWholeElements) {
  const auto rule = [](float scale) {
    return resize_in(import_node(node("Resize", {"x", "", "s"}, {"y"}, "", {mode("align_corners")}),
                                 {value("x", kFloat, {4})}, {floats("s", {1}, {scale})}));
  };
  EXPECT_TRUE(contains(rule(1.5F), "coordinate=align_corners, ")) << rule(1.5F);
  EXPECT_TRUE(contains(rule(0.8F), "coordinate=align_corners_of_scale, ")) << rule(0.8F);
}
TEST(ImportResize, AKnownRegionNamesTheAxesThatItCuts) {
  const std::string got = import_node(
      node("Resize", {"x", "roi", "", "sizes"}, {"y"}, "", {mode("tf_crop_and_resize")}),
      {value("x", kFloat, {2, 3, 8})}, {floats("roi", {6}, {0, 0, 0.25F, 1, 1, 0.5F}), i64s("sizes", {2, 3, 5})});
  EXPECT_TRUE(contains(got, "Constant{value=f32[2](0.25, 0.5)}")) << got;
  EXPECT_TRUE(contains(resize_in(got), "coordinate=tf_crop_and_resize")) << got;
  EXPECT_TRUE(contains(resize_in(got), "axes_given=[2], extrapolation=0}(x, _, ")) << got;
}
TEST(ImportResize, ARegionOfTheRun) {
  const std::string got = resize_in(import_node(
      node("Resize", {"x", "roi", "", "sizes"}, {"y"}, "",
           {mode("tf_crop_and_resize"), ints_attribute("axes", {2, 1}), float_attribute("extrapolation_value", 2)}),
      {value("x", kFloat, {2, 3, 8}), value("roi", kFloat, {4})}, {i64s("sizes", {5, 4})}));
  EXPECT_TRUE(contains(got, "dims=[2, 4, 5]")) << got;
  EXPECT_TRUE(contains(got, "axes_given=[2, 1], extrapolation=2}(x, _, roi)  # f32[2, 4, 5]")) << got;
}
TEST(ImportResize, ScalesOfTheRunNeedAStatedShape) {
  const auto scaled = [](const Proto& output) {
    return text_of(import_proto(model(graph({{node("Resize", {"x", "", "s"}, {"y"}, "r")},
                                             {value("x", kFloat, {2, 3}), value("s", kFloat, {2})},
                                             {output},
                                             {}}))));
  };
  const std::string got = resize_in(scaled(value("y", kFloat, {2, 7})));
  EXPECT_TRUE(contains(got, "dims=[2, 7]") && contains(got, "(x, _, _, s)  # f32[2, 7]")) << got;
  EXPECT_EQ(scaled(value("y", kFloat, {2, -1})),
            "node 'r' (Resize) of x f32[2, 3], s f32[2]: scales 's' (f32[2]) are computed at run time, and the model "
            "does not state the shape of 'y', which depends on them; make them constants, give sizes instead, or state "
            "the shape\n");
}
TEST(ImportResize, RefusesCropsByScales) {
  EXPECT_EQ(import_node(node("Resize", {"x", "roi", "s"}, {"y"}, "r", {mode("tf_crop_and_resize")}),
                        {value("x", kFloat, {4}), value("roi", kFloat, {2})}, {floats("s", {1}, {2})}),
            "node 'r' (Resize) of x f32[4], roi f32[2], s f32[1]: tf_crop_and_resize by scales is not supported: "
            "whether they count elements of x or of the region, ONNX's text and its reference answer differently; give "
            "sizes instead\n");
}

}  // namespace
}  // namespace kiln::onnx
