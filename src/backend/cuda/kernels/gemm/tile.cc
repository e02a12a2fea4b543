#include "backend/cuda/kernels/gemm/tile.h"

#include <algorithm>

namespace kiln::cuda {

std::string TileShape::name() const { return str(bm, "x", bn, "x", bk); }

Status TileShape::require_whole() const {
  const auto within = [](int64_t x, int64_t most) { return x >= 1 && x <= most; };
  const bool valid =
      within(bm, 512) && within(bn, 512) && within(bk, 512) &&
      (warps_m ? within(warps_m, 32) && within(warps_n, 32) && within(stages, 32) : within(tm, 16) && within(tn, 16)) &&
      within(threads(), 1024);
  return require(valid, "no kernel can have the tile ", name());
}

uint32_t mma_shared_bytes(const TileShape& t, DType element) {
  const int64_t stages = t.stages * (t.bm + t.bn) * t.bk * (bits_of(element) / 8);
  const int64_t slabs = t.warps_m * t.warps_n * 16 * (t.bn / t.warps_n + 8) * 4;
  return static_cast<uint32_t>(std::max(stages, slabs));
}

}  // namespace kiln::cuda
