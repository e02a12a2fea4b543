// What operator sets behind 24 added, of which the node tests of onnx 1.19 have none.
#include <cmath>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;
using Longs = std::vector<int64_t>;

constexpr int64_t kUint2 = 25, kInt2 = 26;

Fed line(const Doubles& numbers) { return fed(kFloat, DType::kF32, {static_cast<int64_t>(numbers.size())}, numbers); }

TEST(NewerOperators, TwoBitsAreFourToAByte) {
  const auto decoded = [](int64_t type) {
    const Proto bytes = tensor("w", type, {5}).text(field::tensor::kRawData, std::string_view("\xe4\x02", 2));
    return numbers_of(run_nodes({node("Cast", {"w"}, {"y"}, "c", {int_attribute("to", kFloat)})}, {}, {bytes}));
  };
  EXPECT_EQ(decoded(kUint2), (Doubles{0, 1, 2, 3, 2}));
  EXPECT_EQ(decoded(kInt2), (Doubles{0, 1, -2, -1, -2}));
  EXPECT_EQ(
      ints_of(run_nodes({node("Cast", {"a"}, {"y"}, "c", {int_attribute("to", kInt2)})}, {line({1.9, 2, -2.5, -3})})),
      (Longs{1, -2, -2, 1}));
}
TEST(NewerOperators, RemaindersOfFloatsRoundDown) {
  const auto mod = [](int64_t version) {
    return numbers_of(run_nodes({node("Mod", {"a", "b"}, {"y"})},
                                {line({-4.5, 4.5, 6, -6, 1}), line({2, -2, 3, INFINITY, INFINITY})}, {}, version));
  };
  EXPECT_EQ(mod(28), (Doubles{1.5, -1.5, 0, INFINITY, 1}));
  EXPECT_EQ(
      import_node(node("Mod", {"x", "w"}, {"y"}, "m"), {value("x", kFloat, {2}), value("w", kFloat, {2})}, {}, 24),
      "node 'm' (Mod) of x f32[2], w f32[2]: a is f32[2]; for floating types fmod must be 1\n");
}
TEST(NewerOperators, SpaceToDepthByColumnAndRow) {
  const Doubles x{1, 2, 3, 4, 5, 6, 7, 8};
  const auto of = [&](std::string_view mode) {
    return numbers_of(run_nodes(
        {node("SpaceToDepth", {"a"}, {"y"}, "s", {int_attribute("blocksize", 2), text_attribute("mode", mode)})},
        {fed(kFloat, DType::kF32, {1, 2, 2, 2}, x)}, {}, 28));
  };
  EXPECT_EQ(of("DCR"), (Doubles{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(of("CRD"), x);
}
TEST(NewerOperators, TheGreatestOfNoBoolsIsFalse) {
  const Fed none = fed_ints(kBool, DType::kBool, {2, 0}, {});
  const auto reduced = [&](std::string_view op) {
    return ints_of(run_nodes({node(op, {"a", "axes"}, {"y"})}, {none}, {i64s("axes", {1})}));
  };
  EXPECT_EQ(reduced("ReduceMax"), (Longs{0, 0}));
  EXPECT_EQ(reduced("ReduceMin"), (Longs{1, 1}));
}
TEST(NewerOperators, SwiGluMultipliesBySwish) {
  const Doubles y = numbers_of(run_nodes({node("SwiGLU", {"a", "b"}, {"y"}, "s", {float_attribute("alpha", 2)})},
                                         {line({0, 1}), line({5, 3})}, {}, 28));
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 3 / (1 + std::exp(-2)), 1e-6);
}
TEST(NewerOperators, CausalConvolutionsKeepTheLastNumbers) {
  const Fed x = fed(kFloat, DType::kF32, {1, 2, 3}, {1, 2, 3, 4, 5, 6}),
            w = fed(kFloat, DType::kF32, {2, 1, 2}, {10, 1, 0, 2});
  const Fed bias = fed(kFloat, DType::kF32, {2}, {0.5, 0}), past = fed(kFloat, DType::kF32, {1, 2, 1}, {7, 8});
  const auto of = [&](std::vector<Proto> nodes) { return numbers_of(run_nodes(nodes, {x, w, bias, past}, {}, 28)); };
  EXPECT_EQ(of({node("CausalConvWithState", {"a", "b"}, {"y"})}), (Doubles{1, 12, 23, 8, 10, 12}));
  EXPECT_EQ(of({node("CausalConvWithState", {"a", "b", "c", "d"}, {"y"})}), (Doubles{71.5, 12.5, 23.5, 8, 10, 12}));
  EXPECT_EQ(of({node("CausalConvWithState", {"a", "b", "c", "d"}, {"z", "y"})}), (Doubles{3, 6}));
  EXPECT_NE(import_node(node("CausalConvWithState", {"x", "w"}, {"y"}, "c", {text_attribute("activation", "relu")}),
                        {value("x", kFloat, {1, 2, 3}), value("w", kFloat, {2, 1, 2})}, {}, 28)
                .find("activation is 'relu'; silu, swish or none is needed"),
            std::string::npos);
}
/// Attention of one head of size 1 whose scores are all 0: the mean of the keys that a query sees.
Doubles means(const std::vector<Proto>& attributes, bool outside = false) {
  Proto attention =
      outside ? node("Attention", {"a", "b", "c", "", "", "", "d"}, {"y"}) : node("Attention", {"a", "b", "c"}, {"y"});
  for (const Proto& each : attributes) attention.message(field::node::kAttribute, each);
  const auto heads = [](const Doubles& numbers) {
    return fed(kFloat, DType::kF32, {1, 1, static_cast<int64_t>(numbers.size()), 1}, numbers);
  };
  std::vector<Fed> inputs{heads({0, 0}), heads({1, 1, 1, 1}), heads({1, 2, 4, 8})};
  if (outside) inputs.push_back(fed_ints(kInt64, DType::kI64, {1}, {3}));
  return numbers_of(run_nodes({attention}, inputs, {}, 25));
}
void expect_near(const Doubles& actual, const Doubles& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-5) << i;
}
TEST(NewerOperators, AttentionSeesWindows) {
  expect_near(means({}), {3.75, 3.75});
  expect_near(means({int_attribute("right_window_size", 1)}), {1.5, 7.0 / 3});
  expect_near(means({int_attribute("left_window_size", 0), int_attribute("right_window_size", 0)}), {1, 2});
}
TEST(NewerOperators, QueriesAreTheLastOfACacheOutside) {
  expect_near(means({int_attribute("is_causal", 1)}, true), {1.5, 7.0 / 3});
  expect_near(means({int_attribute("left_window_size", 0), int_attribute("is_causal", 1)}, true), {2, 4});
}
TEST(NewerOperators, SimplifiedLayerNormalizationDividesByTheRoot) {
  const Doubles y = numbers_of(
      run_nodes({node("SimplifiedLayerNormalization", {"a", "b"}, {"y"}, "s", {float_attribute("epsilon", 0)})},
                {fed(kFloat, DType::kF32, {1, 2}, {1, 7}), line({5, 10})}));
  EXPECT_NEAR(y[0], 1, 1e-6);
  EXPECT_NEAR(y[1], 14, 1e-5);
}

}  // namespace
}  // namespace kiln::onnx
