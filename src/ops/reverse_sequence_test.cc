#include "ops/reverse_sequence.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::ReverseSequence;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput lengths(Numbers values, DType dtype = DType::kI64) {
  return {.extents = {static_cast<int64_t>(values.size())}, .dtype = dtype, .literal = std::move(values)};
}
const CaseTable<ReverseSequence> kCases{
    {"time first", {}, {{{7, 3, 5}}, lengths({7, 0, 4})}},
    {"batch first", {.batch_axis = 0, .sequence_axis = 1}, {{{3, 9}, DType::kF16}, lengths({1, 9, 5}, DType::kI32)}},
    {"in the middle", {.batch_axis = -1, .sequence_axis = 1}, {{{2, 6, 5, 3}, DType::kI32}, lengths({6, 2, 3})}},
};

TEST(ReverseSequence, KnownAnswers) {
  const CaseInput x = numbers({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_reference_numbers(ReverseSequence{}, {x, ints({2, 3})}), (Numbers{3, 6, 1, 4, 5, 2}));
  EXPECT_EQ(run_reference_numbers(ReverseSequence{.batch_axis = 0, .sequence_axis = 1}, {x, ints({2, 0, 1})}),
            (Numbers{2, 1, 3, 4, 5, 6}));
}
TEST(ReverseSequence, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), s = t.symbol("s"), m = t.symbol("m");
  EXPECT_EQ(inferred(ReverseSequence{}, {{DType::kF16, {s, n, 4}}, {DType::kI32, {m}}}, t), "f16[s, n, 4] if m = n");
}
TEST(ReverseSequence, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ReverseSequence{.batch_axis = 0}, {{{2, 4}}, ints({1, 1})}),
            "axis 0 of x f32[2, 4] cannot be both that of batches and of sequences");
  EXPECT_EQ(infer_error(ReverseSequence{}, {{{2, 4}}, {{4}}}), "lens are f32[4]; a vector of i32 or i64 is needed");
  EXPECT_EQ(infer_error(ReverseSequence{}, {{{2, 4}}, ints({1, 1})}),
            "lens i64[2] and axis 1 of x f32[2, 4]: 2 and 4 differ");
  EXPECT_EQ(infer_error(ReverseSequence{}, {{{2}}, ints({1})}), "axis 1 is outside [-1, 1) of x f32[2]");
}

}  // namespace
}  // namespace kiln
