#include "backend/cuda/kernels/gemm/tile.h"

#include <algorithm>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

std::string TileShape::name() const { return str(bm, "x", bn, "x", bk); }

Status TileShape::require_whole() const {
  const bool valid = is_within(bm, 512) && is_within(bn, 512) && is_within(bk, 512) &&
                     (warps_m ? is_within(warps_m, 32) && is_within(warps_n, 32) && is_within(stages, 32)
                              : is_within(tm, 16) && is_within(tn, 16)) &&
                     is_within(threads(), 1024);
  return require(valid, "no kernel can have the tile ", name());
}

uint32_t mma_shared_bytes(const TileShape& t, DType element) {
  const int64_t stages = t.stages * (t.bm + t.bn) * t.bk * (bits_of(element) / 8);
  const int64_t slabs = t.warps_m * t.warps_n * 16 * (t.bn / t.warps_n + 8) * 4;
  return static_cast<uint32_t>(std::max(stages, slabs));
}

}  // namespace kiln::cuda
