#include "passes/join_masks.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

constexpr const char* kScores = "q: f32[2, 4, 5, 8]; k: f32[2, 4, 7, 8]; s = MatrixMultiply{b=transpose}(q, k); ";
constexpr const char* kPrinted = "q: f32[2, 4, 5, 8]\nk: f32[2, 4, 7, 8]\n";

TEST(JoinMasks, SumsBecomeOne) {
  EXPECT_EQ(after_pass(join_masks, str("bias: f32[1, 4, 5, 7]; mask: f32[2, 1, 1, 7]; ", kScores,
                                       "a = ElementWise{kind=sum}(s, bias); b = ElementWise{kind=sum}(mask, a); "
                                       "y = Softmax{axis=3}(b); return y")),
            str("bias: f32[1, 4, 5, 7]\nmask: f32[2, 1, 1, 7]\n", kPrinted,
                "s = MatrixMultiply{a=none, b=transpose}(q, k)\n"
                "%8 = ElementWise{kind=sum}(bias, mask)\nb = ElementWise{kind=sum}(s, %8)\n"
                "y = Softmax{axis=3}(b)\nreturn y\n"));
}
TEST(JoinMasks, HiddenScoresAreSums) {
  const std::string text = after_pass(
      join_masks, str("seen: bool[1, 1, 5, 7]; ", kScores, "low = Constant{value=f32[1, 1, 1, 1](-3e38)}(); ",
                      "b = Select(seen, s, low); y = Softmax{axis=3}(b); return y"));
  EXPECT_NE(text.find("= Select(seen, "), std::string::npos) << text;
  EXPECT_NE(text.find("b = ElementWise{kind=sum}(s, "), std::string::npos) << text;
}
TEST(JoinMasks, NumbersThatScoresReachHideNothing) {
  const std::string text = str("seen: bool[1, 1, 5, 7]; ", kScores, "low = Constant{value=f32[1, 1, 1, 1](-1e4)}(); ",
                               "b = Select(seen, s, low); y = Softmax{axis=3}(b); return y");
  EXPECT_EQ(after_pass(join_masks, text).find("sum"), std::string::npos);
}
TEST(JoinMasks, WindowsOfSeveralPictures) {
  EXPECT_EQ(
      after_pass(join_masks,
                 "q: f32[6, 4, 5, 8]; k: f32[6, 4, 5, 8]; bias: f32[1, 4, 5, 5]; mask: f32[1, 3, 1, 5, 5]; "
                 "s = MatrixMultiply{b=transpose}(q, k); a = ElementWise{kind=sum}(s, bias); "
                 "w = Reshape{dims=[2, 3, 4, 5, 5]}(a); m = ElementWise{kind=sum}(w, mask); "
                 "b = Reshape{dims=[6, 4, 5, 5]}(m); y = Softmax{axis=3}(b); return y"),
      "q: f32[6, 4, 5, 8]\nk: f32[6, 4, 5, 8]\nbias: f32[1, 4, 5, 5]\nmask: f32[1, 3, 1, 5, 5]\n"
      "s = MatrixMultiply{a=none, b=transpose}(q, k)\n"
      "%10 = Constant{value=i64[5](2, 3, 1, 5, 5)}()\n"
      "%11 = Expand{dims=[]}(mask, %10)\n"
      "%12 = Reshape{dims=[6, 1, 5, 5], zero_is_placeholder=false}(%11)\n"
      "%13 = ElementWise{kind=sum}(bias, %12)\nb = ElementWise{kind=sum}(s, %13)\ny = Softmax{axis=3}(b)\nreturn y\n");
}
TEST(JoinMasks, MasksOfWhichOnlyARunKnowsWhetherTheyRepeat) {  // no reshape may take them for whole
  const std::string text =
      after_pass(join_masks,
                 "q: f32[6, 4, 5, 8]; k: f32[6, 4, 5, 8]; bias: f32[1, 4, 5, 5]; mask: f32[2, n, 1, 5, 5]; "
                 "s = MatrixMultiply{b=transpose}(q, k); a = ElementWise{kind=sum}(s, bias); "
                 "w = Reshape{dims=[2, 3, 4, 5, 5]}(a); m = ElementWise{kind=sum}(w, mask); "
                 "b = Reshape{dims=[6, 4, 5, 5]}(m); y = Softmax{axis=3}(b); return y");
  EXPECT_NE(text.find("= Constant{value=i64[5](2, 3, 1, 5, 5)}()"), std::string::npos) << text;
  EXPECT_NE(text.find("= Expand{dims=[]}(mask, "), std::string::npos) << text;
}
TEST(JoinMasks, OnlyWhatComesFromAProduct) {
  const char* const text =
      "x: f32[2, 5, 7]; c: f32[1, 1, 7]; r: f32[2, 5, 7]; a = ElementWise{kind=sum}(x, c); "
      "b = ElementWise{kind=sum}(a, r); y = Softmax{axis=2}(b); return y";
  EXPECT_NE(after_pass(join_masks, text).find("b = ElementWise{kind=sum}(a, r)"), std::string::npos);
}

}  // namespace
}  // namespace kiln::passes
