/// Images between their pixels, one number at a time.
#pragma once

#include <cstdint>

namespace kiln::plugins::testing {

/// What is at row y and column x of `height` rows of `width` pixels; beyond its borders it goes on as at them.
double between_pixels(const double* plane, int64_t height, int64_t width, double y, double x);
/// The same, where pixels beyond its borders are 0.
double between_pixels_and_zeros(const double* plane, int64_t height, int64_t width, double y, double x);

}  // namespace kiln::plugins::testing
