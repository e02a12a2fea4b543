#include "passes/structure_regions.h"

#include <gtest/gtest.h>

#include "ir/bodies.h"
#include "ops/element_wise.h"
#include "ops/if.h"
#include "ops/if_condition.h"
#include "ops/if_input.h"
#include "ops/if_output.h"
#include "ops/loop.h"
#include "ops/loop_iterator.h"
#include "ops/loop_output.h"
#include "ops/loop_recurrence.h"
#include "ops/loop_trip_limit.h"
#include "ops/reduce.h"
#include "ops/unary.h"

namespace kiln::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

/// A network that is being built as the API does it: without inference, in any order.
struct Draft {
  ir::Graph graph;
  std::vector<std::string> names{"a", "b", "c"};

  ValueId add(Op op, std::vector<ValueId> inputs, std::string name = "") {
    const NodeId node = graph.add_lazily(std::move(op), inputs, name);
    if (graph.node(node).outputs.empty()) return ValueId::kNone;
    const ValueId output = graph.node(node).outputs[0];
    graph.set_name(output, name);
    return output;
  }
  ValueId sum(ValueId x, ValueId y, std::string name) {
    return add(ops::ElementWise{ops::ElementWiseKind::kSum}, {x, y}, name);
  }
  ValueId input(std::string name, Extents extents) { return graph.add_input(name, tensor_type(DType::kF32, extents)); }
  void count(int group, int64_t trips) {
    add(ops::LoopTripLimit{.group = group},
        {graph.add_constant(HostTensor::scalar(DType::kI32, static_cast<double>(trips)))});
  }
  void feed_back(ValueId recurrence, ValueId next) {
    const NodeId node = graph.value(recurrence).producer;
    graph.set_num_inputs(node, 2);
    graph.set_input(node, 1, next);
  }
  Result<ir::Graph> structured() const { return structure_regions(graph, names); }
  std::string error() const {
    const auto result = structured();
    return result ? "" : result.error().message;
  }
};

template <class T>
const ir::Node* node_of(const ir::Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph.alive(id) && graph.node(id).op.as<T>()) return &graph.node(id);
  return nullptr;
}

int num_nodes(const ir::Graph& graph) {
  int count = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) count += graph.alive(static_cast<NodeId>(i));
  return count;
}

TEST(StructureRegions, PutsInsideWhatIterationsComputeAndNothingElse) {
  Draft d;
  const ValueId x = d.input("x", {3, 2}), z = d.input("z", {2});
  const ValueId same = d.sum(z, z, "same");
  d.count(0, 3);
  const ValueId row = d.add(ops::LoopIterator{.group = 0}, {x}, "row");
  const ValueId carried = d.add(ops::LoopRecurrence{.group = 0}, {z}, "carried");
  const ValueId unused = d.add(ops::LoopRecurrence{.group = 0}, {z}, "unused");
  d.feed_back(unused, d.sum(unused, row, "unused next"));
  const ValueId next = d.sum(d.sum(carried, row, "first"), same, "next");
  d.feed_back(carried, next);
  const ValueId y = d.add(ops::LoopOutput{.group = 0}, {carried}, "y");
  d.graph.mark_output(d.sum(y, same, "end"), "end");
  const auto result = d.structured();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(verify(*result));
  EXPECT_FALSE(has_regions(*result));
  const ir::Node* loop = node_of<ops::Loop>(*result);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->name, "a");
  EXPECT_EQ(loop->op.as<ops::Loop>()->carried, 1);
  ASSERT_EQ(loop->bodies.size(), 1U);
  EXPECT_EQ(print(*loop->bodies[0]),
            "iteration: i64[]\ncarried: f32[2]\nrow: f32[2]\nsame: f32[2]\n"
            "first = ElementWise{kind=sum}(carried, row)  # f32[2]\n"
            "next = ElementWise{kind=sum}(first, same)  # f32[2]\n"
            "return next as result_0\n");
  EXPECT_EQ(num_nodes(*result), 4);  // same, the count, the loop, end
}

