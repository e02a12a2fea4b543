#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/loop_recurrence.h"
#include "ops/softmax.h"
#include "sym/facts.h"

namespace kiln::ir {
namespace {

TEST(Graph, InfersWhenAsked) {
  Graph g;
  const ValueId x = g.add_input("x", tensor_type(DType::kF32, Extents{2, 3}));
  const NodeId n = g.add_lazily(ops::Softmax{.axis = 5}, std::vector{x}, "probabilities");
  const ValueId y = g.node(n).outputs[0];
  EXPECT_EQ(g.inferred_type(y).error().message, "Softmax 'probabilities': axis 5 is outside [-2, 2) of x f32[2, 3]");
  g.set_op(n, ops::Softmax{.axis = 1});
  EXPECT_EQ(str(g.inferred_type(y)->get()), "f32[2, 3]");
  g.mark_output(y, "y");
  EXPECT_TRUE(verify(g));
  EXPECT_EQ(print(g), "x: f32[2, 3]\n%1 = Softmax{axis=1}(x)  # f32[2, 3]\nreturn %1 as y\n");
}
TEST(Graph, FailedAddLeavesNoTrace) {
  Graph g;
  const ValueId x = g.add_input("x", tensor_type(DType::kI32, Extents{2}));
  EXPECT_FALSE(g.add_one(ops::Softmax{}, {x}));
  EXPECT_EQ(g.num_nodes(), 0);
  EXPECT_EQ(g.num_uses(x), 0);
}
TEST(Graph, RollsBackToAMark) {
  Graph g;
  const sym::Expr n = g.table().symbol("n"), m = g.table().symbol("m");
  const ValueId x = g.add_input("x", {DType::kF32, {n}}), z = g.add_input("z", {DType::kF32, {m}});
  const ValueId kept = *g.add_one(ops::Softmax{.axis = 0}, {x}, "kept");
  const std::string before = print(g);
  const Graph::Mark mark = g.mark();
  const ValueId soft = *g.add_one(ops::Softmax{.axis = 0}, {kept}), gone = *g.add_one(ops::Softmax{.axis = 0}, {x});
  g.remove(g.value(gone).producer);
  ASSERT_TRUE(g.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {soft, z}));
  EXPECT_FALSE(g.assumptions().empty()) << "the two have one extent, or one of them is 1";
  g.roll_back(mark);
  EXPECT_EQ(print(g), before);
  EXPECT_TRUE(g.assumptions().empty());
  EXPECT_EQ(g.num_uses(x), 1);
  EXPECT_EQ(g.num_uses(z) + g.num_uses(kept), 0);
  EXPECT_TRUE(verify(g));
  EXPECT_EQ(*g.add_one(ops::Softmax{.axis = 0}, {z}), soft) << "ids are given again";
}
TEST(Graph, NamesACycle) {
  Graph g;
  const ValueId x = g.add_input("x", tensor_type(DType::kF32, Extents{2}));
  const NodeId a = g.add_lazily(ops::Softmax{}, std::vector{x}, "a");
  const NodeId b = g.add_lazily(ops::Softmax{}, std::vector{g.node(a).outputs[0]}, "b");
  g.set_input(a, 0, g.node(b).outputs[0]);
  EXPECT_EQ(g.topological_order().error().message, "the network has a cycle through Softmax 'a', Softmax 'b'");
  EXPECT_FALSE(g.inferred_type(g.node(b).outputs[0]));
}
TEST(Graph, AnInputThatIsFedBackIsNoCycle) {
  Graph g;
  const ValueId x = g.add_input("x", tensor_type(DType::kF32, Extents{2}));
  const NodeId carried = g.add_lazily(ops::LoopRecurrence{}, std::vector{x}, "carried");
  const ValueId before = g.node(carried).outputs[0];
  const NodeId next = g.add_lazily(ops::Softmax{.axis = 0}, std::vector{before}, "next");
  g.set_num_inputs(carried, 2);
  g.set_input(carried, 1, g.node(next).outputs[0]);
  EXPECT_EQ(*g.topological_order(), (std::vector{carried, next}));
  EXPECT_EQ(str(g.inferred_type(g.node(next).outputs[0])->get()), "f32[2]");
  EXPECT_TRUE(verify(g));
  const NodeId first = g.add_lazily(ops::Softmax{.axis = 0}, std::vector{x}, "first");
  g.set_input(carried, 0, g.node(first).outputs[0]);  // not in the order of ids, and read twice
  g.set_input(carried, 1, g.node(first).outputs[0]);
  EXPECT_EQ(*g.topological_order(), (std::vector{first, carried, next}));
  g.set_input(carried, 0, g.node(next).outputs[0]);
  EXPECT_FALSE(g.topological_order());
}
TEST(Graph, ReplaceUsesKeepsOutputNames) {
  Graph g;
  const ValueId c = g.add_constant(HostTensor::scalar(DType::kF32, 1), "c");
  const ValueId d = g.add_constant(HostTensor::scalar(DType::kF32, 2), "d");
  g.mark_output(c, "y");
  g.replace_uses(c, d);
  EXPECT_EQ(g.outputs()[0].value, d);
  EXPECT_EQ(g.outputs()[0].name, "y");
  g.remove(g.value(c).producer);
  EXPECT_TRUE(verify(g));
}
/// An input that gets other extents: what was made of the old ones follows, and what was believed of them is forgotten.
TEST(Graph, ExtentsOfInputsAreReplacedInOps) {
  Graph g;
  const sym::Expr n = g.table().symbol("n"), m = g.table().symbol("m");
  const ValueId x = g.add_input("x", {DType::kF32, {n}}), z = g.add_input("z", {DType::kF32, {m}});
  const auto values = [](const sym::Expr& e) { return ops::DimValues{{e}, DType::kI64, {1}}; };
  const ValueId of_x = *g.add_one(values(n + 2), {}), of_z = *g.add_one(values(m + 2), {});
  g.assume({sym::Relation::kLessEqual, 9, n, "a window"});
  sym::learn(g.assumptions()[0]);
  const auto op_of = [&](ValueId v) { return str(g.node(g.value(v).producer).op); };
  g.set_input_type(x, tensor_type(DType::kF32, Extents{12}));
  EXPECT_EQ(op_of(of_x), str(Op(values(14))));
  EXPECT_EQ(op_of(of_z), str(Op(values(m + 2))));
  ASSERT_TRUE(g.infer(Graph::Which::kAll));
  EXPECT_TRUE(g.assumptions().empty()) << "nothing need hold of a name that no input has";
  g.set_input_type(z, {DType::kF32, {g.table().symbol("k")}});
  EXPECT_EQ(op_of(of_z), str(Op(values(g.table().symbol("k") + 2))));
}
/// Outputs are counted as they come and go.
TEST(Graph, KnowsWhichValuesAreOutputs) {
  Graph g;
  const ValueId x = g.add_input("x", tensor_type(DType::kF32, Extents{2}));
  const ValueId y = g.add_input("y", tensor_type(DType::kF32, Extents{2}));
  const auto counts = [&] { return std::pair(g.num_uses(x), g.num_uses(y)); };
  for (const char* const name : {"a", "b", "c"}) g.mark_output(x, name);
  g.mark_output(y, "d");
  EXPECT_EQ(counts(), std::pair(3, 1));
  g.set_output_value(1, y);
  EXPECT_EQ(counts(), std::pair(2, 2));
  g.set_output_value(1, y);
  EXPECT_EQ(counts(), std::pair(2, 2));
  EXPECT_TRUE(verify(g));
  EXPECT_TRUE(verify(g.clone()));
  g.unmark_output(x);
  EXPECT_FALSE(g.is_output(x));
  ASSERT_EQ(g.outputs().size(), 2u);
  EXPECT_EQ(g.outputs()[0].name, "b");
  EXPECT_EQ(g.outputs()[1].name, "d");
  g.unmark_output(x);
  g.replace_uses(y, x);
  EXPECT_EQ(counts(), std::pair(2, 0));
  EXPECT_TRUE(g.is_output(x));
  EXPECT_TRUE(verify(g));
}

}  // namespace
}  // namespace kiln::ir
