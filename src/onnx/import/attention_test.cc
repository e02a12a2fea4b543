// Masks of Attention.
#include <cmath>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;
constexpr int64_t kInt32 = 6;

Fed heads(const Doubles& numbers) {
  return fed(kFloat, DType::kF32, {1, 1, static_cast<int64_t>(numbers.size()), 1}, numbers);
}
Fed bools(Extents extents, const std::vector<int64_t>& numbers) {
  return fed_ints(kBool, DType::kBool, std::move(extents), numbers);
}
Proto with(Proto node, const std::vector<Proto>& attributes) {
  for (const Proto& each : attributes) node.message(field::node::kAttribute, each);
  return node;
}

/// What two queries read of values 1, 2, 4 and 8 by a mask. All scores are 0.
Doubles means(const Fed& mask, const std::vector<Proto>& attributes = {}, int64_t version = 23) {
  const Proto attention = with(node("Attention", {"a", "b", "c", "d"}, {"y"}), attributes);
  return numbers_of(
      run_nodes({attention}, {heads({0, 0}), heads({1, 1, 1, 1}), heads({1, 2, 4, 8}), mask}, {}, version));
}
void expect_near(const Doubles& actual, const Doubles& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-5) << i;
}

TEST(ImportAttention, QueriesThatSeeNoKeyGiveZeros) {
  const Fed first_only = bools({2, 4}, {1, 0, 1, 0, 0, 0, 0, 0});
  for (const int64_t version : {23, 24, 25}) expect_near(means(first_only, {}, version), {2.5, 0});
  const Fed later = bools({2, 4}, {0, 1, 1, 1, 1, 0, 0, 0});
  expect_near(means(later, {int_attribute("is_causal", 1)}), {0, 1});
  expect_near(means(fed(kFloat, DType::kF32, {1, 2, 1}, {-INFINITY, -1e30})), {0, 3.75});
  expect_near(means(bools({1}, {0})), {0, 0});
}
TEST(ImportAttention, QueriesInFrontOfAllKeysGiveZeros) {
  const Proto attention =
      node("Attention", {"a", "a", "a", "", "", "", "b"}, {"y"}, "w", {int_attribute("is_causal", 1)});
  const Fed length = fed_ints(kInt64, DType::kI64, {1}, {2});
  expect_near(numbers_of(run_nodes({attention}, {heads({0, 0, 4}), length}, {}, 24)), {0, 0, 0});
  const Proto window = node("Attention", {"a", "b", "b"}, {"y"}, "w", {int_attribute("left_window_size", 0)});
  expect_near(numbers_of(run_nodes({window}, {heads({0, 0, 0}), heads({3, 5})}, {}, 25)), {4, 5, 0});
}
TEST(ImportAttention, WeightsOfQueriesThatSeeNoKeyAreZeros) {
  const Proto attention = node(
      "Attention", {"a", "a", "a", "b"}, {"z", "", "", "y"}, "w",
      {int_attribute("qk_matmul_output_mode", 3), int_attribute("q_num_heads", 1), int_attribute("kv_num_heads", 1)});
  const Fed x = fed(kFloat, DType::kF32, {1, 2, 1}, {0, 0});
  expect_near(numbers_of(run_nodes({attention}, {x, bools({2, 2}, {0, 0, 1, 1})})), {0, 0, 0.5, 0.5});
}
TEST(ImportAttention, MasksOfHeadsGiveZerosByHead) {
  const Proto attention = node("Attention", {"a", "a", "a", "b"}, {"y"}, "w",
                               {int_attribute("q_num_heads", 2), int_attribute("kv_num_heads", 2)});
  const Fed x = fed(kFloat, DType::kF32, {1, 1, 2}, {3, 5});
  expect_near(numbers_of(run_nodes({attention}, {x, bools({2, 1, 1}, {0, 1})})), {0, 5});
}
TEST(ImportAttention, OnlyMasksThatMayHideAllKeysCostASelection) {
  const auto selects = [](const std::vector<int64_t>& seen) {
    std::vector<Proto> initializers, inputs{value("q", kFloat, {1, 1, 2, 4}), value("k", kFloat, {1, 1, 3, 4})};
    if (seen.empty()) {
      inputs.push_back(value("m", kBool, {1, 3}));
    } else {
      Proto raw;
      for (const int64_t each : seen) raw.append_raw(static_cast<uint8_t>(each));
      initializers.push_back(tensor("m", kBool, {1, 3}).text(field::tensor::kRawData, raw.bytes));
    }
    const std::string text =
        import_node(node("Attention", {"q", "k", "k", "m"}, {"y"}), std::move(inputs), std::move(initializers), 25);
    return text.find("Select", text.rfind("MatrixMultiply")) != text.npos;
  };
  EXPECT_TRUE(selects({}));
  EXPECT_TRUE(selects({0, 0, 0}));
  EXPECT_FALSE(selects({1, 0, 1}));
}
TEST(ImportAttention, ScoresAreGivenByStage) {
  const auto scores = [](int64_t mode, float cap, int64_t version) {
    const Proto attention = node("Attention", {"a", "b", "b", "c"}, {"z", "", "", "y"}, "w",
                                 {int_attribute("qk_matmul_output_mode", mode), float_attribute("softcap", cap)});
    const Fed bias = fed(kFloat, DType::kF32, {1, 2}, {0, 10});
    return numbers_of(run_nodes({attention}, {heads({1}), heads({2, 3}), bias}, {}, version));
  };
  const double two = std::tanh(2), three = std::tanh(3);
  for (const int64_t version : {23, 24, 25}) {
    expect_near(scores(0, 1, version), {2, 3});
    expect_near(scores(1, 1, version), {two, three});
    expect_near(scores(2, 1, version), {two, three + 10});
    expect_near(scores(2, 0, version), {2, 13});
  }
  expect_near(scores(1, 0, 24), {2, 13});  // as these versions had it first
  expect_near(scores(1, 0, 25), {2, 3});
}
TEST(ImportAttention, SoftcapsLetNoMaskedKeysIn) {
  const Fed mask = bools({2, 4}, {1, 0, 1, 0, 0, 0, 0, 1});
  for (const int64_t version : {23, 24, 25})
    expect_near(means(mask, {float_attribute("softcap", 0.5)}, version), {2.5, 8});
}
/// What com.microsoft's Attention makes of two samples by lengths of their keys; the batches of x and of the mask are
/// two open extents of the model. Scores are 0, and values are x.
Result<std::vector<HostTensor>> by_lengths(const std::vector<int64_t>& lengths) {
  const Proto attention =
      node("Attention", {"x", "w", "bias", "mask"}, {"y"}, "m", {int_attribute("num_heads", 1)}, "com.microsoft");
  Proto whole = model(graph({{attention},
                             {value("x", kFloat, {-1, 2, 1}), value("mask", kInt32, {-1})},
                             {value("y")},
                             {floats("w", {1, 3}, {0, 0, 1}), floats("bias", {3}, {0, 0, 0})}}));
  const Imported imported = import_proto(whole.message(field::model::kOpsetImport, opset("com.microsoft", 1)));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return std::unexpected(imported.status.error());
  const std::vector<HostTensor> given{
      HostTensor::of(DType::kF32, {2, 2, 1}, std::vector<double>{1, 3, 4, 8}),
      HostTensor::of_ints(DType::kI32, Extents{static_cast<int64_t>(lengths.size())}, lengths)};
  return ir::interpret(imported.graph, given);
}
TEST(ImportAttention, LengthsOfAMaskMayHaveABatchOfTheirOwn) {
  const auto y = by_lengths({1, 2});
  ASSERT_TRUE(y) << y.error().message;
  expect_near(numbers_of((*y)[0]), {1, 1, 6, 6});
  const auto three = by_lengths({1, 2, 2});
  ASSERT_FALSE(three);
  EXPECT_NE(three.error().message.find("lengths of the mask and samples are equal"), std::string::npos)
      << three.error().message;
}

}  // namespace
}  // namespace kiln::onnx
