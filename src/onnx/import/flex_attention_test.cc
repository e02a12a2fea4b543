#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;

Fed heads(const Doubles& numbers) {
  return fed(kFloat, DType::kF32, {1, 1, static_cast<int64_t>(numbers.size()), 1}, numbers);
}
/// An attribute whose graph is one node, from "in" to "out".
Proto by(std::string_view attribute, const Proto& node) {
  return graph_attribute(attribute, graph({{node}, {value("in", kFloat, {-1, -1, -1, -1})}, {value("out")}, {}}));
}
Proto flex_attention(std::initializer_list<Proto> attributes) {
  return node("FlexAttention", {"a", "b", "c"}, {"y"}, "f", attributes, "ai.onnx.preview");
}
Imported imported(const Proto& node, const std::vector<Proto>& inputs, const std::vector<Proto>& initializers) {
  Proto whole = model(graph({{node}, inputs, {value("y")}, initializers}), {}, 26);
  return import_proto(whole.message(field::model::kOpsetImport, opset("ai.onnx.preview", 1)));
}
void expect_near(const HostTensor& actual, const Doubles& wanted) {
  const Doubles numbers = numbers_of(actual);
  ASSERT_EQ(numbers.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(numbers[i], wanted[i], 1e-5) << i;
}

/// What one query reads of values whose mean is 6; all scores are 0.
HostTensor read_of(std::initializer_list<Proto> attributes, const std::vector<Proto>& initializers = {}) {
  const std::vector<Fed> fed{heads({0}), heads({1, 2}), heads({4, 8})};
  const Imported made = imported(flex_attention(attributes),
                                 {value_of("a", fed[0]), value_of("b", fed[1]), value_of("c", fed[2])}, initializers);
  EXPECT_TRUE(made.status) << text_of(made);
  if (!made.status) return {};
  const auto y = ir::interpret(made.graph, std::vector{fed[0].tensor, fed[1].tensor, fed[2].tensor});
  EXPECT_TRUE(y) << y.error().message;
  return y ? (*y)[0] : HostTensor();
}

TEST(ImportFlexAttention, IsAttention) { expect_near(read_of({}), {6}); }
TEST(ImportFlexAttention, GraphsChangeScoresAndWeights) {
  expect_near(read_of({by("score_mod", node("Add", {"in", "w"}, {"out"}))}, {floats("w", {2}, {0, -1e30F})}), {4});
  expect_near(read_of({by("prob_mod", node("Mul", {"in", "w"}, {"out"}))}, {floats("w", {2}, {3, -1})}), {2});
  expect_near(read_of({by("score_mod", node("Neg", {"in"}, {"out"})), by("prob_mod", node("Neg", {"in"}, {"out"}))}),
              {-6});
}
TEST(ImportFlexAttention, SaysWhatIsWrong) {
  const auto message = [](const Proto& attribute) {
    const std::vector<Proto> inputs{value("a", kFloat, {1, 1, 2, 4}), value("b", kFloat, {1, 1, 3, 4}),
                                    value("c", kFloat, {1, 1, 3, 4})};
    const std::string text = text_of(imported(flex_attention({attribute}), inputs, {}));
    return text.substr(text.find("]: ") + 3);
  };
  EXPECT_EQ(message(by("score_mod", node("Cast", {"in"}, {"out"}, "", {int_attribute("to", kInt64)}))),
            "score_mod makes i64[1, 1, 2, 3] of f32[1, 1, 2, 3]; type and shape have to stay\n");
  EXPECT_NE(message(by("prob_mod", node("Transpose", {"in"}, {"out"}))).find("axis 0 of what prob_mod makes"),
            std::string::npos);
  EXPECT_NE(message(by("prob_mod", node("Foo", {"in"}, {"out"}))).find("prob_mod: "), std::string::npos);
  EXPECT_EQ(message(int_attribute("softmax_precision", kInt64)),
            "softmax_precision is INT64; FLOAT, FLOAT16, BFLOAT16 or DOUBLE is needed\n");
}

}  // namespace
}  // namespace kiln::onnx
