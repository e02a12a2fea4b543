#include "ops/lane.h"

namespace kiln {

std::vector<Lane> lanes(std::span<const int64_t> extents, int axis) {
  const auto at = static_cast<size_t>(axis);
  const int64_t outer = volume(extents.first(at)), length = extents[at], inner = volume(extents.subspan(at + 1));
  std::vector<Lane> result;
  if (volume(extents) == 0) return result;  // others may be of any size then
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) result.push_back({o * length * inner + i, inner, length});
  return result;
}

}  // namespace kiln
