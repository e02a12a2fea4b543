#include "ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using ops::Reduce;
using ops::ReduceKind;

const CaseTable<Reduce> kCases{
    {"sum, innermost", {.axes = {-1}}, {{{7, 33}}}},
    {"sum, outermost", {.axes = {0}}, {{{17, 29}}}},
    {"sum, middle, kept", {.axes = {1}, .keep = true}, {{{3, 101, 5}}}},
    {"sum of all", {.axes = {0, 1, 2}}, {{{3, 7, 11}}}},
    {"sum, neither neighbours", {.axes = {0, 2}}, {{{5, 4, 9, 3}}}},
    {"sum, neither neighbours, kept", {.axes = {3, 1}, .keep = true}, {{{2, 5, 3, 7}}}},
    {"sum of many", {.axes = {1}}, {{{2, 70'001}}}},
    {"sum over no axis", {.axes = {}}, {{{2, 3}}}},
    {"prod", {.kind = ReduceKind::kProd, .axes = {1}}, {{{5, 13}, DType::kF32, Fill::kPositive}}},
    {"max", {.kind = ReduceKind::kMax, .axes = {1}}, {{{5, 37}}}},
    {"max, strided", {.kind = ReduceKind::kMax, .axes = {0}}, {{{13, 37}}}},
    {"max of special values", {.kind = ReduceKind::kMax, .axes = {1}}, {{{31, 9}, DType::kF32, Fill::kSpecial}}},
    {"min", {.kind = ReduceKind::kMin, .axes = {2}}, {{{2, 3, 65}}}},
    {"avg of an image", {.kind = ReduceKind::kAvg, .axes = {2, 3}, .keep = true}, {{{2, 19, 7, 7}}}},
    {"avg of channels last", {.kind = ReduceKind::kAvg, .axes = {1, 2}}, {{{2, 7, 7, 19}}}},
    {"empty batch", {.axes = {1}}, {{{0, 3}}}},
    {"max of nothing", {.kind = ReduceKind::kMax, .axes = {1}}, {{{3, 0}}}},
    {"half", {.kind = ReduceKind::kAvg, .axes = {1}}, {{{5, 300}, DType::kF16}}},
    {"int32", {.axes = {1}}, {{{5, 33}, DType::kI32}}},
    {"int32, max, strided", {.kind = ReduceKind::kMax, .axes = {0}}, {{{5, 33}, DType::kI32}}},
    {"int64, prod", {.kind = ReduceKind::kProd, .axes = {1}}, {{{5, 7}, DType::kI64}}},
    {"int64, avg", {.kind = ReduceKind::kAvg, .axes = {0}}, {{{5, 7}, DType::kI64}}},
    {"int8, max", {.kind = ReduceKind::kMax, .axes = {0}}, {{{5, 7}, DType::kI8}}},
    {"f64, sum", {.axes = {1}}, {{{3, 4003}, DType::kF64}}, 1e-12},
    {"f64, sum, outermost", {.axes = {0}}, {{{17, 29}, DType::kF64}}, 1e-12},
    {"f64, sum, neither neighbours", {.axes = {0, 2}}, {{{5, 4, 9, 3}, DType::kF64}}},
    {"f64, prod", {.kind = ReduceKind::kProd, .axes = {1}}, {{{5, 13}, DType::kF64, Fill::kPositive}}, 1e-12},
    {"f64, max of special values", {.kind = ReduceKind::kMax, .axes = {1}}, {{{31, 9}, DType::kF64, Fill::kSpecial}}},
    {"f64, min of special values", {.kind = ReduceKind::kMin, .axes = {0}}, {{{9, 31}, DType::kF64, Fill::kSpecial}}},
    {"f64, avg", {.kind = ReduceKind::kAvg, .axes = {1}, .keep = true}, {{{5, 37, 3}, DType::kF64}}, 1e-12},
};

CaseInput i32(Extents extents, std::vector<double> values) { return {extents, DType::kI32, Fill::kNormal, values}; }

TEST(Reduce, KnownAnswers) {
  const std::vector<CaseInput> x{{{2, 3}, DType::kF64, Fill::kNormal, {1, 2, 3, 4, 5, 9}}};
  const auto run = [&](ReduceKind kind, std::vector<int64_t> axes) {
    return run_reference_numbers(Reduce{.kind = kind, .axes = axes}, x);
  };
  EXPECT_EQ(run(ReduceKind::kSum, {1}), (std::vector<double>{6, 18}));
  EXPECT_EQ(run(ReduceKind::kSum, {0}), (std::vector<double>{5, 7, 12}));
  EXPECT_EQ(run(ReduceKind::kProd, {-1}), (std::vector<double>{6, 180}));
  EXPECT_EQ(run(ReduceKind::kMax, {0, 1}), (std::vector<double>{9}));
  EXPECT_EQ(run(ReduceKind::kMin, {0}), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(run(ReduceKind::kAvg, {1}), (std::vector<double>{2, 6}));
}
TEST(Reduce, IntegersAreExact) {
  const Op sum = Reduce{.axes = {0}}, product = Reduce{.kind = ReduceKind::kProd, .axes = {0}};
  const std::vector<int64_t> large{(int64_t{1} << 62) + 1, 2};
  const HostTensor x = HostTensor::of_ints(DType::kI64, {2}, large);
  EXPECT_EQ(View((*run_reference(sum, std::span(&x, 1)))[0]).integer(0), (int64_t{1} << 62) + 3);
  EXPECT_EQ(run_reference_numbers(sum, {i32({2}, {2147483647, 2})}), (std::vector<double>{-2147483647}));  // wraps
  EXPECT_EQ(run_reference_numbers(product, {i32({2}, {65536, 65537})}), (std::vector<double>{65536}));
  EXPECT_EQ(run_reference_numbers(Reduce{.kind = ReduceKind::kAvg, .axes = {0}}, {i32({2}, {-3, -4})}),
            (std::vector<double>{-3}));  // -3.5 towards zero
}
TEST(Reduce, OfNothing) {
  const auto run = [](ReduceKind kind, DType dtype) {
    return run_reference_numbers(Reduce{.kind = kind, .axes = {1}}, {{{1, 0}, dtype}})[0];
  };
  EXPECT_EQ(run(ReduceKind::kSum, DType::kF32), 0);
  EXPECT_EQ(run(ReduceKind::kProd, DType::kF16), 1);
  EXPECT_EQ(run(ReduceKind::kMax, DType::kF32), -INFINITY);
  EXPECT_EQ(run(ReduceKind::kMin, DType::kF32), INFINITY);
  EXPECT_TRUE(std::isnan(run(ReduceKind::kAvg, DType::kF32)));
  EXPECT_EQ(run(ReduceKind::kMax, DType::kI32), -2147483648.0);
  EXPECT_EQ(run(ReduceKind::kMin, DType::kI32), 2147483647);
  EXPECT_EQ(run(ReduceKind::kMax, DType::kI8), -128);
  EXPECT_EQ(run(ReduceKind::kMax, DType::kU8), 0);
  EXPECT_EQ(run(ReduceKind::kMin, DType::kU8), 255);
  EXPECT_EQ(run(ReduceKind::kAvg, DType::kI32), 0);
}
TEST(Reduce, NanStaysNan) {
  for (const std::vector<double>& values : {std::vector<double>{NAN, 1}, std::vector<double>{1, NAN}})
    for (const ReduceKind kind : {ReduceKind::kMax, ReduceKind::kMin})
      EXPECT_TRUE(std::isnan(
          run_reference_numbers(Reduce{.kind = kind, .axes = {0}}, {{{2}, DType::kF32, Fill::kNormal, values}})[0]));
}
TEST(Reduce, SymbolicShapesAndValues) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", {1, 2, 8}), h = table.symbol("h", {1, 2, 8});
  const TensorType x(DType::kF32, {n, 3, h});
  const std::vector<InferInput> inputs{{&x}};
  EXPECT_EQ(str((*infer_types(Reduce{.axes = {-1}, .keep = true}, inputs, table))[0]), "f32[n, 3, 1]");
  EXPECT_EQ(str((*infer_types(Reduce{.axes = {1}}, inputs, table))[0]), "f32[n, h]");

  const TensorType shape(DType::kI64, {4}, SymbolicValues{n, 3, h, 5});
  const std::vector<InferInput> of_shape{{&shape}};
  const auto value = [&](ReduceKind kind) {
    return (*(*infer_types(Reduce{.kind = kind, .axes = {0}}, of_shape, table))[0].values)[0];
  };
  EXPECT_EQ(value(ReduceKind::kProd), n * h * 15);
  EXPECT_EQ(value(ReduceKind::kSum), n + h + 8);
  EXPECT_EQ(value(ReduceKind::kMax), sym::max(sym::max(n, h), 5));
  const TensorType pairs(DType::kI32, {2, 2}, SymbolicValues{n, 3, h, 5});
  const std::vector<InferInput> of_pairs{{&pairs}};
  EXPECT_EQ(*(*infer_types(Reduce{.axes = {0}}, of_pairs, table))[0].values, (SymbolicValues{n + h, 8}));
  EXPECT_EQ(*(*infer_types(Reduce{.axes = {1}, .keep = true}, of_pairs, table))[0].values,
            (SymbolicValues{n + 3, h + 5}));
}
TEST(Reduce, ValuesOfThousandsOfSymbols) {
  sym::Table table;
  SymbolicValues values;
  for (int i = 0; i < 2000; ++i) values.push_back(table.symbol(str("n", i), {1, 2, 8}));
  const TensorType shapes(DType::kI64, {2000}, values);
  const std::vector<InferInput> inputs{{&shapes}};
  for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin}) {
    const sym::Expr all = (*(*infer_types(Reduce{.kind = kind, .axes = {0}}, inputs, table))[0].values)[0];
    std::vector<int64_t> numbers(2000, 3);
    numbers[777] = 5;
    numbers[1999] = 2;
    EXPECT_EQ(sym::evaluate(all, numbers), kind == ReduceKind::kSum ? 6001 : kind == ReduceKind::kMax ? 5 : 2);
  }
}
TEST(Reduce, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Reduce{.axes = {3}}, {{{2, 3}}}), "axis 3 is outside [-2, 2) of x f32[2, 3]");
  EXPECT_EQ(infer_error(Reduce{.axes = {1, -1}}, {{{2, 3}}}), "axis 1 is reduced twice: axes is [1, -1]");
  EXPECT_EQ(infer_error(Reduce{.axes = {1}}, {{{2, 3}, DType::kBool}}),
            "x is bool[2, 3]; Reduce takes numbers, so cast it");
}

}  // namespace
}  // namespace kiln
