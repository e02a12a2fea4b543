#include "ops/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using ops::Convolution;
using ops::PaddingMode;

CaseInput weights(Extents extents, DType dtype = DType::kF32) {
  return {.extents = extents, .dtype = dtype, .constant = true};
}

const CaseTable<Convolution> kCases{
    {"1x1", {}, {{{1, 16, 5, 7}}, weights({24, 16, 1, 1}), weights({24})}},
    {"1x1, strides", {.strides = {2, 2}}, {{{2, 8, 7, 9}}, weights({5, 8, 1, 1})}},
    {"3x3", {.pre_pads = {1, 1}, .post_pads = {1, 1}}, {{{2, 3, 13, 11}}, weights({17, 3, 3, 3}), weights({17})}},
    {"3x3, kernel stated", {.kernel = {3, 3}}, {{{1, 4, 5, 5}}, weights({4, 4, 3, 3})}},
    {"3x3, strides, first layer of a network",
     {.strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 3, 33, 31}}, weights({16, 3, 3, 3}), weights({16})}},
    {"7x7, strides",
     {.strides = {2, 2}, .pre_pads = {3, 3}, .post_pads = {3, 3}},
     {{{1, 3, 29, 23}}, weights({8, 3, 7, 7}), weights({8})}},
    {"asymmetric kernel, strides and pads",
     {.strides = {2, 1}, .pre_pads = {0, 2}, .post_pads = {1, 0}},
     {{{1, 5, 9, 8}}, weights({6, 5, 2, 3}), weights({6})}},
    {"dilated",
     {.pre_pads = {2, 3}, .post_pads = {2, 3}, .dilations = {2, 3}},
     {{{1, 4, 11, 13}}, weights({4, 4, 3, 3}), weights({4})}},
    {"groups",
     {.pre_pads = {1, 1}, .post_pads = {1, 1}, .groups = 3},
     {{{2, 12, 7, 7}}, weights({9, 4, 3, 3}), weights({9})}},
    {"depthwise",
     {.pre_pads = {1, 1}, .post_pads = {1, 1}, .groups = 19},
     {{{2, 19, 14, 15}}, weights({19, 1, 3, 3}), weights({19})}},
    {"depthwise, strides",
     {.strides = {2, 2}, .pre_pads = {2, 2}, .post_pads = {2, 2}, .groups = 8},
     {{{1, 8, 17, 17}}, weights({8, 1, 5, 5}), weights({8})}},
    {"depthwise, two outputs a channel", {.groups = 5}, {{{1, 5, 6, 6}}, weights({10, 1, 3, 3})}},
    {"round up",
     {.strides = {2, 2}, .padding = PaddingMode::kExplicitRoundUp},
     {{{1, 3, 8, 10}}, weights({4, 3, 3, 3})}},
    {"same upper", {.strides = {2, 3}, .padding = PaddingMode::kSameUpper}, {{{1, 3, 10, 11}}, weights({4, 3, 3, 4})}},
    {"same lower", {.strides = {1, 2}, .padding = PaddingMode::kSameLower}, {{{1, 3, 9, 10}}, weights({4, 3, 4, 3})}},
    {"same, stride beyond the kernel",
     {.strides = {3, 3}, .padding = PaddingMode::kSameUpper},
     {{{1, 2, 8, 7}}, weights({3, 2, 1, 2})}},
    {"1D",
     {.strides = {2}, .pre_pads = {3}, .post_pads = {2}, .dilations = {2}},
     {{{2, 7, 40}}, weights({11, 7, 5}), weights({11})}},
    {"1D depthwise",
     {.pre_pads = {4}, .post_pads = {4}, .groups = 13},
     {{{1, 13, 37}}, weights({13, 1, 9}), weights({13})}},
    {"1D, a long filter over one channel", {.strides = {2}}, {{{2, 1, 301}}, weights({1, 1, 256}), weights({1})}},
    {"wide kernel, few output channels",
     {.pre_pads = {1, 5}, .post_pads = {1, 5}},
     {{{1, 4, 6, 37}}, weights({3, 4, 3, 11}), weights({3})}},
    {"3D",
     {.strides = {1, 2, 1}, .pre_pads = {1, 1, 0}, .post_pads = {1, 0, 1}},
     {{{1, 3, 5, 6, 7}}, weights({4, 3, 3, 2, 3}), weights({4})}},
    {"empty batch", {}, {{{0, 3, 4, 4}}, weights({2, 3, 3, 3})}},
    {"many channels",
     {.pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 131, 6, 5}}, weights({67, 131, 3, 3}), weights({67})}},
    {"3x3 of tiles and a rest",
     {.pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 12, 9, 10}}, weights({16, 12, 3, 3}), weights({16})}},
    {"1D, five taps", {.pre_pads = {2}, .post_pads = {2}}, {{{2, 8, 21}}, weights({9, 8, 5}), weights({9})}},
    {"three taps down", {.pre_pads = {1, 0}, .post_pads = {1, 0}}, {{{1, 8, 14, 3}}, weights({8, 8, 3, 1})}},
    {"weights computed", {}, {{{1, 3, 6, 6}}, {{4, 3, 3, 3}}, {{4}}}},
    {"half",
     {.pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 16, 9, 9}, DType::kF16}, weights({8, 16, 3, 3}, DType::kF16), weights({8}, DType::kF16)}},
    {"half, 1D, a stride over few channels",
     {.strides = {2}, .pre_pads = {1}},
     {{{2, 3, 50}, DType::kF16}, weights({24, 3, 5}, DType::kF16)}},
    {"bfloat16", {}, {{{1, 8, 5, 5}, DType::kBF16}, weights({8, 8, 3, 3}, DType::kBF16)}},
};

