#include "tensor/magnitude.h"

#include <algorithm>
#include <cmath>

#include "tensor/view.h"

namespace kiln {

double largest_magnitude(const HostTensor& constant) {
  double largest = 0;
  const View view(constant);
  const int64_t volume = view.volume();
  for (int64_t i = 0; i < volume; ++i)
    if (const double size = std::abs(view[i]); std::isfinite(size)) largest = std::max(largest, size);
  return largest;
}

}  // namespace kiln
