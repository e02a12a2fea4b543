#include "passes/sink_reshapes.h"

#include <gtest/gtest.h>

#include <string>

#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/unary.h"
#include "passes/merge_reshapes.h"
#include "passes/settle.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

Status sink_and_merge(ir::Graph& graph, PassContext& cx) { return settle(graph, cx, {sink_reshapes, merge_reshapes}); }

TEST(SinkReshapes, FlatteningAroundALinearLayerVanishes) {
  EXPECT_EQ(
      after_pass(
          sink_and_merge,
          "x: f32[b, s, 2]; f = Reshape{dims=[-1, 2]}(x); "
          "w = Constant{value=f32[2, 3](1, 2, 3, 4, 5, 6)}(); c = Constant{value=f32[1, 3](7, 8, 9)}(); "
          "m = MatrixMultiply(f, w); p = ElementWise{kind=sum}(c, m); n = DimValues{values=[b, s, 3], extents=[3]}(); "
          "r = Reshape(p, n); y = Activation{kind=relu}(r); return y"),
      "x: f32[b, s, 2]\n%9 = Constant{value=f32[1, 2, 3](1, 2, 3, 4, 5, 6)}()\n"
      "%10 = MatrixMultiply{a=none, b=none}(x, %9)\n%12 = Constant{value=f32[1, 1, 3](7, 8, 9)}()\n"
      "r = ElementWise{kind=sum}(%12, %10)\ny = Activation{kind=relu, alpha=0, beta=0}(r)\nreturn y\n");
}
TEST(SinkReshapes, RowsSplitBehindTheProductAreSplitBefore) {  // heads of attention, joined on the way
  EXPECT_EQ(after_pass(sink_and_merge,
                       "x: f32[1, 4, 2, 1]; f = Reshape{dims=[4, 2]}(x); "
                       "w = Constant{value=f32[2, 3](1, 2, 3, 4, 5, 6)}(); c = Constant{value=f32[1, 3](7, 8, 9)}(); "
                       "m = MatrixMultiply(f, w); p = ElementWise{kind=sum}(m, c); r = Reshape{dims=[1, 4, 3]}(p); "
                       "y = Activation{kind=relu}(r); return y"),
            "x: f32[1, 4, 2, 1]\n%8 = Reshape{dims=[1, 4, 2], zero_is_placeholder=false}(x)\n"
            "%9 = Constant{value=f32[1, 2, 3](1, 2, 3, 4, 5, 6)}()\n%10 = MatrixMultiply{a=none, b=none}(%8, %9)\n"
            "%11 = Constant{value=f32[1, 1, 3](7, 8, 9)}()\nr = ElementWise{kind=sum}(%10, %11)\n"
            "y = Activation{kind=relu, alpha=0, beta=0}(r)\nreturn y\n");
}
TEST(SinkReshapes, FlatteningAroundAQuantizedLayerVanishes) {
  const std::string weights =
      "q = Constant{value=i8[2, 3](1, 2, 3, 4, 5, 6)}(); e = Constant{value=f32[1, 3](1, 2, 4)}(); "
      "w = Dequantize(q, e); n = DimValues{values=[b, s, 3], extents=[3]}(); ";
  EXPECT_EQ(after_pass(sink_and_merge, "x: f32[b, s, 2]; f = Reshape{dims=[-1, 2]}(x); " + weights +
                                           "m = MatrixMultiply(f, w); y = Reshape(m, n); return y")
                .find("Reshape"),
            std::string::npos);
  const std::string both =
      after_pass(sink_and_merge,
                 "x: f32[b, s, 2]; f = Reshape{dims=[-1, 2]}(x); c = Constant{value=f32[1, 1](0.5)}(); "
                 "k = Quantize(f, c); d = Dequantize(k, c); " +
                     weights + "m = MatrixMultiply(d, w); y = Reshape(m, n); return y");
  EXPECT_EQ(both.find("Reshape"), std::string::npos) << both;
  EXPECT_NE(both.find("Quantize{to=i8, axis=-1, block=[]}(x, "), std::string::npos) << both;
}
TEST(SinkReshapes, RowsThatAreReadAsTheyAreStay) {
  const char* const kText =
      "x: f32[b, s, 2]\nf = Reshape{dims=[-1, 2], zero_is_placeholder=false}(x)\n"
      "w = Constant{value=f32[2, 3](1, 2, 3, 4, 5, 6)}()\nm = MatrixMultiply{a=none, b=none}(f, w)\n"
      "y = Reduce{kind=sum, axes=[0], keep=false}(m)\nreturn y\n";
  EXPECT_EQ(after_pass(sink_and_merge, kText), kText);
}
TEST(SinkReshapes, KeepsValuesAndSettles) {
  check_pass<ops::Reshape, ops::Reshape, ops::Reshape, ops::MatrixMultiply, ops::ElementWise, ops::Activation,
             ops::Unary>(sink_and_merge, {.graphs = 1000, .nodes = 12, .tolerance = 1e-6, .least_changed = 300});
}

}  // namespace
}  // namespace kiln::passes
