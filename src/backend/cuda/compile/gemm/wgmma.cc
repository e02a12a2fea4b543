// gemm/wgmma.cu: sm_90a, both operands along k and aligned, at most one batch axis.
#include <array>

#include "backend/cuda/compile/gemm/family.h"

namespace kiln::cuda {
namespace {

/// Has the lanes of a kernel of bytes hold whole vectors, where the columns allow it, and lines be no longer than k.
void use_lanes(const GemmTraits& traits, GemmKernel& kernel) {
  const int64_t vec = 16 / bytes_of(kernel.types.out);
  if (!kernel.types.is_of_bytes() || traits.lane_columns % (4 * vec) != 0) return;
  kernel.lanes = true;
  kernel.vec = vec;
  kernel.read_bytes = traits.read_bytes;
}

/// Sets as many stages as `room` bytes hold, 8 at most. Whether they hold two.
bool fill_stages(GemmKernel& kernel, int64_t room) {
  for (kernel.tile.stages = 8; kernel.tile.stages >= 2; --kernel.tile.stages)
    if (wgmma_shared_bytes(kernel) <= room) return true;
  return false;
}

void search(GemmSearch& search) {
  if (!takes_maps(search)) return;
  GemmKernel kernel = search.kernel(kGemmWgmma);
  use_lanes(search.traits, kernel);
  const double peak = 7200 / static_cast<double>(bytes_of(kernel.types.a));
  int64_t bk = kLineBytes / bytes_of(kernel.types.a);
  if (kernel.lanes && search.k <= bk / 2) bk /= 2;
  const auto add = [&](double saved_us) {
    const int64_t room = search.machine.shared_bytes;
    const bool fits = kernel.lanes ? fill_stages(kernel, room) : wgmma_shared_bytes(kernel) <= room;
    if (fits) search.found.push_back({kernel, search.product_us(kernel, peak) - saved_us});
  };
  for (const auto& [bm, bn, stages] : {std::array<int64_t, 3>{128, 256, 4},
                                       {128, 192, 5},
                                       {128, 128, 6},
                                       {128, 96, 7},
                                       {128, 64, 8},
                                       {64, 256, 5},
                                       {64, 128, 8},
                                       {64, 96, 8},
                                       {64, 64, 8}}) {
    if (kernel.lanes && bn % (4 * kernel.vec) != 0) continue;
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    add(0);
    const bool both = bm == 128 && bn == 128;
    if (search.m >= 1024 && (both || bn == 256) && bm == 128 && bn / 2 % (kernel.lanes ? 4 * kernel.vec : 8) == 0) {
      kernel.cluster = 2;
      add(0.1);
      kernel.cluster = 1;
    }
    // Where a block has several tiles, one ends while the next is multiplied.
    const int64_t tiles_each = ceil_div(search.tiles(kernel.tile), search.multiprocessors());
    if (both && tiles_each > 1 && !kernel.normalized) {
      constexpr double kEndCycles = 1200;
      kernel.turns = 2;
      add(static_cast<double>(tiles_each - 1) * kEndCycles * 1e6 / search.machine.clock_hz);
      kernel.turns = 1;
    }
  }
}

}  // namespace

const GemmSource kGemmWgmmaSource{.family = &kGemmWgmma, .file = "gemm/wgmma.cu", .search = search};

}  // namespace kiln::cuda
