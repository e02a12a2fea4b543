#include "ops/bit_cast.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::BitCast;
using Numbers = std::vector<double>;

const CaseTable<BitCast> kCases{
    {"float as integer", {DType::kI32}, {{{3, 37}}}},
    {"integer as float", {DType::kF32}, {{{2, 3}, DType::kI32, Fill::kNormal, {0, 1, 1 << 23, 1065353216, 5, 6}}}},
    {"half as bf16", {DType::kBF16}, {{{5, 33}, DType::kF16}}},
    {"bytes", {DType::kI8}, {{{7}, DType::kU8, Fill::kNormal, {0, 1, 127, 128, 129, 254, 255}}}},
    {"one", {DType::kI32}, {{{}}}},
    {"empty", {DType::kI32}, {{{3, 0}}}},
};

TEST(BitCast, KnownAnswers) {
  EXPECT_EQ(run_reference_numbers(BitCast{DType::kI32}, {numbers({3}, {1, -2, 0.5})}),
            (Numbers{0x3f800000, -0x40000000, 0x3f000000}));
  EXPECT_EQ(run_reference_numbers(BitCast{DType::kU8}, {numbers({2}, {-1, 5}, DType::kI8)}), (Numbers{255, 5}));
  EXPECT_EQ(run_reference_numbers(BitCast{DType::kF64}, {numbers({1}, {0x1p62}, DType::kI64)}), (Numbers{2}));
}
TEST(BitCast, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(BitCast{DType::kI64}, {{{2, 3}}}), "x is f32[2, 3], whose elements have 32 bits; i64 has 64");
  EXPECT_EQ(infer_error(BitCast{DType::kBool}, {{{2}, DType::kI8}}), "BitCast gives no bool");
  EXPECT_EQ(infer_error(BitCast{DType::kI4}, {{{2}, DType::kF4E2M1}}), "BitCast gives no i4");
}

}  // namespace
}  // namespace kiln
