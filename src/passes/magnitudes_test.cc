#include "passes/magnitudes.h"

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace kiln::passes {
namespace {

/// The estimate of the value of that name.
double estimate(std::string_view text, std::string_view value = "y") {
  auto graph = ir::parse(text);
  if (!graph) return ADD_FAILURE() << graph.error().message, -1;
  const auto magnitudes = estimate_magnitudes(*graph);
  for (int i = 0; i < graph->num_values(); ++i)
    if (graph->value(static_cast<ir::ValueId>(i)).name == value) return magnitudes->at(static_cast<size_t>(i));
  return -1;
}

TEST(Magnitudes, OfProductsAndFilters) {
  const std::string_view weights = "x: f32[2, 4]; w = Constant{value=f32[4, 2](3, -3, 3, 3, -3, 3, 3, 3)}(); ";
  EXPECT_DOUBLE_EQ(estimate(std::string(weights) + "y = MatrixMultiply(x, w); return y"), 6);
  EXPECT_DOUBLE_EQ(estimate(std::string(weights) + "y = MatrixMultiply(x, w); return y", "w"), 3);
  EXPECT_DOUBLE_EQ(estimate("x: f32[1, 2, 4, 4]; w = Constant{value=f32[1, 2, 1, 2](5, -5, 5, 5)}(); "
                            "b = Constant{value=f32[1](24)}(); y = Convolution{strides=[1, 1], pre_pads=[0, 0], "
                            "post_pads=[0, 0], dilations=[1, 1]}(x, w, b); return y"),
                   26);
  EXPECT_DOUBLE_EQ(estimate("x: f32[3, n]; w: f32[n, 5]; y = MatrixMultiply(x, w); return y"), 8) << "n is not known";
}

TEST(Magnitudes, GrowByAddingAndEndAtNorms) {
  EXPECT_DOUBLE_EQ(estimate("x: f32[4]; c = Constant{value=f32[4](3, 3, 3, 3)}(); p = ElementWise{kind=prod}(x, c); "
                            "f = Constant{value=f32[4](4, 4, 4, 4)}(); y = ElementWise{kind=sum}(p, f); return y"),
                   5);
  EXPECT_DOUBLE_EQ(estimate("x: f32[2, 4]; c = Constant{value=f32[1, 1](900)}(); p = ElementWise{kind=prod}(x, c); "
                            "y = Normalization{axes=[1]}(p); return y"),
                   1);
  EXPECT_DOUBLE_EQ(estimate("x: f32[2, 9]; y = Reduce{kind=sum, axes=[1], keep=true}(x); return y"), 3);
  EXPECT_DOUBLE_EQ(estimate("x: f32[2, 9]; y = Reduce{kind=avg, axes=[1], keep=true}(x); return y"), 1);
}

/// They grow with their number, not with its root. A relu of a normal distribution has the mean 0.4.
TEST(Magnitudes, SumsOfPositiveNumbersGrowWithTheirNumber) {
  const std::string relu = "x: f32[2, 10000]; r = Activation{kind=relu}(x); ";
  EXPECT_NEAR(estimate(relu + "y = Reduce{kind=sum, axes=[1], keep=true}(r); return y"), 3990, 10);
  EXPECT_NEAR(estimate(relu + "y = Cumulative{operation=sum, axis=1}(r); return y"), 3990, 10);
  EXPECT_NEAR(estimate(relu + "w = Constant{value=f32[1, 1](2)}(); e = Expand{dims=[10000, 1]}(w); "
                              "y = MatrixMultiply(r, e); return y"),
              7980, 10);
  EXPECT_NEAR(estimate(relu + "y = Einsum{equation=ij->i}(r); return y"), 3990, 10);
  const auto sum_of = [](const std::string& term) {
    return estimate("x: f32[2, 10000]; t = " + term + "; y = Reduce{kind=sum, axes=[1], keep=true}(t); return y");
  };
  EXPECT_NEAR(sum_of("Unary{kind=abs}(x)"), 7979, 10);
  EXPECT_NEAR(sum_of("ElementWise{kind=prod}(x, x)"), 10000, 10);
  EXPECT_NEAR(sum_of("Unary{kind=exp}(x)"), 16487, 20) << "the mean is the root of e";
  EXPECT_NEAR(sum_of("Softmax{axis=1}(x)"), 1, 0.5);
  EXPECT_NEAR(sum_of("Unary{kind=sin}(x)"), 100, 1) << "of both signs";
  EXPECT_NEAR(estimate("x: u8[2, 10000]; f = Cast{to=f32}(x); y = Reduce{kind=sum, axes=[1], keep=true}(f); return y"),
              1.275e6, 1e4)
      << "a picture of bytes";
}

TEST(Magnitudes, OfQuantizedNumbers) {
  const std::string q =
      "x: f32[4]; s = Constant{value=f32[](0.5)}(); q = Quantize{to=i8}(x, s); "
      "t = Constant{value=f32[](1000)}(); y = Dequantize{to=f32}(q, t); return y";
  EXPECT_DOUBLE_EQ(estimate(q, "q"), 2);
  EXPECT_DOUBLE_EQ(estimate(q), 2000);
  EXPECT_DOUBLE_EQ(estimate("x: f32[4]; s = Constant{value=f32[](0.001)}(); q = Quantize{to=i8}(x, s); return q", "q"),
                   127);
}

TEST(Magnitudes, OfPowers) {
  const auto power = [](std::string_view exponent) {
    return estimate(
        "x: f32[4]; c = Constant{value=f32[1](16)}(); p = ElementWise{kind=prod}(x, c); e = Constant{value=f32[1](" +
        std::string(exponent) + ")}(); y = ElementWise{kind=pow}(p, e); return y");
  };
  EXPECT_DOUBLE_EQ(power("0.5"), 4);
  EXPECT_DOUBLE_EQ(power("-0.5"), 0.25);
  EXPECT_DOUBLE_EQ(power("3"), 4096);
}

/// What stands for infinity is no number of the network's.
TEST(Magnitudes, LeaveMasksOut) {
  EXPECT_DOUBLE_EQ(estimate("x: f32[2, 2]; m: bool[2, 2]; c = Constant{value=f32[1, 1](-1e9)}(); "
                            "y = Select(m, x, c); return y"),
                   1);
  EXPECT_DOUBLE_EQ(estimate("x: f32[2, 2]; m: f32[2, 2]; c = Constant{value=f32[1, 1](-1e9)}(); "
                            "b = ElementWise{kind=prod}(m, c); s = ElementWise{kind=sum}(x, b); "
                            "y = Softmax{axis=1}(s); return y",
                            "b"),
                   1);
}

}  // namespace
}  // namespace kiln::passes
