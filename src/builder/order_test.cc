#include "builder/order.h"

#include <gtest/gtest.h>

#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/non_zero.h"
#include "ops/unary.h"

namespace kiln {
namespace {

/// A graph that is covered node by node, in the order in which they are added.
struct Covered {
  ir::ValueId add(Op op, std::initializer_list<ir::ValueId> inputs, const char* name) {
    const ir::ValueId made = *graph.add_one(std::move(op), inputs, name);
    const ir::NodeId id = graph.value(made).producer;
    tiles.push_back({.region = {.nodes = {id}, .inputs = inputs, .outputs = graph.node(id).outputs}});
    return made;
  }
  /// The names of nodes in the order that they are brought into.
  std::string ordered() {
    order_by_sizes(graph, tiles);
    std::string names;
    for (const Tile& tile : tiles) names += graph.node(tile.region.nodes[0]).name + ' ';
    return names;
  }
  ir::Graph graph;
  std::vector<Tile> tiles;
};

const ops::Unary kNegative{ops::UnaryKind::kNeg};

TEST(OrderBySizes, WaitsOnceForAllThatNeedsNoneOfTheOthers) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4})),
                    y = c.graph.add_input("y", TensorType(DType::kI32, {4}));
  const ops::NonZero indices{.indices = DType::kI32};
  const ir::ValueId of_x = c.add(indices, {x}, "of_x");
  const ir::ValueId less = c.add(kNegative, {of_x}, "less");
  const ir::ValueId of_less = c.add(indices, {less}, "of_less");
  const ir::ValueId of_y = c.add(indices, {y}, "of_y");
  c.add(kNegative, {of_y}, "less_y");
  c.add(kNegative, {of_less}, "least");
  c.add(kNegative, {x}, "last");
  EXPECT_EQ(c.ordered(), "of_x of_y last less of_less less_y least ");
}

/// An expand to a size reads it, though none of its inputs has it.
TEST(OrderBySizes, AttributesReadSizesToo) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4}));
  const ir::ValueId of_x = c.add(ops::NonZero{.indices = DType::kI32}, {x}, "of_x");
  const sym::Expr count = c.graph.type(of_x).shape[1];
  c.add(kNegative, {x}, "first");
  c.tiles.back().draft.params = {count + 1};
  c.add(kNegative, {x}, "second");
  EXPECT_EQ(c.ordered(), "of_x second first ");
}

/// What is made of a size in an attribute has a type without it.
TEST(OrderBySizes, AttributesOfNodesReadSizes) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4}));
  const ir::ValueId of_x = c.add(ops::NonZero{.indices = DType::kI32}, {x}, "of_x");
  c.add(ops::DimValues{.values = {c.graph.type(of_x).shape[1]}, .extents = {1}}, {}, "first");
  c.add(kNegative, {x}, "second");
  EXPECT_EQ(c.ordered(), "of_x second first ");
}

/// A size that is a bound of another one has to be known before the node runs that decides that.
TEST(OrderBySizes, BoundsOfSizesAreSizes) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4}));
  const ir::ValueId of_x = c.add(ops::NonZero{.indices = DType::kI32}, {x}, "of_x");
  const ir::ValueId first = c.add(kNegative, {x}, "first");
  c.graph.set_sizes(c.graph.value(first).producer,
                    {{.symbol = c.graph.table().symbol("own"), .most = c.graph.type(of_x).shape[1]}});
  c.add(kNegative, {x}, "second");
  EXPECT_EQ(c.ordered(), "of_x second first ");
}

/// Tensors of a body have sizes that no input or output of its node has, nor any attribute.
TEST(OrderBySizes, TypesInBodiesHaveSizes) {
  for (const int depth : {1, 2}) {
    Covered c;
    const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4}));
    const ir::ValueId of_x = c.add(ops::NonZero{.indices = DType::kI32}, {x}, "of_x");
    const sym::Expr count = c.graph.type(of_x).shape[1];
    const ir::ValueId first = c.add(kNegative, {x}, "first");
    const std::shared_ptr<ir::Graph> body = c.graph.new_body(), inner = depth == 1 ? body : body->new_body();
    ASSERT_TRUE(inner->add_one(kNegative, {inner->add_input("v", TensorType(DType::kI32, {count}))}));
    if (depth == 2) {
      const auto outer = body->add_one(kNegative, {body->add_input("w", TensorType(DType::kI32, {4}))});
      ASSERT_TRUE(outer);
      body->set_bodies(body->value(*outer).producer, {inner});
    }
    c.graph.set_bodies(c.graph.value(first).producer, {body});
    c.add(kNegative, {x}, "second");
    EXPECT_EQ(c.ordered(), "of_x second first ") << depth;
  }
}

TEST(OrderBySizes, AlternativesReadSizesToo) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4}));
  const ir::ValueId of_x = c.add(ops::NonZero{.indices = DType::kI32}, {x}, "of_x");
  c.add(kNegative, {x}, "first");
  c.tiles.back().alternatives.emplace_back().draft.params = {c.graph.type(of_x).shape[1]};
  c.add(kNegative, {x}, "second");
  EXPECT_EQ(c.ordered(), "of_x second first ");
}

/// A size that a node decided which is gone is what replaced it: made of sizes, or of inputs.
TEST(OrderBySizes, ReplacedSizesWaitForWhatReplacedThem) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kI32, {4}));
  const ir::ValueId of_x = c.add(ops::NonZero{.indices = DType::kI32}, {x}, "of_x");
  const sym::Expr waited = c.graph.table().symbol("waited"), given = c.graph.table().symbol("given");
  c.graph.replace_size(waited, c.graph.type(of_x).shape[1] + 1);
  c.graph.replace_size(given, sym::Expr(4));
  for (const auto& [name, size] : {std::pair{"first", waited}, {"second", given}}) {
    c.add(kNegative, {x}, name);
    c.tiles.back().draft.params = {size};
  }
  EXPECT_EQ(c.ordered(), "of_x second first ");
}

TEST(OrderBySizes, WithoutSizesNothingMoves) {
  Covered c;
  const ir::ValueId x = c.graph.add_input("x", TensorType(DType::kF32, {c.graph.table().symbol("n")}));
  const ir::ValueId a = c.add(kNegative, {x}, "a");
  c.add(kNegative, {x}, "b");
  c.add(kNegative, {a}, "c");
  EXPECT_EQ(c.ordered(), "a b c ");
}

}  // namespace
}  // namespace kiln
