// gemm/wgmma.cu: sm_90a, both operands along k and aligned, at most one batch axis.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

int64_t line_bytes(const GemmKernel& kernel) { return kernel.tile.bk * bytes_of(kernel.types.a); }
/// Groups of four warps that multiply.
int64_t groups(const GemmKernel& kernel) { return kernel.turns == 1 ? kernel.tile.bm / 64 : kernel.turns; }
/// Stages, and, of kernels with lanes, what the epilogue reads of the tiles that are multiplied: one, or one a turn.
int64_t dynamic_bytes(const GemmKernel& kernel) {
  const TileShape& t = kernel.tile;
  return t.stages * (t.bm + t.bn) * line_bytes(kernel) + kStageAlignment +
         kernel.turns * t.bm * t.bn * kernel.read_bytes;
}
std::string variant(const GemmKernel& kernel) {
  return str("wgmma ", kernel.tile.name(), " in ", kernel.tile.stages,
             kernel.cluster > 1 ? str(", pairs of ", kernel.cluster) : "", kernel.turns > 1 ? ", in turns" : "",
             kernel.lanes ? ", by lanes" : "", kernel.normalized ? ", normalized" : "");
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& g, int64_t multiprocessors) {
  const TileShape& t = kernel.tile;
  TRY(require(line_bytes(kernel) == kLineBytes || line_bytes(kernel) == kLineBytes / 2,
              "a product's stages have lines of ", line_bytes(kernel), " bytes; kernels swizzle ", kLineBytes,
              " or half"));
  GemmLaunch launch = TRY(plan_maps(kernel, g, t.bn / kernel.cluster));
  if (kernel.lanes) {
    TRY(require(g.n % (4 * kernel.vec) == 0 && (g.batches.axes == 0 || g.batches.axis[0].b == 0), "a product of ", g.n,
                " columns in ", g.batches.count(), " batches cannot be read with its columns interleaved"));
    launch.map_b = interleaved_map_of(kernel.types.a, g.k, g.n, g.b_column, t.bn / kernel.cluster, kernel.vec);
  }
  if (line_bytes(kernel) < kLineBytes)
    for (MapPlan* map : {&launch.map_a, &launch.map_b}) read_short_lines(*map, kernel.types.a);
  launch.main.shared_bytes = static_cast<uint32_t>(dynamic_bytes(kernel));
  launch.main.block[0] = static_cast<uint32_t>(128 * (groups(kernel) + 1));
  launch.main.cluster = static_cast<uint32_t>(kernel.cluster);
  const int64_t clusters = ceil_div(g.m, t.bm * kernel.cluster) * ceil_div(g.n, t.bn) * g.batches.count();
  const int64_t blocks = std::min(clusters, std::max<int64_t>(1, multiprocessors / kernel.cluster)) * kernel.cluster;
  TRY(set_grid(launch, g, blocks, multiprocessors));
  return launch;
}

}  // namespace

int64_t wgmma_shared_bytes(const GemmKernel& kernel) {
  constexpr int64_t kColumnBytes = 8;  // of what channels share, FP32
  const int64_t of_groups = kernel.lanes ? kColumnBytes * kernel.tile.bn : 4 * slab_bytes(32);
  const int64_t of_rows = kernel.normalized ? kernel.tile.bm * 4 : 0;  // their factors
  return dynamic_bytes(kernel) + groups(kernel) * of_groups + of_rows + kernel.tile.stages * 16;
}

const GemmFamily kGemmWgmma{.name = "wgmma",
                            .entry = "gemm_wgmma",
                            .reads_maps = true,
                            .takes_bytes = true,
                            .takes_pairs = true,
                            .normalizes = true,
                            .variant = variant,
                            .alignment = whole_pieces,
                            .plan = plan};

}  // namespace kiln::cuda
