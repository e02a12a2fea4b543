#include "passes/slice_rows.h"

#include <gtest/gtest.h>

#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/slice.h"
#include "ops/unary.h"
#include "passes/merge_common.h"
#include "passes/settle.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

Status slice_and_merge(ir::Graph& graph, PassContext& cx) { return settle(graph, cx, {slice_rows, merge_common}); }

TEST(SliceRows, TheLastLayerOfAClassifier) {  // its residual too
  EXPECT_EQ(
      after_pass(slice_and_merge,
                 "x: f32[b, 5, 2]; n = Normalization{axes=[2]}(x); w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}(); "
                 "c = Constant{value=f32[1, 1, 2](5, 6)}(); m = MatrixMultiply(n, w); "
                 "p = ElementWise{kind=sum}(m, c); r = ElementWise{kind=sum}(x, p); z = Normalization{axes=[2]}(r);"
                 "y = Slice{starts=[0], sizes=[1], axes=[1]}(z); return y"),
      "x: f32[b, 5, 2]\n"
      "w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}()\n"
      "c = Constant{value=f32[1, 1, 2](5, 6)}()\n"
      "%11 = Slice{starts=[0], sizes=[1], strides=[], axes=[1], mode=strict_bounds}(x)\n"
      "%19 = Normalization{axes=[2], epsilon=1e-05, groups=1, compute=f32, centered=true}(%11)\n"
      "%17 = MatrixMultiply{a=none, b=none}(%19, w)\n"
      "%15 = ElementWise{kind=sum}(%17, c)\n"
      "%13 = ElementWise{kind=sum}(%11, %15)\n"
      "y = Normalization{axes=[2], epsilon=1e-05, groups=1, compute=f32, centered=true}(%13)\n"
      "return y\n");
}
TEST(SliceRows, NotOfPointwiseNodesAlone) {  // which would be parted from what they follow
  for (const char* const text :
       {"x: f32[b, 5, 2]; m = Activation{kind=relu}(x); y = Slice{starts=[0], sizes=[1], axes=[1]}(m); return y",
        "x: f32[b, 5, 2]; w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}(); m = MatrixMultiply(x, w); "
        "a = Slice{starts=[0], sizes=[1], axes=[1]}(m); b = Slice{starts=[1], sizes=[1], axes=[1]}(m); return a, b",
        "x: f32[b, 5, 2]; w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}(); m = MatrixMultiply(x, w); "
        "y = Slice{starts=[0], sizes=[1], axes=[2]}(m); return y"}) {
    const std::string before = after_pass([](ir::Graph&, PassContext&) { return Status{}; }, text);
    EXPECT_EQ(after_pass(slice_rows, text), before);
  }
}
TEST(SliceRows, KeepsValuesAndSettles) {
  check_pass<ops::Slice, ops::Slice, ops::MatrixMultiply, ops::ElementWise, ops::Activation, ops::Unary>(
      slice_rows, {.graphs = 1000, .nodes = 6});
}

}  // namespace
}  // namespace kiln::passes
