#include "ops/rotary_embedding.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::RotaryEmbedding;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput positions(Extents extents, int64_t count, DType dtype = DType::kI64) {
  return {.extents = std::move(extents), .dtype = dtype, .fill = Fill::kIndex, .count = count};
}
const CaseTable<RotaryEmbedding> kCases{
    {"halves", {}, {{{2, 3, 5, 8}}, {{2, 5, 4}}, {{2, 5, 4}}}},
    {"interleaved", {.interleaved = true}, {{{2, 3, 5, 8}}, {{2, 5, 4}}, {{2, 5, 4}}}},
    {"a part, by position", {.dim = 4}, {{{2, 3, 5, 10}}, {{7, 2}}, {{7, 2}}, positions({2, 5}, 7)}},
    {"interleaved, a part, by position, half",
     {.interleaved = true, .dim = 6},
     {{{1, 2, 9, 8}, DType::kF16}, {{4, 3}, DType::kF16}, {{4, 3}, DType::kF16}, positions({1, 9}, 4, DType::kI32)}},
};

TEST(RotaryEmbedding, KnownAnswers) {
  const CaseInput x = numbers({1, 1, 1, 4}, {1, 2, 3, 4});
  const CaseInput cos = numbers({1, 1, 2}, {0, 1}), sin = numbers({1, 1, 2}, {1, 0});
  // Turns the first pair by a right angle: (a, b) becomes (-b, a).
  EXPECT_EQ(run_reference_numbers(RotaryEmbedding{}, {x, cos, sin}), (Numbers{-3, 2, 1, 4}));
  EXPECT_EQ(run_reference_numbers(RotaryEmbedding{.interleaved = true}, {x, cos, sin}), (Numbers{-2, 1, 3, 4}));
  const CaseInput by_row = numbers({2, 1}, {1, 0}), sines = numbers({2, 1}, {0, 1});
  const CaseInput second{.extents = {1, 1}, .dtype = DType::kI32, .literal = {1}};
  EXPECT_EQ(run_reference_numbers(RotaryEmbedding{.dim = 2}, {x, by_row, sines, second}), (Numbers{-2, 1, 3, 4}));
}
TEST(RotaryEmbedding, InfersSymbolically) {
  sym::Table t;
  const Expr b = t.symbol("b"), s = t.symbol("s");
  const TensorType cache{DType::kF16, {b, s, 32}};
  EXPECT_EQ(inferred(RotaryEmbedding{}, {{DType::kF16, {b, 2, s, 64}}, cache, cache}, t), "f16[b, 2, s, 64]");
}
TEST(RotaryEmbedding, SaysWhatIsWrong) {
  const CaseInput x{{1, 2, 3, 8}};
  EXPECT_EQ(infer_error(RotaryEmbedding{}, {{{2, 3}}, {{1}}, {{1}}}),
            "x is f32[2, 3]; f32, f16 or bf16 [batch, heads, length, size] is needed");
  EXPECT_EQ(infer_error(RotaryEmbedding{.dim = 3}, {x, {{1, 3, 4}}, {{1, 3, 4}}}),
            "of heads of size 8, 3 channels are to be rotated; an even number up to the size is needed");
  EXPECT_EQ(infer_error(RotaryEmbedding{}, {x, {{3, 4}}, {{3, 4}}}),
            "cos is f32[3, 4]; f32 [batch, length, 4] is needed");
  EXPECT_EQ(infer_error(RotaryEmbedding{}, {x, {{1, 3, 4}}, {{1, 3, 3}}}),
            "channels of sin f32[1, 3, 3], half of those rotated: 3 and 4 differ");
  EXPECT_EQ(infer_error(RotaryEmbedding{}, {x, {{5, 4}}, {{5, 4}}, {{1, 3}}}),
            "positions are f32[1, 3]; i32 or i64 [batch, length] are needed");
}

}  // namespace
}  // namespace kiln
