#include "passes/moments.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kiln::passes {
namespace {

constexpr double kLargest = 1e30;  ///< far beyond all types' needs; products of two are still finite

/// The density and the distribution function of the standard normal distribution.
double normal_density(double x) { return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }
double normal_share_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

}  // namespace

double Moments::spread() const { return std::sqrt(std::max(rms * rms - mean * mean, 0.0)); }

Moments bounded(double rms, double mean) {
  if (!(rms < kLargest)) rms = kLargest;  // NaN, too
  return {rms, std::isnan(mean) ? 0 : std::clamp(mean, -rms, rms)};
}

// None of these takes std::hypot, which older systems' libraries have under another version.
Moments sum_of(const Moments& a, const Moments& b) {
  const double mean = a.mean + b.mean, squares = a.rms * a.rms + b.rms * b.rms + 2 * a.mean * b.mean;
  return bounded(std::sqrt(std::max(squares, mean * mean)), mean);
}

Moments product_of(const Moments& a, const Moments& b) { return bounded(a.rms * b.rms, a.mean * b.mean); }

Moments sum_of_terms(double count, const Moments& term) {
  const double mean = count * term.mean, spread = term.spread();
  return bounded(std::sqrt(mean * mean + count * spread * spread), mean);
}

Moments larger_of(const Moments& a, const Moments& b) {
  const double a_spread = a.spread(), b_spread = b.spread();
  const double distance = std::sqrt(a_spread * a_spread + b_spread * b_spread);
  const double rms = std::max(a.rms, b.rms);
  if (distance == 0) return bounded(rms, std::max(a.mean, b.mean));
  const double by = (a.mean - b.mean) / distance;
  return bounded(rms,
                 a.mean * normal_share_below(by) + b.mean * normal_share_below(-by) + distance * normal_density(by));
}

Moments negative_of(const Moments& x) { return {x.rms, -x.mean}; }

Moments square_of(const Moments& x) {
  // The fourth moment of a normal distribution is 3 s^4 + 6 s^2 m^2 + m^4.
  const double mean_square = x.mean * x.mean, variance = x.spread() * x.spread();
  return bounded(std::sqrt(3 * variance * variance + 6 * variance * mean_square + mean_square * mean_square),
                 x.rms * x.rms);
}

Moments magnitude_of(const Moments& x) {
  constexpr double kMeanOfNormal = 0.7979;  // of the magnitudes of a normal distribution around 0
  return {x.rms, std::max(std::abs(x.mean), kMeanOfNormal * x.rms)};
}

Moments exponential_of(const Moments& x) {
  constexpr double kFarthest = 3;
  const double spread = x.spread();
  return bounded(std::exp(x.mean + std::min(spread * spread, kFarthest * spread)),
                 std::exp(x.mean + std::min(spread * spread / 2, kFarthest * spread)));
}

Moments power_of(const Moments& x, double exponent) {
  if (exponent == 2) return square_of(x);
  const Moments result = bounded(std::pow(x.rms, exponent), 0);
  const bool keeps_signs = std::fmod(std::abs(exponent), 2) == 1;
  const double share = !keeps_signs ? 1 : x.rms > 0 ? x.mean / x.rms : 0;
  return bounded(result.rms, share * result.rms);
}

}  // namespace kiln::passes
