#include "backend/cuda/kernels/conv/conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backend/cuda/device/compiler.h"

namespace kiln::cuda {
namespace {

ConvTraits traits(DType type, FilterExtents filter, int64_t pixels) {
  return {type, type, filter, true, true, false, pixels};
}

TEST(Conv, FamiliesFollowTheFilter) {
  const auto first = [](const ConvTraits& t) { return conv_candidates(t, {}).front().kernel.family; };
  EXPECT_EQ(first(traits(DType::kF16, {1, 64, 64, 9}, 3136)), ConvFamily::kWgmma);
  EXPECT_EQ(first(traits(DType::kF16, {2, 64, 64, 9}, 3136)), ConvFamily::kMma);
  EXPECT_EQ(first(traits(DType::kF16, {96, 1, 1, 9}, 3136)), ConvFamily::kDepthwise);
  ConvTraits rows = traits(DType::kF16, {96, 1, 1, 9}, 3136);
  rows.kernel_h = rows.kernel_w = 3;
  rows.stride = 1;
  EXPECT_EQ(conv_candidates(rows, {}).front().kernel.kernel_w, 3);
  ConvTraits exact = traits(DType::kF32, {1, 64, 64, 9}, 3136);
  exact.tf32 = false;
  EXPECT_EQ(first(exact), ConvFamily::kSimt);
}
TEST(Conv, ChannelsThatFillNoVectorTakePieces) {
  const auto candidates = conv_candidates(traits(DType::kF16, {1, 3, 64, 49}, 12544), {});
  const auto mma = std::ranges::find(candidates, ConvFamily::kMma, [](const auto& c) { return c.kernel.family; });
  ASSERT_NE(mma, candidates.end());
  EXPECT_EQ(mma->kernel.piece, mma->kernel.pad_channels ? 8 : 2);
  EXPECT_EQ(mma->kernel.vec, 8);
}
TEST(Conv, FiltersArePackedAlongK) {
  ConvKernel kernel;
  kernel.family = ConvFamily::kMma;
  const FilterExtents filter{1, 2, 1, 3};  // w[0][c][t] = 10 c + t
  const float w[] = {0, 1, 2, 10, 11, 12};
  const Bytes packed = pack_filter(kernel, filter, std::as_bytes(std::span(w)));
  float out[8];
  ASSERT_EQ(packed.size(), sizeof out);  // six elements, padded to whole pieces of 16 bytes
  std::memcpy(out, packed.data(), sizeof out);
  EXPECT_EQ(std::vector<float>(out, out + 8), (std::vector<float>{0, 10, 1, 11, 2, 12, 0, 0}));
}
TEST(Conv, FewChannelsArePadded) {
  const auto candidates = conv_candidates(traits(DType::kF16, {1, 3, 64, 49}, 12544), {});
  const auto padded = std::ranges::find(candidates, 4, [](const auto& c) { return c.kernel.pad_channels; });
  ASSERT_NE(padded, candidates.end());
  EXPECT_EQ(padded->kernel.piece, 8);
  ConvArguments arguments;
  arguments.images = 2;
  arguments.x_strides = {3 * 20, 20, {20, 5, 1}};
  arguments.window.in[1] = 4, arguments.window.in[2] = 5;
  const ConvKernel kernel = padded->kernel;
  set_filter(kernel, {1, 3, 64, 49}, arguments);
  arguments.window.kernel[1] = arguments.window.kernel[2] = 7;
  const ConvLaunch plan = *plan_conv(kernel, arguments, 132);
  EXPECT_EQ(arguments.in_channels, 4);
  EXPECT_EQ(plan.pad_arguments.pixels, 40);
  EXPECT_EQ(plan.pad_arguments.strides.channel, 20);
  EXPECT_EQ(arguments.x_strides.at[1], 20);
  EXPECT_EQ(plan.padded_bytes, 512);
}
TEST(Conv, DepthwiseFiltersAreTapsOfChannels) {
  ConvKernel kernel;
  kernel.family = ConvFamily::kDepthwise;
  const float w[] = {1, 2, 3, 4, 5, 6};  // three channels of two taps
  const Bytes packed = pack_filter(kernel, {3, 1, 1, 2}, std::as_bytes(std::span(w)));
  float out[6];
  std::memcpy(out, packed.data(), sizeof out);
  EXPECT_EQ(std::vector<float>(out, out + 6), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}
TEST(Conv, KernelsSurviveTheirRecords) {
  for (const ConvCandidate& c : conv_candidates(traits(DType::kBF16, {2, 16, 24, 9}, 500), {}))
    EXPECT_EQ(ConvKernel::parse(c.kernel.record())->record(), c.kernel.record());
}
TEST(Conv, TooManyElementsForAnIndexAreRefused) {
  ConvKernel kernel = conv_candidates(traits(DType::kF16, {1, 64, 64, 9}, 3136), {}).front().kernel;
  ConvArguments arguments;
  arguments.images = 1 << 12;
  arguments.x_strides.n = 1 << 20;
  EXPECT_FALSE(plan_conv(kernel, arguments, 132).has_value());
}

TEST(Conv, KernelsCompile) {
  const Epilogue epilogue{.bias = DType::kF16, .residual = DType::kF16, .lo = 0, .hi = 6};
  std::vector<ConvCandidate> all;
  const auto add = [&](const ConvTraits& t, size_t most) {
    const auto candidates = conv_candidates(t, {});
    all.insert(all.end(), candidates.begin(),
               candidates.begin() + static_cast<ptrdiff_t>(std::min(most, candidates.size())));
  };
  add(traits(DType::kF16, {1, 64, 256, 9}, 196), 3);
  add(traits(DType::kBF16, {1, 3, 64, 49}, 12544), 1);
  add(traits(DType::kF32, {1, 64, 64, 9}, 3136), 1);
  add(traits(DType::kF16, {1, 256, 256, 9}, 49), 2);
  ConvTraits rows = traits(DType::kF16, {96, 1, 1, 25}, 3136);
  rows.kernel_h = rows.kernel_w = 5;
  rows.stride = 2;
  add(rows, 3);
  add(traits(DType::kF16, {96, 1, 1, 9}, 3136), 2);
  ConvTraits gather = traits(DType::kF16, {1, 64, 64, 4}, 3136);
  gather.transposed = true;
  add(gather, 2);
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    for (const ConvCandidate& c : all) {
      if (c.kernel.family == ConvFamily::kWgmma && arch != std::string_view("sm_90a")) continue;
      const auto cubin = compiler.compile(source_of(c.kernel, epilogue));
      if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
      ASSERT_TRUE(cubin) << arch << ' ' << c.kernel.name() << ": " << cubin.error().message;
    }
  }
}

}  // namespace
}  // namespace kiln::cuda
