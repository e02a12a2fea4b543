#include "kiln/diff/errors.h"

#include <algorithm>
#include <cmath>

#include "tensor/numeric.h"

namespace kiln::diff {
namespace {

/// FP16 rounds numbers below this one to its largest and all others to infinity.
constexpr double kHalfOverflows = 65520;

bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

void count_specials(Errors& errors, double a, double b) {
  errors.nan_a += std::isnan(a), errors.inf_a += std::isinf(a);
  errors.nan_b += std::isnan(b), errors.inf_b += std::isinf(b);
}

void count_overflow(Errors& errors, int64_t at, double a, double b) {
  if (!std::isfinite(b) || std::abs(b) < kHalfOverflows) return;
  ++errors.beyond_half;
  if (std::isfinite(a) && std::abs(a) != static_cast<double>(kLargestHalf)) return;
  ++errors.overflowed;
  if (std::abs(b) <= errors.largest_overflowed) return;
  errors.largest_overflowed = std::abs(b);
  errors.worst_overflowed = at;
}

}  // namespace

double Errors::relative() const { return max_abs == 0 ? 0 : max_abs / largest; }

double Errors::cosine() const {
  if (square_a == 0 && square_b == 0) return 1;
  return square_a == 0 || square_b == 0 ? 0 : dot / (std::sqrt(square_a) * std::sqrt(square_b));
}

Errors compare(std::span<const double> a, std::span<const double> b) {
  Errors errors;
  errors.count = std::ssize(a);
  for (int64_t i = 0; i < errors.count; ++i) {
    const double x = a[static_cast<size_t>(i)], y = b[static_cast<size_t>(i)];
    count_specials(errors, x, y);
    count_overflow(errors, i, x, y);
    if (std::isfinite(y)) errors.largest = std::max(errors.largest, std::abs(y));
    if (!std::isfinite(x) || !std::isfinite(y)) {
      if (same_special(x, y)) continue;
      if (errors.broken++ == 0) errors.worst = i, errors.worst_a = x, errors.worst_b = y;
      continue;
    }
    const double off = std::abs(x - y);
    ++errors.compared;
    errors.sum_abs += off;
    errors.dot += x * y, errors.square_a += x * x, errors.square_b += y * y;
    if (off <= errors.max_abs) continue;
    errors.max_abs = off;
    if (errors.broken == 0) errors.worst = i, errors.worst_a = x, errors.worst_b = y;
  }
  return errors;
}

}  // namespace kiln::diff
