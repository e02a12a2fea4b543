#include "backend/cuda/tactics/lower.h"

#include <gtest/gtest.h>

#include <map>

#include "backend/cuda/tactics/kept_floats.h"
#include "ir/parse.h"
#include "ops/convolution.h"

namespace kiln::cuda {
namespace {

std::map<std::string, DType> types_of(const ir::Graph& graph) {
  std::map<std::string, DType> types;
  for (int i = 0; i < graph.num_values(); ++i) {
    const ir::Value& value = graph.value(static_cast<ir::ValueId>(i));
    if (value.producer != ir::NodeId::kNone) types.emplace(value.name, value.type.dtype);
  }
  return types;
}

/// Types of the named values after lowering.
std::map<std::string, DType> lowered(const std::string& text, const Numerics& numerics) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  const Status status = lower_floats(*graph, numerics);
  EXPECT_TRUE(status) << status.error().message;
  return types_of(*graph);
}

/// `count` products by one square matrix, v0 to v{count - 1}, of x f32[4, 64].
std::string products(int count, std::string_view before, std::string_view after) {
  std::string text = str("x: f32[4, 64]; w: f32[64, 64]; ", before);
  for (int i = 0; i < count; ++i) text += str('v', i, " = MatrixMultiply(", i ? str('v', i - 1) : str("x"), ", w); ");
  return text + std::string(after);
}

TEST(LowerFloats, KeepsSumsInFloatInBf16) {
  const std::string text = products(8, "",
                                    "m = Reduce{kind=avg, axes=[1], keep=true}(v5); n = Unary{kind=neg}(m); "
                                    "y = ElementWise{kind=sum}(v4, n); z = MatrixMultiply(y, w); return v7, z");
  auto types = lowered(text, {.bf16 = true});
  EXPECT_EQ(types["v5"], DType::kBF16);
  EXPECT_EQ(types["m"], DType::kF32);
  EXPECT_EQ(types["n"], DType::kF32);  // what follows alone
  EXPECT_EQ(types["y"], DType::kBF16);
  types = lowered(text, {.fp16 = true});
  EXPECT_EQ(types["m"], DType::kF16);
}

TEST(LowerFloats, KeepsTheEndsInFloatInBf16) {
  const std::string text = products(8, "", "y = Softmax{axis=1}(v7); return y");
  auto types = lowered(text, {.bf16 = true});
  for (const char* name : {"v0", "v3", "v7", "y"}) EXPECT_EQ(types[name], DType::kF32) << name;
  for (const char* name : {"v4", "v6"}) EXPECT_EQ(types[name], DType::kBF16) << name;
  types = lowered(text, {.fp16 = true});
  for (const char* name : {"v0", "v4", "v7", "y"}) EXPECT_EQ(types[name], DType::kF16) << name;
}

TEST(LowerFloats, KeepsShortSumsInFloatInBf16) {
  ir::Graph graph;
  const auto zeros = [&](const Extents& extents) {
    return graph.add_constant(HostTensor::make(DType::kF32, extents).value().tensor, "w");
  };
  ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {1, 3, 8, 8}));
  const auto convolve = [&](const Extents& weights, int64_t groups, int64_t pad, const char* name) {
    x = graph
            .add_one(ops::Convolution{.pre_pads = {pad, pad}, .post_pads = {pad, pad}, .groups = groups},
                     {x, zeros(weights)})
            .value();
    graph.set_name(x, name);
  };
  convolve({64, 3, 3, 3}, 1, 1, "stem");
  convolve({64, 1, 3, 3}, 64, 1, "early depthwise");
  convolve({64, 64, 1, 1}, 1, 0, "wide");
  for (int i = 0; i < 3; ++i) convolve({64, 64, 1, 1}, 1, 0, "middle");
  convolve({64, 1, 3, 3}, 64, 1, "late depthwise");
  convolve({64, 64, 1, 1}, 1, 0, "last");
  graph.mark_output(x, "y");
  const auto types = [&](const Numerics& numerics) {
    ir::Graph copy = graph.clone();
    EXPECT_TRUE(lower_floats(copy, numerics));
    return types_of(copy);
  };
  auto fp16 = types({.fp16 = true}), bf16 = types({.bf16 = true});
  for (const char* name : {"stem", "early depthwise", "wide", "late depthwise", "last"})
    EXPECT_EQ(fp16[name], DType::kF16) << name;
  for (const char* name : {"stem", "early depthwise", "wide", "late depthwise", "last"})
    EXPECT_EQ(bf16[name], DType::kF32) << name;
}

TEST(LowerFloats, KeepsWhatALogarithmIsTakenOf) {
  const std::string text =
      products(8, "",
               "p = ElementWise{kind=prod}(v7, v7); l = Unary{kind=log}(p); a = MatrixMultiply(l, w); "
               "b = MatrixMultiply(a, w); q = Unary{kind=exp}(b); o = Unary{kind=log}(q); return o");
  for (const bool fp16 : {true, false}) {
    auto types = lowered(text, {.fp16 = fp16, .bf16 = !fp16});
    for (const char* name : {"v5", "p", "l"}) EXPECT_EQ(types[name], DType::kF32) << name;
    EXPECT_EQ(types["a"], fp16 ? DType::kF16 : DType::kBF16);  // no contraction behind the last logarithm
  }
}

TEST(FrontEnds, DoWithoutTf32) {
  const auto graph =
      ir::parse(products(2, "", "l = Unary{kind=log}(v1); a = MatrixMultiply(l, w); o = Unary{kind=log}(a); return o"));
  ASSERT_TRUE(graph) << graph.error().message;
  std::vector<bool> products;
  const std::vector<ir::NodeId> order = graph->topological_order().value();
  for (const ir::NodeId id : order)
    if (graph->node(id).op.has(Trait::kContraction)) products.push_back(is_in_front_end(*graph, id));
  EXPECT_EQ(products, (std::vector<bool>{true, true, false}));
}

TEST(LowerFloats, LeavesOthersAlone) {
  EXPECT_EQ(lowered(products(8, "", "return v7"), {})["v5"], DType::kF32);
  EXPECT_EQ(lowered(products(8, "", "return v7"), {.bf16 = true, .strongly_typed = true})["v5"], DType::kF32);
}

}  // namespace
}  // namespace kiln::cuda
