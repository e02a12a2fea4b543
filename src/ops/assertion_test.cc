#include "ops/assertion.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Assertion;

CaseInput flags(std::vector<double> values) {
  return {.extents = {static_cast<int64_t>(values.size())}, .dtype = DType::kBool, .literal = values, .constant = true};
}

TEST(Assertion, HoldsOrFailsWithItsMessage) {
  EXPECT_EQ(infer_error(Assertion{"oops"}, {flags({1, 1})}), "");
  EXPECT_EQ(infer_error(Assertion{"oops"}, {flags({1, 0})}), "the assertion 'oops' does not hold");
  EXPECT_EQ(infer_error(Assertion{"oops"}, {ints({1})}), "the condition is i64[1]; booleans are needed");
}
TEST(Assertion, IsAssumedWhereShapesDecide) {
  sym::Table table;
  const sym::Expr n = table.symbol("n"), m = table.symbol("m");
  TensorType condition(DType::kBool, {1});
  condition.values = std::make_shared<const SymbolicValues>(SymbolicValues{sym::equal(n, m + 1)});
  const InferInput input{&condition, nullptr};
  std::vector<sym::Assumption> assumptions;
  ASSERT_TRUE(infer_types(Assertion{"oops"}, std::span(&input, 1), table, &assumptions));
  ASSERT_EQ(assumptions.size(), 1u);
  EXPECT_EQ(assumptions[0].reason, "assertion 'oops'");
}

}  // namespace
}  // namespace kiln
