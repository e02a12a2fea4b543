#include "ops/select.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

const CaseTable<ops::Select> kCases{
    {"same shapes", {}, {{{3, 37}, DType::kBool}, {{3, 37}}, {{3, 37}}}},
    {"scalar alternative", {}, {{{3, 37}, DType::kBool}, {{3, 37}}, {{1, 1}}}},
    {"condition repeats", {}, {{{3, 1}, DType::kBool}, {{3, 37}}, {{1, 37}}}},
    {"mask of attention", {}, {{{1, 1, 9, 9}, DType::kBool}, {{2, 3, 9, 9}}, {{1, 1, 1, 1}}}},
    {"NaN stays where it was", {}, {{{64}, DType::kBool}, {{64}, DType::kF32, Fill::kSpecial}, {{64}}}},
    {"half", {}, {{{40}, DType::kBool}, {{40}, DType::kF16}, {{40}, DType::kF16}}},
    {"i32", {}, {{{40}, DType::kBool}, {{40}, DType::kI32}, {{1}, DType::kI32}}},
    {"i64", {}, {{{40}, DType::kBool}, {{40}, DType::kI64}, {{40}, DType::kI64}}},
    {"bool", {}, {{{40}, DType::kBool}, {{40}, DType::kBool}, {{40}, DType::kBool}}},
    {"f64", {}, {{{40}, DType::kBool}, {{40}, DType::kF64, Fill::kSpecial}, {{1}, DType::kF64}}},
};

TEST(Select, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Select{}, {{{2, 1}, DType::kBool, Fill::kNormal, {1, 0}},
                                                  {{1, 2}, DType::kF32, Fill::kNormal, {5, 6}},
                                                  {{1, 1}, DType::kF32, Fill::kNormal, {-1}}}),
            (std::vector<double>{5, 6, -1, -1}));
}
TEST(Select, Values) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", {1, 4, 9}), flag = table.symbol("flag", {0, 0, 1});
  const TensorType condition(DType::kBool, {3}, {sym::less(0, n), 0, flag}), then(DType::kI64, {1}, {n}),
      otherwise(DType::kI64, {1}, {7});
  const InferInput inputs[] = {{&condition}, {&then}, {&otherwise}};
  const auto y = infer_types(ops::Select{}, inputs, table);
  ASSERT_TRUE(y);
  EXPECT_EQ(*(*y)[0].values, (SymbolicValues{n, 7, flag * n + (1 - flag) * 7}));
}
TEST(Select, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Select{}, {{{2}}, {{2}}, {{2}}}), "condition is f32[2]; Select takes a bool");
  EXPECT_EQ(infer_error(ops::Select{}, {{{2}, DType::kBool}, {{2}}, {{2}, DType::kI32}}),
            "Select between f32[2] and i32[2]; both need one type, insert a Cast");
}

}  // namespace
}  // namespace kiln
