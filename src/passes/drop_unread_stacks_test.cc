#include "passes/drop_unread_stacks.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/loop.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

/// A loop that carries h, stacks twice and ends where a condition is false.
class LoopOfStacks : public ::testing::Test {
 protected:
  void SetUp() override {
    auto body = graph.new_body();
    body->add_input("i", tensor_type(DType::kI64, Extents{}));
    const ir::ValueId h = body->add_input("h", tensor_type(DType::kF32, Extents{2}));
    const ir::ValueId on = body->add_input("on", tensor_type(DType::kBool, Extents{}));
    const ir::ValueId sum = *body->add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {h, h}, "sum");
    const ir::ValueId product = *body->add_one(ops::ElementWise{ops::ElementWiseKind::kProd}, {h, h}, "product");
    body->mark_output(on, "on");
    body->mark_output(sum, "h1");
    body->mark_output(product, "products");
    body->mark_output(sum, "sums");
    const sym::Expr most = 9;
    const std::vector<DecidedSize> sizes{{graph.table().fresh("n", {0, 4, 9}), most},
                                         {graph.table().fresh("m", {0, 4, 9}), most}};
    lengths = {sizes[0].symbol, sizes[1].symbol};
    const ir::ValueId count = graph.add_constant(HostTensor::scalar(DType::kI64, 9));
    const ir::ValueId x = graph.add_input("x", tensor_type(DType::kF32, Extents{2}));
    const ir::ValueId more = graph.add_input("more", tensor_type(DType::kBool, Extents{}));
    const ops::Loop loop{
        .carried = 1, .scans = {}, .stacks = {1, 1}, .tests = true, .decided = {{1, 0}, {2, 0}}, .most = {most, most}};
    outputs = *graph.add(loop, std::vector{count, ir::ValueId::kNone, x, more}, "loop", {body}, sizes);
  }
  /// What the pass leaves of the loop.
  const ir::Node& after() {
    NullLog log;
    PassContext cx{log};
    EXPECT_TRUE(drop_unread_stacks(graph, cx) && verify(graph));
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); graph.alive(id) && graph.node(id).op.as<ops::Loop>())
        return graph.node(id);
    ADD_FAILURE() << print(graph);
    return graph.node(ir::NodeId{0});
  }

  ir::Graph graph;
  std::vector<ir::ValueId> outputs;
  std::vector<sym::Expr> lengths;
};

TEST_F(LoopOfStacks, KeepsTheOneThatIsRead) {
  graph.mark_output(outputs[2], "sums");
  const ir::Node& node = after();
  const auto& loop = *node.op.as<ops::Loop>();
  EXPECT_EQ(loop.stacks, std::vector<int>{1});
  ASSERT_EQ(loop.decided.size(), 1U);
  EXPECT_EQ(loop.decided[0], (DecidedAxis{1, 0}));
  ASSERT_EQ(node.sizes.size(), 1U);
  EXPECT_EQ(node.sizes[0].symbol, lengths[1]);
  EXPECT_EQ(graph.type(graph.outputs()[0].value).shape[0], lengths[1]);
  EXPECT_EQ(node.bodies[0]->outputs().size(), 3U);
  EXPECT_EQ(print(*node.bodies[0]).find("product"), std::string::npos) << "what made the other one's slices goes";
}
TEST_F(LoopOfStacks, KeepsTheCarriedValueAlone) {
  graph.mark_output(outputs[0], "y");
  const ir::Node& node = after();
  EXPECT_EQ(node.outputs.size(), 1U);
  EXPECT_TRUE(node.sizes.empty());
}
TEST_F(LoopOfStacks, KeepsOneWhoseLengthIsRead) {
  graph.mark_output(outputs[0], "y");
  graph.mark_output(*graph.add_one(ops::DimValues{.values = {lengths[0]}}, {}), "n");
  const ir::Node& node = after();
  ASSERT_EQ(node.outputs.size(), 2U);
  ASSERT_EQ(node.sizes.size(), 1U);
  EXPECT_EQ(node.sizes[0].symbol, lengths[0]);
}
TEST_F(LoopOfStacks, LeavesWhatIsReadAsItIs) {
  graph.mark_output(outputs[1], "products");
  graph.mark_output(outputs[2], "sums");
  EXPECT_EQ(after().outputs, outputs);
}

}  // namespace
}  // namespace kiln::passes
