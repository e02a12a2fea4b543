#include "ops/shape.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Shape> kCases{{"three axes", {}, {{{2, 0, 5}}}}, {"scalar", {}, {{{}}}}};

TEST(Shape, KnownAnswer) { EXPECT_EQ(run_reference_numbers(ops::Shape{}, {{{2, 3, 4}}}), (Numbers{2, 3, 4})); }
TEST(Shape, CarriesSymbols) {
  sym::Table t;
  EXPECT_EQ(inferred(ops::Shape{}, {{DType::kF16, {t.symbol("n"), 3}}}, t), "i64[2] {n, 3}");
}

}  // namespace
}  // namespace kiln
