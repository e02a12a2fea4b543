// Tests of what operators become: printed graphs, and values of graphs run by the ops' references.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

TEST(Import, Broadcasting) {
  EXPECT_EQ(
      import_node(node("Mul", {"x", "w"}, {"y"}, "scale"), {value("x", kFloat, {2, 3})}, {floats("w", {3}, {1, 2, 3})}),
      "x: f32[2, 3]\n"
      "w = Constant{value=f32[3](1, 2, 3)}()  # f32[3]\n"
      "%2 = Constant{value=f32[1, 3](1, 2, 3)}()  # f32[1, 3]\n"
      "y = ElementWise{kind=prod}(x, %2)  # f32[2, 3]\n"
      "return y\n");
}
TEST(Import, Conv) {
  EXPECT_EQ(import_node(node("Conv", {"x", "w"}, {"y"}, "c",
                             {ints_attribute("pads", {1, 2, 3, 4}), ints_attribute("strides", {2, 1})}),
                        {value("x", kFloat, {1, 3, 8, 8}), value("w", kFloat, {4, 3, 3, 3})}),
            "x: f32[1, 3, 8, 8]\n"
            "w: f32[4, 3, 3, 3]\n"
            "y = Convolution{kernel=[], strides=[2, 1], pre_pads=[1, 2], post_pads=[3, 4], dilations=[1, 1], groups=1, "
            "padding=explicit_round_down}(x, w)  # f32[1, 4, 5, 12]\n"
            "return y\n");
  EXPECT_EQ(import_node(node("Conv", {"x", "w"}, {"y"}, "c", {text_attribute("auto_pad", "SAME_UPPER")}),
                        {value("x", kFloat, {1, 3, 8}), value("w", kFloat, {4, 3, 3})}),
            "x: f32[1, 3, 8]\n"
            "w: f32[4, 3, 3]\n"
            "y = Convolution{kernel=[], strides=[1], pre_pads=[0], post_pads=[0], dilations=[1], groups=1, "
            "padding=same_upper}(x, w)  # f32[1, 4, 8]\n"
            "return y\n");
}
TEST(Import, ConvTransposeMeetsOutputShape) {
  EXPECT_EQ(import_node(node("ConvTranspose", {"x", "w"}, {"y"}, "c",
                             {ints_attribute("strides", {2}), ints_attribute("output_shape", {7})}),
                        {value("x", kFloat, {1, 1, 4}), value("w", kFloat, {1, 1, 4})}),
            "x: f32[1, 1, 4]\n"
            "w: f32[1, 1, 4]\n"
            "y = Deconvolution{kernel=[], strides=[2], pre_pads=[2], post_pads=[1], dilations=[1], groups=1, "
            "padding=explicit_round_down}(x, w)  # f32[1, 1, 7]\n"
            "return y\n");
}
TEST(Import, ReshapeOfAShapeThatFollowsFromExtents) {
  EXPECT_EQ(text_of(import_proto(model(graph({{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"b"}),
                                               node("Concat", {"b", "rest"}, {"to"}, "", {int_attribute("axis", 0)}),
                                               node("Reshape", {"x", "to"}, {"y"})},
                                              {value("x", kFloat, {-1, 4, 6})},
                                              {value("y")},
                                              {i64s("zero", {0}), i64s("rest", {-1})}})))),
            "x: f32[x_0, 4, 6]\n"
            "s = Shape(x)  # i64[3]\n"
            "zero = Constant{value=i64[1](0)}()  # i64[1]\n"
            "b = Gather{mode=default, axis=0, num_elementwise_dims=0}(s, zero)  # i64[1]\n"
            "rest = Constant{value=i64[1](-1)}()  # i64[1]\n"
            "to = Concatenation{axis=0}(b, rest)  # i64[2]\n"
            "%6 = DimValues{values=[x_0, -1], dtype=i64, extents=[2]}()  # i64[2]\n"
            "y = Reshape{dims=[], zero_is_placeholder=true}(x, %6)  # f32[x_0, 24]\n"
            "return y\n");
}
TEST(Import, AxesKnownAtRunTimeOnly) {
  for (const int64_t keep : {0, 1}) {
    const Imported got =
        import_proto(model(graph({{node("ReduceSum", {"x", "axes"}, {"y"}, "", {int_attribute("keepdims", keep)})},
                                  {value("x", kFloat, {2, 3, 5}), value("axes", kInt64, {1})},
                                  {value("y")},
                                  {}})));
    ASSERT_TRUE(got.status) << got.status.error().message;
    const Shape& y = got.graph.type(got.graph.outputs()[0].value).shape;
    const auto extents = [&](int64_t axis) {
      Extents result;
      for (const sym::Expr& extent : y) result.push_back(sym::evaluate(extent, std::span(&axis, 1)).value_or(-1));
      return result;
    };
    EXPECT_EQ(extents(0), keep ? (Extents{1, 3, 5}) : (Extents{3, 5}));
    EXPECT_EQ(extents(1), keep ? (Extents{2, 1, 5}) : (Extents{2, 5}));
    EXPECT_EQ(extents(-1), keep ? (Extents{2, 3, 1}) : (Extents{2, 3}));
  }
}
TEST(Import, SoftmaxBeforeVersion13Flattens) {
  EXPECT_EQ(import_node(node("Softmax", {"x"}, {"y"}), {value("x", kFloat, {2, 3, 4})}, {}, 12),
            "x: f32[2, 3, 4]\n"
            "%1 = Reshape{dims=[2, 12], zero_is_placeholder=false}(x)  # f32[2, 12]\n"
            "%2 = Softmax{axis=1}(%1)  # f32[2, 12]\n"
            "y = Reshape{dims=[2, 3, 4], zero_is_placeholder=false}(%2)  # f32[2, 3, 4]\n"
            "return y\n");
  EXPECT_EQ(import_node(node("Softmax", {"x"}, {"y"}), {value("x", kFloat, {2, 3, 4})}, {}, 13),
            "x: f32[2, 3, 4]\n"
            "y = Softmax{axis=2}(x)  # f32[2, 3, 4]\n"
            "return y\n");
}
TEST(Import, BatchNormalizationOfConstantsIsAScale) {
  EXPECT_EQ(
      import_node(
          node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}, "bn", {float_attribute("epsilon", 0)}),
          {value("x", kFloat, {1, 2, 5})},
          {floats("s", {2}, {2, 3}), floats("b", {2}, {1, 1}), floats("m", {2}, {4, 0}), floats("v", {2}, {4, 9})}),
      "x: f32[1, 2, 5]\n"
      "s = Constant{value=f32[2](2, 3)}()  # f32[2]\n"
      "b = Constant{value=f32[2](1, 1)}()  # f32[2]\n"
      "m = Constant{value=f32[2](4, 0)}()  # f32[2]\n"
      "v = Constant{value=f32[2](4, 9)}()  # f32[2]\n"
      "%5 = Constant{value=f32[2](1, 1)}()  # f32[2]\n"
      "%6 = Constant{value=f32[2](-3, 1)}()  # f32[2]\n"
      "y = Scale{mode=channel, channel_axis=1}(x, %6, %5)  # f32[1, 2, 5]\n"
      "return y\n");
}
TEST(Import, BatchNormalizationOfEachElementIsRefused) {
  const std::string said =
      import_node(node("BatchNormalization", {"x", "s", "s", "s", "s"}, {"y"}, "bn", {int_attribute("spatial", 0)}),
                  {value("x", kFloat, {1, 2, 5})}, {floats("s", {2}, {2, 3})}, 7);
  EXPECT_NE(said.find("spatial is 0; statistics of each channel alone are supported"), std::string::npos) << said;
}
TEST(Import, CoefficientsOfGroupsAreRepeatedAChannelEach) {
  const auto normalized = [](int64_t coefficients, int version) {
    return import_node(
        node("GroupNormalization", {"x", "s", "b"}, {"y"}, "", {int_attribute("num_groups", 3)}),
        {value("x", kFloat, {2, 6, 5}), value("s", kFloat, {coefficients}), value("b", kFloat, {coefficients})}, {},
        version);
  };
  EXPECT_NE(normalized(3, 18).find("Expand{dims=[3, 2]}"), std::string::npos) << normalized(3, 18);
  EXPECT_NE(normalized(3, 18).find("# f32[1, 6, 1]"), std::string::npos) << normalized(3, 18);
  EXPECT_EQ(normalized(6, 21).find("Expand"), std::string::npos) << normalized(6, 21);
}
TEST(Import, LpPoolsWindowsReachBeyondTheEnd) {
  const auto pooled = [](int64_t extent) {
    return import_node(
        node("LpPool", {"x"}, {"y"}, "",
             {ints_attribute("kernel_shape", {2}), ints_attribute("strides", {2}), int_attribute("ceil_mode", 1)}),
        {value("x", kFloat, {1, 1, extent})});
  };
  EXPECT_NE(pooled(5).find("post_pads=[1]"), std::string::npos) << pooled(5);
  EXPECT_NE(pooled(5).find("# f32[1, 1, 3]"), std::string::npos) << pooled(5);
  EXPECT_NE(pooled(4).find("post_pads=[0]"), std::string::npos) << pooled(4);
}
TEST(Import, SliceCountsFromTheBack) {
  EXPECT_EQ(import_node(node("Slice", {"x", "s", "e", "a"}, {"y"}), {value("x", kFloat, {2, 10})},
                        {i64s("s", {-4}), i64s("e", {INT64_MAX}), i64s("a", {-1})}),
            "x: f32[2, 10]\n"
            "s = Constant{value=i64[1](-4)}()  # i64[1]\n"
            "e = Constant{value=i64[1](9223372036854775807)}()  # i64[1]\n"
            "a = Constant{value=i64[1](-1)}()  # i64[1]\n"
            "y = Slice{starts=[6], sizes=[4], strides=[1], axes=[1], mode=strict_bounds}(x)  # f32[2, 4]\n"
            "return y\n");
  EXPECT_EQ(import_node(node("Slice", {"x"}, {"y"}, "",
                             {ints_attribute("starts", {1}), ints_attribute("ends", {3}), ints_attribute("axes", {1})}),
                        {value("x", kFloat, {2, 10})}, {}, 9),
            "x: f32[2, 10]\n"
            "y = Slice{starts=[1], sizes=[2], strides=[1], axes=[1], mode=strict_bounds}(x)  # f32[2, 2]\n"
            "return y\n");
}
TEST(Import, ClipBoundsWereAttributes) {
  EXPECT_EQ(import_node(node("Clip", {"x"}, {"y"}, "", {float_attribute("min", 0), float_attribute("max", 6)}),
                        {value("x", kFloat, {2})}, {}, 10),
            "x: f32[2]\n"
            "%1 = Constant{value=f32[1](0)}()  # f32[1]\n"
            "%2 = Constant{value=f32[1](6)}()  # f32[1]\n"
            "y = Activation{kind=clip, alpha=0, beta=6}(x)  # f32[2]\n"
            "return y\n");
  EXPECT_EQ(import_node(node("Clip", {"x", "", "max"}, {"y"}), {value("x", kFloat, {2}), value("max")}),
            "x: f32[2]\n"
            "max: f32[]\n"
            "%2 = Unsqueeze{axes=[0]}(max)  # f32[1]\n"
            "y = ElementWise{kind=min}(x, %2)  # f32[2]\n"
            "return y\n");
}
TEST(Import, SplitTakesSizesOrACount) {
  EXPECT_EQ(
      import_node(node("Split", {"x"}, {"a", "y"}, "", {int_attribute("num_outputs", 2)}), {value("x", kFloat, {5})}),
      "x: f32[5]\n"
      "a = Slice{starts=[0], sizes=[3], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[3]\n"
      "y = Slice{starts=[3], sizes=[2], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[2]\n"
      "return y\n");
  EXPECT_EQ(import_node(node("Split", {"x", "s"}, {"a", "y"}), {value("x", kFloat, {5})}, {i64s("s", {1, 4})}),
            "x: f32[5]\n"
            "s = Constant{value=i64[2](1, 4)}()  # i64[2]\n"
            "a = Slice{starts=[0], sizes=[1], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[1]\n"
            "y = Slice{starts=[1], sizes=[4], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[4]\n"
            "return y\n");
}
TEST(Import, MatMulAlignsBatches) {
  EXPECT_EQ(import_node(node("MatMul", {"x", "w"}, {"y"}), {value("x", kFloat, {8, 2, 3}), value("w", kFloat, {3, 4})}),
            "x: f32[8, 2, 3]\n"
            "w: f32[3, 4]\n"
            "%2 = Unsqueeze{axes=[0]}(w)  # f32[1, 3, 4]\n"
            "y = MatrixMultiply{a=none, b=none}(x, %2)  # f32[8, 2, 4]\n"
            "return y\n");
  EXPECT_EQ(import_node(node("MatMul", {"x", "w"}, {"y"}), {value("x", kFloat, {3}), value("w", kFloat, {8, 3, 4})}),
            "x: f32[3]\n"
            "w: f32[8, 3, 4]\n"
            "%2 = Unsqueeze{axes=[0]}(x)  # f32[1, 3]\n"
            "y = MatrixMultiply{a=vector, b=none}(%2, w)  # f32[8, 4]\n"
            "return y\n");
}
TEST(Import, ResizeOldAndNew) {
  EXPECT_EQ(
      import_node(
          node("Upsample", {"x"}, {"y"}, "",
               {attribute("scales", 6).fixed(field::attribute::kFloats, 1.0f).fixed(field::attribute::kFloats, 2.0f)}),
          {value("x", kFloat, {2, 3})}, {}, 7),
      "x: f32[2, 3]\n"
      "y = Resize{mode=nearest, scales=[1, 2], dims=[], coordinate=asymmetric, selector=formula, rounding=floor, "
      "exclude_outside=false, cubic_coeff=-0.75, antialias=false, axes_given=[], extrapolation=0, "
      "fit=stretch, fitted_sizes=[]}(x)  # f32[2, 6]\n"
      "return y\n");
  EXPECT_EQ(import_node(node("Resize", {"x", "", "", "sizes"}, {"y"}, "", {text_attribute("mode", "linear")}),
                        {value("x", kFloat, {2, 3})}, {i64s("sizes", {2, 9})}),
            "x: f32[2, 3]\n"
            "sizes = Constant{value=i64[2](2, 9)}()  # i64[2]\n"
            "y = Resize{mode=linear, scales=[], dims=[2, 9], coordinate=half_pixel, selector=formula, "
            "rounding=half_down, exclude_outside=false, cubic_coeff=-0.75, antialias=false, axes_given=[], "
            "extrapolation=0, fit=stretch, fitted_sizes=[]}(x)  # f32[2, 9]\n"
            "return y\n");
}
TEST(Import, EinsumIsChecked) {
  const auto einsum = [](std::string_view equation) {
    return import_node(node("Einsum", {"x"}, {"y"}, "e", {text_attribute("equation", equation)}),
                       {value("x", kFloat, {2, 3})});
  };
  EXPECT_NE(einsum("ij->ji").find("(x)  # f32[3, 2]"), std::string::npos);
  EXPECT_EQ(einsum("ij,jk->ik"), "node 'e' (Einsum) of x f32[2, 3]: equation 'ij,jk->ik' does not fit 1 operands\n");
}
TEST(Import, RangeOfFloatsThatAreWholeNumbers) {
  const Proto main = graph({{node("Cast", {"n"}, {"limit"}, "c", {int_attribute("to", kFloat)}),
                             node("Range", {"start", "limit", "step"}, {"y"}, "r")},
                            {value("n", kInt64)},
                            {value("y")},
                            {floats("start", {}, {2}), floats("step", {}, {3})}});
  const Imported imported = import_proto(model(main, {}, 20));
  ASSERT_TRUE(imported.status) << text_of(imported);
  EXPECT_EQ(str(imported.graph.type(imported.graph.outputs()[0].value)),
            "f32[max(floor_div(\"n[0]\", 3), 0)]");  // as ceil((n - 2) / 3)
}
TEST(Import, FloatInputsThatDecideExtents) {
  const Imported range = import_proto(model(graph({{node("Range", {"zero", "limit", "one"}, {"y"})},
                                                   {value("limit")},
                                                   {value("y")},
                                                   {floats("zero", {}, {0}), floats("one", {}, {1})}})));
  ASSERT_TRUE(range.status) << text_of(range);
  EXPECT_EQ(str(range.graph.type(range.graph.outputs()[0].value)), "f32[max(\"limit[0]\", 0)]");
  const Imported one_hot = import_proto(model(graph({{node("OneHot", {"i", "depth", "values"}, {"y"})},
                                                     {value("i", kInt64, {3}), value("depth")},
                                                     {value("y")},
                                                     {floats("values", {2}, {0, 1})}})));
  ASSERT_TRUE(one_hot.status) << text_of(one_hot);
  EXPECT_EQ(str(one_hot.graph.type(one_hot.graph.outputs()[0].value)), "f32[3, \"depth[0]\"]");
}
TEST(Import, ShowsExtentsThatAxesOfTheRunDecideShort) {
  const std::string got = text_of(import_proto(model(
      graph({{node("Unsqueeze", {"x", "axes"}, {"u"}), node("Softmax", {"u"}, {"y"}, "s", {int_attribute("axis", 7)})},
             {value("x", kFloat, {2, 3, 5}), value("axes", kInt64, {2})},
             {value("y")},
             {}}))));
  EXPECT_TRUE(got.starts_with("node 's' (Softmax) of u f32[")) << got;
  EXPECT_NE(got.find("... {of \"axes[0]\", \"axes[1]\"}"), std::string::npos) << got;
  EXPECT_LT(got.size(), 600U) << got;
}
TEST(Import, RefusesWhatItWouldGetWrong) {
  EXPECT_EQ(import_node(node("Relu", {"x"}, {"y", "more"}, "r"), {value("x", kFloat, {2})}),
            "node 'r' (Relu) of x f32[2]: output 1 'more' is not one that Kiln produces for operator Relu\n");
  EXPECT_EQ(import_node(node("MaxPool", {"x"}, {"y", "i"}, "p", {ints_attribute("kernel_shape", {2000})}),
                        {value("x", kFloat, {1, 1, 4000})}),
            "node 'p' (MaxPool) of x f32[1, 1, 4000]: indices of a maximum over 2000 elements; at most 1024\n");
  EXPECT_EQ(import_node(node("Cast", {"x"}, {"y"}, "c", {int_attribute("to", 8)}), {value("x", kFloat, {2})}),
            "node 'c' (Cast) of x f32[2]: cast to: type STRING is not supported\n");
  EXPECT_EQ(
      import_node(node("Gelu", {"x"}, {"y"}, "g", {text_attribute("approximate", "sine")}), {value("x", kFloat, {2})}),
      "node 'g' (Gelu) of x f32[2]: approximate is 'sine'; 'none' or 'tanh' is needed\n");
  EXPECT_EQ(
      import_node(node("Transpose", {"x"}, {"y"}, "t", {ints_attribute("perm", {0, 0})}), {value("x", kFloat, {1, 2})}),
      "node 't' (Transpose) of x f32[1, 2]: x is f32[1, 2]: perm [0, 0] is not a permutation of 2 axes\n");
}
/// The run tells how long such a range is.
TEST(Import, RangesOfFloatsThatDataDecides) {
  const Proto computed = graph({{node("Neg", {"a"}, {"limit"}), node("Range", {"zero", "limit", "one"}, {"y"}, "r")},
                                {value("a")},
                                {value("y")},
                                {floats("zero", {}, {0}), floats("one", {}, {1})}});
  const Imported got = import_proto(model(computed));
  ASSERT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(str(got.graph.type(got.graph.outputs()[0].value)), "f32[max(\"number of r/ReadValues\", 0)]");
  const Imported inputs = import_proto(model(graph({{node("Range", {"a", "b", "half"}, {"y"}, "r")},
                                                    {value("a"), value("b")},
                                                    {value("y")},
                                                    {floats("half", {}, {0.5F})}})));
  ASSERT_TRUE(inputs.status) << text_of(inputs);
  EXPECT_FALSE(inputs.graph.type(inputs.graph.inputs()[0]).values) << "0.5 may be where it begins";
}

}  // namespace
}  // namespace kiln::onnx
