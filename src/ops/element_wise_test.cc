#include "ops/element_wise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/movement.h"
#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using enum ops::ElementWiseKind;

const CaseTable<ops::ElementWise> kCases{
    {"sum", {kSum}, {{{3, 37}}, {{3, 37}}}},
    {"sum: a scalar", {kSum}, {{{3, 37}}, {{1, 1}}}},
    {"sum: rank 0", {kSum}, {{{}}, {{}}}},
    {"sum: rows", {kSum}, {{{4, 5, 19}}, {{1, 1, 19}}}},
    {"sum: channels", {kSum}, {{{2, 5, 7, 3}}, {{1, 5, 1, 1}}}},
    {"sum: both repeat", {kSum}, {{{4, 1, 7}}, {{1, 5, 1}}}},
    {"sum: empty", {kSum}, {{{0, 5}}, {{1, 5}}}},
    {"sum: half", {kSum}, {{{3, 37}, DType::kF16}, {{3, 37}, DType::kF16}}},
    {"sum: bfloat", {kSum}, {{{3, 37}, DType::kBF16}, {{1, 37}, DType::kBF16}}},
    {"sum: i64", {kSum}, {{{3, 7}, DType::kI64}, {{1, 7}, DType::kI64}}},
    {"sum: i32", {kSum}, {{{3, 7}, DType::kI32}, {{1, 7}, DType::kI32}}},
    {"sum: i8", {kSum}, {{{3, 7}, DType::kI8}, {{1, 7}, DType::kI8}}},
    {"prod", {kProd}, {{{3, 37}}, {{3, 37}}}},
    {"prod: i32", {kProd}, {{{3, 7}, DType::kI32}, {{3, 7}, DType::kI32}}},
    {"max: special values", {kMax}, {{{64}, DType::kF32, Fill::kSpecial}, {{64}, DType::kF32, Fill::kSpecial}}},
    {"max: u8", {kMax}, {{{64}, DType::kU8}, {{64}, DType::kU8}}},
    {"min: special values", {kMin}, {{{64}, DType::kF32, Fill::kSpecial}, {{64}, DType::kF32, Fill::kSpecial}}},
    {"min: i64", {kMin}, {{{64}, DType::kI64}, {{64}, DType::kI64}}},
    {"sub", {kSub}, {{{3, 37}}, {{3, 1}}}},
    {"div", {kDiv}, {{{3, 37}}, {{3, 37}, DType::kF32, Fill::kPositive}}},
    {"div: i32", {kDiv}, {{{77}, DType::kI32}, {{77}, DType::kI32}}},
    {"pow", {kPow}, {{{3, 37}, DType::kF32, Fill::kPositive}, {{3, 37}}}},
    {"pow: square", {kPow}, {{{3, 37}}, {{1, 1}, DType::kF32, Fill::kNormal, {2}}}},
    {"pow: cube", {kPow}, {{{3, 37}}, {{1, 1}, DType::kF32, Fill::kNormal, {3}}}},
    {"pow: special values", {kPow}, {{{256}, DType::kF32, Fill::kSpecial}, {{256}, DType::kF32, Fill::kSpecial}}},
    {"pow: i64", {kPow}, {{{64}, DType::kI64}, {{64}, DType::kI64, Fill::kPositive}}},
    {"floor_div", {kFloorDiv}, {{{3, 37}}, {{3, 37}, DType::kF32, Fill::kPositive}}},
    {"mod", {kMod}, {{{3, 37}}, {{3, 37}, DType::kF32, Fill::kPositive}}},
    {"mod of large numbers", {kMod}, {{{41}, DType::kF32, Fill::kHuge}, {{41}, DType::kF32, Fill::kPositive}}},
    {"mod: special numbers", {kMod}, {{{77}, DType::kF32, Fill::kSpecial}, {{77}, DType::kF32, Fill::kSpecial}}},
    {"mod: f16", {kMod}, {{{2, 19}, DType::kF16, Fill::kHuge}, {{2, 1}, DType::kF16, Fill::kPositive}}},
    {"floor_div: i64", {kFloorDiv}, {{{77}, DType::kI64}, {{77}, DType::kI64}}},
    {"and", {kAnd}, {{{64}, DType::kBool}, {{64}, DType::kBool}}},
    {"or", {kOr}, {{{8, 8}, DType::kBool}, {{8, 1}, DType::kBool}}},
    {"xor", {kXor}, {{{64}, DType::kBool}, {{64}, DType::kBool}}},
    {"equal", {kEqual}, {{{64}, DType::kF32, Fill::kSpecial}, {{64}, DType::kF32, Fill::kSpecial}}},
    {"equal: i64", {kEqual}, {{{64}, DType::kI64}, {{64}, DType::kI64}}},
    {"equal: bool", {kEqual}, {{{64}, DType::kBool}, {{64}, DType::kBool}}},
    {"greater", {kGreater}, {{{64}, DType::kF32, Fill::kSpecial}, {{64}, DType::kF32, Fill::kSpecial}}},
    {"less: i32", {kLess}, {{{64}, DType::kI32}, {{64}, DType::kI32}}},
    {"less: half", {kLess}, {{{64}, DType::kF16}, {{64}, DType::kF16}}},
    {"sum: f64", {kSum}, {{{3, 37}, DType::kF64}, {{1, 37}, DType::kF64}}},
    {"prod: f64", {kProd}, {{{3, 37}, DType::kF64}, {{3, 37}, DType::kF64}}},
    {"max: f64", {kMax}, {{{3, 37}, DType::kF64, Fill::kSpecial}, {{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"min: f64", {kMin}, {{{3, 37}, DType::kF64, Fill::kSpecial}, {{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"sub: f64", {kSub}, {{{3, 37}, DType::kF64}, {{3, 37}, DType::kF64}}},
    {"div: f64", {kDiv}, {{{3, 37}, DType::kF64}, {{3, 37}, DType::kF64}}},
    {"floor_div: f64", {kFloorDiv}, {{{3, 37}, DType::kF64}, {{3, 37}, DType::kF64}}},
    {"equal: f64", {kEqual}, {{{3, 37}, DType::kF64, Fill::kSpecial}, {{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"greater: f64", {kGreater}, {{{3, 37}, DType::kF64}, {{3, 37}, DType::kF64}}},
    {"less: f64", {kLess}, {{{3, 37}, DType::kF64, Fill::kSpecial}, {{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"mod: f64", {kMod}, {{{3, 37}, DType::kF64}, {{3, 37}, DType::kF64}}},
    {"pow: f64", {kPow}, {{{3, 37}, DType::kF64, Fill::kPositive}, {{1, 37}, DType::kF64}}},
    {"prod: f64, outer", {kProd}, {{{21, 1}, DType::kF64}, {{1, 5}, DType::kF64}}},
};

std::vector<double> run(ops::ElementWiseKind kind, std::vector<double> a, std::vector<double> b,
                        DType dtype = DType::kF64) {
  const auto na = static_cast<int64_t>(a.size()), nb = static_cast<int64_t>(b.size());
  return run_reference_numbers(
      ops::ElementWise{kind}, {{{na}, dtype, Fill::kNormal, std::move(a)}, {{nb}, dtype, Fill::kNormal, std::move(b)}});
}
using Numbers = std::vector<double>;

TEST(ElementWise, KnownAnswers) {
  EXPECT_EQ(run(kSum, {1, 2}, {3, -5}), (Numbers{4, -3}));
  EXPECT_EQ(run(kProd, {1, 2}, {3, -5}), (Numbers{3, -10}));
  EXPECT_EQ(run(kMax, {1, 2}, {3, -5}), (Numbers{3, 2}));
  EXPECT_EQ(run(kMin, {1, 2}, {3, -5}), (Numbers{1, -5}));
  EXPECT_EQ(run(kSub, {1, 2}, {3, -5}), (Numbers{-2, 7}));
  EXPECT_EQ(run(kDiv, {1, -7}, {4, 2}), (Numbers{0.25, -3.5}));
  EXPECT_EQ(run(kPow, {2, 9}, {10, 0.5}), (Numbers{1024, 3}));
  EXPECT_EQ(run(kFloorDiv, {7, -7}, {2, 2}), (Numbers{3, -4}));
  EXPECT_EQ(run(kEqual, {1, 2}, {1, 3}), (Numbers{1, 0}));
  EXPECT_EQ(run(kGreater, {1, 4}, {1, 3}), (Numbers{0, 1}));
  EXPECT_EQ(run(kLess, {1, 2}, {1, 3}), (Numbers{0, 1}));
  EXPECT_EQ(run(kAnd, {0, 0, 1, 1}, {0, 1, 0, 1}, DType::kBool), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(run(kOr, {0, 0, 1, 1}, {0, 1, 0, 1}, DType::kBool), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(run(kXor, {0, 0, 1, 1}, {0, 1, 0, 1}, DType::kBool), (Numbers{0, 1, 1, 0}));
}
TEST(ElementWise, IntegerDivision) {  // truncates, floors; a divisor of 0 gives 0
  EXPECT_EQ(run(kDiv, {7, -7, 7, -7, 5}, {2, 2, -2, -2, 0}, DType::kI32), (Numbers{3, -3, -3, 3, 0}));
  EXPECT_EQ(run(kFloorDiv, {7, -7, 7, -7, 5}, {2, 2, -2, -2, 0}, DType::kI64), (Numbers{3, -4, -4, 3, 0}));
}
TEST(ElementWise, IntegersWrap) {
  EXPECT_EQ(run(kSum, {127}, {1}, DType::kI8), Numbers{-128});
  EXPECT_EQ(run(kProd, {65536}, {65536}, DType::kI32), Numbers{0});
  EXPECT_EQ(run(kPow, {2, -1, 3, 2}, {31, -3, -1, 0}, DType::kI32), (Numbers{-2147483648.0, -1, 0, 1}));
}
TEST(ElementWise, NanWinsMaxAndMin) {
  for (const auto kind : {kMax, kMin}) {
    EXPECT_TRUE(std::isnan(run(kind, {NAN}, {1})[0]));
    EXPECT_TRUE(std::isnan(run(kind, {1}, {NAN})[0]));
  }
}
TEST(ElementWise, Broadcasts) {
  const Numbers y = run_reference_numbers(ops::ElementWise{kSum}, {{{2, 1}, DType::kF64, Fill::kNormal, {10, 20}},
                                                                   {{1, 3}, DType::kF64, Fill::kNormal, {1, 2, 3}}});
  EXPECT_EQ(y, (Numbers{11, 12, 13, 21, 22, 23}));
}

TEST(ElementWise, RemaindersAreExact) {
  const auto mod = [](double a, double b) { return run(kMod, {a}, {b}, DType::kF32)[0]; };
  EXPECT_EQ(mod(5, INFINITY), 5);
  EXPECT_EQ(mod(1e10F, 3), 1);  // 1e10 is a float
  EXPECT_EQ(mod(-7, 3), -1);
  EXPECT_EQ(mod(7, -3), 1);
  EXPECT_EQ(mod(0x1p127, 3), 2);
  EXPECT_EQ(mod(3e38F, 0.5), 0);
  EXPECT_TRUE(std::signbit(mod(-4, 2)));
  for (const auto& [a, b] : {std::pair{INFINITY, 3.0F}, {1.0F, 0.0F}, {NAN, 1.0F}, {1.0F, NAN}})
    EXPECT_TRUE(std::isnan(mod(a, b))) << a << ", " << b;
}

class ElementWiseValues : public ::testing::Test {
 protected:
  sym::Table table;
  sym::Expr n = table.symbol("n", {0, 8, 100}), z = table.symbol("z", {-5, 0, 5});

  /// The values of kind(a, b), each a vector of i64; null if there are none.
  std::shared_ptr<const SymbolicValues> values(ops::ElementWiseKind kind, SymbolicValues a, SymbolicValues b,
                                               DType dtype = DType::kI64) {
    const TensorType at(dtype, {static_cast<int64_t>(a.size())}, a), bt(dtype, {static_cast<int64_t>(b.size())}, b);
    const InferInput inputs[] = {{&at}, {&bt}};
    const auto types = infer_types(ops::ElementWise{kind}, inputs, table);
    return types ? (*types)[0].values : nullptr;
  }
};
TEST_F(ElementWiseValues, AreExpressions) {
  EXPECT_EQ(*values(kSum, {n, 1}, {2}), (SymbolicValues{n + 2, 3}));
  EXPECT_EQ(*values(kProd, {n}, {n}), SymbolicValues{n * n});
  EXPECT_EQ(*values(kMax, {n}, {4}), SymbolicValues{sym::max(n, 4)});
  EXPECT_EQ(*values(kSub, {n}, {n}), SymbolicValues{0});
  EXPECT_EQ(*values(kPow, {n}, {2}), SymbolicValues{n * n});
  EXPECT_EQ(*values(kFloorDiv, {z}, {2}), SymbolicValues{sym::floor_div(z, 2)});
  EXPECT_EQ(*values(kEqual, {n, n}, {n, -1}), (SymbolicValues{1, 0}));
  EXPECT_EQ(*values(kGreater, {n}, {3}), SymbolicValues{sym::less(3, n)});
}
TEST_F(ElementWiseValues, OfTruncationFollowTheSigns) {
  EXPECT_EQ(*values(kDiv, {n}, {2}), SymbolicValues{sym::floor_div(n, 2)});
  const auto halved = values(kDiv, {z}, {2});
  ASSERT_NE(halved, nullptr);
  for (const auto& [number, half] : {std::pair{-7, -3}, {-6, -3}, {-1, 0}, {0, 0}, {7, 3}})
    EXPECT_EQ(sym::evaluate(sym::substitute((*halved)[0], std::vector{std::pair{z, sym::Expr(number)}}), {}), half);
  EXPECT_EQ(*values(kDiv, {n - 1}, {2}), SymbolicValues{sym::max(sym::floor_div(n - 1, 2), 0)});
  const auto quotient = values(kDiv, {z}, {n - 4});
  ASSERT_NE(quotient, nullptr);
  for (int64_t a = -5; a <= 5; ++a)
    for (int64_t b = 1; b <= 8; ++b)
      if (b != 4) {
        EXPECT_EQ(sym::evaluate((*quotient)[0], std::array{b, a}), a / (b - 4)) << a << " / " << b - 4;
      }
  EXPECT_EQ(*values(kDiv, {-7}, {2}), SymbolicValues{-3});
}
TEST_F(ElementWiseValues, WrapAsStored) {
  EXPECT_EQ(*values(kSum, {INT32_MAX}, {1}, DType::kI32), SymbolicValues{INT32_MIN});
}
TEST_F(ElementWiseValues, StopAtTheLimit) {
  EXPECT_NE(values(kSum, SymbolicValues(kMostFollowedValues, n), {1}), nullptr);
  EXPECT_TRUE(values(kSum, SymbolicValues(kMostFollowedValues + 1, n), {1}) == nullptr);
}

TEST(ElementWise, AssumesEqualExtents) {  // what may be 1 is in broadcast_test.cc
  sym::Table table;
  const TensorType a(DType::kF32, {table.symbol("n", {2, 4, 8}), 3}), b(DType::kF32, {table.symbol("m", {2, 4, 8}), 1});
  const InferInput inputs[] = {{&a}, {&b}};
  std::vector<sym::Assumption> assumptions;
  const auto types = infer_types(ops::ElementWise{kSum}, inputs, table, &assumptions);
  ASSERT_TRUE(types);
  EXPECT_EQ(str((*types)[0]), "f32[n, 3]");
  EXPECT_EQ(assumptions.size(), 1u);
}
TEST(ElementWise, AnExtentOfAtMostOneIsBroadcast) {  // x - x[-1:]
  sym::Table table;
  const sym::Expr n = table.symbol("n");
  const TensorType x(DType::kF32, {n}), last(DType::kF32, {sym::min(n, 1)});
  for (const auto& [a, b] : {std::pair(&x, &last), std::pair(&last, &x)}) {
    const InferInput inputs[] = {{a}, {b}};
    std::vector<sym::Assumption> assumptions;
    const auto types = infer_types(ops::ElementWise{kSub}, inputs, table, &assumptions);
    ASSERT_TRUE(types);
    EXPECT_EQ(str((*types)[0]), "f32[n]");
    ASSERT_EQ(assumptions.size(), 1u);
    EXPECT_EQ(assumptions[0].relation, sym::Relation::kBroadcast);
  }
}
TEST(ElementWise, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::ElementWise{kSum}, {{{2, 3}}, {{3}}}),
            "ElementWise sum has inputs f32[2, 3] and f32[3]; their ranks must be equal, insert axes of extent 1");
  EXPECT_EQ(infer_error(ops::ElementWise{kSum}, {{{2, 3}}, {{2, 4}}}),
            "ElementWise sum of f32[2, 3] and f32[2, 4]: broadcast extents: 3 and 4 differ");
  EXPECT_EQ(infer_error(ops::ElementWise{kSum}, {{{2}}, {{2}, DType::kI32}}),
            "ElementWise sum of f32[2] and i32[2]; both need one type, insert a Cast");
  EXPECT_EQ(infer_error(ops::ElementWise{kMod}, {{{2}, DType::kI32}, {{2}, DType::kI32}}),
            "ElementWise mod of i32[2] and i32[2]; it takes f32, f16 or bf16");
  EXPECT_EQ(infer_error(ops::ElementWise{kAnd}, {{{2}}, {{2}}}),
            "ElementWise and of f32[2] and f32[2]; it takes bools");
  EXPECT_EQ(infer_error(ops::ElementWise{kSum}, {{{2}, DType::kBool}, {{2}, DType::kBool}}),
            "ElementWise sum of bool[2] and bool[2]; it takes f32, f16, bf16 or an integer");
}

}  // namespace
}  // namespace kiln
