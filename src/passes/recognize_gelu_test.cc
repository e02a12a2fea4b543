#include "passes/recognize_gelu.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(RecognizeGelu, ErfInEveryOrder) {
  const char* const kOrders[] = {"p = ElementWise{kind=prod}(x, s); y = ElementWise{kind=prod}(p, h)",
                                 "p = ElementWise{kind=prod}(h, x); y = ElementWise{kind=prod}(s, p)",
                                 "p = ElementWise{kind=prod}(s, h); y = ElementWise{kind=prod}(p, x)"};
  for (const char* order : kOrders)
    EXPECT_EQ(
        after_pass(recognize_gelu, str("x: f32[2, 3]; r = Constant{value=f32[1, 1](1.4142135)}(); "
                                       "one = Constant{value=f32[1, 1](1)}(); h = Constant{value=f32[1, 1](0.5)}(); "
                                       "d = ElementWise{kind=div}(x, r); e = Unary{kind=erf}(d); "
                                       "s = ElementWise{kind=sum}(one, e); ",
                                       order, "; return y")),
        "x: f32[2, 3]\ny = Activation{kind=gelu_erf, alpha=0, beta=0}(x)\nreturn y\n")
        << order;
}
constexpr const char* kTanh =
    "h = Constant{value=f32[1](0.5)}(); one = Constant{value=f32[1](1)}(); "
    "a = Constant{value=f32[1](0.044715)}(); b = Constant{value=f32[1](0.7978846)}(); three = "
    "Constant{value=f32[1](3)}(); "
    "c = ElementWise{kind=pow}(x, three); ac = ElementWise{kind=prod}(a, c); i = ElementWise{kind=sum}(x, ac); "
    "bi = ElementWise{kind=prod}(b, i); t = Activation{kind=tanh}(bi); s = ElementWise{kind=sum}(t, one); "
    "hx = ElementWise{kind=prod}(x, h); y = ElementWise{kind=prod}(hx, s); return y";
TEST(RecognizeGelu, Tanh) {
  EXPECT_EQ(after_pass(recognize_gelu, str("x: f32[5]; ", kTanh)),
            "x: f32[5]\ny = Activation{kind=gelu_tanh, alpha=0, beta=0}(x)\nreturn y\n");
}
TEST(RecognizeGelu, TheCubeAsProducts) {
  std::string text = kTanh;
  text.replace(
      text.find("c = Elem"), text.find("i = Elem") - text.find("c = Elem"),
      "p = ElementWise{kind=prod}(a, x); c = ElementWise{kind=prod}(x, p); ac = ElementWise{kind=prod}(c, x); ");
  EXPECT_EQ(after_pass(recognize_gelu, str("x: f32[5]; ", text)),
            "x: f32[5]\nthree = Constant{value=f32[1](3)}()\n"
            "y = Activation{kind=gelu_tanh, alpha=0, beta=0}(x)\nreturn y\n");
}
TEST(RecognizeGelu, NotWhereAConstantBroadcastsX) {
  const std::string text = after_pass(recognize_gelu, str("x: f32[1]; ", [] {
                                        std::string wide = kTanh;
                                        return wide.replace(wide.find("f32[1](0.5)"), 11, "f32[2](0.5, 0.5)");
                                      }()));
  EXPECT_EQ(text.find("gelu"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::passes
