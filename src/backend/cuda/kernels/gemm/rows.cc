// gemm/rows.cu: products of few rows; both operands along k and aligned.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

std::string variant(const GemmKernel& k) {
  return str("rows ", k.tile.name(), " in ", k.tile.stages, " by ", k.tile.warps_n, splits_text(k),
             k.normalized ? ", normalized" : "");
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& g, int64_t) {
  TRY(require_layout(g.n % kernel.vec == 0, kernel, g));
  const TileShape& t = kernel.tile;
  const int64_t size = bytes_of(kernel.types.a);
  const auto aligned = [&](int64_t elements) { return elements * size % 16 == 0; };
  bool steps_aligned = aligned(g.m > 1 ? g.a_row : 0) && aligned(g.n > 1 ? g.b_column : 0) && aligned(g.k);
  for (int i = 0; i < g.batches.axes; ++i)
    steps_aligned &= aligned(g.batches.axis[i].a) && aligned(g.batches.axis[i].b);
  TRY(require(g.a_k == 1 && (g.b_k == 1 || g.k <= 1) && steps_aligned && t.warps_m == 1 && t.bm % 8 == 0 &&
                  t.bn % 16 == 0 && t.bn % kernel.vec == 0,
              "a product with k = ", g.k, " does not have rows of whole 16 bytes, as this kernel needs"));
  g.splits = 1;
  const int64_t blocks = ceil_div(g.m, t.bm) * ceil_div(g.n, t.bn) * g.batches.count() * kernel.splits;
  GemmLaunch launch;
  launch.main.grid[0] = grid_blocks(blocks);
  launch.main.block[0] = static_cast<uint32_t>(t.threads());
  launch.main.cluster = static_cast<uint32_t>(kernel.splits);
  launch.main.pdl = true;
  return launch;
}

}  // namespace

const GemmFamily kGemmRows{.name = "rows",
                           .entry = "gemm_rows",
                           .takes_pairs = true,
                           .normalizes = true,
                           .variant = variant,
                           .alignment = whole_pieces,
                           .plan = plan};

}  // namespace kiln::cuda
