#include "ir/work.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ops/einsum.h"
#include "ops/recurrence.h"

namespace kiln::ir {
namespace {

/// Work of the node that makes the only output.
Work work_of_text(std::string_view text) {
  const Result<Graph> graph = parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return work_of(*graph, graph->value(graph->outputs()[0].value).producer);
}

TEST(Work, OfContractionsAndWindowsByHand) {
  // 2 * 4 * 5 * 5 outputs, of 3 * 3 * 3 products each.
  EXPECT_EQ(work_of_text("x: f32[2,3,7,7]; w: f32[4,3,3,3]; y = Convolution{strides=[1,1], pre_pads=[0,0], "
                         "post_pads=[0,0], dilations=[1,1]}(x, w); return y")
                .products,
            2 * 4 * 25 * 27);
  // 2 * 3 * 7 * 7 inputs, each added to 4 * 2 * 2 outputs.
  EXPECT_EQ(work_of_text("x: f32[2,3,7,7]; w: f32[3,4,2,2]; y = Deconvolution{strides=[2,2], pre_pads=[0,0], "
                         "post_pads=[0,0], dilations=[1,1]}(x, w); return y")
                .products,
            2 * 3 * 49 * 16);
  EXPECT_EQ(work_of_text("a: f32[8,5,6]; b: f32[8,6,7]; y = MatrixMultiply{}(a, b); return y").products, 8 * 5 * 6 * 7);
  EXPECT_EQ(work_of_text("a: f32[8,6,5]; b: f32[8,6,7]; y = MatrixMultiply{a=transpose}(a, b); return y").products,
            8 * 5 * 6 * 7);
  EXPECT_EQ(work_of_text("x: f32[1,2,6,6]; y = Pooling{kind=average, window=[3,2], strides=[1,1], pre_pads=[0,0], "
                         "post_pads=[0,0]}(x); return y")
                .taps,
            2 * 4 * 5 * 6);
  EXPECT_EQ(work_of_text("x: f32[1,4,5,6]; y = Lrn{window=3}(x); return y").taps, 4 * 5 * 6 * 3);
  EXPECT_EQ(work_of_text("x: f32[100]; y = Unary{kind=exp}(x); return y").all(), 0);
}

TEST(Work, OfRecurrencesByHand) {
  Graph graph;
  const ValueId inputs[] = {graph.add_input("x", tensor_type(DType::kF32, Extents{7, 3, 6})),
                            graph.add_input("w", tensor_type(DType::kF32, Extents{2, 5, 6})),
                            graph.add_input("r", tensor_type(DType::kF32, Extents{2, 5, 5}))};
  const ops::GateActivation tanh{ops::GateFunction::kTanh};
  const auto outputs = graph.add(
      ops::Recurrence{.direction = ops::RecurrenceDirection::kBidirectional, .activations = {tanh, tanh}}, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  // 7 steps of 3 rows in 2 directions: 5 units, each of 6 inputs and 5 units.
  EXPECT_EQ(work_of(graph, graph.value((*outputs)[0]).producer).products, 7 * 3 * 2 * 5 * (6 + 5));
}

TEST(Work, OfEquationsByHand) {
  Graph graph;
  const ValueId inputs[] = {graph.add_input("a", tensor_type(DType::kF32, Extents{8, 5, 6})),
                            graph.add_input("b", tensor_type(DType::kF32, Extents{1, 6, 7})),
                            graph.add_input("c", tensor_type(DType::kF32, Extents{7}))};
  const auto y = graph.add_one(ops::Einsum{"...ij,...jk,k->...i"}, inputs);
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(work_of(graph, graph.value(*y).producer).products, 8 * 5 * 6 * 7);
}

/// Tensors that no memory holds have their numbers, too.
TEST(Work, OfHugeExtentsIsANumber) {
  EXPECT_GT(work_of_text("a: f32[1099511627776,1048576]; b: f32[1048576,1048576]; y = MatrixMultiply{}(a, b); return y")
                .products,
            1e24);
}

}  // namespace
}  // namespace kiln::ir
