#include <cmath>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;

Proto numbers_attribute(std::string_view name, std::initializer_list<float> values) {
  return attribute(name, 4).message(field::attribute::kT, floats("", {static_cast<int64_t>(values.size())}, values));
}
Proto bytes_attribute(std::string_view name, const std::string& bytes) {
  return attribute(name, 4).message(
      field::attribute::kT, tensor("", 2, {static_cast<int64_t>(bytes.size())}).text(field::tensor::kRawData, bytes));
}

/// Two trees. The first: feature 0 <= 1 ? (feature 1 in {3, 5} ? 1 : 10 of target 0) : 100 of target 1. The second:
/// feature 1 > 4, or missing ? 1000 : 2000, of target 1.
Proto trees(std::initializer_list<Proto> others, std::initializer_list<int64_t> true_nodes = {1, 0, 3}) {
  Proto node = test::node("TreeEnsemble", {"a"}, {"y"}, "t", {}, "ai.onnx.ml");
  for (const Proto& each :
       {ints_attribute("nodes_featureids", {0, 1, 1}), numbers_attribute("nodes_splits", {1, 0, 4}),
        bytes_attribute("nodes_modes", {0, 6, 3}), numbers_attribute("membership_values", {3, 5, NAN}),
        ints_attribute("nodes_truenodeids", true_nodes), ints_attribute("nodes_trueleafs", {0, 1, 1}),
        ints_attribute("nodes_falsenodeids", {2, 1, 4}), ints_attribute("nodes_falseleafs", {1, 1, 1}),
        ints_attribute("nodes_missing_value_tracks_true", {0, 0, 1}), ints_attribute("leaf_targetids", {0, 0, 1, 1, 1}),
        numbers_attribute("leaf_weights", {1, 10, 100, 1000, 2000}), ints_attribute("tree_roots", {0, 2}),
        int_attribute("n_targets", 2)})
    node.message(field::node::kAttribute, each);
  for (const Proto& each : others) node.message(field::node::kAttribute, each);
  return node;
}
Proto ml_model(const Proto& node, const Proto& input) {
  return Proto()
      .integer(field::model::kIrVersion, 10)
      .message(field::model::kOpsetImport, opset("", 21))
      .message(field::model::kOpsetImport, opset("ai.onnx.ml", 5))
      .message(field::model::kGraph, graph({{node}, {input}, {value("y")}, {}}));
}
Doubles run(const Proto& node, const Doubles& x) {
  const Imported imported = import_proto(ml_model(node, value("a", kFloat, {4, 2})));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return {};
  const auto y = ir::interpret(imported.graph, {HostTensor::of(DType::kF32, {4, 2}, x)});
  EXPECT_TRUE(y) << y.error().message;
  return y ? numbers_of((*y)[0]) : Doubles();
}

const Doubles kX{1, 3, 1, 4, 2, 5, NAN, NAN};

TEST(ImportTreeEnsemble, AddsTheLeavesThatAreReached) {
  EXPECT_EQ(run(trees({}), kX), (Doubles{1, 2000, 10, 2000, 0, 1100, 0, 1100}));
  EXPECT_EQ(run(trees({int_attribute("aggregate_function", 0)}), kX), (Doubles{.5, 1000, 5, 1000, 0, 550, 0, 550}));
}
/// Extremes go down the trees by gathers, of members and missing features too. A target that no tree has is 0.
TEST(ImportTreeEnsemble, FindsExtremes) {
  EXPECT_EQ(run(trees({int_attribute("aggregate_function", 2)}), kX), (Doubles{1, 2000, 10, 2000, 0, 100, 0, 100}));
  EXPECT_EQ(run(trees({int_attribute("aggregate_function", 3)}), kX), (Doubles{1, 2000, 10, 2000, 0, 1000, 0, 1000}));
}
TEST(ImportTreeEnsemble, SaysWhatIsWrong) {
  const auto of = [](const Proto& node) { return text_of(import_proto(ml_model(node, value("a", kFloat, {4, 2})))); };
  EXPECT_EQ(of(trees({}, {0, 0, 3})),
            "node 't' (ai.onnx.ml.TreeEnsemble) of a f32[4, 2]: node 0 is met twice; trees are needed\n");
  EXPECT_EQ(of(trees({}, {1, 9, 3})),
            "node 't' (ai.onnx.ml.TreeEnsemble) of a f32[4, 2]: nodes_truenodeids has 9, which "
            "is outside [0, 5)\n");
  EXPECT_EQ(
      of(trees({int_attribute("aggregate_function", 4)})),
      "node 't' (ai.onnx.ml.TreeEnsemble) of a f32[4, 2]: aggregate_function is 4; AVERAGE (0), SUM (1), MIN (2) or "
      "MAX (3) is needed\n");
  EXPECT_EQ(of(trees({int_attribute("post_transform", 5)})),
            "node 't' (ai.onnx.ml.TreeEnsemble) of a f32[4, 2]: post_transform is 5; NONE (0), SOFTMAX (1), LOGISTIC "
            "(2), SOFTMAX_ZERO (3) or PROBIT (4) is needed\n");
}

}  // namespace
}  // namespace kiln::onnx
