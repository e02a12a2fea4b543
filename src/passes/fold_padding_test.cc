#include "passes/fold_padding.h"

#include <gtest/gtest.h>

#include "ops/convolution.h"
#include "ops/pooling.h"
#include "ops/slice.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(FoldPadding, IntoAConvolution) {
  EXPECT_EQ(after_pass(fold_padding,
                       "x: f32[1, 2, h, 8]; w: f32[4, 2, 3, 3]; n = DimValues{values=[1, 2, h + 3, 8], extents=[4]}(); "
                       "p = Slice{starts=[0, 0, -1, 0], mode=fill}(x, _, n); "
                       "y = Convolution{pre_pads=[1, 1], post_pads=[0, 1]}(p, w); return y"),
            "x: f32[1, 2, h, 8]\nw: f32[4, 2, 3, 3]\n"
            "y = Convolution{kernel=[], strides=[], pre_pads=[2, 1], post_pads=[2, 1], dilations=[], groups=1, "
            "padding=explicit_round_down}(x, w)\nreturn y\n");
}
TEST(FoldPadding, NotOfOtherNumbersNorOfMaxima) {
  const std::string filled = after_pass(
      fold_padding,
      "x: f32[1, 2, 4]; w: f32[4, 2, 3]; f = Constant{value=f32[](1)}(); "
      "p = Slice{starts=[-1], sizes=[6], axes=[2], mode=fill}(x, _, _, _, f); y = Convolution(p, w); return y");
  EXPECT_NE(filled.find("Slice"), std::string::npos);
  const std::string maxima = after_pass(fold_padding,
                                        "x: f32[1, 2, 4]; p = Slice{starts=[-1], sizes=[6], axes=[2], mode=fill}(x); "
                                        "y = Pooling{kind=max, window=[3]}(p); return y");
  EXPECT_NE(maxima.find("Slice"), std::string::npos);
}
TEST(FoldPadding, KeepsValuesAndSettles) {
  check_pass<ops::Slice, ops::Slice, ops::Convolution, ops::Pooling>(fold_padding,
                                                                     {.graphs = 600, .least_changed = 20});
}

}  // namespace
}  // namespace kiln::passes
