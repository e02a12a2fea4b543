/// Extents and strides that are numbers, with the checked arithmetic that numbers from outside need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace kiln {

using Extents = std::vector<int64_t>;
inline constexpr int kMaxRank = 8;  ///< nvinfer1::Dims::MAX_DIMS

/// The product, 1 for rank 0. Fails on a negative extent or overflow of int64.
Result<int64_t> checked_volume(std::span<const int64_t> extents);
/// The product of extents that are known to be sound: beside an extent of 0 others may be of any size.
inline int64_t volume(std::span<const int64_t> extents) {
  uint64_t result = 1;
  for (const int64_t e : extents) result *= static_cast<uint64_t>(e);
  return static_cast<int64_t>(result);
}
Extents row_major_strides(std::span<const int64_t> extents);
/// `axis` as an index from the front. Fails if it is outside [-rank, rank).
Result<int> normalize_axis(int64_t axis, int rank);

}  // namespace kiln
