#include "ops/ragged_softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::RaggedSoftmax;
using sym::Expr;

CaseInput bounds(Extents extents, std::vector<double> values) {
  return {.extents = std::move(extents), .dtype = DType::kI32, .literal = std::move(values)};
}
const CaseTable<RaggedSoftmax> kCases{
    {"lengths 0 to all, and beyond", {}, {{{5, 6}}, bounds({5, 1}, {0, 1, 4, 6, 9})}},
    {"three axes, half", {}, {{{2, 2, 33}, DType::kF16}, bounds({2, 2, 1}, {33, 1, 17, 32})}},
    {"what is masked is huge", {}, {{{2, 8}, DType::kF32, Fill::kHuge}, bounds({2, 1}, {3, 8})}},
};

TEST(RaggedSoftmax, KnownAnswer) {
  const CaseInput x = numbers({2, 3}, {0, std::log(3.0), 50, 7, 8, 9});
  const auto y = run_reference_numbers(RaggedSoftmax{}, {x, bounds({2, 1}, {2, 0})});
  ASSERT_EQ(y.size(), 6U);
  EXPECT_NEAR(y[0], 0.25, 1e-6);
  EXPECT_NEAR(y[1], 0.75, 1e-6);
  for (size_t i = 2; i < 6; ++i) EXPECT_EQ(y[i], 0) << i;
}
TEST(RaggedSoftmax, InfersSymbolically) {
  sym::Table t;
  const Expr z = t.symbol("z"), s = t.symbol("s");
  EXPECT_EQ(inferred(RaggedSoftmax{}, {{DType::kF32, {1, z, s}}, {DType::kI32, {1, z, 1}}}, t), "f32[1, z, s]");
}
TEST(RaggedSoftmax, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(RaggedSoftmax{}, {{{3}}, bounds({1}, {1})}),
            "x is f32[3]; RaggedSoftmax takes f32, f16 or bf16 of two axes at least");
  EXPECT_EQ(infer_error(RaggedSoftmax{}, {{{2, 3}}, {{2, 1}}}),
            "bounds are f32[2, 1]; i32 of x's rank is needed, x is f32[2, 3]");
  EXPECT_EQ(infer_error(RaggedSoftmax{}, {{{2, 3}}, bounds({2, 2}, {1, 1, 1, 1})}),
            "axis 1 of bounds i32[2, 2], one for each sequence of x f32[2, 3]: 2 and 1 differ");
}

}  // namespace
}  // namespace kiln
