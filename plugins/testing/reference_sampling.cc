#include "testing/reference_sampling.h"

#include <algorithm>

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

}  // namespace kiln::plugins::testing
