#include "sym/real.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sym/program.h"
#include "sym/table.h"
#include "sym/text.h"

namespace kiln::sym {
namespace {

Expr number(double x) { return *real_key(x); }
double value_at(Expr x, std::vector<int64_t> symbols) {
  const auto key = Program::compile(x).run(symbols);
  EXPECT_TRUE(key) << key.error().message;
  return key ? real_value(*key) : NAN;
}

TEST(Real, KeysOrderAsNumbersDo) {
  const double numbers[] = {-INFINITY, -3e38, -2.5, -1, -1e-45, 0, 1e-45, 0.3, 1, 7, 3e38, INFINITY};
  for (size_t i = 0; i < std::size(numbers); ++i) {
    EXPECT_EQ(real_value(*real_key(numbers[i])), static_cast<float>(numbers[i]));
    EXPECT_EQ(*real_key(-numbers[i]), -*real_key(numbers[i]));
    if (i > 0) {
      EXPECT_LT(*real_key(numbers[i - 1]), *real_key(numbers[i]));
    }
  }
  EXPECT_EQ(real_key(-0.0), 0);
  EXPECT_EQ(real_key(NAN), std::nullopt);
  EXPECT_EQ(real_value(INT64_MAX), INFINITY);
  EXPECT_EQ(real_value(INT64_MIN), -INFINITY);
}

TEST(Real, HalvesAndQuotientsByIntegersDissolve) {
  Table table;
  const Expr n = table.symbol("n"), m = table.symbol("m", {1, 1, INT64_MAX});
  const Expr x = real(n);
  EXPECT_EQ(whole(x), n);
  EXPECT_EQ(whole(real_function(RealFunction::kFloor, real_prod(x, number(0.5)))), floor_div(n, 2));
  EXPECT_EQ(whole(real_function(RealFunction::kCeil, real_div(x, number(4)))), ceil_div(n, 4));
  EXPECT_EQ(whole(real_function(RealFunction::kFloor, real_div(x, number(3)))), floor_div(n, 3));
  EXPECT_EQ(whole(real_div(x, real(m))), floor_div(n, m));
  EXPECT_EQ(whole(real_prod(x, number(2))), 2 * n);
  EXPECT_EQ(whole(real_sum(real_prod(x, number(1.5)), real_prod(x, number(1.5)))), 3 * n);
  EXPECT_EQ(real_sum(x, real_negative(x)), number(0));
  EXPECT_EQ(whole(real_function(RealFunction::kFloor, real_negative(real_prod(x, number(0.5))))), floor_div(-n, 2));
  EXPECT_EQ(real_less(real_prod(x, number(0.5)), real(m)), less(n, 2 * m));
  EXPECT_EQ(real_max(x, number(0)), x);
  EXPECT_EQ(real_function(RealFunction::kRound, x), x);
}

/// 0.7 * 10 is 7 in FP32, though the FP32 nearest to 0.7 is below it: a model was trained with 7.
TEST(Real, RoundsAsFloatsDo) {
  Table table;
  const Expr n = table.symbol("n"), scaled = real_prod(real(n), number(0.7F));
  const Expr floor = whole(real_function(RealFunction::kFloor, scaled));
  EXPECT_EQ(str(floor), "whole(floor(0.7*n))");
  for (int64_t at = 0; at < 5000; ++at) {
    const float product = static_cast<float>(at) * 0.7F;
    EXPECT_EQ(evaluate(floor, {{at}}), static_cast<int64_t>(std::floor(product))) << at;
    EXPECT_EQ(value_at(scaled, {at}), product);
  }
  EXPECT_EQ(evaluate(floor, {{10}}), 7);
}

TEST(Real, FunctionsHaveKnownValues) {
  Table table;
  const Expr n = table.symbol("n"), x = real(n);
  EXPECT_EQ(value_at(real_function(RealFunction::kSqrt, x), {9}), 3);
  EXPECT_EQ(value_at(real_pow(x, number(3)), {4}), 64);
  EXPECT_FLOAT_EQ(value_at(real_function(RealFunction::kExp, x), {1}), std::exp(1.0F));
  EXPECT_FLOAT_EQ(value_at(real_function(RealFunction::kLog, x), {5}), std::log(5.0F));
  EXPECT_EQ(value_at(real_function(RealFunction::kRound, real_prod(x, number(0.5))), {5}), 2) << "ties are even";
  EXPECT_EQ(value_at(real_function(RealFunction::kHalf, x), {2049}), 2048);
  EXPECT_EQ(value_at(real_function(RealFunction::kBFloat, x), {257}), 256);
  EXPECT_EQ(value_at(real_function(RealFunction::kBFloat, x), {259}), 260);
  EXPECT_EQ(*evaluate(whole(real_function(RealFunction::kExp, x)), {{1000}}), INT64_MAX);
}

TEST(Real, WhatIsNoNumberIsAnError) {
  Table table;
  const Expr n = table.symbol("n"), m = table.symbol("m");
  const auto error_of = [](Expr e, std::vector<int64_t> at) { return Program::compile(e).run(at).error().message; };
  EXPECT_EQ(error_of(real_div(real(n), real(m)), {0, 0}), "real_div(0, 0) is not a number");
  EXPECT_EQ(error_of(real_function(RealFunction::kSqrt, real_sum(real(n), number(-0.3))), {0, 0}),
            "sqrt(-0.3) is not a number");
  EXPECT_EQ(real_div(number(0), number(0)).why_invalid(), "a real is not a number");
}

TEST(Real, WordsOfPlansAreChecked) {
  const auto words = [](std::vector<int64_t> list) { return Program::from_words(list, 1); };
  const auto k = [](Kind kind) { return static_cast<int64_t>(kind); };
  EXPECT_FALSE(words({k(Kind::kConst), 1, k(Kind::kConst), 1, 14}));
  EXPECT_FALSE(words({k(Kind::kConst), 1, k(Kind::kConst), 1, k(Kind::kRealFunction) + 1}));
  const auto hostile = words({k(Kind::kSymbol), 0, k(Kind::kConst), 99, k(Kind::kRealFunction)});
  ASSERT_TRUE(hostile);
  EXPECT_FALSE(hostile->run(std::vector<int64_t>{1}));
  const auto zero = words({k(Kind::kSymbol), 0, k(Kind::kConst), 0, k(Kind::kReal)});
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero->run(std::vector<int64_t>{1}).error().message, "real(1, 0) divides by zero");
}

/// Random arithmetic: the value lies within the limits, is that of the program, and survives text and substitution.
TEST(Real, LimitsHoldAndTextIsRead) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1)); };
    Table table;
    const Expr n = table.symbol("n", {0, 3, 40}), m = table.symbol("m", {1, 2, 9});
    const double constants[] = {0.3, -0.7, 0.5, 2, -1, 1.5, 0, 1, 3};
    std::vector<Expr> made{real(n), real(m), real(n - m, 2)};
    for (int step = 0; step < 6; ++step) {
      const Expr a = made[static_cast<size_t>(pick(std::ssize(made) - 1))];
      const Expr b = pick(2) ? made[static_cast<size_t>(pick(std::ssize(made) - 1))]
                             : number(constants[pick(std::size(constants) - 1)]);
      const Expr choices[] = {real_sum(a, b),
                              real_prod(a, b),
                              real_div(a, b),
                              real_max(a, b),
                              real_min(a, b),
                              real_negative(a),
                              real_function(static_cast<RealFunction>(pick(7)), a),
                              real(whole(a)),
                              real(real_less(a, b)),
                              real(real_equal(a, b))};
      if (const Expr next = choices[pick(std::size(choices) - 1)]; next.is_valid()) made.push_back(next);
    }
    for (const Expr e : made) {
      const auto again = parse(exact_text(e), table);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(*again, e) << exact_text(e);
      for (const auto& at : {std::vector<int64_t>{0, 1}, {40, 9}, {pick(40), 1 + pick(8)}, {pick(40), 1 + pick(8)}}) {
        const auto value = evaluate(e, at);
        const auto run = Program::compile(e).run(at);
        ASSERT_EQ(value.has_value(), run.has_value());
        if (!value) continue;
        EXPECT_EQ(*value, *run);
        EXPECT_GE(*value, e.min()) << seed << ": " << str(e);
        EXPECT_LE(*value, e.max()) << seed << ": " << str(e);
        const std::pair<Expr, Expr> by[] = {{n, at[0]}, {m, at[1]}};
        const Expr known = substitute(e, by);
        if (known.is_valid()) {
          ASSERT_TRUE(known.is_const()) << str(known);
          EXPECT_EQ(known.value(), *value) << seed << ": " << exact_text(e);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kiln::sym
