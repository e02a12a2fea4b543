#include <gtest/gtest.h>

#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/fill.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/matrix_multiply.h"
#include "ops/pooling.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/scale.h"
#include "ops/shape.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "passes/pass.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

Status run(ir::Graph& graph) {
  NullLog log;
  PassContext cx{log};
  cx.after = [](void*, std::string_view, const ir::Graph& g) { return ir::verify(g); };
  return run_pipeline(graph, cx);
}
int count_nodes(const ir::Graph& graph) { return static_cast<int>(graph.topological_order()->size()); }

TEST(Pipeline, ShapeArithmeticDissolves) {  // Shape -> Gather -> Concat -> Reshape
  ir::Graph g;
  const sym::Expr batch = g.table().symbol("batch", {1, 4, 8});
  const auto x = g.add_input("x", {DType::kF32, {batch, 3, 4}});
  const auto shape = *g.add_one(ops::Shape{}, {x});
  const auto first = *g.add_one(
      ops::Gather{}, {shape, g.add_constant(HostTensor::of_ints(DType::kI64, {1}, std::vector<int64_t>{0}))});
  const auto rest = g.add_constant(HostTensor::of_ints(DType::kI64, {1}, std::vector<int64_t>{-1}));
  const auto target = *g.add_one(ops::Concatenation{0}, {first, rest});
  g.mark_output(*g.add_one(ops::Reshape{}, {x, target}), "y");
  const auto failed = run(g);
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_EQ(str(g.type(g.outputs()[0].value)), "f32[batch, 12]");
  EXPECT_EQ(count_nodes(g), 1) << ir::print(g);  // Reshape to [-1, 12]
}
TEST(Pipeline, FoldsMergesAndRemoves) {
  ir::Graph g;
  const auto x = g.add_input("x", tensor_type(DType::kF32, Extents{2, 2}));
  const auto one = g.add_constant(HostTensor::of(DType::kF32, {1, 1}, std::vector<double>{1}));
  const auto two = *g.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {one, one});
  const auto a = *g.add_one(ops::ElementWise{ops::ElementWiseKind::kProd}, {x, two});
  const auto b = *g.add_one(ops::ElementWise{ops::ElementWiseKind::kProd}, {*g.add_one(ops::Identity{}, {x}), two});
  g.mark_output(*g.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {a, b}), "y");
  ASSERT_TRUE(run(g));
  EXPECT_EQ(count_nodes(g), 3) << ir::print(g);  // the folded constant, one product, one sum
  const HostTensor* folded =
      g.constant(g.node(g.value(g.node(g.value(g.outputs()[0].value).producer).inputs[0]).producer).inputs[1]);
  ASSERT_NE(folded, nullptr);
  EXPECT_EQ(folded->data<float>()[0], 2.f);
}
TEST(Pipeline, ScaleBecomesProductAndSum) {
  ir::Graph g;
  const auto x = g.add_input("x", tensor_type(DType::kF32, Extents{1, 2, 3, 3}));
  const auto shift = g.add_constant(HostTensor::of(DType::kF32, {2}, std::vector<double>{1, 2}));
  const auto scale = g.add_constant(HostTensor::of(DType::kF32, {2}, std::vector<double>{3, 4}));
  g.mark_output(*g.add_one(ops::Scale{.mode = ops::ScaleMode::kChannel}, {x, shift, scale}), "y");
  ASSERT_TRUE(run(g));
  EXPECT_EQ(count_nodes(g), 4) << ir::print(g);
}
TEST(Pipeline, ScaleCastsItsCoefficients) {
  ir::Graph g;
  const auto x = g.add_input("x", tensor_type(DType::kF16, Extents{1, 2, 3, 3}));
  const auto scale = g.add_constant(HostTensor::of(DType::kF32, {2}, std::vector<double>{3, 4}));
  g.mark_output(*g.add_one(ops::Scale{.mode = ops::ScaleMode::kChannel}, {x, ir::ValueId::kNone, scale}), "y");
  const auto done = run(g);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(count_nodes(g), 2) << ir::print(g);  // the coefficients in f16, and the product
}
TEST(Pipeline, ScaleOfExtentsThatAreExpressions) {
  for (const auto mode : {ops::ScaleMode::kChannel, ops::ScaleMode::kElementwise}) {
    ir::Graph g;
    const sym::Expr h = g.table().symbol("h", {1, 4, 9});
    const auto x = g.add_input("x", {DType::kF32, {2, 2 * h, 3}});
    const int64_t count = mode == ops::ScaleMode::kChannel ? 8 : 24;
    const auto scale = g.add_constant(HostTensor::of(DType::kF32, {count}, std::vector<double>(count, 3)));
    g.mark_output(*g.add_one(ops::Scale{.mode = mode}, {x, ir::ValueId::kNone, scale}), "y");
    const auto done = run(g);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(str(g.type(g.outputs()[0].value)), "f32[2, 2*h, 3]");
    bool is_assumed = false;  // that h is 4
    for (const sym::Assumption& assumption : g.assumptions())
      is_assumed |= assumption.relation == sym::Relation::kEqual;
    EXPECT_TRUE(is_assumed) << ir::print(g);
  }
}
TEST(Pipeline, LinspaceFoldsAndRandomNumbersStay) {
  ir::Graph g;
  const ops::Fill steps{.dims = {4}, .alpha = 1, .beta = 2};
  ops::Fill random = steps;
  random.operation = FillOperation::kRandomUniform;
  g.mark_output(*g.add_one(steps, {}), "steps");
  g.mark_output(*g.add_one(random, {}), "first");
  g.mark_output(*g.add_one(random, {}), "second");
  ASSERT_TRUE(run(g));
  ASSERT_NE(g.constant(g.outputs()[0].value), nullptr);
  EXPECT_EQ(g.constant(g.outputs()[0].value)->data<float>()[3], 7.f);
  EXPECT_EQ(g.constant(g.outputs()[1].value), nullptr);
  EXPECT_NE(g.outputs()[1].value, g.outputs()[2].value);
}
TEST(Pipeline, KeepsValues) {
  const Pass pipeline = [](ir::Graph& graph, PassContext& cx) { return run_pipeline(graph, cx); };
  const CheckOptions options{.graphs = 1000, .nodes = 16, .tolerance = 1e-4, .least_changed = 900, .settles = false};
  check_pass<ops::Activation, ops::Cast, ops::Concatenation, ops::Convolution, ops::ElementWise, ops::Expand,
             ops::Gather, ops::MatrixMultiply, ops::Pooling, ops::Reduce, ops::Reshape, ops::Slice, ops::Squeeze,
             ops::Transpose, ops::Unary, ops::Unsqueeze>(pipeline, options);
}

}  // namespace
}  // namespace kiln::passes
