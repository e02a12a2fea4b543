#include "ops/bodies.h"

#include <algorithm>

namespace kiln {

int find_axis(std::span<const DecidedAxis> decided, int output, int axis) {
  const auto found = std::ranges::find(decided, DecidedAxis{output, axis});
  return found == decided.end() ? -1 : static_cast<int>(found - decided.begin());
}

}  // namespace kiln
