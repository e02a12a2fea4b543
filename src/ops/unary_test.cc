#include "ops/unary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using enum ops::UnaryKind;

const CaseTable<ops::Unary> kCases{
    {"exp", {kExp}, {{{3, 37}}}},
    {"exp: special values", {kExp}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"log", {kLog}, {{{3, 37}, DType::kF32, Fill::kPositive}}},
    {"log: special values", {kLog}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"sqrt", {kSqrt}, {{{3, 37}, DType::kF32, Fill::kPositive}}},
    {"sqrt: half", {kSqrt}, {{{3, 37}, DType::kF16, Fill::kPositive}}},
    {"recip", {kRecip}, {{{3, 37}, DType::kF32, Fill::kPositive}}},
    {"abs", {kAbs}, {{{3, 37}}}},
    {"abs: i64", {kAbs}, {{{3, 5}, DType::kI64}}},
    {"abs: i32", {kAbs}, {{{3, 5}, DType::kI32}}},
    {"abs: i8", {kAbs}, {{{3, 5}, DType::kI8}}},
    {"neg", {kNeg}, {{{3, 37}}}},
    {"neg: i32", {kNeg}, {{{70}, DType::kI32}}},
    {"sin", {kSin}, {{{3, 37}}}},
    {"sin: huge", {kSin}, {{{64}, DType::kF32, Fill::kHuge}}},
    {"sin: special values", {kSin}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"cos", {kCos}, {{{3, 37}}}},
    {"cos: huge", {kCos}, {{{64}, DType::kF32, Fill::kHuge}}},
    {"tan", {kTan}, {{{3, 37}, DType::kF32, Fill::kPositive}}},
    {"sinh", {kSinh}, {{{3, 37}}}},
    {"cosh", {kCosh}, {{{3, 37}}}},
    {"asin", {kAsin}, {{{3, 37}}}},
    {"acos", {kAcos}, {{{3, 37}}}},
    {"atan", {kAtan}, {{{3, 37}}}},
    {"asinh", {kAsinh}, {{{3, 37}}}},
    {"acosh", {kAcosh}, {{{3, 37}, DType::kF32, Fill::kPositive}}},
    {"atanh", {kAtanh}, {{{3, 37}}}},
    {"ceil", {kCeil}, {{{3, 37}}}},
    {"floor", {kFloor}, {{{3, 37}}}},
    {"floor: bfloat", {kFloor}, {{{3, 37}, DType::kBF16}}},
    {"erf", {kErf}, {{{3, 337}}}},
    {"erf: special values", {kErf}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"not", {kNot}, {{{3, 7}, DType::kBool}}},
    {"sign", {kSign}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"sign: i64", {kSign}, {{{9}, DType::kI64}}},
    {"round", {kRound}, {{{6}, DType::kF32, Fill::kNormal, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5}}}},
    {"isinf", {kIsInf}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"isnan", {kIsNan}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"isnan: half", {kIsNan}, {{{64}, DType::kF16, Fill::kSpecial}}},
    {"exp: f64", {kExp}, {{{3, 37}, DType::kF64}}},
    {"log: f64", {kLog}, {{{3, 37}, DType::kF64, Fill::kPositive}}},
    {"sqrt: f64", {kSqrt}, {{{3, 37}, DType::kF64, Fill::kPositive}}},
    {"recip: f64", {kRecip}, {{{3, 37}, DType::kF64, Fill::kPositive}}},
    {"abs: f64", {kAbs}, {{{3, 37}, DType::kF64}}},
    {"neg: f64", {kNeg}, {{{3, 37}, DType::kF64}}},
    {"sin: f64", {kSin}, {{{3, 37}, DType::kF64, Fill::kHuge}}},
    {"cos: f64", {kCos}, {{{3, 37}, DType::kF64, Fill::kHuge}}},
    {"tan: f64", {kTan}, {{{3, 37}, DType::kF64}}},
    {"sinh: f64", {kSinh}, {{{3, 37}, DType::kF64}}},
    {"cosh: f64", {kCosh}, {{{3, 37}, DType::kF64}}},
    {"asin: f64", {kAsin}, {{{5}, DType::kF64, Fill::kNormal, {-0.9, -0.1, 0, 1e-9, 0.7}}}},
    {"acos: f64", {kAcos}, {{{5}, DType::kF64, Fill::kNormal, {-0.9, -0.1, 0, 1e-9, 0.7}}}},
    {"atan: f64", {kAtan}, {{{3, 37}, DType::kF64}}},
    {"asinh: f64", {kAsinh}, {{{3, 37}, DType::kF64}}},
    {"acosh: f64", {kAcosh}, {{{4}, DType::kF64, Fill::kNormal, {1, 1.0000001, 2, 1e9}}}},
    {"atanh: f64", {kAtanh}, {{{5}, DType::kF64, Fill::kNormal, {-0.9, -0.1, 0, 1e-9, 0.7}}}},
    {"ceil: f64", {kCeil}, {{{3, 37}, DType::kF64, Fill::kHuge}}},
    {"floor: f64", {kFloor}, {{{3, 37}, DType::kF64, Fill::kHuge}}},
    {"erf: f64", {kErf}, {{{3, 37}, DType::kF64}}},
    {"sign: f64", {kSign}, {{{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"round: f64", {kRound}, {{{3, 37}, DType::kF64, Fill::kHuge}}},
    {"is inf: f64", {kIsInf}, {{{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"is nan: f64", {kIsNan}, {{{3, 37}, DType::kF64, Fill::kSpecial}}},
};

std::vector<double> run(ops::UnaryKind kind, std::vector<double> x, DType dtype = DType::kF64) {
  const auto count = static_cast<int64_t>(x.size());
  return run_reference_numbers(ops::Unary{kind}, {{{count}, dtype, Fill::kNormal, std::move(x)}});
}
void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << "element " << i;
}

TEST(Unary, KnownAnswers) {
  const double pi = std::numbers::pi, ln2 = std::log(2.0);
  expect_near(run(kExp, {0, ln2}), {1, 2});
  expect_near(run(kLog, {1, std::numbers::e}), {0, 1});
  expect_near(run(kSqrt, {9, 2.25}), {3, 1.5});
  expect_near(run(kRecip, {4, -0.5}), {0.25, -2});
  expect_near(run(kAbs, {-3, 4}), {3, 4});
  expect_near(run(kNeg, {-3, 4}), {3, -4});
  expect_near(run(kSin, {pi / 6, pi / 2}), {0.5, 1});
  expect_near(run(kCos, {pi / 3, pi}), {0.5, -1});
  expect_near(run(kTan, {pi / 4}), {1});
  expect_near(run(kSinh, {ln2}), {0.75});
  expect_near(run(kCosh, {ln2}), {1.25});
  expect_near(run(kAsin, {0.5}), {pi / 6});
  expect_near(run(kAcos, {0.5}), {pi / 3});
  expect_near(run(kAtan, {1}), {pi / 4});
  expect_near(run(kAsinh, {0.75}), {ln2});
  expect_near(run(kAcosh, {1.25}), {ln2});
  expect_near(run(kAtanh, {0.6}), {ln2});
  expect_near(run(kCeil, {1.2, -1.2}), {2, -1});
  expect_near(run(kFloor, {1.2, -1.2}), {1, -2});
  expect_near(run(kErf, {0, 1, -1}), {0, 0.8427007929497149, -0.8427007929497149});  // Abramowitz and Stegun, 7.1
  expect_near(run(kNot, {0, 1}, DType::kBool), {1, 0});
  expect_near(run(kSign, {-7, 0, 0.1}), {-1, 0, 1});
  expect_near(run(kRound, {-2.5, -0.5, 0.5, 1.5, 2.5, 2.6}), {-2, 0, 0, 2, 2, 3});
  expect_near(run(kIsInf, {1, INFINITY, -INFINITY, NAN}), {0, 1, 1, 0});
  expect_near(run(kIsNan, {1, INFINITY, -INFINITY, NAN}), {0, 0, 0, 1});
}
TEST(Unary, OutsideTheDomain) {
  EXPECT_EQ(run(kLog, {0})[0], -INFINITY);
  EXPECT_TRUE(std::isnan(run(kLog, {-1})[0]));
  EXPECT_TRUE(std::isnan(run(kSign, {NAN})[0]));
  EXPECT_EQ(run(kAbs, {-128}, DType::kI8)[0], -128);  // 128 does not exist
  EXPECT_EQ(run(kExp, {100}, DType::kF32)[0], INFINITY);
}
TEST(Unary, IntegersAndBoolsHaveValues) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", {-4, 1, 9}), flag = table.symbol("flag", {0, 1, 1});
  const TensorType x(DType::kI64, {2}, {n, -3}), b(DType::kBool, {1}, {flag});
  const InferInput integers{&x}, bools{&b};
  const auto values = [&](ops::UnaryKind kind, const InferInput& input) {
    return *(*infer_types(ops::Unary{kind}, {&input, 1}, table))[0].values;
  };
  EXPECT_EQ(values(kNeg, integers), (SymbolicValues{-n, 3}));
  EXPECT_EQ(values(kAbs, integers), (SymbolicValues{sym::max(n, -n), 3}));
  EXPECT_EQ(values(kSign, integers)[1], sym::Expr(-1));
  EXPECT_EQ(values(kNot, bools), SymbolicValues{1 - flag});
}
TEST(Unary, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Unary{kExp}, {{{2, 3}, DType::kI32}}), "x is i32[2, 3]; Unary exp takes f32, f16 or bf16");
  EXPECT_EQ(infer_error(ops::Unary{kNot}, {{{2}}}), "x is f32[2]; Unary not takes bool");
  EXPECT_EQ(infer_error(ops::Unary{kNeg}, {{{2}, DType::kBool}}),
            "x is bool[2]; Unary neg takes f32, f16 or bf16, or an integer");
}

}  // namespace
}  // namespace kiln
