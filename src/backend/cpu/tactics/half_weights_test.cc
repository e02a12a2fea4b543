#include "backend/cpu/tactics/half_weights.h"

#include <gtest/gtest.h>

#include "backend/cpu/kernels/testing.h"
#include "backend/cpu/tactics/matrix_multiply.h"
#include "backend/cpu/tactics/testing.h"
#include "ir/precision.h"
#include "ops/matrix_multiply.h"
#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kRows = 3, kDepth = 200, kCols = 130;

/// x [kRows, kDepth] times constant weights.
struct Product {
  explicit Product(std::span<const float> weights) {
    x = graph.add_input("x", tensor_type(DType::kF32, Extents{kRows, kDepth}));
    w = graph.add_constant(tensor_of({kDepth, kCols}, weights));
    y = *graph.add_one(ops::MatrixMultiply{}, {x, w});
    graph.mark_output(y, "y");
  }
  ir::Graph graph;
  ir::ValueId x, w, y;
};

std::vector<float> rounded(std::vector<float> values, DType type) {
  for (float& x : values)
    x = type == DType::kF16 ? half_to_float(float_to_half(x)) : bfloat16_to_float(float_to_bfloat16(x));
  return values;
}

std::vector<DType> types(const std::vector<float>& weights, const Numerics& numerics) {
  const Product product(weights);
  const auto device = test_device(1);
  return half_types({product.graph, numerics, *device}, product.w);
}

using Types = std::vector<DType>;

TEST(HalfWeights, AreAllowedOrExact) {
  const std::vector<float> any = random_floats(kDepth * kCols, 1), half = rounded(any, DType::kF16),
                           brain = rounded(any, DType::kBF16);
  EXPECT_EQ(types(any, {}), Types{});
  EXPECT_EQ(types(any, {.fp16 = true}), Types{DType::kF16});
  EXPECT_EQ(types(any, {.bf16 = true}), Types{DType::kBF16});
  EXPECT_EQ(types(any, {.fp16 = true, .bf16 = true}), (Types{DType::kF16, DType::kBF16}));
  EXPECT_EQ(types(any, {.fp16 = true, .bf16 = true, .strongly_typed = true}), Types{});
  EXPECT_EQ(types(half, {.strongly_typed = true}), Types{DType::kF16});
  EXPECT_EQ(types(half, {}), Types{DType::kF16});
  EXPECT_EQ(types(brain, {.strongly_typed = true}).back(), DType::kBF16);
}
TEST(HalfWeights, AreThoseThatTheLayersPrecisionAllows) {
  const auto device = test_device(1);
  const Numerics numerics{.fp16 = true, .bf16 = true};
  const auto types_in = [&](DType precision) {
    Product product(random_floats(kDepth * kCols, 1));
    ir::set_precision(product.graph, product.graph.value(product.y).producer, "product", {precision});
    return half_types({product.graph, numerics, *device}, product.w);
  };
  EXPECT_EQ(types_in(DType::kF32), Types{});
  EXPECT_EQ(types_in(DType::kF16), Types{DType::kF16});
  EXPECT_EQ(types_in(DType::kI8), (Types{DType::kF16, DType::kBF16}));  // which says nothing about floats
}
TEST(HalfWeights, MustBeFinite) {
  std::vector<float> weights = random_floats(kDepth * kCols, 1);
  weights[7] = 65505;
  EXPECT_EQ(types(weights, {.fp16 = true, .bf16 = true}), Types{DType::kBF16});
  weights[7] = NAN;
  EXPECT_EQ(types(weights, {.fp16 = true}), Types{});
}
TEST(HalfWeights, SubnormalsAreExactOnlyAtTheirSteps) {
  std::vector<float> weights(kDepth * kCols);
  weights[3] = 0x3p-24f;
  EXPECT_EQ(types(weights, {}), (Types{DType::kF16, DType::kBF16}));
  weights[3] = 0x1.8p-24f;
  EXPECT_EQ(types(weights, {}), Types{DType::kBF16});
}
TEST(HalfWeights, AreNotWorthItWhereSmall) {
  ir::Graph graph;
  const Numerics numerics{.fp16 = true};
  const auto device = test_device(1);
  const ir::ValueId w = graph.add_constant(tensor_of({2}, std::vector<float>{1, 2}));
  EXPECT_EQ(half_types({graph, numerics, *device}, w), Types{});
}

TEST(HalfWeights, ProductsRoundThemOnceAndSumInFloat) {
  const std::vector<float> weights = random_floats(kDepth * kCols, 1), x = random_floats(kRows * kDepth, 2);
  const Product product(weights);
  const Numerics numerics{.fp16 = true, .bf16 = true};
  for_each_target([&] {
    const auto device = test_device(2);
    const TacticContext cx{product.graph, numerics, *device};
    const Tactic& tactic = matrix_multiply_tactic();
    const auto region = tactic.match(cx, product.graph.value(product.y).producer);
    ASSERT_TRUE(region.has_value());
    const std::vector<Variant> variants = tactic.variants(cx, *region);
    ASSERT_EQ(variants.size(), 3u);
    for (const Variant& variant : variants) {
      SCOPED_TRACE(variant.name);
      const std::vector<float> w = variant.name == "packed in f16"    ? rounded(weights, DType::kF16)
                                   : variant.name == "packed in bf16" ? rounded(weights, DType::kBF16)
                                                                      : weights;
      const HostTensor input = tensor_of({kRows, kDepth}, x);
      const auto y = run_variant(cx, tactic, *region, variant, {&input, 1}, {kRows, kCols});
      ASSERT_TRUE(y.has_value()) << y.error().message;
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t j = 0; j < kCols; ++j) {
          Sum sum;
          for (int64_t i = 0; i < kDepth; ++i)
            sum.add(double{x[static_cast<size_t>(r * kDepth + i)]} * w[static_cast<size_t>(i * kCols + j)]);
          ASSERT_NEAR(y->data<float>()[r * kCols + j], sum.value, sum.bound()) << r << " " << j;
        }
    }
  });
}

}  // namespace
}  // namespace kiln::cpu
