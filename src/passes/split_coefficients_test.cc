#include "passes/split_coefficients.h"

#include <gtest/gtest.h>

#include "ops/normalization.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SplitCoefficients, ThatMayRepeat) {
  const std::string text = after_pass(
      split_coefficients, "x: f32[p, n]; s: f32[m]; b: f32[q, 1]; y = Normalization{axes=[1]}(x, s, b); return y");
  EXPECT_NE(text.find("= Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32}(x)"), std::string::npos) << text;
  EXPECT_NE(text.find("= ElementWise{kind=prod}("), std::string::npos) << text;
  EXPECT_NE(text.find("= ElementWise{kind=sum}("), std::string::npos) << text;
}
TEST(SplitCoefficients, OthersStay) {
  for (const char* const text :
       {"x: f32[p, n]\ns: f32[n]\ny = Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32}(x, s)\nreturn y\n",
        "x: f32[p, n]\ns: f32[1]\ny = Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32}(x, s)\nreturn y\n",
        "x: f32[p, 6, n]\ns: f32[q, 1]\n"
        "y = Normalization{axes=[2], epsilon=1e-05, groups=3, compute=f32}(x, s)\nreturn y\n"})
    EXPECT_EQ(after_pass(split_coefficients, text), text);
}

}  // namespace
}  // namespace kiln::passes
