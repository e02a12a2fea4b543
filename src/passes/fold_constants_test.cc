#include "passes/fold_constants.h"

#include <gtest/gtest.h>

#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/fill.h"
#include "ops/matrix_multiply.h"
#include "ops/pooling.h"
#include "ops/transpose.h"

namespace kiln::passes {
namespace {

Status run(ir::Graph& graph) {
  NullLog log;
  PassContext cx{log};
  return fold_constants(graph, cx);
}
bool is_folded(const ir::Graph& graph) { return graph.constant(graph.outputs()[0].value) != nullptr; }

TEST(FoldConstants, WhatIsEmptyNeedsNoConstants) {
  ir::Graph g;
  const auto x = g.add_input("x", tensor_type(DType::kF32, Extents{2, 3, int64_t{1} << 40}));
  const auto w = g.add_input("w", tensor_type(DType::kF32, Extents{0, 3, 5}));
  const auto y =
      *g.add_one(ops::Convolution{.strides = {1}, .pre_pads = {0}, .post_pads = {0}, .dilations = {1}}, {x, w});
  g.mark_output(*g.add_one(ops::Activation{}, {y}), "y");
  const Status folded = run(g);
  ASSERT_TRUE(folded) << folded.error().message;
  ASSERT_TRUE(is_folded(g)) << ir::print(g);
  EXPECT_EQ(g.constant(g.outputs()[0].value)->volume(), 0);
  EXPECT_EQ(g.num_uses(x), 0);
}
TEST(FoldConstants, ProductsThatTakeLongStay) {
  const auto folds = [](int64_t side) {
    ir::Graph g;
    const auto a = g.add_constant(HostTensor::of(DType::kF32, {side, side}, std::vector<double>(side * side, 1)));
    g.mark_output(*g.add_one(ops::MatrixMultiply{}, {a, a}), "y");
    EXPECT_TRUE(run(g));
    return is_folded(g);
  };
  EXPECT_TRUE(folds(32));
  EXPECT_FALSE(folds(1025));  // more than 2^30 products
}
/// Weights that a backend's kernels read in their bytes, as they reach a product.
TEST(FoldConstants, QuantizedWeightsStay) {
  enum class Between { kNothing, kTranspose, kCasts };
  const auto stays = [](Between between, bool takes, bool has_other_reader) {
    ir::Graph g;
    const auto x = g.add_input("x", tensor_type(DType::kF32, Extents{2, 4}));
    const auto q = g.add_constant(HostTensor::of_ints(DType::kI4, {4, 4}, std::vector<int64_t>(16, -3)));
    const auto scale = g.add_constant(HostTensor::of(DType::kF32, {4, 1}, std::vector<double>(4, 0.5)));
    auto w = *g.add_one(ops::Dequantize{}, {q, scale});
    const auto numbers = w;
    if (between == Between::kTranspose) w = *g.add_one(ops::Transpose{{1, 0}}, {w});
    if (between == Between::kCasts) w = *g.add_one(ops::Cast{DType::kF32}, {*g.add_one(ops::Cast{DType::kF16}, {w})});
    g.mark_output(*g.add_one(ops::MatrixMultiply{}, {x, w}), "y");
    if (has_other_reader) g.mark_output(*g.add_one(ops::Activation{}, {numbers}), "z");
    NullLog log;
    PassContext cx{log};
    cx.multiplies_bytes = [&](const ir::Graph&, ir::NodeId) { return takes; };
    EXPECT_TRUE(fold_constants(g, cx));
    const ir::NodeId product = g.value(g.outputs()[0].value).producer;
    return g.constant(g.node(product).inputs[1]) == nullptr;
  };
  for (const Between between : {Between::kNothing, Between::kTranspose, Between::kCasts}) {
    EXPECT_TRUE(stays(between, true, false));
    EXPECT_FALSE(stays(between, false, false));
    EXPECT_FALSE(stays(between, true, true));
  }
}
/// A product of weights that each run pays for is worth a word, and one is enough.
TEST(FoldConstants, WhatStaysIsNamed) {
  class Warnings final : public Log {
   public:
    void write(Severity severity, std::string_view message) override {
      if (severity == Severity::kWarning) lines.emplace_back(message);
    }
    std::vector<std::string> lines;
  };
  ir::Graph g;
  const auto a = g.add_constant(HostTensor::of(DType::kF32, {1025, 1025}, std::vector<double>(1025 * 1025, 1)));
  g.mark_output(*g.add_one(ops::MatrixMultiply{}, {a, a}, "merge"), "y");
  Warnings log;
  PassContext cx{log};
  EXPECT_TRUE(fold_constants(g, cx));
  EXPECT_TRUE(fold_constants(g, cx));
  EXPECT_EQ(log.lines, std::vector<std::string>{"MatrixMultiply 'merge' reads constants alone and is computed in each "
                                                "run: it adds up 1076890625 numbers, which takes a build too long"});
}
TEST(FoldConstants, WindowsThatTakeLongStay) {
  const auto folds = [](int64_t taps) {
    ir::Graph g;
    const auto x = g.add_constant(HostTensor::of(DType::kF32, {1, 1, 512, 512}, std::vector<double>(512 * 512, 1)));
    g.mark_output(
        *g.add_one(ops::Pooling{.window = {taps, taps}, .strides = {1, 1}, .pre_pads = {0, 0}, .post_pads = {0, 0}},
                   {x}),
        "y");
    EXPECT_TRUE(run(g));
    return is_folded(g);
  };
  EXPECT_TRUE(folds(2));
  EXPECT_FALSE(folds(256));  // 257 * 257 windows of 2^16 numbers
}
TEST(FoldConstants, RandomNumbersStay) {
  ir::Graph g;
  g.mark_output(*g.add_one(ops::Fill{.operation = FillOperation::kRandomUniform, .dims = {3}}, {}), "y");
  EXPECT_TRUE(run(g));
  EXPECT_FALSE(is_folded(g));
}

}  // namespace
}  // namespace kiln::passes
