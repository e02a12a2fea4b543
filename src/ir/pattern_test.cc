#include "ir/pattern.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ops/activation.h"
#include "ops/element_wise.h"

namespace kiln::ir {
namespace {
const ops::ElementWise kProd{ops::ElementWiseKind::kProd};
const Op kSigmoid = ops::Activation{ops::ActivationKind::kSigmoid};

ValueId named(const Graph& graph, std::string_view name) {
  for (int i = 0; i < graph.num_values(); ++i)
    if (graph.value(static_cast<ValueId>(i)).name == name) return static_cast<ValueId>(i);
  return ValueId::kNone;
}

TEST(Pattern, ANameMeetsOneValueInEitherOrder) {  // x * sigmoid(x)
  const auto g = parse(
      "x: f32[2]; z: f32[2]; s = Activation{kind=sigmoid}(x); a = ElementWise{kind=prod}(x, s); "
      "b = ElementWise{kind=prod}(s, x); c = ElementWise{kind=prod}(z, s); return a, b, c");
  ASSERT_TRUE(g) << g.error().message;
  const Pattern silu = exactly(kProd, "y", {any("x"), exactly(kSigmoid, "s", {any("x")})});
  for (const char* y : {"a", "b"}) {
    const auto found = match(*g, silu, named(*g, y));
    ASSERT_TRUE(found) << y;
    EXPECT_EQ(found->value("x"), named(*g, "x"));
    EXPECT_EQ(found->nodes().size(), 2u);
  }
  EXPECT_FALSE(match(*g, silu, named(*g, "c")));
  EXPECT_FALSE(match(*g, silu, named(*g, "x")));
}
TEST(Pattern, BacktracksOverNestedOrders) {  // (a * b) * a: the inner order that meets the outer `a` is the second
  const auto g =
      parse("p: f32[2]; q: f32[2]; i = ElementWise{kind=prod}(p, q); y = ElementWise{kind=prod}(i, q); return y");
  ASSERT_TRUE(g);
  const Pattern twice = exactly(kProd, "y", {exactly(kProd, "i", {any("a"), any("b")}), any("a")});
  const auto found = match(*g, twice, named(*g, "y"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value("a"), named(*g, "q"));
}
TEST(Pattern, NumbersAreUniformConstants) {
  const auto g = parse(
      "x: f32[2]; h = Constant{value=f32[2](0.5, 0.5)}(); m = Constant{value=f32[2](0.5, 0.6)}(); "
      "a = ElementWise{kind=prod}(x, h); b = ElementWise{kind=prod}(x, m); return a, b");
  ASSERT_TRUE(g);
  const Pattern half = exactly(kProd, "y", {number(0.5), any("x")});
  EXPECT_TRUE(match(*g, half, named(*g, "a")));
  EXPECT_FALSE(match(*g, half, named(*g, "b")));
}

}  // namespace
}  // namespace kiln::ir
