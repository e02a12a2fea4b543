// gemm/small.cu: as gemm/wgmma.cu, for few tiles: clusters share k.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {

int64_t small_shared_bytes(const GemmKernel& kernel) {
  const TileShape& t = kernel.tile;
  return t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment + exchange_bytes(t.bm, t.bn, kernel.splits);
}

namespace {

std::string variant(const GemmKernel& kernel) {
  return str("small ", kernel.tile.name(), " in ", kernel.tile.stages, splits_text(kernel),
             kernel.types.is_mixed() ? ", w in two" : "");
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& g, int64_t multiprocessors) {
  const TileShape& t = kernel.tile;
  GemmLaunch launch = TRY(plan_maps(kernel, g, t.bn));
  TRY(require(!kernel.types.is_mixed() || g.batches.axes == 0, "a product of FP32 weights has no batches"));
  if (kernel.types.is_mixed()) launch.map_b = map_of(kernel.types.a, g.k, g.n, g.b_column, 2, g.n * g.b_column, t.bn);
  launch.main.shared_bytes = static_cast<uint32_t>(small_shared_bytes(kernel));
  launch.main.block[0] = static_cast<uint32_t>(2 * t.bm + 32);
  launch.main.cluster = static_cast<uint32_t>(kernel.splits);
  const int64_t blocks = ceil_div(g.m, t.bm) * ceil_div(g.n, t.bn) * g.batches.count() * kernel.splits;
  TRY(set_grid(launch, g, blocks, multiprocessors));
  return launch;
}

}  // namespace

const GemmFamily kGemmSmall{.name = "small",
                            .entry = "gemm_small",
                            .reads_maps = true,
                            .takes_mixed = true,
                            .variant = variant,
                            .alignment = whole_pieces,
                            .plan = plan};

}  // namespace kiln::cuda
