#include "backend/cuda/tactics/lower.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/parse.h"

namespace kiln::cuda {
namespace {

/// Types of the named values after lowering.
std::map<std::string, DType> lowered(const char* text, const Numerics& numerics) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  const Status status = lower_floats(*graph, numerics);
  EXPECT_TRUE(status) << status.error().message;
  std::map<std::string, DType> types;
  for (int i = 0; i < graph->num_values(); ++i) {
    const ir::Value& value = graph->value(static_cast<ir::ValueId>(i));
    if (value.producer != ir::NodeId::kNone) types.emplace(value.name, value.type.dtype);
  }
  return types;
}

constexpr const char* kMeans =
    "x: f32[2, 8, 16]; s = Activation{kind=relu}(x); m = Reduce{kind=avg, axes=[2]}(s); n = Unary{kind=neg}(m); "
    "y = Activation{kind=tanh}(s); return n, y";
TEST(LowerFloats, KeepsSumsInFloatInBf16) {
  auto types = lowered(kMeans, {.bf16 = true});
  EXPECT_EQ(types["s"], DType::kBF16);
  EXPECT_EQ(types["m"], DType::kF32);
  EXPECT_EQ(types["n"], DType::kF32);  // what follows alone
  types = lowered(kMeans, {.fp16 = true});
  EXPECT_EQ(types["m"], DType::kF16);
}

constexpr const char* kSpectrum =
    "x: f32[4, 16]; w: f32[16, 16]; a = MatrixMultiply(x, w); p = ElementWise{kind=prod}(a, a); l = "
    "Unary{kind=log}(p); "
    "b = MatrixMultiply(l, w); q = Unary{kind=exp}(b); o = Unary{kind=log}(q); return o";
TEST(LowerFloats, KeepsWhatALogarithmIsTakenOf) {
  for (const bool fp16 : {true, false}) {
    auto types = lowered(kSpectrum, {.fp16 = fp16, .bf16 = !fp16});
    for (const char* name : {"a", "p", "l"}) EXPECT_EQ(types[name], DType::kF32) << name;
    EXPECT_EQ(types["b"], fp16 ? DType::kF16 : DType::kBF16);  // no contraction behind the last logarithm
  }
}

TEST(LowerFloats, LeavesOthersAlone) {
  EXPECT_EQ(lowered(kSpectrum, {})["b"], DType::kF32);
  EXPECT_EQ(lowered(kSpectrum, {.bf16 = true, .strongly_typed = true})["b"], DType::kF32);
}

}  // namespace
}  // namespace kiln::cuda
