#include "passes/simplify_arithmetic.h"

#include <gtest/gtest.h>

#include "ops/element_wise.h"
#include "ops/reduce.h"
#include "ops/unary.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SimplifyArithmetic, DivisionByPowersOfTwo) {
  EXPECT_EQ(after_pass(simplify_arithmetic,
                       "x: f32[2]; c = Constant{value=f32[2](4, -0.5)}(); y = ElementWise{kind=div}(x, c); return y"),
            "x: f32[2]\n%3 = Constant{value=f32[2](0.25, -2)}()\ny = ElementWise{kind=prod}(x, %3)\nreturn y\n");
  const char* const kThird = "x: f32[2]\nc = Constant{value=f32[1](3)}()\ny = ElementWise{kind=div}(x, c)\nreturn y\n";
  EXPECT_EQ(after_pass(simplify_arithmetic, kThird), kThird);
}
TEST(SimplifyArithmetic, DifferencesAreSums) {
  EXPECT_EQ(after_pass(simplify_arithmetic,
                       "x: f32[2]; c = Constant{value=f32[2](4, -0.5)}(); y = ElementWise{kind=sub}(x, c); return y"),
            "x: f32[2]\n%3 = Constant{value=f32[2](-4, 0.5)}()\ny = ElementWise{kind=sum}(x, %3)\nreturn y\n");
}
TEST(SimplifyArithmetic, NothingIsDecidedByConstantsOfARefit) {
  ir::Graph g;
  const auto x = g.add_input("x", tensor_type(DType::kF32, Extents{2}));
  const auto c = g.add_constant(HostTensor::of(DType::kF32, {1}, std::vector<double>{4}));
  g.mark_output(*g.add_one(ops::ElementWise{ops::ElementWiseKind::kDiv}, {x, c}), "y");
  const std::string before = ir::print(g);
  NullLog log;
  PassContext cx{log};
  cx.refittable = true;
  ASSERT_TRUE(simplify_arithmetic(g, cx));
  EXPECT_EQ(ir::print(g), before);
}
TEST(SimplifyArithmetic, IntegersDivideAsTheyAre) {
  const char* const kText = "x: i32[2]\nc = Constant{value=i32[1](2)}()\ny = ElementWise{kind=div}(x, c)\nreturn y\n";
  EXPECT_EQ(after_pass(simplify_arithmetic, kText), kText);
}
TEST(SimplifyArithmetic, RootsOfWhatMayBeNegativeStay) {  // pow(-inf, 0.5) is inf and sqrt(-inf) is not
  const char* const kText = "x: f32[2]\nc = Constant{value=f32[1](0.5)}()\ny = ElementWise{kind=pow}(x, c)\nreturn y\n";
  EXPECT_EQ(after_pass(simplify_arithmetic, kText), kText);
  EXPECT_EQ(after_pass(simplify_arithmetic,
                       "x: f32[2]; c = Constant{value=f32[1](0.5)}(); "
                       "s = ElementWise{kind=prod}(x, x); y = ElementWise{kind=pow}(s, c); return y"),
            "x: f32[2]\ns = ElementWise{kind=prod}(x, x)\ny = Unary{kind=sqrt}(s)\nreturn y\n");
}
TEST(SimplifyArithmetic, KeepsValuesAndSettles) {
  check_pass<ops::ElementWise, ops::ElementWise, ops::Unary, ops::Reduce>(simplify_arithmetic,
                                                                          {.graphs = 500, .least_changed = 20});
}

}  // namespace
}  // namespace kiln::passes
