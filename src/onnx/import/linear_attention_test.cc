#include <cmath>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;

Proto linear_attention(std::string_view rule, std::vector<std::string_view> inputs, int64_t queries = 1,
                       std::vector<std::string_view> outputs = {"y", "s"}) {
  Proto result = node("LinearAttention", {}, {}, "l");
  for (const std::string_view name : inputs) result.text(field::node::kInput, name);
  for (const std::string_view name : outputs) result.text(field::node::kOutput, name);
  result.message(field::node::kAttribute, text_attribute("update_rule", rule));
  result.message(field::node::kAttribute, int_attribute("q_num_heads", queries));
  result.message(field::node::kAttribute, int_attribute("kv_num_heads", 1));
  return result.message(field::node::kAttribute, float_attribute("scale", 1));
}
Fed row(const Doubles& numbers, int64_t length) {
  return fed(kFloat, DType::kF32, {1, length, static_cast<int64_t>(numbers.size()) / length}, numbers);
}
void expect_near(const HostTensor& actual, const Doubles& wanted) {
  const Doubles numbers = numbers_of(actual);
  ASSERT_EQ(numbers.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(numbers[i], wanted[i], 1e-5) << i;
}

// Keys and values of one number, by hand: the state after each token, which a query of 1 reads.
TEST(ImportLinearAttention, SumsKeysTimesValues) {
  const Fed ones = row({1, 1, 2}, 3), keys = row({1, 2, 3}, 3), values = row({5, 7, -1}, 3);
  expect_near(run_nodes({linear_attention("linear", {"a", "b", "c"})}, {ones, keys, values}, {}, 27), {5, 19, 32});
  const Fed past = fed(kFloat, DType::kF32, {1, 1, 1, 1}, {100});
  expect_near(run_nodes({linear_attention("linear", {"a", "b", "c", "d"})}, {ones, keys, values, past}, {}, 27),
              {105, 119, 232});
  expect_near(
      run_nodes({linear_attention("linear", {"a", "b", "c", "d"}, 1, {"z", "y"})}, {ones, keys, values, past}, {}, 27),
      {116});
}
TEST(ImportLinearAttention, DecaysAndCorrects) {
  const double half = -std::log(2.0);
  const Fed ones = row({1, 1}, 2), keys = row({2, 1}, 2), values = row({3, 4}, 2), gates = row({half, half}, 2);
  expect_near(run_nodes({linear_attention("gated", {"a", "b", "c", "", "d"})}, {ones, keys, values, gates}, {}, 27),
              {6, 7});
  // 0.5 * 2 * (3 - 0) = 3, and 3 + 0.5 * 1 * (4 - 3) = 3.5
  const Fed rates = row({0.5, 0.5}, 2);
  expect_near(run_nodes({linear_attention("delta", {"a", "b", "c", "", "", "d"})}, {ones, keys, values, rates}, {}, 27),
              {3, 3.5});
  // 3, and 1.5 + 0.5 * (4 - 1.5) = 2.75
  expect_near(run_nodes({linear_attention("gated_delta", {"a", "b", "c", "", "d", "e"})},
                        {ones, keys, values, gates, rates}, {}, 27),
              {3, 2.75});
}
TEST(ImportLinearAttention, OneTokenNeedsNoLoop) {
  const std::vector<Proto> inputs{value("q", kFloat, {2, 1, 8}), value("k", kFloat, {2, 1, 4}),
                                  value("v", kFloat, {2, 1, 6})};
  const Proto one = linear_attention("linear", {"q", "k", "v"}, 2, {"y"});
  EXPECT_EQ(import_node(one, inputs, {}, 27).find("Loop"), std::string::npos);
  // Two queries share the keys of size 4: a head's query is its own half.
  const Fed q = row({1, 0, 10, 0}, 1), k = row({2, 3}, 1), v = row({5, 7, 9}, 1);
  expect_near(run_nodes({linear_attention("linear", {"a", "b", "c"}, 2)}, {q, k, v}, {}, 27),
              {10, 14, 18, 100, 140, 180});
}
TEST(ImportLinearAttention, GatesMayBeOfEachKey) {
  const double half = -std::log(2.0);
  const Fed q = row({1, 1, 1, 1}, 2), k = row({1, 1, 0, 0}, 2), v = row({8, 0}, 2),
            gates = row({0, 0, half, 2 * half}, 2);
  expect_near(run_nodes({linear_attention("gated", {"a", "b", "c", "", "d"})}, {q, k, v, gates}, {}, 27), {16, 6});
}
TEST(ImportLinearAttention, SaysWhatIsWrong) {
  const auto message = [](const Proto& node, int64_t channels = 8) {
    std::string text = import_node(
        node, {value("q", kFloat, {2, 3, channels}), value("k", kFloat, {2, 3, 4}), value("v", kFloat, {2, 3, 4})}, {},
        27);
    return text.substr(text.find("]: ") + 3);
  };
  EXPECT_EQ(message(linear_attention("gated", {"q", "k", "v"}, 2)), "update_rule 'gated' needs decay\n");
  EXPECT_EQ(message(linear_attention("linear", {"q", "k", "v", "", "", "q"}, 2)), "update_rule 'linear' has no beta\n");
  EXPECT_EQ(message(linear_attention("other", {"q", "k", "v"}, 2)),
            "update_rule is 'other'; linear, gated, delta or gated_delta is needed\n");
  EXPECT_EQ(message(linear_attention("linear", {"q", "k", "v"}, 0)),
            "there are 0 query heads and 1 key and value heads; a multiple is needed\n");
  EXPECT_EQ(message(linear_attention("linear", {"q", "k", "v"}, 2), 7),
            "'q' is f32[2, 3, 7]; its channels are no multiple of 2 heads\n");
}

}  // namespace
}  // namespace kiln::onnx
