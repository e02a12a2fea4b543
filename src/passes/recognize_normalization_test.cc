#include "passes/recognize_normalization.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

constexpr const char* kCentred =
    "m = Reduce{kind=avg, axes=[-1], keep=true}(x); d = ElementWise{kind=sub}(x, m); "
    "two = Constant{value=f32[1, 1](2)}(); eps = Constant{value=f32[1, 1](0.25)}(); ";
constexpr const char* kVariance =
    "v = Reduce{kind=avg, axes=[1], keep=true}(q); e = ElementWise{kind=sum}(v, eps); "
    "r = Unary{kind=sqrt}(e); ";
TEST(RecognizeNormalization, WithScaleAndBias) {
  EXPECT_EQ(after_pass(recognize_normalization,
                       str("x: f32[2, 3]; ", kCentred, "q = ElementWise{kind=pow}(d, two); ", kVariance,
                           "n = ElementWise{kind=div}(d, r); g = Constant{value=f32[1, 3](1, 2, 3)}(); "
                           "b = Constant{value=f32[1, 3](4, 5, 6)}(); s = ElementWise{kind=prod}(n, g); "
                           "y = ElementWise{kind=sum}(b, s); return y")),
            "x: f32[2, 3]\n%15 = Constant{value=f32[3](1, 2, 3)}()\n%17 = Constant{value=f32[3](4, 5, 6)}()\n"
            "y = Normalization{axes=[1], epsilon=0.25, groups=1, compute=f32, centered=true}(x, %15, %17)\nreturn y\n");
}
TEST(RecognizeNormalization, ReciprocalOfTheRoot) {
  EXPECT_EQ(after_pass(recognize_normalization,
                       str("x: f32[2, 3]; ", kCentred, "q = ElementWise{kind=prod}(d, d); ", kVariance,
                           "i = Unary{kind=recip}(r); y = ElementWise{kind=prod}(i, d); return y")),
            "x: f32[2, 3]\ntwo = Constant{value=f32[1, 1](2)}()\n"
            "y = Normalization{axes=[1], epsilon=0.25, groups=1, compute=f32, centered=true}(x)\nreturn y\n");
}
TEST(RecognizeNormalization, NotOfAnotherMean) {  // the variance is that of z
  const std::string text = after_pass(
      recognize_normalization, str("x: f32[2, 3]; z: f32[2, 3]; ", kCentred, "q = ElementWise{kind=prod}(z, z); ",
                                   kVariance, "y = ElementWise{kind=div}(d, r); return y"));
  EXPECT_EQ(text.find("Normalization"), std::string::npos) << text;
}
TEST(RecognizeNormalization, NotWhereRoundingIsMeant) {
  std::string half = str("x: f16[2, 3]; ", kCentred, "q = ElementWise{kind=prod}(d, d); ", kVariance,
                         "y = ElementWise{kind=div}(d, r); return y");
  for (size_t at = 0; (at = half.find("f32[", at)) != std::string::npos;) half.replace(at, 3, "f16");
  EXPECT_EQ(after_pass(recognize_normalization, half, true).find("Normalization"), std::string::npos);
  EXPECT_NE(after_pass(recognize_normalization, half, false).find("Normalization"), std::string::npos);
}

}  // namespace
}  // namespace kiln::passes
