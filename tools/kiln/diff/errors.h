/// How far the elements of one tensor are from those of another.
#pragma once

#include <cstdint>
#include <span>

namespace kiln::diff {

/// The differences of a tensor `a` from the true one, `b`. Elements that are not finite on either side stay out of the
/// sums; those that are NaN on both sides, or the same infinity, agree.
struct Errors {
  int64_t count = 0;     ///< elements
  double max_abs = 0;    ///< the largest |a - b|
  double sum_abs = 0;    ///< of |a - b|, over `compared` elements
  int64_t compared = 0;  ///< elements that are finite on both sides
  double largest = 0;    ///< the largest finite |b|
  int64_t worst = -1;    ///< the element that is farthest off, row-major; one that is not finite first; -1: none is off
  double worst_a = 0, worst_b = 0;  ///< that element on either side
  double dot = 0, square_a = 0, square_b = 0;
  int64_t nan_a = 0, inf_a = 0, nan_b = 0, inf_b = 0;
  int64_t broken = 0;             ///< elements of which only one side is finite, or both are not and differ
  int64_t beyond_half = 0;        ///< finite elements of b that FP16 cannot hold
  int64_t overflowed = 0;         ///< those of them that are infinite, NaN or FP16's largest number in a
  double largest_overflowed = 0;  ///< the largest |b| among these
  int64_t worst_overflowed = -1;  ///< its place

  /// Whether there are elements and none is finite on either side: then nothing is known of the difference.
  bool is_not_finite() const { return count > 0 && compared == 0 && broken == 0; }
  /// Elements that are the same infinity, or NaN, on both sides.
  int64_t same_not_finite() const { return count - compared - broken; }
  double mean_abs() const { return compared > 0 ? sum_abs / static_cast<double>(compared) : 0; }
  /// `max_abs` of the largest |b|; 0 where nothing is off, infinite where b is all zeros and a is not.
  double relative() const;
  /// The cosine of the angle between both; 1 where both are zero.
  double cosine() const;
};

/// Both have the same number of elements.
Errors compare(std::span<const double> a, std::span<const double> b);

}  // namespace kiln::diff
