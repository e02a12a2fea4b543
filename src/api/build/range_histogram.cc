#include "api/build/range_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace kiln::api {
namespace {

constexpr int kSteps = 128;  // of a magnitude in 8 bits

/// The divergence of `counts` cut off behind `bins` (what is beyond counts to the last) from the same in kSteps steps.
double divergence(std::span<const double> counts, int bins) {
  const auto all = static_cast<size_t>(bins);
  std::vector<double> wanted(counts.begin(), counts.begin() + bins), told(all, 0);
  wanted.back() += std::accumulate(counts.begin() + bins, counts.end(), 0.0);
  for (int step = 0; step < kSteps; ++step) {
    const auto begin = static_cast<size_t>(step * bins / kSteps), end = static_cast<size_t>((step + 1) * bins / kSteps);
    double sum = 0;
    int filled = 0;
    for (size_t i = begin; i < end; ++i) sum += counts[i], filled += counts[i] > 0;
    for (size_t i = begin; i < end; ++i)
      if (counts[i] > 0) told[i] = sum / filled;
  }
  const double total = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  const double total_told = std::accumulate(told.begin(), told.end(), 0.0);
  if (total == 0 || total_told == 0) return std::numeric_limits<double>::infinity();
  double result = 0;
  for (size_t i = 0; i < all; ++i) {
    if (wanted[i] == 0) continue;
    const double p = wanted[i] / total, q = std::max(told[i] / total_told, 1e-12);
    result += p * std::log(p / q);
  }
  return result;
}

}  // namespace

void RangeHistogram::grow(float magnitude) {
  if (range_ == 0) range_ = magnitude;
  while (magnitude > range_) {  // neighbours become one bin
    for (size_t i = 0; i < kBins / 2; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + kBins / 2, counts_.end(), 0);
    range_ *= 2;
  }
}

void RangeHistogram::add(std::span<const float> values) {
  float most = 0;
  for (const float value : values) {
    const bool finite = std::isfinite(value);
    ++(finite ? num_finite_ : num_not_finite_);
    if (finite) most = std::max(most, std::abs(value));
  }
  largest_ = std::max(largest_, most);
  if (most > std::numeric_limits<float>::max() / 4 || largest_ == 0) return;
  grow(largest_);
  const float bins_of_one = kBins / range_;
  for (const float value : values) {
    if (!std::isfinite(value) || value == 0) continue;  // zeros are told in any range
    counts_[static_cast<size_t>(std::min<float>(std::abs(value) * bins_of_one, kBins - 1))] += 1;
  }
}

float RangeHistogram::least_divergence() const {
  constexpr int kStride = 4;  // bins from one range that is tried to the next
  double least = std::numeric_limits<double>::infinity();
  int best = kBins;
  for (int bins = kSteps; bins <= kBins; bins += kStride) {
    const double found = divergence(counts_, bins);
    if (found < least) least = found, best = bins;
  }
  return std::min(largest_, static_cast<float>(best) * width());
}

float RangeHistogram::quantile(double share) const {
  const double all = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  double sum = 0;
  for (int i = 0; i < kBins; ++i) {
    sum += counts_[static_cast<size_t>(i)];
    if (sum >= share * all) return std::min(largest_, static_cast<float>(i + 1) * width());
  }
  return largest_;
}

}  // namespace kiln::api
