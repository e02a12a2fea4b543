#include "passes/merge_products.h"

#include <gtest/gtest.h>

#include "ops/concatenation.h"
#include "ops/constant.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "passes/fold_constants.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

Status merge_and_fold(ir::Graph& graph, PassContext& cx) {
  TRY(merge_products(graph, cx));
  return fold_constants(graph, cx);
}

const char* const kWeights =
    "x: f32[1, s, 2]; u = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}(); v = Constant{value=f32[1, 2, 2](5, 6, 7, 8)}(); "
    "c = Constant{value=f32[1, 1, 2](9, 10)}(); h = Constant{value=f32[1, 1, 1](0.5)}(); ";

TEST(MergeProducts, ProjectionsOfAttention) {
  EXPECT_EQ(after_pass(merge_and_fold, std::string(kWeights) + "k = MatrixMultiply(x, v); p = MatrixMultiply(x, u); "
                                                               "q = ElementWise{kind=sum}(c, p); "
                                                               "r = ElementWise{kind=prod}(q, h); "
                                                               "y = MatrixMultiply{b=transpose}(r, k); return y"),
            "x: f32[1, s, 2]\n"
            "h = Constant{value=f32[1, 1, 1](0.5)}()\n"
            "%17 = Constant{value=f32[1, 2, 4](5, 6, 1, 2, 7, 8, 3, 4)}()\n"
            "%11 = MatrixMultiply{a=none, b=none}(x, %17)\n"
            "%18 = Constant{value=f32[1, 1, 4](0, 0, 9, 10)}()\n"
            "%14 = ElementWise{kind=sum}(%11, %18)\n"
            "k = Slice{starts=[0], sizes=[2], strides=[1], axes=[2], mode=strict_bounds}(%14)\n"
            "q = Slice{starts=[2], sizes=[2], strides=[1], axes=[2], mode=strict_bounds}(%14)\n"
            "r = ElementWise{kind=prod}(q, h)\n"
            "y = MatrixMultiply{a=none, b=transpose}(r, k)\n"
            "return y\n");
}
TEST(MergeProducts, OfTransposedWeights) {
  EXPECT_EQ(
      after_pass(merge_and_fold, std::string(kWeights) +
                                     "q = MatrixMultiply{b=transpose}(x, u); k = MatrixMultiply{b=transpose}(x, v);"
                                     "y = MatrixMultiply{b=transpose}(q, k); return y"),
      "x: f32[1, s, 2]\n"
      "%12 = Constant{value=f32[1, 4, 2](1, 2, 3, 4, 5, 6, 7, 8)}()\n"
      "%9 = MatrixMultiply{a=none, b=transpose}(x, %12)\n"
      "q = Slice{starts=[0], sizes=[2], strides=[1], axes=[2], mode=strict_bounds}(%9)\n"
      "k = Slice{starts=[2], sizes=[2], strides=[1], axes=[2], mode=strict_bounds}(%9)\n"
      "y = MatrixMultiply{a=none, b=transpose}(q, k)\n"
      "return y\n");
}
TEST(MergeProducts, OfBytes) {
  const std::string bytes =
      "x: f32[1, s, 2]; u = Constant{value=i8[1, 2, 2](1, 2, 3, 4)}(); v = Constant{value=i8[1, 2, 2](5, 6, 7, 8)}(); "
      "c = Constant{value=f32[1, 1, 2](3, 4)}(); h = Constant{value=f32[1, 1, 1](2)}(); d = Dequantize(u, c); "
      "e = Dequantize(v, h); ";
  const std::string text = after_pass(merge_and_fold, bytes +
                                                          "q = MatrixMultiply(x, d); k = MatrixMultiply(x, e); "
                                                          "y = MatrixMultiply{b=transpose}(q, k); return y");
  EXPECT_NE(text.find("Constant{value=f32[1, 2, 4](3, 8, 10, 12, 9, 16, 14, 16)}"), std::string::npos) << text;
  const std::string mixed =
      after_pass(merge_products, bytes +
                                     "w = Constant{value=f32[1, 2, 2](5, 6, 7, 8)}(); q = MatrixMultiply(x, d); "
                                     "k = MatrixMultiply(x, w); y = MatrixMultiply{b=transpose}(q, k); return y");
  EXPECT_EQ(mixed.find("Slice"), std::string::npos) << mixed;
}
TEST(MergeProducts, NotWhereOthersReadThem) {  // which could not read parts where they are
  for (const char* const end :
       {"q = MatrixMultiply(x, u); k = MatrixMultiply(x, v); s = Softmax{axis=2}(k); "
        "y = MatrixMultiply{b=transpose}(q, s); return y",
        "q = MatrixMultiply(x, u); k = MatrixMultiply(x, v); y = MatrixMultiply{b=transpose}(q, k); return y, k",
        "q = MatrixMultiply(x, u); k = MatrixMultiply{b=transpose}(x, v); y = MatrixMultiply{b=transpose}(q, k); "
        "return y"}) {
    const std::string text = std::string(kWeights) + end;
    EXPECT_EQ(after_pass(merge_products, text).find("Slice"), std::string::npos) << end;
  }
}
TEST(MergeProducts, KeepsValuesAndSettles) {
  check_pass<ops::MatrixMultiply, ops::MatrixMultiply, ops::MatrixMultiply, ops::ElementWise, ops::Transpose>(
      merge_and_fold, {.graphs = 1000, .nodes = 12});
}

}  // namespace
}  // namespace kiln::passes
