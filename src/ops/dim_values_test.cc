#include "ops/dim_values.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::DimValues> kCases{
    {"matrix", {.values = {1, 2, 3, 4}, .dtype = DType::kI32, .extents = {2, 2}}, {}},
    {"float", {.values = {5}, .dtype = DType::kF32}, {}}};

TEST(DimValues, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::DimValues{.values = {3, 5}, .extents = {2}}, {}), (Numbers{3, 5}));
}
TEST(DimValues, CarriesSymbols) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(ops::DimValues{.values = {n * 2}, .extents = {1}}, {}, t), "i64[1] {2*n}");
}
TEST(DimValues, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::DimValues{.values = {1}, .extents = {2}}, {}),
            "extents [2] hold 2 elements; there are 1 values");
}

}  // namespace
}  // namespace kiln
