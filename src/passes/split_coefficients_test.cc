#include "passes/split_coefficients.h"

#include <gtest/gtest.h>

#include "ops/normalization.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SplitCoefficients, ThatMayRepeat) {
  const std::string text = after_pass(
      split_coefficients, "x: f32[p, n]; s: f32[m]; b: f32[q, 1]; y = Normalization{axes=[1]}(x, s, b); return y");
  EXPECT_NE(text.find("= Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32, centered=true}(x)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("= ElementWise{kind=prod}("), std::string::npos) << text;
  EXPECT_NE(text.find("= ElementWise{kind=sum}("), std::string::npos) << text;
}
TEST(SplitCoefficients, OthersStay) {
  for (const char* const text :
       {"x: f32[p, n]\ns: f32[n]\ny = Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32, centered=true}(x, "
        "s)\nreturn y\n",
        "x: f32[p, n]\ns: f32[1]\ny = Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32, centered=true}(x, "
        "s)\nreturn y\n",
        "x: f32[p, 6, n]\ns: f32[q, 1]\n"
        "y = Normalization{axes=[2], epsilon=1e-05, groups=3, compute=f32, centered=true}(x, s)\nreturn y\n"})
    EXPECT_EQ(after_pass(split_coefficients, text), text);
}

/// z would be shorter than nothing were n not 4 at least: then min(n, 1) is 1, which its form does not show.
TEST(SplitCoefficients, AnExtentIsKnownWhateverItsForm) {
  const std::string text =
      "x: f32[2, n]; s: f32[min(n, 1)]\n"
      "z = Padding{pre=[0, 0], post=[0, -4]}(x)\n"
      "y = Normalization{axes=[1], epsilon=1e-05, groups=1, compute=f32, centered=true}(x, s)\nreturn y, z\n";
  const std::string after = after_pass(split_coefficients, text);
  EXPECT_EQ(after.find("ElementWise"), std::string::npos) << after;
  EXPECT_NE(after.find("(x, s)"), std::string::npos) << after;
}
TEST(SplitCoefficients, KeepsValuesAndSettles) {
  check_pass<ops::Normalization, ops::Normalization, ops::Reshape, ops::Reduce>(
      split_coefficients, {.graphs = 600, .nodes = 12, .tolerance = 1e-6, .least_changed = 5});
}

}  // namespace
}  // namespace kiln::passes