CaseInput f64(Extents extents, std::vector<double> values) { return {extents, DType::kF64, Fill::kNormal, values}; }

TEST(Convolution, KnownAnswers) {
  // Row 1 of x is [1 2 3], row 2 [4 5 6]; w is [1 2; 3 4]: 1 + 4 + 12 + 20 and 2 + 6 + 15 + 24.
  EXPECT_EQ(run_reference_numbers(Convolution{}, {f64({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                                                  f64({1, 1, 2, 2}, {1, 2, 3, 4}), f64({1}, {100})}),
            (std::vector<double>{137, 147}));
  // Dilation 2 on one axis: x[p] + 10 * x[p + 2], padded by one zero in front.
  EXPECT_EQ(run_reference_numbers(Convolution{.pre_pads = {1}, .dilations = {2}},
                                  {f64({1, 1, 4}, {1, 2, 3, 4}), f64({1, 1, 2}, {1, 10})}),
            (std::vector<double>{20, 31, 42}));
  // Two groups: output 0 sees channel 0 only, output 1 channel 1.
  EXPECT_EQ(run_reference_numbers(Convolution{.groups = 2}, {f64({1, 2, 2}, {1, 2, 3, 4}), f64({2, 1, 1}, {10, 100})}),
            (std::vector<double>{10, 20, 300, 400}));
  // Same: 4 elements, kernel 2, stride 1 need one pad, behind (upper) or before (lower).
  const std::vector<CaseInput> same{f64({1, 1, 4}, {1, 2, 3, 4}), f64({1, 1, 2}, {1, 10})};
  EXPECT_EQ(run_reference_numbers(Convolution{.padding = PaddingMode::kSameUpper}, same),
            (std::vector<double>{21, 32, 43, 4}));
  EXPECT_EQ(run_reference_numbers(Convolution{.padding = PaddingMode::kSameLower}, same),
            (std::vector<double>{10, 21, 32, 43}));
  // Rounding up, the last window of two begins at element 4 and ends behind the input.
  EXPECT_EQ(run_reference_numbers(Convolution{.strides = {2}, .padding = PaddingMode::kExplicitRoundUp},
                                  {f64({1, 1, 5}, {1, 2, 3, 4, 5}), f64({1, 1, 2}, {1, 10})}),
            (std::vector<double>{21, 43, 5}));
}

/// Sums of products in the order that the reference promises: the bias first, then by channel and tap.
std::vector<double> sums_in_order(const Extents& out, const std::function<double(const Extents&)>& sum) {
  std::vector<double> result;
  Extents at(out.size(), 0);
  for (int64_t i = 0; i < volume(out); ++i) {
    result.push_back(sum(at));
    for (size_t axis = out.size(); axis-- > 0 && ++at[axis] == out[axis];) at[axis] = 0;
  }
  return result;
}

// Numbers that cancel, so that any other order of additions shows in the bits. Two groups of seven outputs: a block of
// four, and three alone.
TEST(Convolution, ReferenceAddsInOrder) {
  constexpr int64_t kGroups = 2, kOutputs = 14, kChannels = 3, kHigh = 5, kWide = 7;
  std::vector<double> x, w, bias;
  const auto number = [](int64_t i) { return std::ldexp(std::sin(static_cast<double>(i)), static_cast<int>(i % 60)); };
  for (int64_t i = 0; i < 2 * kGroups * kChannels * kHigh * kWide; ++i) x.push_back(number(i));
  for (int64_t i = 0; i < kOutputs * kChannels * 9; ++i) w.push_back(number(7 * i + 1));
  for (int64_t i = 0; i < kOutputs; ++i) bias.push_back(number(i + 40));
  for (const int64_t kernel : {1, 3})
    for (const int64_t stride : {1, 2})
      for (const int64_t pad : {int64_t{0}, kernel / 2}) {
        const Convolution op{
            .strides = {stride, stride}, .pre_pads = {pad, pad}, .post_pads = {pad, pad}, .groups = kGroups};
        const Extents out{2, kOutputs, (kHigh + 2 * pad - kernel) / stride + 1,
                          (kWide + 2 * pad - kernel) / stride + 1};
        const std::vector<double> taps(w.begin(), w.begin() + kOutputs * kChannels * kernel * kernel);
        const auto expected = sums_in_order(out, [&](const Extents& at) {
          double sum = bias[static_cast<size_t>(at[1])];
          for (int64_t c = 0; c < kChannels; ++c)
            for (int64_t t = 0; t < kernel * kernel; ++t) {
              const int64_t row = at[2] * stride - pad + t / kernel, column = at[3] * stride - pad + t % kernel;
              if (row < 0 || row >= kHigh || column < 0 || column >= kWide) continue;
              const int64_t plane = (at[0] * kGroups + at[1] / (kOutputs / kGroups)) * kChannels + c;
              sum += taps[static_cast<size_t>((at[1] * kChannels + c) * kernel * kernel + t)] *
                     x[static_cast<size_t>((plane * kHigh + row) * kWide + column)];
            }
          return sum;
        });
        EXPECT_EQ(run_reference_numbers(op, {f64({2, kGroups * kChannels, kHigh, kWide}, x),
                                             f64({kOutputs, kChannels, kernel, kernel}, taps), f64({kOutputs}, bias)}),
                  expected)
            << kernel << ' ' << stride << ' ' << pad;
      }
}

/// The output type and assumptions for symbolic inputs, as text.
std::string inferred(const Op& op, const TensorType& x, Extents w, sym::Table& table) {
  const TensorType weight = tensor_type(DType::kF32, w);
  const std::vector<InferInput> inputs{{&x}, {&weight}};
  std::vector<sym::Assumption> assumptions;
  const auto types = infer_types(op, inputs, table, &assumptions);
  if (!types) return types.error().message;
  return assumptions.empty() ? str((*types)[0]) : str((*types)[0], " if ", assumptions);
}

TEST(Convolution, SymbolicExtents) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", {0, 1, 64}), h = table.symbol("h", {8, 224, 1024}), w = table.symbol("w");
  const TensorType x(DType::kF32, {n, 3, h, 224});
  const Op padded = Convolution{.strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}};
  EXPECT_EQ(inferred(padded, x, {16, 3, 3, 3}, table), "f32[n, 16, floor_div(h + 1, 2), 112]");
  EXPECT_EQ(inferred(Convolution{.pre_pads = {1, 1}, .post_pads = {1, 1}}, x, {16, 3, 3, 3}, table),
            "f32[n, 16, h, 224]");
  EXPECT_EQ(inferred(Convolution{.strides = {2, 2}, .padding = PaddingMode::kSameUpper}, x, {16, 3, 3, 3}, table),
            "f32[n, 16, floor_div(h + 1, 2), 112]");
  EXPECT_EQ(inferred(Convolution{}, TensorType(DType::kF32, {n, 3, w}), {4, 3, 5}, table),
            "f32[n, 4, w - 4] if [5 <= w (the window must fit into padded axis 2)]");
  const sym::Expr c = table.symbol("c");
  EXPECT_EQ(inferred(Convolution{.groups = 2}, TensorType(DType::kF32, {n, c, 9}), {4, 3, 1}, table),
            "f32[n, 4, 9] if [c = 6 (x f32[n, c, 9] must have 2 times the 3 channels of w f32[4, 3, 1])]");
}