TEST(StructureRegions, NestsByWhatIsRead) {
  Draft d;
  const ValueId x = d.input("x", {3, 2}), v = d.input("v", {4, 2});
  d.count(0, 3), d.count(1, 4);
  const ValueId row = d.add(ops::LoopIterator{.group = 0}, {x}, "row");
  const ValueId other = d.add(ops::LoopIterator{.group = 1}, {v}, "other");  // of nothing that the first loop has
  const ValueId length = d.graph.add_constant(HostTensor::scalar(DType::kI32, 4)),
                rows = d.graph.add_constant(HostTensor::scalar(DType::kI32, 3));
  const ValueId inner = d.add(ops::LoopOutput{.group = 1, .kind = LoopOutputKind::kConcatenate},
                              {d.sum(row, other, "s"), length}, "inner");
  d.graph.mark_output(d.add(ops::LoopOutput{.group = 0, .kind = LoopOutputKind::kReverse}, {inner, rows}, "outer"),
                      "outer");
  const auto result = d.structured();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(verify(*result));
  const ir::Node* outer = node_of<ops::Loop>(*result);
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->name, "a");
  EXPECT_EQ(outer->op.as<ops::Loop>()->stacks, std::vector{-1});
  const ir::Node* within = node_of<ops::Loop>(*outer->bodies[0]);
  ASSERT_NE(within, nullptr);
  EXPECT_EQ(within->name, "b");
  EXPECT_EQ(str(result->type(result->outputs()[0].value)), "f32[3, 4, 2]");
}

TEST(StructureRegions, GivesEachBranchItsLayers) {
  Draft d;
  const ValueId x = d.input("x", {2}), c = d.graph.add_input("c", tensor_type(DType::kBool, Extents{}));
  d.add(ops::IfCondition{.group = 2}, {c});
  const ValueId in = d.add(ops::IfInput{.group = 2}, {x}, "in");
  const ValueId eager = d.sum(x, x, "eager");
  const ValueId then = d.sum(in, eager, "then");
  d.graph.mark_output(d.add(ops::IfOutput{.group = 2}, {then, eager}, "y"), "y");
  const auto result = d.structured();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(verify(*result));
  const ir::Node* node = node_of<ops::If>(*result);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->name, "c");
  EXPECT_EQ(num_nodes(*node->bodies[0]), 1);
  EXPECT_EQ(num_nodes(*node->bodies[1]), 0);
}

// A boundary that nothing connects to its loop, or that says another kind of group.
TEST(StructureRegions, SaysWhichGroupIsWrong) {
  Draft two;
  const ValueId x = two.input("x", {2});
  two.count(0, 1), two.count(0, 2);
  EXPECT_EQ(two.error(),
            "loop 'a' has two trip limits of kind kCOUNT: layer '' (LoopTripLimit) and layer '' "
            "(LoopTripLimit)");
  Draft kinds;
  kinds.count(0, 1);
  kinds.add(ops::IfInput{.group = 0}, {kinds.input("x", {2})}, "in");
  EXPECT_EQ(kinds.error(), "layer 'in' (IfInput) is of loop 'a'");
  Draft third;  // reads of two loops, neither of which is in the other
  const ValueId z = third.input("z", {2});
  std::vector<ValueId> carried;
  for (const int group : {0, 1}) {
    third.count(group, 2);
    carried.push_back(third.add(ops::LoopRecurrence{.group = group}, {z}, "carried"));
    third.feed_back(carried.back(), third.sum(carried.back(), z, "next"));
  }
  third.sum(carried[0], carried[1], "both");
  EXPECT_EQ(third.error().substr(0, 83),
            "layer 'both' (ElementWise) reads values of loop 'a' and of loop 'b', neither of whi");
  static_cast<void>(x);
}

}  // namespace
}  // namespace kiln::passes
