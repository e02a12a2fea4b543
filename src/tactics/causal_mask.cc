#include "tactics/causal_mask.h"

#include "tensor/view.h"

namespace kiln {

bool is_causal_mask(const HostTensor& mask) {
  constexpr double kLowest = -1e4;  // exporters of half precision write this one; others, their type's least number
  const Extents& extents = mask.extents();
  if (extents.size() < 2 || !is_float(mask.dtype())) return false;
  const int64_t keys = extents.back(), queries = extents[extents.size() - 2];
  if (keys < queries || queries < 2 || mask.volume() != queries * keys) return false;
  const View values(mask);
  for (int64_t i = 0; i < queries; ++i) {
    const int64_t seen = i + keys - queries + 1;
    for (int64_t j = 0; j < keys; ++j) {
      const double value = values[i * keys + j];
      if (j < seen ? value != 0 : !(value <= kLowest)) return false;
    }
  }
  return true;
}

}  // namespace kiln
