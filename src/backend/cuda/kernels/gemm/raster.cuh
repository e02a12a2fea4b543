// The order of a grid's tiles: columns of kGroup tiles, so that blocks that run together share operands in the cache.
#pragma once

namespace kiln {

struct TilePlace {
  int m, n;
};
__device__ __forceinline__ TilePlace tile_place(int index, int tiles_m, int tiles_n) {
  constexpr int kGroup = 8;
  const int each = kGroup * tiles_n, first = index / each * kGroup, rows = min(tiles_m - first, kGroup),
            rest = index % each;
  return {first + rest % rows, rest / rows};
}

}  // namespace kiln
