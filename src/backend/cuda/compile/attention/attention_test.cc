#include "backend/cuda/compile/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/compile/testing.h"
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {
namespace {

TEST(AttentionKernel, DeepHeadsAndOtherTypesHaveNone) {
  EXPECT_FALSE(attention_candidates({}, {}).empty());
  EXPECT_TRUE(attention_candidates({.depth = 129}, {}).empty());
  EXPECT_TRUE(attention_candidates({.element = DType::kI32}, {}).empty());
}
TEST(AttentionKernel, DepthIsRoundedUp) {
  EXPECT_EQ(attention_candidates({.depth = 80, .align = 8}, {}).front().kernel.depth, 128);
  EXPECT_EQ(attention_candidates({.depth = 7, .align = 1}, {}).front().kernel.piece, 2);
}
TEST(AttentionKernel, SingleFloatsAreMultipliedExactly) {
  for (const AttentionCandidate& c : attention_candidates({.element = DType::kF32}, {})) {
    EXPECT_EQ(c.kernel.family, &kAttentionSimt);
    EXPECT_EQ(to_record(*from_record<AttentionKernel>(to_record(c.kernel))), to_record(c.kernel));
  }
}
TEST(AttentionKernel, BlocksHaveNoMoreSharedMemoryThanTheMachine) {
  const AttentionTraits traits{.depth = 128, .align = 8};
  constexpr int64_t kLess = int64_t{64} << 10;
  const auto all = attention_candidates(traits, {}), few = attention_candidates(traits, {.shared_bytes = kLess});
  EXPECT_LT(few.size(), all.size());
  EXPECT_FALSE(few.empty());
  for (const AttentionCandidate& c : few) EXPECT_LE(c.kernel.family->shared_bytes(c.kernel), kLess) << c.kernel.name();
}
TEST(AttentionKernel, SurvivesItsRecord) {
  for (const DType type : {DType::kF16, DType::kF32})
    for (const AttentionCandidate& c :
         attention_candidates({.element = type, .has_mask = true, .causal = true, .tf32 = true}, {}))
      EXPECT_EQ(to_record(*from_record<AttentionKernel>(to_record(c.kernel))), to_record(c.kernel));
}
TEST(AttentionKernel, Tf32IsForTensorCores) {
  const auto candidates = attention_candidates({.element = DType::kF32, .depth = 10, .align = 2, .tf32 = true}, {});
  EXPECT_TRUE(std::ranges::any_of(candidates, [](const auto& c) { return c.kernel.family == &kAttentionMma; }));
  EXPECT_TRUE(std::ranges::any_of(candidates, [](const auto& c) { return c.kernel.family == &kAttentionSimt; }));
  for (const AttentionCandidate& c : candidates)
    EXPECT_EQ(c.kernel.depth, c.kernel.family == &kAttentionSimt ? 16 : 32) << c.kernel.name();
}
TEST(AttentionKernel, JoinedKeysAreForOneFamily) {
  for (const DType type : {DType::kF16, DType::kF32}) {
    const auto candidates = attention_candidates({.element = type, .joined = true, .tf32 = true}, {});
    EXPECT_FALSE(candidates.empty());
    for (const AttentionCandidate& c : candidates) EXPECT_EQ(c.kernel.family, &kAttentionSplit);
  }
  EXPECT_TRUE(attention_candidates({.element = DType::kF32, .joined = true}, {}).empty());
  AttentionKernel kernel;
  kernel.joined = true;
  EXPECT_FALSE(kernel.check());
}
TEST(AttentionKernel, HeadsOfOneQueryShareABlock) {
  AttentionKernel kernel;
  kernel.family = &kAttentionSplit;
  AttentionArguments a{
      .batch = 2, .heads = 32, .kv_heads = 8, .queries = 1, .keys = 1000, .depth = 64, .value_depth = 64};
  a.q_strides = {2048, 64, 2048};
  a.out_strides = {2048, 64, 2048};
  EXPECT_EQ(plan_attention(kernel, a, 132)->shape.grid[0], 2u * 8);
  EXPECT_EQ(a.heads, 8);
  EXPECT_EQ(a.queries, 4);
  EXPECT_EQ(a.q_strides.head, 256);
  EXPECT_EQ(a.q_strides.row, 64);
  EXPECT_EQ(a.mask_strides.row, 0);
  EXPECT_GE(a.causal_offset, a.keys - 1);  // each of the four sees all keys
}
/// Decoding at batch 1: eight tiles for 132 multiprocessors.
TEST(AttentionKernel, FewTilesAreSharedByClusters) {
  const auto largest = [](int64_t heads, int64_t keys, int compute) {
    Machine machine;
    machine.compute = compute;
    int64_t result = 0;
    for (const AttentionCandidate& c : attention_candidates({.joined = true, .keys = keys, .heads = heads}, machine))
      result = std::max(result, c.kernel.cluster);
    return result;
  };
  EXPECT_EQ(largest(8, 1025, 90), 8);
  EXPECT_EQ(largest(100, 1025, 90), 2);
  EXPECT_EQ(largest(1000, 1025, 90), 1);
  EXPECT_EQ(largest(8, 300, 90), 2) << "each warp has keys";
  EXPECT_EQ(largest(8, 1025, 80), 1) << "no clusters there";
  AttentionKernel kernel;
  kernel.family = &kAttentionSplit;
  kernel.cluster = 4;
  EXPECT_TRUE(kernel.check());
  AttentionArguments a{
      .batch = 1, .heads = 8, .kv_heads = 8, .queries = 2, .keys = 1000, .depth = 64, .value_depth = 64};
  const LaunchShape shape = plan_attention(kernel, a, 132)->shape;
  EXPECT_EQ(shape.grid[0], 32u);
  EXPECT_EQ(shape.cluster, 4u);
  kernel.family = &kAttentionMma;
  EXPECT_FALSE(kernel.check());
}
TEST(AttentionKernel, PlansCoverTheQueries) {
  AttentionKernel kernel;
  AttentionArguments arguments{
      .batch = 2, .heads = 12, .kv_heads = 12, .queries = 100, .keys = 100, .depth = 64, .value_depth = 64};
  EXPECT_EQ(plan_attention(kernel, arguments, 132)->shape.grid[0], 2u * 12 * 2);
  kernel.depth = 32;
  EXPECT_FALSE(plan_attention(kernel, arguments, 132).has_value());
}
TEST(AttentionKernel, RepeatedHeadsHaveOneIndexInTheirMap) {
  AttentionKernel kernel;
  kernel.family = &kAttentionWgmma;
  kernel.warps = 8;
  AttentionArguments a{
      .batch = 2, .heads = 12, .kv_heads = 12, .queries = 100, .keys = 90, .depth = 64, .value_depth = 64};
  a.q_strides = {100 * 768, 64, 768};
  a.k_strides = {90 * 64, 0, 64};
  const AttentionLaunch launch = *plan_attention(kernel, a, 132);
  EXPECT_EQ(launch.maps[0].extents[2], 12u);
  EXPECT_EQ(launch.maps[0].strides_bytes[0], 1536u);
  EXPECT_EQ(launch.maps[1].extents[2], 1u);
  EXPECT_EQ(launch.maps[1].extents[3], 2u);
  EXPECT_EQ(launch.shape.block[0], 384u);
}
TEST(AttentionKernel, BlocksThatStayAreAsManyAsMultiprocessors) {
  AttentionKernel kernel;
  kernel.family = &kAttentionWgmma;
  kernel.warps = 8;
  AttentionArguments a{
      .batch = 4, .heads = 16, .kv_heads = 16, .queries = 2048, .keys = 2048, .depth = 64, .value_depth = 64};
  EXPECT_EQ(plan_attention(kernel, a, 132)->shape.grid[0], 132u);
  EXPECT_EQ(a.section, 32);  // half a MiB of keys and values a head
  EXPECT_EQ(a.causal_offset, 0);
}
TEST(AttentionKernel, MakesBytes) {
  for (const DType element : {DType::kF16, DType::kF32})
    for (const DType result : {DType::kI8, DType::kU8, DType::kF8E4M3}) {
      const auto candidates = attention_candidates({.element = element, .result = result, .tf32 = true}, {});
      std::set<const AttentionFamily*> tried;
      for (const AttentionCandidate& c : candidates) {
        EXPECT_TRUE(c.kernel.name().ends_with(str(", to ", result))) << c.kernel.name();
        EXPECT_EQ(to_record(*from_record<AttentionKernel>(to_record(c.kernel))), to_record(c.kernel));
        if (!tried.insert(c.kernel.family).second) continue;
        const bool is_hopper = c.kernel.family == &kAttentionWgmma;
        const auto architectures = std::span(kArchitecturesOfFp8).first(is_hopper ? 1 : 2);
        ASSERT_NO_FATAL_FAILURE(expect_compiles(source_of(c.kernel), architectures));
        if (::testing::Test::IsSkipped()) return;
      }
      EXPECT_GE(tried.size(), 2u) << name_of(element);
    }
  AttentionKernel kernel;
  kernel.result = DType::kF16;
  EXPECT_FALSE(from_record<AttentionKernel>(to_record(kernel)));
}
TEST(AttentionKernel, OperandsOfBytesHaveOneFamily) {
  for (const DType operand : {DType::kI8, DType::kF8E4M3}) {
    const AttentionTraits traits{.depth = 20, .align = 4, .operand = operand, .rounds_weights = true};
    const auto candidates = attention_candidates(traits, {});
    EXPECT_FALSE(candidates.empty());
    for (const AttentionCandidate& c : candidates) {
      EXPECT_EQ(c.kernel.family, &kAttentionBytes);
      EXPECT_EQ(c.kernel.depth, 32);
      EXPECT_EQ(c.kernel.piece, 4);
      EXPECT_NE(c.kernel.name().find(str(", of ", operand, ", weights rounded")), std::string::npos) << c.kernel.name();
      EXPECT_EQ(to_record(*from_record<AttentionKernel>(to_record(c.kernel))), to_record(c.kernel));
    }
  }
  // FP8 needs its instructions, FP32 leave to round what is between the products.
  EXPECT_TRUE(attention_candidates({.operand = DType::kF8E4M3}, {.compute = 86}).empty());
  EXPECT_FALSE(attention_candidates({.operand = DType::kI8}, {.compute = 86}).empty());
  EXPECT_TRUE(attention_candidates({.element = DType::kF32, .operand = DType::kI8}, {}).empty());
  EXPECT_TRUE(attention_candidates({.operand = DType::kI8, .joined = true}, {}).empty());
  EXPECT_TRUE(attention_candidates({.depth = 129, .operand = DType::kI8}, {}).empty());
  AttentionKernel kernel;
  kernel.operand = DType::kI8;
  EXPECT_FALSE(kernel.check());
  kernel.family = &kAttentionBytes;
  EXPECT_TRUE(kernel.check());
  kernel.operand = DType::kU8;
  EXPECT_FALSE(kernel.check());
  kernel.operand.reset();
  EXPECT_FALSE(kernel.check());
}
/// Each combination has one of the candidates compiled, and together they have all of them.
TEST(AttentionKernel, BytesCompile) {
  size_t turn = 0;
  std::set<std::string> tried;
  for (const DType operand : {DType::kI8, DType::kF8E4M3})
    for (const DType element : {DType::kF16, DType::kBF16, DType::kF32})
      for (const bool rounds : {false, true})
        for (const std::optional<DType> result : {std::optional<DType>(), std::optional(operand)}) {
          const AttentionTraits traits{.element = element,
                                       .depth = rounds ? 64 : 100,
                                       .align = rounds ? 16 : 1,
                                       .has_mask = !rounds,
                                       .causal = rounds,
                                       .result = result,
                                       .operand = operand,
                                       .rounds_weights = rounds,
                                       .tf32 = true};
          const auto candidates = attention_candidates(traits, {});
          const AttentionKernel& kernel = candidates[turn++ % candidates.size()].kernel;
          tried.insert(str(kernel.warps, ' ', kernel.rows, ' ', kernel.keys));
          ASSERT_NO_FATAL_FAILURE(expect_compiles(source_of(kernel), std::span(kArchitecturesOfFp8).first(1)))
              << kernel.name();
          if (::testing::Test::IsSkipped()) return;
        }
  EXPECT_EQ(tried.size(), attention_candidates({.operand = DType::kI8}, {}).size());
  const AttentionTraits plain{.has_mask = true, .operand = DType::kI8, .rounds_weights = true};
  ASSERT_NO_FATAL_FAILURE(expect_compiles(source_of(attention_candidates(plain, {}).front().kernel)));
}
TEST(AttentionKernel, AllCompile) {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    for (const auto& [element, depth] :
         {std::pair{DType::kF16, int64_t{64}}, {DType::kF32, 64}, {DType::kF16, 16}, {DType::kBF16, 128}})
      for (const AttentionCandidate& c : attention_candidates({.element = element,
                                         .depth = depth,
                                         .has_mask = element == DType::kF16,
                                         .joined = true,
                                         .tf32 = true,
                                         .keys = 4096},
                                                              {})) {
        const auto cubin = compiler.compile(source_of(c.kernel));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        ASSERT_TRUE(cubin) << arch << ' ' << c.kernel.name() << ": " << cubin.error().message;
      }
    for (const auto& [element, depth] : {std::pair{DType::kF16, int64_t{40}},
                                         {DType::kBF16, 64},
                                         {DType::kF16, 128},
                                         {DType::kF32, 64},
                                         {DType::kF32, 128}})
      for (const AttentionCandidate& c : attention_candidates(
               {.element = element, .depth = depth, .has_mask = depth != 128, .causal = depth == 64, .tf32 = true},
               {})) {
        if (c.kernel.family == &kAttentionWgmma && arch != std::string_view("sm_90a")) continue;
        const auto cubin = compiler.compile(source_of(c.kernel));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        ASSERT_TRUE(cubin) << arch << ' ' << c.kernel.name() << ": " << cubin.error().message;
      }
  }
}

}  // namespace
}  // namespace kiln::cuda
