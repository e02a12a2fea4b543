#include "ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/attention_output.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Attention;
using sym::Expr;
using Numbers = std::vector<double>;
using enum AttentionNormalization;

CaseInput flags(Extents extents, std::vector<double> values) {
  return {.extents = std::move(extents), .dtype = DType::kBool, .literal = std::move(values)};
}
const CaseTable<Attention> kCases{
    {"plain", {}, {{{2, 3, 5, 4}}, {{2, 3, 7, 4}}, {{2, 3, 7, 6}}}},
    {"causal, more queries than keys", {.causal = true}, {{{1, 2, 9, 8}}, {{1, 2, 6, 8}}, {{1, 2, 6, 8}}}},
    {"heads share keys", {.causal = true}, {{{2, 6, 4, 8}}, {{2, 2, 4, 8}}, {{2, 2, 4, 8}}}},
    {"added mask", {}, {{{2, 2, 3, 4}}, {{2, 2, 5, 4}}, {{2, 2, 5, 4}}, {{1, 2, 3, 5}}}},
    {"boolean mask", {}, {{{1, 2, 2, 4}}, {{1, 2, 3, 4}}, {{1, 2, 3, 4}}, flags({1, 1, 2, 3}, {1, 0, 1, 0, 1, 1})}},
    {"no normalization, causal",
     {.normalization = kNone, .causal = true},
     {{{1, 1, 3, 4}}, {{1, 1, 3, 4}}, {{1, 1, 3, 4}}}},
    {"quantized to i8",
     {.quantize_to = DType::kI8},
     {{{2, 2, 5, 4}}, {{2, 2, 7, 4}}, {{2, 2, 7, 6}}, {.absent = true}, numbers({}, {1.0 / 127})}},
    {"quantized to f8, causal, heads share keys",
     {.causal = true, .quantize_to = DType::kF8E4M3},
     {{{2, 4, 4, 8}}, {{2, 2, 4, 8}}, {{2, 2, 4, 8}}, {.absent = true}, numbers({1}, {1.0 / 448})}},
};
const CaseTable<ops::AttentionOutput> kOutputCases{{"copies", {}, {{{2, 3}}}}};

