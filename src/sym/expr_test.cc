#include "sym/expr.h"

#include <gtest/gtest.h>

#include "sym/real.h"
#include "sym/table.h"
#include "sym/text.h"
#include "sym/total.h"

namespace kiln::sym {
namespace {

struct ExprTest : ::testing::Test {
  Table table;
  Expr n = table.symbol("n", {1, 4, 8}), c = table.symbol("c", {1, 3, 64}), h = table.symbol("h", {1, 32, 512}),
       w = table.symbol("w", {1, 32, 512}), any = table.symbol("any"), value = table.symbol("value", kAnyValue);
};

TEST_F(ExprTest, ConstantsNeedNoTable) {
  EXPECT_EQ(Expr(2) + 3, 5);
  EXPECT_EQ(Expr(2) - 3, -1);
  EXPECT_EQ(floor_div(-7, 2), -4);
  EXPECT_EQ(floor_div(7, -2), -4);
  EXPECT_EQ(ceil_div(-7, 2), -3);
  EXPECT_EQ(ceil_div(7, 2), 4);
  EXPECT_EQ(max(2, 3), 3);
  EXPECT_EQ(equal(2, 2), 1);
  EXPECT_EQ(less(2, 2), 0);
  EXPECT_EQ(str(Expr(INT64_MIN)), "-9223372036854775808");
}

TEST_F(ExprTest, SumsAndProductsHaveOneForm) {
  EXPECT_EQ(n + h, h + n);
  EXPECT_EQ((n + h) * (n - h), n * n - h * h);
  EXPECT_EQ(n + n + 1 - n, n + 1);
  EXPECT_EQ(n - n, 0);
  EXPECT_EQ(str(2 * h + 1), "2*h + 1");
  EXPECT_EQ(str(w - h), "w - h");
  EXPECT_EQ(str(7 - n), "7 - n");
  EXPECT_EQ(str(-n - 3), "-n - 3");
  EXPECT_EQ(str(h * n * 2 - c + n * n), "n*n + 2*n*h - c");
  EXPECT_EQ((2 * h + 1).kind(), Kind::kSum);
  EXPECT_EQ((2 * h + 1).lhs(), 2 * h);
}

TEST_F(ExprTest, QuotientsThatComeOutEvenDissolve) {
  EXPECT_EQ(floor_div(n * c * h * w, n * c), h * w);
  EXPECT_EQ(floor_div(4 * h, 2), 2 * h);
  EXPECT_EQ(floor_div(2 * h + 1, 2), h);
  EXPECT_EQ(ceil_div(2 * h + 1, 2), h + 1);
  EXPECT_EQ(floor_div(2 * h - 1, 2), h - 1);
  EXPECT_EQ(floor_div(n * h + n * w, h + w), n);
  EXPECT_EQ(floor_div(n * n - 1, n + 1), n - 1);
  EXPECT_EQ(floor_div(n * h + w, n), h + floor_div(w, n));
  EXPECT_EQ(floor_div(h, h), 1);
  EXPECT_EQ(floor_div(h, -1), -h);
  EXPECT_EQ(str(floor_div(h, 2)), "floor_div(h, 2)");
}

TEST_F(ExprTest, QuotientsHaveOneForm) {
  EXPECT_EQ(floor_div(floor_div(h, 2), 3), floor_div(h, 6));
  EXPECT_EQ(floor_div(floor_div(h + 2 - 3, 2) + 1 + 2 - 3, 2), floor_div(h - 1, 4));
  EXPECT_EQ(ceil_div(h, 2), floor_div(h + 1, 2));
  EXPECT_EQ(ceil_div(ceil_div(h, n), c), ceil_div(h, n * c));
  EXPECT_EQ(floor_div(6 * h + 5, 4), floor_div(3 * h + 2, 2));
  EXPECT_EQ(floor_div(n * c * h, n * w), floor_div(c * h, w));
  EXPECT_EQ(floor_div(h, -2), floor_div(-h, 2));
  EXPECT_EQ(floor_div(4 * h, -6 * w), floor_div(-2 * h, 3 * w));
  EXPECT_EQ(str(floor_div(h + 2 - 3, 2) + 1), "floor_div(h + 1, 2)");
}

TEST_F(ExprTest, BoundsDecideQuotients) {
  EXPECT_EQ(floor_div(n, 9), 0);
  EXPECT_EQ(ceil_div(n, 8), 1);
  EXPECT_EQ(floor_div(n - 9, 8), -1);
  EXPECT_EQ(floor_div(n + h, n + h + c), 0);
  EXPECT_EQ(ceil_div(n, n + c), 1);
}

TEST_F(ExprTest, ExtremaHaveOneForm) {
  EXPECT_EQ(max(h, w), max(w, h));
  EXPECT_EQ(max(h, h), h);
  EXPECT_EQ(max(max(h, w), c), max(h, max(c, w)));
  EXPECT_EQ(max(n, 1), n);
  EXPECT_EQ(min(any, INT64_MAX), any);
  EXPECT_EQ(min(h + n, h), h);
  EXPECT_EQ(max(h, min(h, w)), h);
  EXPECT_EQ(str(max(5, max(w, h))), "max(max(h, w), 5)");
}

TEST_F(ExprTest, ComparisonsHaveOneForm) {
  EXPECT_EQ(equal(h, w), equal(w, h));
  EXPECT_EQ(equal(2 * h, 2 * w), equal(h, w));
  EXPECT_EQ(equal(h + n, w + n), equal(h, w));
  EXPECT_EQ(equal(2 * h, 2 * w + 1), 0);
  EXPECT_EQ(equal(n, 9), 0);
  EXPECT_EQ(less(n, 9), 1);
  EXPECT_EQ(less(n, 1), 0);
  EXPECT_EQ(less(2 * h, 2 * w + 1), less(h, w + 1));
  EXPECT_EQ(str(equal(h - w, 0)), "equal(h, w)");
  EXPECT_EQ(str(less(h - 3, w)), "less(h, w + 3)");
  EXPECT_EQ(str(less(0, h - 5)), "less(5, h)");
}

TEST_F(ExprTest, TruncatedQuotients) {
  EXPECT_EQ(truncated_div(h, 4), floor_div(h, 4));
  EXPECT_EQ(truncated_div(any, any + 1), floor_div(any, any + 1));
  EXPECT_EQ(truncated_div(value, 1), value);
  EXPECT_EQ(truncated_div(7, 2), 3);
  EXPECT_EQ(truncated_div(-7, 2), -3);
  EXPECT_FALSE(truncated_div(any, 0).is_valid());
  Table table;
  const Expr v = table.symbol("v", {-9, 0, 9});
  for (int64_t x = -9; x <= 9; ++x) EXPECT_EQ(evaluate(truncated_div(v, 4), {&x, 1}), x / 4) << x;
}

TEST_F(ExprTest, Limits) {
  const Expr e = 2 * h - 3 * n + 1;
  EXPECT_EQ(e.min(), 2 - 24 + 1);
  EXPECT_EQ(e.max(), 1024 - 3 + 1);
  EXPECT_EQ(e.opt(), 64 - 12 + 1);
  EXPECT_EQ((value * value).min(), 0);
  EXPECT_EQ((any * any).max(), INT64_MAX);
  EXPECT_EQ((any - 5).min(), -5);
  EXPECT_EQ(floor_div(h, n).min(), 0);
  EXPECT_EQ(floor_div(h, n).max(), 512);
  EXPECT_EQ(floor_div(value, 2).min(), INT64_MIN / 2);
}

TEST_F(ExprTest, WhatBoundsProve) {
  EXPECT_EQ(compare_equal(n, c), Truth::kUnknown);
  EXPECT_EQ(compare_equal(n + c, c + n), Truth::kYes);
  EXPECT_EQ(compare_equal(n + c, c), Truth::kNo);
  EXPECT_TRUE(provably_less_equal(h, 2 * h));
  EXPECT_TRUE(provably_less_equal(h, h * n));
  EXPECT_TRUE(provably_less_equal(c * h + w, n * c * h * w + 1));
  EXPECT_FALSE(provably_less_equal(h + 1, h * n));
  EXPECT_TRUE(provably_less(h, h + n));
  EXPECT_FALSE(provably_less(any, any * 2));
  EXPECT_TRUE(provably_less_equal(any, INT64_MAX));
}

TEST_F(ExprTest, WhatIsUndefinedIsInvalid) {
  const Expr zero = floor_div(h, 0), over = h * INT64_MAX * 2;
  EXPECT_FALSE(zero.is_valid());
  EXPECT_EQ(zero.why_invalid(), "the divisor is zero");
  EXPECT_EQ(over.why_invalid(), "a constant overflows int64");
  EXPECT_FALSE((max(zero, 1) + n).is_valid());
  EXPECT_FALSE((Expr(INT64_MAX) + 1).is_valid());
  EXPECT_FALSE(floor_div(INT64_MIN, -1).is_valid());
  EXPECT_EQ(over.constant(), std::nullopt);
  EXPECT_EQ(compare_equal(over, over), Truth::kUnknown);
}

TEST_F(ExprTest, ConditionsTellTheOtherFactors) {
  const Expr b = table.symbol("b");
  EXPECT_EQ(b * equal(b, 0), 0);
  EXPECT_EQ((b + 3) * equal(b, 0), 3 * equal(b, 0));
  EXPECT_EQ(max(b, h) * equal(b, 600), 600 * equal(b, 600));
  EXPECT_EQ(equal(b, 2) * equal(b, 3), 0);
  EXPECT_EQ(equal(b, h) * b, equal(b, h) * h);
  EXPECT_EQ(equal(b, h) * equal(b, h), equal(b, h));
  EXPECT_EQ(equal(b, 2) * floor_div(h, b + 1), equal(b, 2) * floor_div(h, 3));
  EXPECT_EQ(str(equal(any, 0) * floor_div(h, b + any)), "equal(any, 0)*floor_div(h, any + b)");  // b could be 0
  EXPECT_EQ(equal(equal(b, 0), 1), equal(b, 0));
  EXPECT_EQ(equal(equal(b, 0), 0), 1 - equal(b, 0));
  EXPECT_EQ(less(0, equal(b, 0)), equal(b, 0));
  EXPECT_EQ(floor_div(equal(b, 3) * h * 4, w), equal(b, 3) * floor_div(4 * h, w));
}

TEST_F(ExprTest, LimitsKnowConditionsAndRemainders) {
  const Expr one_of_both = n + equal(n, 1) * (c - 1);  // n, or c where n is 1
  EXPECT_EQ(one_of_both.min(), 1);
  EXPECT_EQ(one_of_both.max(), 64);
  EXPECT_EQ((n * equal(h, 3) + 5 * (1 - equal(h, 3))).max(), 8);
  const Expr rest = h - 7 * floor_div(h, 7);
  EXPECT_EQ(rest.min(), 0);
  EXPECT_EQ(rest.max(), 6);
  EXPECT_EQ((ceil_div(h, 7) * 7 - h).min(), 0);
  EXPECT_EQ((ceil_div(h, 7) * 7 - h).max(), 6);
  EXPECT_EQ(max(ceil_div(h, 4) * 4, h), ceil_div(h, 4) * 4);
}

/// The value of what an expression was made of step by step, in the same steps.
struct Grown {
  Expr e;
  int64_t value;
};

TEST_F(ExprTest, TotalOnesCannotFail) {
  EXPECT_TRUE(is_total(7));
  EXPECT_TRUE(is_total(max(h, floor_div(h * w, 2)) - less(h, w)));
  EXPECT_TRUE(is_total(floor_div(h, w + 1))) << "of an extent";
  EXPECT_FALSE(is_total(1 + floor_div(h, value)));
  EXPECT_FALSE(is_total(1 + ceil_div(h, any)));
  EXPECT_FALSE(is_total(within(value, h) * 2));
  EXPECT_FALSE(is_total(whole(real_function(RealFunction::kLog, real(value)))));
}
TEST_F(ExprTest, NothingIsTooLarge) {
  const std::vector<int64_t> at{3, 5, 100, 200, 7, 11};
  Grown all{h, 100};  // doubles as a tree in each step
  for (int i = 0; i < 3'000; ++i) {
    const Expr limit = w * (i % 7 + 1) - 50;
    all.e = floor_div(all.e * 2, n + 1) + min(max(floor_div(all.e, 2), limit), c);
    all.value = all.value * 2 / 4 + std::min(std::max(all.value / 2, 200 * (i % 7 + 1) - int64_t{50}), int64_t{5});
  }
  ASSERT_TRUE(all.e.is_valid());
  EXPECT_EQ(evaluate(all.e, at).value(), all.value);
  EXPECT_LT(str(all.e).size(), 120u);
  EXPECT_EQ(*parse(exact_text(all.e), table), all.e);
  std::vector<Expr> symbols;
  collect_symbols(all.e, symbols);
  EXPECT_EQ(symbols.size(), 4u);
  ASSERT_TRUE(table.set_bounds(h, {100, 100, 100}));
  EXPECT_GE(all.e.max(), all.value);
  std::vector<std::pair<Expr, Expr>> numbers;
  for (const Expr symbol : symbols) numbers.emplace_back(symbol, at[static_cast<size_t>(symbol.symbol_id())]);
  EXPECT_EQ(substitute(all.e, numbers), all.value);
}

TEST_F(ExprTest, DeepOperandsOnTheRight) {
  std::vector<int64_t> at(table.symbols().size() + 2'000, 1);
  Expr right = table.symbol("r0");
  for (int i = 1; i < 2'000; ++i) right = floor_div(table.symbol(str("r", i)), right);
  EXPECT_EQ(evaluate(right, at).value(), 1);
  EXPECT_EQ(*parse(exact_text(right), table), right);
}

TEST_F(ExprTest, ManyTermsFactorsAndOperands) {
  std::vector<int64_t> at(table.symbols().size(), 1);
  Expr sum = 0, product = 1, most = 0;
  for (int i = 0; i < 1'500; ++i) {
    const Expr symbol = table.symbol(str("many", i));
    at.push_back(i % 3 + (i == 7));
    sum += symbol, product *= max(symbol, 1), most = max(most, symbol);
  }
  EXPECT_EQ(evaluate(sum, at).value(), 1501);
  EXPECT_EQ(evaluate(most, at).value(), 2);
  EXPECT_EQ(sum - sum, 0);
  EXPECT_EQ(floor_div(sum * 6, 3), 2 * sum);
  for (int64_t& value : at) value = std::min<int64_t>(value, 1);
  EXPECT_EQ(evaluate(product, at).value(), 1);
  EXPECT_EQ(*parse(exact_text(sum), table), sum);
  EXPECT_EQ(*parse(exact_text(product), table), product);
  Expr power = n;
  for (int i = 0; i < 40; ++i) power = power * power + 1;
  EXPECT_EQ(evaluate(power, at).error().code, Code::kInvalidArgument);  // too large as a number
}

TEST_F(ExprTest, ProductsThatExpandTooFarStayWhole) {
  Expr a = 0, b = 0;
  for (int i = 0; i < 10; ++i) a += table.symbol(str("a", i)), b += table.symbol(str("b", i));
  const Expr p = a * b;
  EXPECT_EQ(p, b * a);
  EXPECT_EQ(p.kind(), Kind::kProd);
  EXPECT_EQ(floor_div(3 * p, p), 3);
  EXPECT_EQ(*parse(exact_text(2 * p - 1), table), 2 * p - 1);
}

}  // namespace
}  // namespace kiln::sym
