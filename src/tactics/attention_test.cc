#include "tactics/attention.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "steps/attention.h"
#include "steps/attention_layout.h"
#include "tactics/testing/fake_backend.h"

namespace kiln {
namespace {

/// Text of a network whose operands are bytes of `type`. `weights` makes p of w, the softmax's result.
struct Text {
  std::string type = "i8", scales = "0.5", zero = "", k_type = "", weights = "p = Reshape{dims=[1, 2, 3, 5]}(w); ",
              end = "y = MatrixMultiply(p, v); return y";

  std::string str() const {
    const std::string k = k_type.empty() ? type : k_type;
    return "a: " + type + "[1, 2, 3, 4]; b: " + k + "[1, 5, 2, 4]; c: " + type +
           "[1, 2, 5, 4]; h = Constant{value=f32[1, 1, 1, 1](" + scales +
           ")}(); g = Constant{value=f32[1, 1, 1, 1](0.25)}(); z = Constant{value=" + type +
           "[1, 1, 1, 1](0)}(); o = Constant{value=" + type +
           "[1, 1, 1, 1](1)}(); bt = Transpose{perm=[0, 2, 1, 3]}(b); q = Dequantize(a, h" + zero +
           "); k = Dequantize(bt, g); v = Dequantize(c, g); s = MatrixMultiply{b=transpose}(q, k); "
           "t = ElementWise{kind=prod}(s, h); w = Softmax{axis=3}(t); " +
           weights + end;
  }
};
const std::string kNoRounding = "";
const std::string kOfW = "y = MatrixMultiply(w, v); return y";
const std::string kOfP = "y = MatrixMultiply(p, v); return y";

class ByteAttention : public ::testing::Test {
 protected:
  Match match(const Text& text, QuantizedTo operands = QuantizedTo::kIntegersAndFp8) {
    auto parsed = ir::parse(text.str());
    EXPECT_TRUE(parsed) << parsed.error().message << '\n' << text.str();
    graph_ = std::move(*parsed);
    static constexpr DType kTypes[] = {DType::kF32};
    const Numerics numerics;
    const TacticContext cx{graph_, numerics, backend_.device(), 3};
    return attention_region(cx, graph_.value(graph_.outputs()[0].value).producer,
                            {.types = kTypes, .results = QuantizedTo::kIntegersAndFp8, .operands = operands});
  }
  std::string refusal(const Text& text, QuantizedTo operands = QuantizedTo::kIntegersAndFp8) {
    const Match found = match(text, operands);
    return found ? "" : found.error().reason;
  }

  ir::Graph graph_;
  testing::FakeBackend backend_;
};

TEST_F(ByteAttention, ReadsWhatIsDequantized) {
  for (const char* type : {"i8", "f8e4m3"}) {
    const Match region = match({.type = type, .weights = kNoRounding, .end = kOfW});
    ASSERT_TRUE(region) << region.error().reason;
    const std::vector<ir::ValueId>& x = graph_.inputs();
    EXPECT_EQ(region->inputs, (std::vector{x[0], x[1], x[2], ir::ValueId::kNone}));
    EXPECT_EQ(region->nodes.size(), 8u);  // three of Dequantize, a transpose, a product, a factor, softmax, a product
    const auto step = from_record<steps::Attention>(region->data);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->scale, 0.5 * 0.25 * 0.5);
    EXPECT_EQ(step->value_scale, 0.25);
    EXPECT_EQ(step->weight_scale, 0);
    ASSERT_EQ(region->params.size(), AttentionLayout::kNumParams);
    EXPECT_EQ(region->params[13], sym::Expr(4));  // k's heads lie side by side
  }
}
TEST_F(ByteAttention, MayQuantizeWhatItMakes) {
  const Match region = match({.weights = kNoRounding,
                              .end = "m = MatrixMultiply(w, v); n = Transpose{perm=[0, 2, 1, 3]}(m); "
                                     "y = Quantize{to=f8e4m3}(n, g); return y"});
  ASSERT_TRUE(region) << region.error().reason;
  EXPECT_EQ(region->inputs.size(), 6u);
}
TEST_F(ByteAttention, KeepsTheRoundingOfWeights) {
  const Match region = match({.weights = "u = Quantize{to=i8}(w, g); p = Dequantize(u, g, z); ", .end = kOfP});
  ASSERT_TRUE(region) << region.error().reason;
  EXPECT_EQ(from_record<steps::Attention>(region->data)->weight_scale, 0.25);
  EXPECT_EQ(region->nodes.size(), 10u);
}
TEST_F(ByteAttention, WeightsAreRoundedAsKernelsDoItOrTheRegionIsRefused) {
  const std::string unlike = "the weights are not quantized and dequantized by one constant scale without a zero point";
  EXPECT_EQ(refusal({.weights = "u = Quantize{to=i8}(w, g); p = Dequantize(u, h); ", .end = kOfP}), unlike);
  EXPECT_EQ(refusal({.weights = "u = Quantize{to=i8}(w, g, o); p = Dequantize(u, g, o); ", .end = kOfP}), unlike);
  EXPECT_EQ(refusal({.weights = "u = Quantize{to=f8e4m3}(w, g); p = Dequantize(u, g); ", .end = kOfP}),
            "weights are rounded to f8e4m3, operands are i8");
  EXPECT_EQ(refusal({.weights = "u = Quantize{to=u8}(w, g); p = Dequantize(u, g); ", .end = kOfP}),
            "the weights are dequantized, but not quantized right before to bytes that kernels take");
  // Kernels of floats do not round.
  EXPECT_NE(
      refusal({.weights = "u = Quantize{to=i8}(w, g); p = Dequantize(u, g); ", .end = kOfP}, QuantizedTo::kNothing),
      "");
}
TEST_F(ByteAttention, SaysWhyNot) {
  const auto plain = [](Text text) {
    text.weights = kNoRounding;
    text.end = kOfW;
    return text;
  };
  const std::string scales =
      "the channels of an operand do not lie side by side, or it is not dequantized by one constant scale without a "
      "zero point";
  EXPECT_EQ(refusal(plain({.zero = ", o"})), scales);
  EXPECT_EQ(refusal(plain({.zero = ", z"})), "");
  EXPECT_EQ(refusal(plain({.k_type = "f8e4m3"})).find("q is i8"), 0u);
  EXPECT_NE(refusal(plain({.type = "u8"})).find("not of the kernel's types"), std::string::npos);
  EXPECT_NE(refusal(plain({.type = "f8e4m3"}), QuantizedTo::kIntegers).find("not of the kernel's types"),
            std::string::npos);
  // Kernels of floats end at what is dequantized.
  const Match floats = match(plain({}), QuantizedTo::kNothing);
  ASSERT_TRUE(floats) << floats.error().reason;
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(graph_.type(floats->inputs[i]).dtype, DType::kF32);
  EXPECT_EQ(from_record<steps::Attention>(floats->data)->value_scale, 1);
}

}  // namespace
}  // namespace kiln
