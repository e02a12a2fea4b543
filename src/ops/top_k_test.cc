#include "ops/top_k.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::TopK;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput count(double k) { return {.extents = {1}, .dtype = DType::kI64, .literal = {k}, .constant = true}; }

const CaseTable<TopK> kCases{
    {"one of few", {}, {{{3, 7}}}},
    {"some of few, least", {.largest = false, .k = 3}, {{{5, 37}}}},
    {"all, sorted", {.k = 300}, {{{3, 300}}}},
    {"none", {.k = 0}, {{{3, 5}}}},
    {"none of nothing", {.k = 0}, {{{3, 0}}}},
    {"outermost", {.axis = 0, .k = 4}, {{{19, 33}}}},
    {"middle, i64 indices", {.largest = false, .axis = 1, .k = 5, .indices = DType::kI64}, {{{2, 70, 3}}}},
    {"k is an input", {}, {{{4, 65}}, count(6)}},
    {"k is an input of 0", {}, {{{4, 65}}, count(0)}},
    {"of 4,096", {.k = 100}, {{{2, 4096}}}},
    {"of 4,097, half", {.largest = false, .k = 2000}, {{{1, 4097}}}},
    {"few of many", {.k = 10}, {{{2, 70'001}}}},
    {"many of many", {.k = 9'000}, {{{2, 20'011}}}},
    {"many of very many", {.k = 5'000}, {{{1, 140'001}}}},
    {"all of many, along rows", {.axis = 0, .k = 5'003}, {{{5'003, 2}}}},
    {"few of many ties", {.largest = false, .k = 40}, {{{2, 30'001}, DType::kI32}}},
    {"many of many ties", {.k = 7'000}, {{{1, 20'011}, DType::kI8}}},
    {"special values", {.k = 60}, {{{3, 70}, DType::kF32, Fill::kSpecial}}},
    {"special values, least", {.largest = false, .k = 5'000}, {{{2, 9'000}, DType::kF32, Fill::kSpecial}}},
    {"halves", {.k = 17}, {{{5, 300}, DType::kF16, Fill::kSpecial}}},
    {"many halves", {.largest = false, .k = 300}, {{{2, 9'000}, DType::kF16}}},
    {"bf16", {.k = 17}, {{{5, 300}, DType::kBF16, Fill::kSpecial}}},
    {"int32", {.k = 7}, {{{5, 33}, DType::kI32}}},
    {"int64", {.k = 7}, {{{5, 33}, DType::kI64}}},
    {"many int64, least", {.largest = false, .k = 500}, {{{2, 9'000}, DType::kI64}}},
    {"all of many int64", {.k = 5'000}, {{{1, 5'000}, DType::kI64}}},
    {"int8", {.largest = false, .k = 7}, {{{5, 33}, DType::kI8}}},
    {"uint8", {.k = 7}, {{{5, 33}, DType::kU8}}},
};

/// The values, and the indices behind them.
Numbers top(const TopK& op, const CaseInput& x) {
  const HostTensor input = fill_input({"x", op, {x}}, 0);
  const auto outputs = run_reference(op, std::span(&input, 1));
  EXPECT_TRUE(outputs) << outputs.error().message;
  Numbers result;
  for (const HostTensor& output : *outputs)
    for (const double number : View(output).numbers()) result.push_back(number);
  return result;
}

TEST(TopK, KnownAnswers) {
  const CaseInput x = numbers({2, 4}, {1, 3, 2, 3, -5, -7, 0, -6});
  EXPECT_EQ(top({.k = 3}, x), (Numbers{3, 3, 2, 0, -5, -6, 1, 3, 2, 2, 0, 3}));
  EXPECT_EQ(top({.largest = false, .k = 2}, x), (Numbers{1, 2, -7, -6, 0, 2, 1, 3}));
  EXPECT_EQ(top({.axis = 0, .k = 1}, x), (Numbers{1, 3, 2, 3, 0, 0, 0, 0}));
  EXPECT_EQ(top({.k = 2}, numbers({3}, {-128, 127, 3}, DType::kI8)), (Numbers{127, 3, 1, 2}));
  EXPECT_EQ(top({.k = 2}, numbers({3}, {128, 127, 3}, DType::kU8)), (Numbers{128, 127, 0, 1}));
}
TEST(TopK, NaNIsAboveInfinity) {
  const CaseInput x = numbers({5}, {1, -INFINITY, NAN, INFINITY, NAN});
  const Numbers greatest = top({.k = 4}, x), least = top({.largest = false, .k = 4}, x);
  EXPECT_EQ(Numbers(greatest.begin() + 4, greatest.end()), (Numbers{2, 4, 3, 0}));
  EXPECT_EQ(Numbers(least.begin() + 4, least.end()), (Numbers{1, 0, 3, 2}));
}
TEST(TopK, ZerosOfBothSignsAreEqual) {
  EXPECT_EQ(top({.k = 3}, numbers({3}, {-0.0, 0.0, -0.0})), (Numbers{0, 0, 0, 0, 1, 2}));
}
TEST(TopK, InfersSymbolically) {
  sym::Table t;
  const Expr b = t.symbol("b"), n = t.symbol("n"), k = t.symbol("k");
  EXPECT_EQ(inferred(TopK{.k = 3}, {{DType::kF16, {b, 9}}}, t), "f16[b, 3]");
  EXPECT_EQ(inferred(TopK{.axis = 0}, {{DType::kF32, {n, 9}}, values_type({k})}, t), "f32[k, 9] if k <= n");
}
TEST(TopK, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(TopK{.k = 5}, {{{2, 4}}}), "k 5 is above extent 4 of axis 1 of x f32[2, 4]");
  EXPECT_EQ(infer_error(TopK{}, {{{2, 4}}, ints({-1})}), "k is -1; a count is needed");
  EXPECT_EQ(infer_error(TopK{}, {{{2, 4}}, ints({1, 1})}), "k is i64[2]; one i32 or i64 is needed");
  EXPECT_EQ(infer_error(TopK{.axis = 2}, {{{2, 4}}}), "axis 2 is outside [-2, 2) of x f32[2, 4]");
  EXPECT_EQ(infer_error(TopK{}, {{{}}}), "axis -1 is outside [0, 0) of x f32[]");
  EXPECT_EQ(infer_error(TopK{}, {{{4}, DType::kBool}}), "x is bool[4]; TopK takes numbers, so cast it");
  EXPECT_EQ(infer_error(TopK{.indices = DType::kF32}, {{{4}}}), "indices of f32; i32 or i64 needed");
}

}  // namespace
}  // namespace kiln
