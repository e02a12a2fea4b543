#include "ops/cumulative.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Cumulative;
using sym::Expr;
using Numbers = std::vector<double>;
constexpr auto kProd = CumulativeOperation::kProd;

const CaseTable<Cumulative> kCases{
    {"rows", {.axis = -1}, {{{5, 300}}}},
    {"rows, reverse", {.axis = 1, .reverse = true}, {{{3, 37}}}},
    {"columns, exclusive", {.axis = 0, .exclusive = true}, {{{19, 133}}}},
    {"middle, both", {.axis = 1, .exclusive = true, .reverse = true}, {{{2, 70, 3}}}},
    {"axis is an input", {}, {{{4, 65}}, {.extents = {}, .dtype = DType::kI32, .literal = {1}, .constant = true}}},
    {"long rows", {.axis = 1}, {{{2, 20'011}, DType::kF32, Fill::kPositive}}},
    {"long rows, both", {.axis = 1, .exclusive = true, .reverse = true}, {{{2, 9'000}, DType::kI32}}},
    {"long columns", {.axis = 0, .reverse = true}, {{{9'001, 3}, DType::kI64}}},
    {"half", {.axis = 1}, {{{5, 33}, DType::kF16}}},
    {"bf16", {.axis = 1}, {{{5, 33}, DType::kBF16}}},
    {"empty", {.axis = 1}, {{{3, 0}}}},
    {"products of rows", {.operation = kProd, .axis = -1}, {{{5, 300}, DType::kF32, Fill::kPositive}}},
    {"products of columns, exclusive", {.operation = kProd, .axis = 0, .exclusive = true}, {{{19, 133}}}},
    {"products from the end", {.operation = kProd, .axis = 1, .reverse = true}, {{{2, 70, 3}}}},
    {"products, both", {.operation = kProd, .axis = 1, .exclusive = true, .reverse = true}, {{{700, 4}}}},
    {"products of integers", {.operation = kProd, .axis = 1}, {{{3, 37}, DType::kI32}}},
    {"products of long integers", {.operation = kProd, .axis = 0}, {{{9'001, 3}, DType::kI64, Fill::kPositive}}},
    {"products of halves", {.operation = kProd, .axis = 1}, {{{5, 33}, DType::kF16}}},
    {"products of bf16", {.operation = kProd, .axis = 1}, {{{5, 33}, DType::kBF16}}},
    {"f64", {.axis = 1}, {{{5, 300}, DType::kF64}}, 1e-12},
    {"f64, long rows, both", {.axis = 1, .exclusive = true, .reverse = true}, {{{2, 9'000}, DType::kF64}}, 1e-12},
    {"f64, products of columns", {.operation = kProd, .axis = 0}, {{{19, 133}, DType::kF64}}, 1e-12},
    {"products along nothing", {.operation = kProd, .axis = 1}, {{{3, 0}}}},
};

TEST(Cumulative, KnownAnswers) {
  const CaseInput x = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_reference_numbers(Cumulative{.axis = 1}, {x}), (Numbers{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(run_reference_numbers(Cumulative{.axis = 0}, {x}), (Numbers{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(run_reference_numbers(Cumulative{.axis = -1, .exclusive = true}, {x}), (Numbers{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(run_reference_numbers(Cumulative{.axis = 1, .reverse = true}, {x}), (Numbers{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(run_reference_numbers(Cumulative{.axis = 1, .exclusive = true, .reverse = true}, {x}),
            (Numbers{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(run_reference_numbers(Cumulative{}, {numbers({3}, {2147483647, 1, 1}, DType::kI32)}),
            (Numbers{2147483647, -2147483648, -2147483647}));
}
TEST(Cumulative, KnownProducts) {
  const CaseInput x = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto of = [&](Cumulative op) {
    op.operation = kProd;
    return run_reference_numbers(op, {x});
  };
  EXPECT_EQ(of({.axis = 1}), (Numbers{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(of({.axis = 0, .exclusive = true}), (Numbers{1, 1, 1, 1, 2, 3}));
  EXPECT_EQ(of({.axis = 1, .reverse = true}), (Numbers{6, 6, 3, 120, 30, 6}));
  EXPECT_EQ(of({.axis = 1, .exclusive = true, .reverse = true}), (Numbers{6, 3, 1, 30, 6, 1}));
  EXPECT_EQ(run_reference_numbers(Cumulative{.operation = kProd}, {numbers({3}, {65536, 32768, 2}, DType::kI32)}),
            (Numbers{65536, -2147483648, 0}));
}
TEST(Cumulative, FollowsValues) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(Cumulative{}, {values_type({n, 3, n})}, t), "i64[3] {n, n + 3, 2*n + 3}");
  EXPECT_EQ(inferred(Cumulative{.operation = kProd}, {values_type({n, 3, n})}, t), "i64[3] {n, 3*n, 3*n*n}");
}
TEST(Cumulative, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Cumulative{.axis = 2}, {{{2, 4}}}), "axis 2 is outside [-2, 2) of x f32[2, 4]");
  EXPECT_EQ(infer_error(Cumulative{}, {{{2, 4}, DType::kBool}}),
            "x is bool[2, 4]; Cumulative takes numbers, so cast it");
  EXPECT_EQ(infer_error(Cumulative{}, {{{2, 4}}, ints({0, 1})}), "axis is i64[2]; one i32 or i64 is needed");
}

}  // namespace
}  // namespace kiln
