/// Kernels of kNormalizeHeld.
#pragma once

#include <string>

#include "base/str.h"

namespace kiln::cuda {

/// A block that has a part of a slice: each thread some vectors in registers, the others in shared memory.
struct HeldTile {
  int64_t threads, vectors;
  int64_t blocks;  ///< at once on a multiprocessor, by registers; so many there must be
  int64_t bytes;   ///< of x that it is good for, at most
  std::string entry(bool last, int64_t vec) const {
    return str("normalize_held_", last ? "last_" : "first_", threads, 'x', vectors, '_', vec);
  }
};
/// The tiles that there are kernels of, for vectors of kHeldVectorBytes.
inline constexpr HeldTile kHeldTiles[] = {{128, 12, 5, 40 << 10}, {256, 8, 3, 64 << 10}, {256, 12, 2, 160 << 10}};
inline constexpr int64_t kHeldVectorBytes = 16;

}  // namespace kiln::cuda
