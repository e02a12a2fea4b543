#include "passes/shape_arithmetic.h"

#include <gtest/gtest.h>

#include "ops/dim_values.h"
#include "ops/fill.h"
#include "passes/testing/check_pass.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

TEST(ShapeArithmetic, WhatAProfileFixesIsAConstant) {
  ir::Graph graph;
  const ir::ValueId count = *graph.add_one(ops::DimValues{{sym::Expr(10000)}, DType::kI64, {1}}, {});
  // More than inference follows, so that the Fill stays.
  const ops::Fill counting{.operation = FillOperation::kLinspace, .dims = {}, .to = DType::kI64};
  graph.mark_output(*graph.add_one(counting, {count}), "y");
  NullLog log;
  PassContext cx{log};
  ASSERT_TRUE(shape_arithmetic(graph, cx));
  const ir::ValueId input = graph.node(graph.value(graph.outputs()[0].value).producer).inputs[0];
  ASSERT_NE(graph.constant(input), nullptr);
  EXPECT_EQ(View(*graph.constant(input)).integers(), std::vector<int64_t>{10000});
}
/// A kernel makes a long tensor faster than a program an element.
TEST(ShapeArithmetic, LongOnesThatDependOnASymbolStayTensors) {
  for (const int64_t count : {64, 65}) {
    ir::Graph graph;
    const sym::Expr n = graph.table().symbol("n", sym::kAnyExtent);
    const ir::ValueId step = *graph.add_one(ops::DimValues{{n}, DType::kI64, {1}}, {});
    const ops::Fill counting{.operation = FillOperation::kLinspace, .dims = {count}, .to = DType::kI64};
    const ir::ValueId y = *graph.add_one(counting, {ir::ValueId::kNone, ir::ValueId::kNone, step});
    ASSERT_TRUE(graph.type(y).values);
    graph.mark_output(y, "y");
    NullLog log;
    PassContext cx{log};
    ASSERT_TRUE(shape_arithmetic(graph, cx));
    const ir::Node& last = graph.node(graph.value(graph.outputs()[0].value).producer);
    EXPECT_EQ(last.op.as<ops::Fill>() != nullptr, count == 65) << count;
  }
}
TEST(ShapeArithmetic, WhatDependsOnASymbolStays) {
  ir::Graph graph;
  const sym::Expr n = graph.table().symbol("n", sym::kAnyExtent);
  graph.mark_output(*graph.add_one(ops::DimValues{{n * 2}, DType::kI64, {1}}, {}), "y");
  NullLog log;
  PassContext cx{log};
  const std::string before = ir::print(graph);
  ASSERT_TRUE(shape_arithmetic(graph, cx));
  EXPECT_EQ(ir::print(graph), before);
}

}  // namespace
}  // namespace kiln::passes
