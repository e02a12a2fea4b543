#include "ops/gather.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput indices(Extents extents, int64_t count, DType dtype = DType::kI32) {
  return {.extents = std::move(extents), .dtype = dtype, .fill = Fill::kIndex, .count = count};
}
const CaseTable<ops::Gather> kCases{
    {"embedding", {}, {{{30, 16}}, indices({2, 5}, 30, DType::kI64)}},
    {"a scalar index", {.axis = 1}, {{{3, 4, 5}}, indices({}, 4)}},
    {"innermost", {.axis = -1}, {{{3, 7}, DType::kF16}, indices({4}, 7)}},
    {"middle", {.axis = 1}, {{{3, 4, 5}, DType::kI8}, indices({2, 3}, 4)}},
    {"batched", {.axis = 2, .num_elementwise_dims = 1}, {{{3, 4, 5}}, indices({3, 2}, 5)}},
    {"batch broadcast", {.axis = 1, .num_elementwise_dims = 1}, {{{1, 4, 5}}, indices({3, 2}, 4)}},
    {"elements", {.mode = GatherMode::kElement, .axis = 1}, {{{3, 4, 2}}, indices({2, 6, 2}, 4)}},
    {"coordinates", {.mode = GatherMode::kNd}, {{{3, 4, 5}}, indices({6, 2}, 3)}},
    {"batched coordinates", {.mode = GatherMode::kNd, .num_elementwise_dims = 1}, {{{3, 4, 5}}, indices({3, 2, 1}, 4)}},
    {"whole coordinates", {.mode = GatherMode::kNd}, {{{3, 4}}, indices({5, 2}, 3)}},
    {"f64", {}, {{{30, 16}, DType::kF64}, indices({2, 5}, 30, DType::kI64)}},
};
const CaseInput kData = numbers({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Gather, KnownAnswers) {
  EXPECT_EQ(run_reference_numbers(ops::Gather{.axis = 1}, {kData, ints({2, -3})}), (Numbers{3, 1, 6, 4}));
  EXPECT_EQ(run_reference_numbers(ops::Gather{.axis = 0}, {kData, ints({-1})}), (Numbers{4, 5, 6}));
  EXPECT_EQ(run_reference_numbers(ops::Gather{.axis = 1, .num_elementwise_dims = 1},
                                  {kData, numbers({2, 1}, {2, 0}, DType::kI32)}),
            (Numbers{3, 4}));
  EXPECT_EQ(run_reference_numbers(ops::Gather{.mode = GatherMode::kElement, .axis = 0},
                                  {kData, numbers({1, 3}, {1, 0, 1}, DType::kI32)}),
            (Numbers{4, 2, 6}));
  EXPECT_EQ(
      run_reference_numbers(ops::Gather{.mode = GatherMode::kNd}, {kData, numbers({2, 2}, {1, 2, 0, 0}, DType::kI32)}),
      (Numbers{6, 1}));
  EXPECT_EQ(run_reference_numbers(ops::Gather{.mode = GatherMode::kNd}, {kData, numbers({1, 1}, {1}, DType::kI32)}),
            (Numbers{4, 5, 6}));
}
TEST(Gather, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), s = t.symbol("s");
  EXPECT_EQ(inferred(ops::Gather{.axis = 1}, {{DType::kF16, {n, 9, 4}}, {DType::kI64, {s, 2}}}, t), "f16[n, s, 2, 4]");
  EXPECT_EQ(
      inferred(ops::Gather{.axis = 2, .num_elementwise_dims = 1}, {{DType::kF16, {n, 9, 4}}, {DType::kI64, {n, s}}}, t),
      "f16[n, 9, s]");
  EXPECT_EQ(inferred(ops::Gather{.mode = GatherMode::kNd}, {{DType::kF16, {n, 9, 4}}, {DType::kI64, {s, 2}}}, t),
            "f16[s, 4]");
  EXPECT_EQ(inferred(ops::Gather{}, {values_type({n, s, 7}), {DType::kI64, {}, {1}}}, t), "i64[] {s}");
}
TEST(Gather, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Gather{}, {{{2, 3}}, {{1}}}), "indices are f32[1]; i32 or i64 needed");
  EXPECT_EQ(infer_error(ops::Gather{}, {ints({4, 5}), ints({2})}), "index 2 is outside [-2, 2) of axis 0 of data");
}

}  // namespace
}  // namespace kiln
