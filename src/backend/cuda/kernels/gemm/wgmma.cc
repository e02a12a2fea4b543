// gemm/wgmma.cu: sm_90a, both operands along k and aligned, at most one batch axis.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

int64_t dynamic_bytes(const TileShape& t) { return t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment; }
/// Groups of four warps that multiply.
int64_t groups(const GemmKernel& kernel) { return kernel.turns == 1 ? kernel.tile.bm / 64 : kernel.turns; }
std::string variant(const GemmKernel& kernel) {
  return str("wgmma ", kernel.tile.name(), " in ", kernel.tile.stages,
             kernel.cluster > 1 ? str(", pairs of ", kernel.cluster) : "", kernel.turns > 1 ? ", in turns" : "");
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& g, int64_t multiprocessors) {
  const TileShape& t = kernel.tile;
  GemmLaunch launch = TRY(plan_maps(kernel, g, t.bn / kernel.cluster));
  launch.main.shared_bytes = static_cast<uint32_t>(dynamic_bytes(t));
  launch.main.block[0] = static_cast<uint32_t>(128 * (groups(kernel) + 1));
  launch.main.cluster = static_cast<uint32_t>(kernel.cluster);
  const int64_t clusters = ceil_div(g.m, t.bm * kernel.cluster) * ceil_div(g.n, t.bn) * g.batches.count();
  const int64_t blocks = std::min(clusters, std::max<int64_t>(1, multiprocessors / kernel.cluster)) * kernel.cluster;
  TRY(set_grid(launch, g, blocks, multiprocessors));
  return launch;
}

}  // namespace

int64_t wgmma_shared_bytes(const GemmKernel& kernel) {
  return dynamic_bytes(kernel.tile) + groups(kernel) * 4 * slab_bytes(32) + kernel.tile.stages * 16;
}

const GemmFamily kGemmWgmma{.name = "wgmma",
                            .entry = "gemm_wgmma",
                            .reads_maps = true,
                            .takes_bytes = true,
                            .variant = variant,
                            .alignment = whole_pieces,
                            .plan = plan};

}  // namespace kiln::cuda
