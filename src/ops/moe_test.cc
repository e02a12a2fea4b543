#include "ops/moe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Moe;
using sym::Expr;
using enum MoeQuantization;

CaseInput experts(Extents extents, int64_t count) {
  return {.extents = std::move(extents), .dtype = DType::kI32, .fill = Fill::kIndex, .count = count};
}
/// Tokens of these extents through two of five experts of `inner` channels, without biases, and a scale.
std::vector<CaseInput> quantized(const Extents& x, int64_t inner, CaseInput scale) {
  const Extents chosen{x[0], x[1], 2}, in{5, x[2], inner}, out{5, inner, x[2]};
  const CaseInput none{.absent = true};
  return {{x}, experts(chosen, 5), {chosen}, {in}, {in}, {out}, none, none, none, std::move(scale)};
}
const CaseTable<Moe> kCases{
    {"two of five", {}, {{{2, 3, 8}}, experts({2, 3, 2}, 5), {{2, 3, 2}}, {{5, 8, 6}}, {{5, 8, 6}}, {{5, 6, 8}}}},
    {"biases, limits",
     {.limit = 1.5, .alpha = 1.702, .beta = 1},
     {{{1, 4, 6}},
      experts({1, 4, 3}, 4),
      {{1, 4, 3}},
      {{4, 6, 5}},
      {{4, 6, 5}},
      {{4, 5, 6}},
      {{4, 5}},
      {{4, 5}},
      {{4, 6}}}},
    {"no activation",
     {.activation = MoeActivation::kNone},
     {{{1, 1, 4}}, experts({1, 1, 1}, 3), {{1, 1, 1}}, {{3, 4, 4}}, {{3, 4, 4}}, {{3, 4, 4}}}},
    {"quantized, a scale an expert",
     {.quantization = kStatic, .quantize_to = DType::kF8E4M3},
     quantized({2, 3, 8}, 16, numbers({5}, {0.01, 0.02, 0.03, 0.04, 0.05}))},
    {"quantized, one scale",
     {.quantization = kStatic, .quantize_to = DType::kF8E4M3},
     quantized({1, 2, 8}, 16, numbers({}, {0.02}))},
    {"blocks of f4",
     {.quantization = kDynamic, .quantize_to = DType::kF4E2M1, .scale_type = DType::kF8E4M3, .block = {16}},
     quantized({1, 3, 8}, 32, numbers({1}, {0.004}))},
    {"blocks of f8, powers of two",
     {.quantization = kDynamic, .quantize_to = DType::kF8E4M3, .scale_type = DType::kE8M0, .block = {1, 1, 32}},
     quantized({2, 2, 8}, 64, numbers({}, {0.5}))},
};

/// One token of one channel, two experts of one inner channel.
std::vector<CaseInput> small(std::vector<double> selected, std::vector<double> scores) {
  const auto k = static_cast<int64_t>(selected.size());
  return {numbers({1, 1, 1}, {2}),
          {.extents = {1, 1, k}, .dtype = DType::kI32, .literal = std::move(selected)},
          numbers({1, 1, k}, std::move(scores)),
          numbers({2, 1, 1}, {1, 3}),
          numbers({2, 1, 1}, {5, -5}),
          numbers({2, 1, 1}, {1, 10})};
}

