#include "ops/moe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Moe;
using sym::Expr;

CaseInput experts(Extents extents, int64_t count) {
  return {.extents = std::move(extents), .dtype = DType::kI32, .fill = Fill::kIndex, .count = count};
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
