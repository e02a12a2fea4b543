// Resize and Upsample where the rule of coordinates, the region or the scales need more than a row of a table.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto mode(std::string_view coordinates) { return text_attribute("coordinate_transformation_mode", coordinates); }
/// The text of the graph's Resize after "Resize{".
std::string resize_in(const std::string& text) {
  const size_t at = text.find("Resize{");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}
bool contains(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

/// The corners are those of y, as PyTorch, ONNX Runtime and TensorRT have it; ONNX's reference takes those of 4 * 0.8.
TEST(ImportResize, CornersOfScalesThatMakeNoWholeElements) {
  const auto rule = [](float scale) {
    return resize_in(import_node(node("Resize", {"x", "", "s"}, {"y"}, "", {mode("align_corners")}),
                                 {value("x", kFloat, {4})}, {floats("s", {1}, {scale})}));
  };
  EXPECT_TRUE(contains(rule(1.5F), "coordinate=align_corners, ")) << rule(1.5F);
  EXPECT_TRUE(contains(rule(0.8F), "coordinate=align_corners, ")) << rule(0.8F);
  const std::string of_run = resize_in(import_node(node("Resize", {"x", "", "s"}, {"y"}, "", {mode("align_corners")}),
                                                   {value("x", kFloat, {4}), value("s", kFloat, {1})}));
  EXPECT_TRUE(contains(of_run, "coordinate=align_corners, ")) << of_run;
}
TEST(ImportResize, AKnownRegionNamesTheAxesThatItCuts) {
  const std::string got = import_node(
      node("Resize", {"x", "roi", "", "sizes"}, {"y"}, "", {mode("tf_crop_and_resize")}),
      {value("x", kFloat, {2, 3, 8})}, {floats("roi", {6}, {0, 0, 0.25F, 1, 1, 0.5F}), i64s("sizes", {2, 3, 5})});
  EXPECT_TRUE(contains(got, "Constant{value=f32[2](0.25, 0.5)}")) << got;
  EXPECT_TRUE(contains(resize_in(got), "coordinate=tf_crop_and_resize")) << got;
  EXPECT_TRUE(contains(resize_in(got), "axes_given=[2], extrapolation=0, fit=stretch, fitted_sizes=[]}(x, _, ")) << got;
}
TEST(ImportResize, ARegionOfTheRun) {
  const std::string got = resize_in(import_node(
      node("Resize", {"x", "roi", "", "sizes"}, {"y"}, "",
           {mode("tf_crop_and_resize"), ints_attribute("axes", {2, 1}), float_attribute("extrapolation_value", 2)}),
      {value("x", kFloat, {2, 3, 8}), value("roi", kFloat, {4})}, {i64s("sizes", {5, 4})}));
  EXPECT_TRUE(contains(got, "dims=[2, 4, 5]")) << got;
  EXPECT_TRUE(
      contains(got, "axes_given=[2, 1], extrapolation=2, fit=stretch, fitted_sizes=[]}(x, _, roi)  # f32[2, 4, 5]"))
      << got;
}
Proto policy(std::string_view name) { return text_attribute("keep_aspect_ratio_policy", name); }
TEST(ImportResize, AFitKeepsTheScaleBesideTheRoundedExtents) {
  const auto fitted = [](std::string_view name, std::string_view coordinates) {
    return resize_in(import_node(node("Resize", {"x", "", "", "sizes"}, {"y"}, "",
                                      {policy(name), mode(coordinates), ints_attribute("axes", {3, 2})}),
                                 {value("x", kFloat, {1, 2, 4, 5})}, {i64s("sizes", {7, 7})}));
  };
  const std::string larger = fitted("not_larger", "half_pixel"), smaller = fitted("not_smaller", "align_corners");
  EXPECT_TRUE(contains(larger, "dims=[1, 2, 6, 7]")) << larger;
  EXPECT_TRUE(contains(larger, "fit=not_larger, fitted_sizes=[0, 0, 7, 7]")) << larger;
  EXPECT_TRUE(contains(smaller, "dims=[1, 2, 7, 9]")) << smaller;
  EXPECT_TRUE(contains(smaller, "coordinate=align_corners, ")) << smaller;
  EXPECT_TRUE(contains(fitted("stretch", "half_pixel"), "fit=stretch, fitted_sizes=[]"));
}
TEST(ImportResize, AFitOfExtentsOrSizesOfTheRun) {
  const auto fitted = [](std::vector<Proto> inputs, std::vector<Proto> initializers) {
    return import_node(node("Resize", {"x", "", "", "sizes"}, {"y"}, "", {policy("not_larger")}), std::move(inputs),
                       std::move(initializers));
  };
  const std::string extents = fitted({value("x", kFloat, {-1, 5})}, {i64s("sizes", {7, 7})});
  EXPECT_TRUE(contains(resize_in(extents), "fitted_sizes=[7, 7]}(x, ")) << extents;
  const std::string sizes = fitted({value("x", kFloat, {4, 5}), value("sizes", kInt64, {2})}, {});
  EXPECT_TRUE(contains(resize_in(sizes), "fit=not_larger, fitted_sizes=[]}(x, ")) << sizes;
  EXPECT_TRUE(contains(sizes, "Reduce{kind=min")) << sizes;
}
TEST(ImportResize, AFitWithoutAMeaningIsRefused) {
  const auto problem = [](std::string_view coordinates, int64_t size) {
    return import_node(node("Resize", {"x", "roi", "", "sizes"}, {"y"}, "r", {policy("not_larger"), mode(coordinates)}),
                       {value("x", kFloat, {4})}, {floats("roi", {2}, {0, 1}), i64s("sizes", {size})});
  };
  EXPECT_TRUE(contains(problem("tf_crop_and_resize", 4), "tf_crop_and_resize with keep_aspect_ratio_policy"));
  EXPECT_TRUE(contains(problem("half_pixel", 0), "keeping the aspect ratio needs sizes above 0"));
}
TEST(ImportResize, ScalesOfTheRunTellWhatNoShapeStates) {
  const auto scaled = [](const Proto& output) {
    return text_of(import_proto(model(graph({{node("Resize", {"x", "", "s"}, {"y"}, "r")},
                                             {value("x", kFloat, {2, 3}), value("s", kFloat, {2})},
                                             {output},
                                             {}}))));
  };
  const std::string got = resize_in(scaled(value("y", kFloat, {2, 7})));
  EXPECT_TRUE(contains(got, "dims=[2, 7]") && contains(got, "(x, _, _, s)  # f32[2, 7]")) << got;
  const std::string read = scaled(value("y", kFloat, {2, -1}));
  EXPECT_TRUE(contains(read, "ReadValues") &&
              contains(resize_in(read), "# f32[\"number of r/ReadValues\", \"number of r/ReadValues.1\"]"))
      << read;
}
/// x to 0.7 of the height of another image: the scale is a quotient of floats that follows from shapes.
TEST(ImportResize, ScalesThatFollowFromShapesMakeExtents) {
  const Imported got = import_proto(model(
      graph({{node("Shape", {"x"}, {"sx"}), node("Shape", {"z"}, {"sz"}),
              node("Cast", {"sx"}, {"fx"}, "", {int_attribute("to", kFloat)}),
              node("Cast", {"sz"}, {"fz"}, "", {int_attribute("to", kFloat)}), node("Mul", {"fz", "part"}, {"wanted"}),
              node("Div", {"wanted", "fx"}, {"s"}), node("Resize", {"x", "", "s"}, {"y"}, "r")},
             {value("x", kFloat, {2, -1}), value("z", kFloat, {2, -1})},
             {value("y", kFloat, {2, -1})},
             {floats("part", {2}, {1, 0.7F})}})));
  ASSERT_TRUE(got.status) << text_of(got);
  const Shape y = got.graph.type(got.graph.outputs()[0].value).shape;
  EXPECT_EQ(y[0], sym::Expr(2));
  for (const auto& [from, other] : {std::pair<int64_t, int64_t>{10, 10}, {7, 100}, {30, 20}}) {
    const float scale = static_cast<float>(other) * 0.7F / static_cast<float>(from);
    EXPECT_EQ(sym::evaluate(y[1], std::array{from, other}),
              static_cast<int64_t>(std::floor(static_cast<float>(from) * scale)));
  }
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
