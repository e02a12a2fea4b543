/// Extents as kernels of lanes see them: what lies before a run of neighbouring axes, in it and behind it.
#pragma once

#include <span>

#include "tensor/memory_order.h"

namespace kiln {

struct LaneExtents {
  int64_t outer = 1, length = 1, inner = 1;
};
/// Axes [first, last] of extents in memory order.
inline LaneExtents lane_extents(std::span<const int64_t> extents, size_t first, size_t last) {
  return {volume(extents.first(first)), volume(extents.subspan(first, last + 1 - first)),
          volume(extents.subspan(last + 1))};
}

}  // namespace kiln