TEST(Attention, KnownAnswers) {
  // Scores are 0 and log 3: weights 1/4 and 3/4.
  const CaseInput q = numbers({1, 1, 1, 1}, {1}), k = numbers({1, 1, 2, 1}, {0, std::log(3.0)});
  const CaseInput v = numbers({1, 1, 2, 1}, {4, 8});
  EXPECT_NEAR(run_reference_numbers(Attention{}, {q, k, v})[0], 7, 1e-6);
  EXPECT_EQ(run_reference_numbers(Attention{.causal = true}, {q, k, v}), (Numbers{4}));
  EXPECT_EQ(run_reference_numbers(Attention{}, {q, k, v, flags({1, 1, 1, 2}, {0, 1})}), (Numbers{8}));
  const CaseInput ones = numbers({1, 1, 2, 1}, {1, 1}), mask = numbers({1, 1, 1, 2}, {2, 3});
  EXPECT_EQ(run_reference_numbers(Attention{.normalization = kNone}, {q, ones, v, mask}), (Numbers{3 * 4 + 4 * 8}));
  EXPECT_EQ(run_reference_numbers(Attention{.normalization = kNone, .causal = true}, {q, ones, v}), (Numbers{4}));
}
TEST(Attention, QuantizesNormalizedScores) {
  const CaseInput q = numbers({1, 1, 1, 1}, {1}), k = numbers({1, 1, 2, 1}, {0, std::log(3.0)});
  const CaseInput v = numbers({1, 1, 2, 1}, {4, 8}), none{.absent = true};
  const Attention bytes{.quantize_to = DType::kI8}, floats{.quantize_to = DType::kF8E4M3};
  // 1/4 and 3/4 are 1.25 and 3.75 times 0.2, rounded to 1 and 4.
  EXPECT_NEAR(run_reference_numbers(bytes, {q, k, v, none, numbers({}, {0.2})})[0], 0.2 * (4 + 4 * 8), 1e-6);
  // No more than 127 steps of 0.001.
  EXPECT_NEAR(run_reference_numbers(bytes, {q, k, v, none, numbers({1}, {0.001})})[0], 0.127 * (4 + 8), 1e-6);
  // 0.4167 and 1.25 of 0.6; f8e4m3 has 13/32 and 1.25.
  EXPECT_NEAR(run_reference_numbers(floats, {q, k, v, none, numbers({}, {0.6})})[0], 0.6 * (13.0 / 32 * 4 + 1.25 * 8),
              1e-6);
}
TEST(Attention, QueryHeadsShareNeighbouringKeys) {
  const CaseInput q = numbers({1, 4, 1, 1}, {1, 1, 1, 1}), k = numbers({1, 2, 1, 1}, {1, 1});
  EXPECT_EQ(run_reference_numbers(Attention{}, {q, k, numbers({1, 2, 1, 1}, {5, 6})}), (Numbers{5, 5, 6, 6}));
}
TEST(Attention, InfersSymbolically) {
  sym::Table t;
  const Expr b = t.symbol("b"), q = t.symbol("q"), k = t.symbol("k");
  const TensorType keys{DType::kF16, {b, 2, k, 64}};
  EXPECT_EQ(inferred(Attention{}, {{DType::kF16, {b, 8, q, 64}}, keys, keys}, t), "f16[b, 8, q, 64]");
}
TEST(Attention, SaysWhatIsWrong) {
  const CaseInput x{{1, 2, 3, 4}};
  EXPECT_EQ(infer_error(Attention{}, {{{2, 3}}, x, x}),
            "q is f32[2, 3]; f32, f16 or bf16 [batch, heads, queries, size] is needed");
  EXPECT_EQ(infer_error(Attention{}, {x, {{1, 2, 3, 4}, DType::kF16}, x}),
            "k is f16[1, 2, 3, 4] and q f32[1, 2, 3, 4]; one type and four axes are needed");
  EXPECT_EQ(infer_error(Attention{}, {{{1, 3, 3, 4}}, x, x}),
            "q is f32[1, 3, 3, 4] and k f32[1, 2, 3, 4]; the heads of q must be a multiple of those of k");
  EXPECT_EQ(infer_error(Attention{.causal = true}, {x, x, x, {{1, 1, 3, 3}}}),
            "there is a mask, and the attention is causal; one of them is possible");
  EXPECT_EQ(infer_error(Attention{}, {x, x, x, {{3, 3}}}), "mask is f32[3, 3]; bool or f32 of rank 4 is needed");
  const CaseInput none{.absent = true};
  EXPECT_EQ(infer_error(Attention{.quantize_to = DType::kI4}, {x, x, x, none, {Extents{}}}),
            "normalized scores are quantized to i4; f8e4m3 or i8 is needed");
  EXPECT_EQ(infer_error(Attention{.quantize_to = DType::kI8}, {x, x, x}),
            "normalized scores are quantized to i8, and there is no scale; setNormalizationQuantizeScale gives it");
  EXPECT_EQ(infer_error(Attention{}, {x, x, x, none, {Extents{}}}),
            "there is a scale that quantizes normalized scores, and no type; setNormalizationQuantizeToType gives it");
  EXPECT_EQ(infer_error(Attention{.quantize_to = DType::kI8}, {x, x, x, none, {{1, 1}}}),
            "the scale of normalized scores is f32[1, 1]; one number, f32, f16 or bf16, is needed");
  EXPECT_EQ(infer_error(Attention{.quantize_to = DType::kI8}, {x, x, x, none, {{3}}}),
            "the scale of normalized scores is f32[3]; one number is needed: 3 and 1 differ");
  CaseInput zero = numbers({}, {0});
  zero.constant = true;
  EXPECT_EQ(infer_error(Attention{.quantize_to = DType::kI8}, {x, x, x, none, zero}),
            "scale 0 of 1 is 0; scales are finite and positive");
}

}  // namespace
}  // namespace kiln