TEST(Moe, KnownAnswers) {
  const Moe linear{.activation = MoeActivation::kNone};
  // Expert 0: 2 * 10 * 1; expert 1: 6 * -10 * 10.
  EXPECT_EQ(run_reference_numbers(linear, small({0, 1}, {1, 0.5})), (std::vector<double>{20 - 300}));
  EXPECT_EQ(run_reference_numbers(linear, small({-1}, {1})), (std::vector<double>{-600}));
  const Moe limited{.activation = MoeActivation::kNone, .limit = 4, .beta = 1};  // 4 * (-4 + 1) * 10
  EXPECT_EQ(run_reference_numbers(limited, small({1}, {1})), (std::vector<double>{-120}));
  EXPECT_NEAR(run_reference_numbers(Moe{}, small({0}, {1}))[0], 2 / (1 + std::exp(-2.0)) * 10, 1e-5);
  auto biased = small({0}, {1});
  for (const double bias : {1.0, -8.0, 7.0}) biased.push_back(numbers({2, 1}, {bias, 0}));
  EXPECT_EQ(run_reference_numbers(linear, biased), (std::vector<double>{(2 + 1) * (10 - 8) + 7}));
}
TEST(Moe, QuantizesWhatTheLastProductReads) {
  const CaseInput none{.absent = true};
  const auto with = [&](CaseInput scale) {
    auto inputs = small({0, 1}, {1, 0.5});  // inner results are 2 * 10 and 6 * -10
    inputs.insert(inputs.end(), {none, none, none, std::move(scale)});
    return inputs;
  };
  Moe op{.activation = MoeActivation::kNone, .quantization = kStatic, .quantize_to = DType::kF8E4M3};
  // 20 / 0.1 is 200, of which f8e4m3 has 208 and 192 (a tie, to even); -60 / 0.1 is beyond -448.
  EXPECT_NEAR(run_reference_numbers(op, with(numbers({}, {0.1})))[0], 19.2 - 44.8 * 5, 1e-4);
  // Expert 1 has a scale of its own: -60 / 3 is there.
  EXPECT_NEAR(run_reference_numbers(op, with(numbers({2}, {0.1, 3})))[0], 19.2 - 60 * 5, 1e-4);
  // A block of one channel. Its scale is 20 / 448 / 0.5 = 0.0893, of which e8m0 has 1/8: 20 / (1/8 * 0.5) is 320.
  op.quantization = kDynamic, op.scale_type = DType::kE8M0, op.block = {1};
  EXPECT_NEAR(run_reference_numbers(op, with(numbers({}, {0.5})))[0], 20 - 60 * 5, 1e-4);
  // 20 / 6 is 3.33, of which f8e4m3 has 3.25: 6.15 rounds to 6. 60 / 6 is there.
  op.quantize_to = DType::kF4E2M1, op.scale_type = DType::kF8E4M3;
  EXPECT_NEAR(run_reference_numbers(op, with(numbers({}, {1})))[0], 6 * 3.25 - 60 * 5, 1e-4);
}
TEST(Moe, InfersSymbolically) {
  sym::Table t;
  const Expr b = t.symbol("b"), s = t.symbol("s");
  const TensorType in{DType::kF16, {8, 64, 32}}, out{DType::kF16, {8, 32, 64}};
  EXPECT_EQ(
      inferred(Moe{}, {{DType::kF16, {b, s, 64}}, {DType::kI64, {b, s, 2}}, {DType::kF16, {b, s, 2}}, in, in, out}, t),
      "f16[b, s, 64]");
}
TEST(Moe, SaysWhatIsWrong) {
  std::vector<CaseInput> inputs{{{1, 3, 8}}, experts({1, 3, 2}, 4), {{1, 3, 2}}};
  EXPECT_EQ(infer_error(Moe{}, inputs), "there are no weights; setGatedWeights gives them");
  for (const Extents& extents : {Extents{4, 8, 6}, Extents{4, 8, 6}, Extents{4, 6, 8}}) inputs.push_back({extents});
  EXPECT_EQ(infer_error(Moe{}, inputs), "");
  EXPECT_EQ(infer_error(Moe{.quantize_to = DType::kF8E4M3}, inputs),
            "quantizationToType is f8e4m3, and there is no scale; setQuantizationStatic or setQuantizationDynamicDblQ "
            "gives one");
  {
    const CaseInput none{.absent = true};
    auto scaled = inputs;
    scaled.insert(scaled.end(), {none, none, none, {{3}}});
    EXPECT_EQ(infer_error(Moe{.quantization = kStatic, .quantize_to = DType::kF8E4M3}, scaled),
              "fcDownActivationScale f32[3] of 4 experts: 4 and 3 differ");
    scaled.back() = {{4}};
    EXPECT_EQ(infer_error(Moe{.quantization = kStatic, .quantize_to = DType::kI8}, scaled),
              "quantizationToType is i8; a scale that is given quantizes to f8e4m3");
    Moe op{.quantization = kDynamic, .quantize_to = DType::kI8, .scale_type = DType::kF8E4M3, .block = {1, 3}};
    EXPECT_EQ(infer_error(op, scaled), "fcDownActivationScale f32[4] of 4 experts: 4 and 1 differ");
    scaled.back() = {Extents{}};
    EXPECT_EQ(infer_error(op, scaled), "quantizationToType is i8; blocks are quantized to f4e2m1 or f8e4m3");
    op.quantize_to = DType::kF4E2M1;
    EXPECT_EQ(infer_error(op, scaled), "");
    op.block = {4};
    EXPECT_EQ(infer_error(op, scaled), "blocks of 4 do not divide the 6 inner channels");
    op.block = {2, 3};
    EXPECT_EQ(infer_error(op, scaled),
              "quantizationBlockShape is [2, 3]; ones are needed, and then how many inner channels share a scale");
    op.scale_type = DType::kF32;
    EXPECT_EQ(infer_error(op, scaled), "dynQOutputScaleType is f32; scales of blocks are f8e4m3 or e8m0");
  }
  inputs.push_back({{4, 6}});
  EXPECT_EQ(infer_error(Moe{}, inputs), "there are 1 biases of 3; all or none are needed");
  inputs.pop_back();
  inputs[5] = {{4, 8, 6}};
  EXPECT_EQ(infer_error(Moe{}, inputs), "axis 1 of fcDownWeights f32[4, 8, 6]: 8 and 6 differ");
  inputs[2] = {{1, 3}};
  EXPECT_EQ(infer_error(Moe{}, inputs), "scoresForSelectedExperts are f32[1, 3]; f32 of 3 axes is needed");
}

}  // namespace
}  // namespace kiln
