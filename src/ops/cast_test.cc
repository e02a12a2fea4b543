#include "ops/cast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "sym/real.h"

namespace kiln {
namespace {

/// Beside the middle of two halves and of two bfloats, by less than floats have; subnormal; beyond all of them.
const CaseInput kOddDoubles{{10},
                            DType::kF64,
                            Fill::kNormal,
                            {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 1 + 0x1p-8 + 0x1p-50, -1 - 0x1p-8 - 0x1p-50,
                             0x1p-25 + 0x1p-70, -0x1p-134 - 0x1p-190, 65519.999999999, 65520, 1e300, 0}};
/// Beside the limits of integers, by less than floats have.
const CaseInput kFarDoubles{{12},
                            DType::kF64,
                            Fill::kNormal,
                            {2147483646.9, 2147483647.9, 2147483648.5, -2147483648.9, -2147483649, 127.99, -128.99,
                             255.99, -0.99, 1e300, 4503599627370497, -9007199254740991}};
/// The limits of integers themselves, the doubles beside those of i64, and what is no number.
const CaseInput kLimits{{20},
                        DType::kF64,
                        Fill::kNormal,
                        {NAN,
                         INFINITY,
                         -INFINITY,
                         0x1p31,
                         -0x1p31,
                         0x1p31 - 1,
                         0x1p63,
                         -0x1p63,
                         0x1.fffffffffffffp62,
                         -0x1.fffffffffffffp62,
                         -0x1.0000000000001p63,
                         0x1p64,
                         127,
                         128,
                         -128,
                         -129,
                         255,
                         256,
                         -1,
                         -0.0}};
const CaseTable<ops::Cast> kCases{
    {"to half", {DType::kF16}, {{{3, 37}}}},
    {"to half: special values", {DType::kF16}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"to bfloat", {DType::kBF16}, {{{3, 37}}}},
    {"to bfloat: special values", {DType::kBF16}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"from half", {DType::kF32}, {{{3, 37}, DType::kF16}}},
    {"from bfloat", {DType::kF32}, {{{3, 37}, DType::kBF16}}},
    {"half to bfloat", {DType::kBF16}, {{{3, 37}, DType::kF16}}},
    {"float to i32", {DType::kI32}, {{{3, 37}, DType::kF32, Fill::kHuge}}},
    {"float to i64", {DType::kI64}, {{{3, 37}, DType::kF32, Fill::kHuge}}},
    {"float to i8", {DType::kI8}, {{{3, 37}, DType::kF32}}},
    {"float to u8", {DType::kU8}, {{{3, 37}, DType::kF32, Fill::kPositive}}},
    {"float to bool", {DType::kBool}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"i32 to float", {DType::kF32}, {{{3, 37}, DType::kI32}}},
    {"i64 to float", {DType::kF32}, {{{3, 37}, DType::kI64}}},
    {"i64 to i32", {DType::kI32}, {{{3, 37}, DType::kI64}}},
    {"i32 to i64", {DType::kI64}, {{{3, 37}, DType::kI32}}},
    {"bool to float", {DType::kF32}, {{{3, 37}, DType::kBool}}},
    {"bool to i64", {DType::kI64}, {{{3, 37}, DType::kBool}}},
    {"u8 to float", {DType::kF32}, {{{3, 37}, DType::kU8}}},
    {"i8 to float", {DType::kF32}, {{{3, 37}, DType::kI8}}},
    {"to the same type", {DType::kF32}, {{{3, 37}}}},
    {"f64 to float", {DType::kF32}, {{{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"f64 to half, rounded once", {DType::kF16}, {kOddDoubles}, 1e-13},
    {"f64 to bfloat, rounded once", {DType::kBF16}, {kOddDoubles}, 1e-13},
    {"f64 to i32", {DType::kI32}, {kFarDoubles}},
    {"f64 to i64", {DType::kI64}, {kFarDoubles}},
    {"f64 to i8", {DType::kI8}, {kFarDoubles}},
    {"f64 to u8", {DType::kU8}, {kFarDoubles}},
    {"f64 to i32: limits", {DType::kI32}, {kLimits}},
    {"f64 to i64: limits", {DType::kI64}, {kLimits}},
    {"f64 to i8: limits", {DType::kI8}, {kLimits}},
    {"f64 to u8: limits", {DType::kU8}, {kLimits}},
    {"f64 to bool: limits", {DType::kBool}, {kLimits}},
    {"f64 to bool", {DType::kBool}, {{{64}, DType::kF64, Fill::kSpecial}}},
    {"float to f64", {DType::kF64}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"half to f64", {DType::kF64}, {{{64}, DType::kF16, Fill::kSpecial}}},
    {"bfloat to f64", {DType::kF64}, {{{64}, DType::kBF16, Fill::kSpecial}}},
    {"i32 to f64", {DType::kF64}, {{{2}, DType::kI32, Fill::kNormal, {16777217, -2147483647}}}},
    {"i64 to f64", {DType::kF64}, {{{2}, DType::kI64, Fill::kNormal, {9007199254740991, -5}}}},
    {"u8 to f64", {DType::kF64}, {{{3, 37}, DType::kU8}}},
    {"bool to f64", {DType::kF64}, {{{3, 37}, DType::kBool}}},
};

std::vector<double> run(DType from, DType to, std::vector<double> x) {
  const auto count = static_cast<int64_t>(x.size());
  return run_reference_numbers(ops::Cast{to}, {{{count}, from, Fill::kNormal, std::move(x)}});
}
using Numbers = std::vector<double>;

TEST(Cast, KnownAnswers) {
  EXPECT_EQ(run(DType::kF32, DType::kI32, {1.9, -1.9, 3e9, -3e9, NAN}), (Numbers{1, -1, 2147483647, -2147483648.0, 0}));
  EXPECT_EQ(run(DType::kF32, DType::kU8, {-1, 3.7, 300}), (Numbers{0, 3, 255}));
  EXPECT_EQ(run(DType::kF32, DType::kI8, {-200, 200, INFINITY}), (Numbers{-128, 127, 127}));
  EXPECT_EQ(run(DType::kI32, DType::kU8, {256, 257, -1}), (Numbers{0, 1, 255}));
  EXPECT_EQ(run(DType::kF32, DType::kBool, {0, -0.0, 0.5, NAN}), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(run(DType::kF64, DType::kF16, {2049, 65520}), (Numbers{2048, INFINITY}));  // tie to even; overflow
  EXPECT_EQ(run(DType::kF32, DType::kI64, {1e30, -1e30})[1], -9223372036854775808.0);
  EXPECT_EQ(run(DType::kF64, DType::kI32, {0x1p31, -0x1p31, INFINITY, NAN}),
            (Numbers{2147483647, -2147483648.0, 2147483647, 0}));
  EXPECT_EQ(run(DType::kF64, DType::kI8, {128, -129}), (Numbers{127, -128}));
  EXPECT_EQ(run(DType::kF64, DType::kU8, {256, -1}), (Numbers{255, 0}));
  EXPECT_EQ(run(DType::kBool, DType::kF32, {0, 1}), (Numbers{0, 1}));
}
TEST(Cast, KeepsValues) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", {0, 4, 9});
  const TensorType x(DType::kI64, {3}, {n, 2, 0});
  const InferInput input{&x};
  const auto values = [&](DType to) { return (*infer_types(ops::Cast{to}, {&input, 1}, table))[0].values; };
  EXPECT_EQ(*values(DType::kI32), (SymbolicValues{n, 2, 0}));
  EXPECT_EQ(*values(DType::kBool), (SymbolicValues{1 - sym::equal(n, 0), 1, 0}));
  EXPECT_EQ(*values(DType::kF32), (SymbolicValues{sym::real(n), sym::real(2), 0}));
  EXPECT_EQ(values(DType::kF8E4M3), nullptr);
}
TEST(Cast, WrapsConstantValues) {  // exporters write "to the end" as INT64_MAX
  sym::Table table;
  const TensorType x(DType::kI64, {1}, {INT64_MAX});
  const InferInput input{&x};
  EXPECT_EQ(*(*infer_types(ops::Cast{DType::kI32}, {&input, 1}, table))[0].values, SymbolicValues{-1});
}

}  // namespace
}  // namespace kiln
