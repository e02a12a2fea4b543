#include "backend/cpu/kernels/gemm8/joined.h"

#include <algorithm>
#include <cstdlib>

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

/// A step, and the greatest of its magnitudes.
struct Candidate {
  int32_t step;
  int greatest;
};
int greatest_of(const Magnitudes& sums) { return *std::max_element(sums.begin(), sums.end()); }

/// Joins of a half panel: the greatest step that is left, and the greatest of those that may have room beside it.
std::vector<std::vector<int32_t>> joins_of(const std::vector<Magnitudes>& steps) {
  // Greatest magnitudes are rarely of the same column, so steps are tried that are greater than the room in one. On
  // squeezenet-int8 this joins 2.3 to 2.7 steps at 1.5 trials a step; trying all joins 0.1 to 0.2 more, at 20.
  constexpr double kOverRoom = 2.5;
  constexpr ptrdiff_t kTrials = 16;
  std::vector<Candidate> left;
  for (const Magnitudes& sums : steps) left.push_back({static_cast<int32_t>(left.size()), greatest_of(sums)});
  std::stable_sort(left.begin(), left.end(),
                   [](const Candidate& a, const Candidate& b) { return a.greatest > b.greatest; });
  std::vector<std::vector<int32_t>> joins;
  while (!left.empty()) {
    Magnitudes sums = steps[static_cast<size_t>(left.front().step)];
    std::vector<int32_t>& joined = joins.emplace_back(1, left.front().step);
    left.erase(left.begin());
    while (std::ssize(joined) < kMostJoined) {
      const double room = kOverRoom * (kMostSum - greatest_of(sums));
      const auto first =
          std::partition_point(left.begin(), left.end(), [&](const Candidate& next) { return next.greatest > room; });
      const auto end = first + std::min(kTrials, left.end() - first);
      const auto found = std::find_if(
          first, end, [&](const Candidate& next) { return join(sums, steps[static_cast<size_t>(next.step)]); });
      if (found == end) break;
      joined.push_back(found->step);
      left.erase(found);
    }
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
