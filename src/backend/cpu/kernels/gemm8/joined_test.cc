#include "backend/cpu/kernels/gemm8/joined.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>

#include "backend/cpu/device/cpu.h"
#include "backend/cpu/kernels/gemm8/avx2.h"
#include "backend/cpu/kernels/gemm8/contract.h"

namespace kiln::cpu {
namespace {

/// Of the steps of a join, the greatest sum that one place of 16 bits may have, for bytes of at most 127.
int64_t most_of(const PackedBytes& w, int64_t half, std::span<const int32_t> steps) {
  int64_t most = 0;
  for (int64_t j = half * kHalfColumns; j < std::min(w.n, (half + 1) * kHalfColumns); ++j)
    for (int64_t pair = 0; pair < kDotGroup; pair += 2) {
      int64_t sum = 0;
      for (const int32_t step : steps)
        for (int64_t i = step * kDotGroup + pair; i < std::min<int64_t>(w.k, step * kDotGroup + pair + 2); ++i)
          sum += std::abs(w.at(0, i, j)) * 127;
      most = std::max(most, sum);
    }
  return most;
}

TEST(JoinedSteps, AreAllThereAndFitSixteenBits) {
  constexpr int64_t kDepth = 402, kColumns = 40;
  std::mt19937 random(1);
  for (const int divisor : {1, 2, 4, 8}) {
    std::vector<int8_t> weights(kDepth * kColumns);
    for (int8_t& w : weights) w = static_cast<int8_t>(static_cast<int8_t>(random()) / divisor);
    const Result<PackedBytes> w = pack_bytes({weights.data(), kColumns, 1}, kDepth, kColumns);
    ASSERT_TRUE(w.has_value());
    const JoinedSteps joined = join_steps(*w);
    const int64_t steps = (kDepth + kDotGroup - 1) / kDotGroup;
    ASSERT_EQ(std::ssize(joined.joins), 3);
    ASSERT_EQ(std::ssize(joined.order), 3 * steps);
    for (int64_t half = 0; half < 3; ++half) {
      const std::span<const int32_t> order = std::span(joined.order).subspan(half * steps, steps);
      std::vector<int32_t> sorted(order.begin(), order.end());
      std::sort(sorted.begin(), sorted.end());
      for (int64_t i = 0; i < steps; ++i) ASSERT_EQ(sorted[static_cast<size_t>(i)], i);
      size_t at = 0, size = 1;
      for (const int32_t count : joined.joins[static_cast<size_t>(half)]) {
        for (int32_t i = 0; i < count; ++i, at += size)
          ASSERT_LE(most_of(*w, half, order.subspan(at, size)), 32767) << divisor;
        ++size;
      }
      EXPECT_EQ(at, order.size());
      if (divisor < 8) continue;
      EXPECT_GT(joined.joins[static_cast<size_t>(half)].back(), steps / 4);
    }
  }
}

/// Steps of great weights and of small ones, which together leave 16 bits just enough room.
TEST(JoinedSteps, AreExactAtTheEndsOfSixteenBits) {
  const ScopedTarget scope(Target::kAvx2);
  constexpr int64_t kDepth = 8, kRows = 7, kColumns = 16;
  constexpr uint8_t kX = 127;
  for (const int sign : {1, -1}) {
    std::vector<int8_t> weights(kDepth * kColumns);
    for (int64_t i = 0; i < kDepth; ++i)
      std::fill_n(weights.begin() + i * kColumns, kColumns, static_cast<int8_t>(sign * (i < 4 ? 126 : 3)));
    const Result<PackedBytes> w = pack_bytes({weights.data(), kColumns, 1}, kDepth, kColumns);
    ASSERT_TRUE(w.has_value());
    if (uses_half_panels()) {
      ASSERT_EQ(w->joined.joins.size(), 1U);
      ASSERT_EQ(w->joined.joins[0][1], 1);  // both steps, in one join
    }
    const std::vector<uint8_t> x(kRows * kDepth, kX);
    ByteShape shape;
    shape.window.in[2] = shape.window.out[2] = kRows;
    Team team(1);
    Result<AlignedFloats> workspace = AlignedFloats::zeros(contract_workspace_bytes(shape, kDepth, kColumns, 1) / 4);
    const float one = 1;
    std::vector<float> y(kRows * kColumns);
    contract(team, shape, x.data(), *w, {1, 0, false, &one, true}, {.floats = y.data()}, {}, workspace->data());
    for (const float value : y) ASSERT_EQ(value, sign * kX * 4 * (126 + 3));
  }
}

}  // namespace
}  // namespace kiln::cpu
