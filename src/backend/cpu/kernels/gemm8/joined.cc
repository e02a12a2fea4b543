#include "backend/cpu/kernels/gemm8/joined.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "backend/cpu/kernels/gemm8/avx2.h"
#include "backend/cpu/kernels/gemm8/pack.h"

namespace kiln::cpu {
namespace {

constexpr int kMostSum = 32767 / 127;  // of magnitudes whose products with bytes of at most 127 fit 16 bits
constexpr size_t kSums = 2 * static_cast<size_t>(kHalfColumns);  // of 16 bits: two to a column

/// The magnitudes of a step's weights, added as its products are.
using Magnitudes = std::array<int16_t, kSums>;

Magnitudes magnitudes_of(const int8_t* b) {
  Magnitudes result;
  for (size_t i = 0; i < kSums; ++i) result[i] = static_cast<int16_t>(std::abs(b[2 * i]) + std::abs(b[2 * i + 1]));
  return result;
}

/// Adds `more` if there is room.
bool join(Magnitudes& sums, const Magnitudes& more) {
  int16_t most = 0;
  for (size_t i = 0; i < kSums; ++i) most = std::max(most, static_cast<int16_t>(sums[i] + more[i]));
  if (most > kMostSum) return false;
  for (size_t i = 0; i < kSums; ++i) sums[i] = static_cast<int16_t>(sums[i] + more[i]);
  return true;
}

/// Joins of a half panel: the greatest step that is left, and those next to it in size that have room beside it.
std::vector<std::vector<int32_t>> joins_of(const std::vector<Magnitudes>& steps) {
  constexpr size_t kMostTried = 256;
  std::vector<int32_t> left(steps.size());
  std::iota(left.begin(), left.end(), 0);
  const auto greatest = [&](int32_t step) {
    const Magnitudes& sums = steps[static_cast<size_t>(step)];
    return *std::max_element(sums.begin(), sums.end());
  };
  std::stable_sort(left.begin(), left.end(), [&](int32_t a, int32_t b) { return greatest(a) > greatest(b); });
  std::vector<std::vector<int32_t>> joins;
  while (!left.empty()) {
    std::vector<int32_t> join_of{left.front()}, rest;
    Magnitudes sums = steps[static_cast<size_t>(left.front())];
    for (size_t i = 1; i < left.size(); ++i) {
      const bool may = std::ssize(join_of) < kMostJoined && i < kMostTried;
      (may && join(sums, steps[static_cast<size_t>(left[i])]) ? join_of : rest).push_back(left[i]);
    }
    joins.push_back(std::move(join_of));
    left = std::move(rest);
  }
  return joins;
}

}  // namespace

JoinedSteps join_steps(const PackedBytes& w) {
  constexpr int64_t kStep = kDotPanel * kDotGroup;
  const int64_t steps = w.panel_bytes() / kStep;
  JoinedSteps result;
  for (int64_t col = 0; col < w.n; col += kHalfColumns) {
    const int8_t* const b = w.panel(col / kDotPanel) + col % kDotPanel * kDotGroup;
    std::vector<Magnitudes> magnitudes;
    for (int64_t i = 0; i < steps; ++i) magnitudes.push_back(magnitudes_of(b + i * kStep));
    auto joins = joins_of(magnitudes);
    std::stable_sort(joins.begin(), joins.end(), [](const auto& a, const auto& c) { return a.size() < c.size(); });
    std::array<int32_t, kMostJoined> counts{};
    for (const std::vector<int32_t>& join_of : joins) {
      ++counts[join_of.size() - 1];
      result.order.insert(result.order.end(), join_of.begin(), join_of.end());
    }
    result.joins.push_back(counts);
  }
  return result;
}

}  // namespace kiln::cpu
