#include "passes/remove_dead.h"

#include <gtest/gtest.h>

#include "ops/dim_values.h"
#include "ops/non_zero.h"
#include "ops/unique.h"
#include "passes/fold_constants.h"
#include "passes/merge_common.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

/// A graph with nodes that decide sizes, and a DimValues of the size of one.
class DecidedSizes : public ::testing::Test {
 protected:
  ir::ValueId where(ir::ValueId x) { return *graph.add_one(ops::NonZero{}, {x}); }
  sym::Expr count(ir::ValueId at) { return graph.type(at).shape[1]; }
  void give_count(ir::ValueId at) {
    graph.mark_output(*graph.add_one(ops::DimValues{.values = {count(at)}}, std::span<const ir::ValueId>()), "n");
  }
  template <class Pass>
  std::string after(Pass pass) {
    NullLog log;
    PassContext cx{log};
    EXPECT_TRUE(pass(graph, cx) && remove_dead(graph, cx) && verify(graph));
    return print(graph);
  }

  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", tensor_type(DType::kBool, Extents{4}));
};

TEST_F(DecidedSizes, KeepWhoDecidesThem) {
  where(x);
  give_count(where(x));
  const std::string text = after(remove_dead);
  EXPECT_NE(text.find("NonZero"), std::string::npos) << text;
  EXPECT_EQ(text.find("NonZero"), text.rfind("NonZero")) << text;
}
TEST_F(DecidedSizes, OfEqualNodesAreOne) {
  const ir::ValueId one = where(x), other = where(x);
  const sym::Expr first = count(one), second = count(other);
  graph.mark_output(one, "y");
  give_count(other);
  after(merge_common);
  ASSERT_EQ(graph.replaced_sizes().size(), 1u);
  EXPECT_EQ(graph.replaced_sizes()[0].first, second);
  EXPECT_EQ(graph.replaced_sizes()[0].second, first);
  std::vector<sym::Expr> read;
  collect_symbols(graph.node(graph.value(graph.outputs()[1].value).producer).op, read);
  EXPECT_EQ(read, std::vector{first});
}
TEST_F(DecidedSizes, OfConstantsAreNumbers) {
  const ir::ValueId at = where(graph.add_constant(HostTensor::of(DType::kBool, {4}, std::vector<double>{1, 0, 1, 1})));
  const sym::Expr n = count(at);
  graph.mark_output(at, "y");
  give_count(at);
  const std::string text = after(fold_constants);
  EXPECT_EQ(text.find("NonZero"), std::string::npos) << text;
  EXPECT_EQ(graph.type(graph.outputs()[0].value).extents().value(), (Extents{1, 3}));
  EXPECT_EQ(graph.replaced_sizes()[0].first, n);
  EXPECT_EQ(graph.replaced_sizes()[0].second, sym::Expr(3));
}
TEST_F(DecidedSizes, OfSeveralOutputsAreReplacedOnce) {
  const auto outputs =
      graph.add(ops::Unique{},
                std::vector{graph.add_constant(HostTensor::of(DType::kI32, {4}, std::vector<double>{3, 1, 3, 3}))});
  ASSERT_TRUE(outputs);
  graph.mark_output((*outputs)[0], "y");
  graph.mark_output((*outputs)[3], "counts");
  after(fold_constants);
  ASSERT_EQ(graph.replaced_sizes().size(), 1u);
  EXPECT_EQ(graph.replaced_sizes()[0].second, sym::Expr(2));
}
TEST_F(DecidedSizes, AreWaitedForWithoutAnEdge) {
  const ir::ValueId y = graph.add_input("y", tensor_type(DType::kBool, Extents{2}));
  const ir::ValueId at = where(y);
  give_count(at);
  graph.replace_uses(y, x);
  const ir::NodeId reader = graph.value(graph.outputs()[0].value).producer;
  graph.set_op(reader, ops::DimValues{.values = {count(where(x))}});  // of a node with a greater id
  const std::vector<ir::NodeId> order = *graph.topological_order();
  EXPECT_EQ(order.back(), reader);
}

}  // namespace
}  // namespace kiln::passes
