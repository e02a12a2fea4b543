#include "testing/reference_sampling.h"

#include <algorithm>
#include <cmath>

namespace kiln::plugins::testing {

double between_pixels(const double* plane, int64_t height, int64_t width, double y, double x) {
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  const double down = y - static_cast<double>(top), over = x - static_cast<double>(left);
  double result = 0;
  for (const int64_t i : {0, 1})
    for (const int64_t j : {0, 1}) {
      const double pixel = plane[std::min(top + i, height - 1) * width + std::min(left + j, width - 1)];
      result += pixel * (i == 0 ? 1 - down : down) * (j == 0 ? 1 - over : over);
    }
  return result;
}

double between_pixels_and_zeros(const double* plane, int64_t height, int64_t width, double y, double x) {
  double result = 0;
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  for (const int64_t row : {top, top + 1})
    for (const int64_t column : {left, left + 1})
      if (row >= 0 && row < height && column >= 0 && column < width)
        result += plane[row * width + column] * (1 - std::abs(y - static_cast<double>(row))) *
                  (1 - std::abs(x - static_cast<double>(column)));
  return result;
}

}  // namespace kiln::plugins::testing
