/// A histogram of a tensor's values, and the range of them that 8 bits should span.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace kiln::api {

/// Counts magnitudes of a tensor's values, whose range grows as they come.
class RangeHistogram {
 public:
  /// Values that are not finite are counted apart.
  void add(std::span<const float> values);

  int64_t num_finite() const { return num_finite_; }
  int64_t num_not_finite() const { return num_not_finite_; }

  /// The largest magnitude; 0 if there was none but zeros.
  float largest() const { return largest_; }
  /// The range that loses least of the distribution's information where it is told in 127 steps: values beyond are
  /// saturated, and the divergence (Kullback and Leibler's) of what 8 bits tell from what there was is the smallest.
  float least_divergence() const;
  /// The range that a share of the values, in (0, 1], lies within.
  float quantile(double share) const;

 private:
  static constexpr int kBins = 2048;
  float width() const { return range_ / kBins; }
  void grow(float magnitude);

  std::array<double, kBins> counts_{};
  float range_ = 0, largest_ = 0;
  int64_t num_finite_ = 0, num_not_finite_ = 0;
};

}  // namespace kiln::api
