#include "passes/fold_row_scale.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

constexpr std::string_view kNorm =
    "x: f32[h, 2]; s = Constant{value=f32[2](2, 10)}(); "
    "r = Normalization{axes=[1], centered=false}(x, s); ";
std::string folded(std::string_view behind) { return after_pass(fold_row_scale, str(kNorm, behind)); }
bool is_scaled(const std::string& graph) { return graph.find("}(x, s)") != std::string::npos; }

TEST(FoldRowScale, IntoEveryProductThatReadsTheRows) {
  const std::string one =
      folded("b = Constant{value=f32[2, 3](1, 2, 3, 4, 5, 6)}(); y = MatrixMultiply(r, b); return y");
  EXPECT_FALSE(is_scaled(one)) << one;
  EXPECT_NE(one.find("f32[2, 3](2, 4, 6, 40, 50, 60)"), std::string::npos) << one;
  const std::string two = folded(
      "b = Constant{value=f32[2, 1](1, 2)}(); t = Constant{value=f32[1, 2](3, 4)}(); y = MatrixMultiply(r, b); "
      "z = MatrixMultiply{b=transpose}(r, t); return y, z");
  EXPECT_FALSE(is_scaled(two)) << two;
  EXPECT_NE(two.find("f32[2, 1](2, 20)"), std::string::npos) << two;
  EXPECT_NE(two.find("f32[1, 2](6, 40)"), std::string::npos) << two;
}
TEST(FoldRowScale, NotWhereOthersReadTheRowsOrTheMatrix) {
  EXPECT_TRUE(is_scaled(folded("b = Constant{value=f32[2, 1](1, 2)}(); y = MatrixMultiply(r, b); return y, r")));
  EXPECT_TRUE(is_scaled(
      folded("b = Constant{value=f32[2, 1](1, 2)}(); y = MatrixMultiply(r, b); z = Unary{kind=abs}(r); return y, z")));
  EXPECT_TRUE(
      is_scaled(folded("b = Constant{value=f32[2, 1](1, 2)}(); y = MatrixMultiply(r, b); "
                       "z = MatrixMultiply(x, b); return y, z")));
  EXPECT_TRUE(is_scaled(folded("b: f32[2, 1]; y = MatrixMultiply(r, b); return y")));
}
TEST(FoldRowScale, NotOfOtherNorms) {
  const std::string bare =
      "x: f32[h, 2]; r = Normalization{axes=[1], centered=false}(x); "
      "b = Constant{value=f32[2, 1](1, 2)}(); y = MatrixMultiply(r, b); return y";
  EXPECT_NE(after_pass(fold_row_scale, bare).find("f32[2, 1](1, 2)"), std::string::npos);
  const std::string centered =
      after_pass(fold_row_scale,
                 "x: f32[h, 2]; s = Constant{value=f32[2](2, 10)}(); r = Normalization{axes=[1]}(x, s); "
                 "b = Constant{value=f32[2, 1](1, 2)}(); y = MatrixMultiply(r, b); return y");
  EXPECT_TRUE(is_scaled(centered)) << centered;
  const std::string halves = after_pass(
      fold_row_scale,
      "x: f16[h, 2]; s = Constant{value=f16[2](2, 10)}(); r = Normalization{axes=[1], centered=false}(x, s); "
      "b = Constant{value=f16[2, 1](1, 2)}(); y = MatrixMultiply(r, b); return y");
  EXPECT_TRUE(is_scaled(halves)) << halves;
}

}  // namespace
}  // namespace kiln::passes
