#include "ir/shape_tensors.h"

#include <gtest/gtest.h>

#include "ir/symbolic_values.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/shape.h"

namespace kiln::ir {
namespace {

/// A graph with x f32[2, 3] and an input n i64[2] whose values are symbols.
struct WithValues {
  Graph graph;
  ValueId x, n;
  std::vector<sym::Expr> values;

  WithValues() {
    x = graph.add_input("x", TensorType{DType::kF32, {2, 3}});
    n = graph.add_input("n", TensorType{DType::kI64, {2}});
    give_symbolic_values(graph, n);
    values = *graph.type(n).values;
  }
  bool is_shape(ValueId value) {
    const auto answer = is_shape_tensor(graph, value);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer && *answer;
  }
};

TEST(ShapeTensors, AnInputThatOnlyAttributesAreMadeOf) {
  WithValues g;
  EXPECT_FALSE(g.is_shape(g.n));  // nothing uses it
  ops::DimValues copy;
  copy.values = g.values;
  copy.extents = {2};
  ASSERT_TRUE(g.graph.add_one(Op(copy), {}));
  EXPECT_TRUE(g.is_shape(g.n));
  EXPECT_FALSE(g.is_shape(g.x));
}

TEST(ShapeTensors, WhatIsMadeOfAShape) {
  WithValues g;
  const ValueId shape = *g.graph.add_one(ops::Shape{}, {g.x});
  const ValueId product = *g.graph.add_one(ops::Reduce{.kind = ops::ReduceKind::kProd, .axes = {0}}, {shape});
  const ValueId sum = *g.graph.add_one(ops::ElementWise{.kind = ops::ElementWiseKind::kSum}, {g.n, shape});
  for (const ValueId value : {shape, product, sum}) EXPECT_TRUE(g.is_shape(value));
  const ValueId doubled = *g.graph.add_one(ops::ElementWise{.kind = ops::ElementWiseKind::kSum}, {g.n, g.n});
  EXPECT_FALSE(g.is_shape(doubled));  // its numbers are known, and neither come from shapes nor are needed for one
  EXPECT_FALSE(g.is_shape(g.x));
}

TEST(ShapeTensors, WhatIsMarkedAndWhatThatIsMadeOf) {
  WithValues g;
  const ValueId doubled = *g.graph.add_one(ops::ElementWise{.kind = ops::ElementWiseKind::kSum}, {g.n, g.n});
  const ValueId least = *g.graph.add_one(ops::Reduce{.kind = ops::ReduceKind::kMin, .axes = {0}}, {doubled});
  for (const ValueId value : {g.n, doubled, least}) {
    EXPECT_FALSE(*is_shape_tensor(g.graph, value));
    EXPECT_TRUE(*is_shape_tensor(g.graph, value, {{least}}));
  }
  EXPECT_FALSE(*is_shape_tensor(g.graph, least, {{doubled}}));
}

TEST(ShapeTensors, ExecutionNeedsElements) {
  WithValues g;
  const ValueId shape = *g.graph.add_one(ops::Shape{}, {g.x});
  const ValueId y = *g.graph.add_one(ops::Reshape{}, {g.x, g.n});
  for (const ValueId value : {g.x, g.n, shape, y}) EXPECT_FALSE(is_execution_tensor(g.graph, value));  // no output yet
  g.graph.mark_output(shape, "shape");
  EXPECT_TRUE(is_execution_tensor(g.graph, shape));
  EXPECT_FALSE(is_execution_tensor(g.graph, g.x));  // its extents are enough
  g.graph.mark_output(y, "y");
  EXPECT_TRUE(is_execution_tensor(g.graph, g.x));
  EXPECT_TRUE(is_execution_tensor(g.graph, y));
  EXPECT_FALSE(is_execution_tensor(g.graph, g.n));  // the host reads it
}

}  // namespace
}  // namespace kiln::ir
