#include "ops/non_zero.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

const CaseTable<ops::NonZero> kCases{
    {"booleans", {}, {{{3, 5}, DType::kBool}}},
    {"integers", {}, {{{4, 3, 6}, DType::kI32}}},
    {"bytes", {.indices = DType::kI32}, {{{40}, DType::kU8}}},
    {"floats, special ones too", {}, {{{7, 9}, DType::kF32, Fill::kSpecial}}},
    {"halves", {}, {{{2, 3, 2, 5}, DType::kF16, Fill::kSpecial}}},
    {"doubles", {}, {{{7, 9}, DType::kF64, Fill::kSpecial}}},
    {"a scalar", {}, {{{}, DType::kF32}}},
    {"all", {}, {{{3, 4}, DType::kF32, Fill::kPositive}}},
    {"none", {}, {{.extents = {2, 2}, .dtype = DType::kI64, .literal = {0, 0, 0, 0}}}},
    {"of nothing", {}, {{{0, 4}, DType::kBool}}},
    {"many of one axis", {}, {{{100'003}, DType::kBool}}},
    {"many of five axes", {}, {{{9, 5, 701, 1, 3}, DType::kBool}}},
    {"many floats", {.indices = DType::kI32}, {{{70, 257}, DType::kF32, Fill::kSpecial}}},
};

TEST(NonZero, KnownAnswers) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(run_reference_numbers(ops::NonZero{}, {numbers({2, 3}, {0, 7, -1, 2, 0, 0})}), (Numbers{0, 0, 1, 1, 2, 0}));
  EXPECT_EQ(run_reference_numbers(ops::NonZero{}, {numbers({3}, {NAN, -0.0, 0})}), (Numbers{0}));
  const HostTensor x = HostTensor::of(DType::kBool, {2, 2}, std::vector<double>{0, 1, 1, 1});
  EXPECT_EQ((*run_reference(ops::NonZero{}, {&x, 1}))[0].extents(), (Extents{2, 3}));
}

TEST(NonZero, InferringAgainGivesTheSameSymbol) {
  sym::Table table;
  const TensorType x{DType::kBool, {table.symbol("n", {1, 4, 8}), 3}};
  const InferInput input{&x};
  std::vector<DecidedSize> sizes;
  EXPECT_EQ(str((*infer_types(ops::NonZero{}, {&input, 1}, table, nullptr, &sizes))[0]), "i64[2, count]");
  EXPECT_EQ(str((*infer_types(ops::NonZero{}, {&input, 1}, table, nullptr, &sizes))[0]), "i64[2, count]");
  ASSERT_EQ(sizes.size(), 1u);
  EXPECT_EQ(str(sizes[0].most), "3*n");
  EXPECT_EQ(table.bounds(sizes[0].symbol), (sym::Bounds{0, 12, 24}));
  EXPECT_EQ(str((*infer_types(ops::NonZero{}, {&input, 1}, table))[0]), "i64[2, count.1]");
}

TEST(NonZero, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::NonZero{.indices = DType::kF32}, {{{2}}}), "indices would be f32; i32 or i64 needed");
}

}  // namespace
}  // namespace kiln