TEST(Convolution, WeightsOfHalvesMayBeFloats) {
  sym::Table table;
  const auto of = [&](DType x) {
    return inferred(Convolution{}, tensor_type(x, Extents{1, 3, 4, 4}), {2, 3, 1, 1}, table);
  };
  EXPECT_EQ(of(DType::kF16), "f16[1, 2, 4, 4]");
  EXPECT_EQ(of(DType::kBF16), "bf16[1, 2, 4, 4]");
  EXPECT_EQ(of(DType::kF64), "w is f32[2, 3, 1, 1] and x is f64[1, 3, 4, 4]; their types must agree");
}

TEST(Convolution, SaysWhatIsWrong) {
  const auto message = [](const Convolution& op, Extents x, Extents w, Extents bias = {}) {
    std::vector<CaseInput> inputs{{x}, {w}};
    if (!bias.empty()) inputs.push_back({bias});
    return infer_error(op, inputs);
  };
  EXPECT_EQ(message({}, {1, 4, 8, 8}, {2, 3, 3, 3}),
            "x f32[1, 4, 8, 8] must have 1 times the 3 channels of w f32[2, 3, 3, 3]: 4 and 3 differ");
  EXPECT_EQ(message({.groups = 2}, {1, 4, 8, 8}, {3, 2, 3, 3}),
            "w f32[3, 2, 3, 3] has 3 output channels, not a multiple of 2 groups");
  EXPECT_EQ(message({.pre_pads = {1, 0}}, {1, 3, 8, 2}, {2, 3, 3, 3}),
            "the window reaches over 3 elements of axis 3, which has 2 and pads of 0 and 0");
  EXPECT_EQ(message({.strides = {2}}, {1, 3, 8, 8}, {2, 3, 3, 3}),
            "strides is [2], with 1 entries; there are 2 spatial axes");
  EXPECT_EQ(message({.strides = {2, 0}}, {1, 3, 8, 8}, {2, 3, 3, 3}),
            "strides is [2, 0]; 0 is outside [1, 2147483647]");
  EXPECT_EQ(message({.kernel = {5, 5}}, {1, 3, 8, 8}, {2, 3, 3, 3}), "kernel is [5, 5], but w is f32[2, 3, 3, 3]");
  EXPECT_EQ(message({}, {1, 3, 8, 8}, {2, 3, 3, 3}, {3}), "bias has one element an output channel: 3 and 2 differ");
  EXPECT_EQ(message({}, {3, 8}, {2, 3}), "x is f32[3, 8], of rank 2; it must be [N, C] and 1 to 3 spatial axes");
}

}  // namespace
}  // namespace kiln
