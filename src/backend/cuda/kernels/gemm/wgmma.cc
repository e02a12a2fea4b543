// gemm/wgmma.cu: sm_90a, both operands along k and aligned, at most one batch axis.
#include <array>

#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

int64_t dynamic_bytes(const TileShape& t) { return t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment; }
/// Groups of four warps that multiply.
int64_t groups(const GemmKernel& kernel) { return kernel.turns == 1 ? kernel.tile.bm / 64 : kernel.turns; }
/// With the kernel's static arrays.
int64_t shared_bytes(const GemmKernel& kernel) {
  return dynamic_bytes(kernel.tile) + groups(kernel) * 4 * slab_bytes(32) + kernel.tile.stages * 16;
}

std::string variant(const GemmKernel& kernel) {
  return str("wgmma ", kernel.tile.name(), " in ", kernel.tile.stages,
             kernel.cluster > 1 ? str(", pairs of ", kernel.cluster) : "", kernel.turns > 1 ? ", in turns" : "");
}

void define_turns(const GemmKernel& kernel, KernelSource& source) {
  define_stages(kernel, source);
  define(source, "CLUSTER", kernel.cluster);
  define(source, "TURNS", kernel.turns);
  define_wgmma(kernel, source);
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

void search(GemmSearch& search) {
  if (!takes_maps(search)) return;
  GemmKernel kernel = search.kernel(kGemmWgmma);
  const double peak = kernel.types.a == DType::kF32 ? 1800 : 3600;
  const int64_t bk = kLineBytes / bytes_of(kernel.types.a);
  const auto add = [&](double saved_us) {
    if (shared_bytes(kernel) <= kMostSharedBytes)
      search.found.push_back({kernel, search.product_us(kernel, peak) - saved_us});
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
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    add(0);
    const bool both = bm == 128 && bn == 128;
    if (search.m >= 1024 && (both || bn == 256) && bm == 128) {
      kernel.cluster = 2;
      add(0.1);
      kernel.cluster = 1;
    }
    // Where a block has several tiles, one ends while the next is multiplied.
    const int64_t tiles_each = ceil_div(search.tiles(kernel.tile), search.multiprocessors());
    if (both && tiles_each > 1) {
      constexpr double kEndCycles = 1200;
      kernel.turns = 2;
      add(static_cast<double>(tiles_each - 1) * kEndCycles * 1e6 / search.machine.clock_hz);
      kernel.turns = 1;
    }
  }
}

}  // namespace

const GemmFamily kGemmWgmma{.name = "wgmma",
                            .file = "gemm/wgmma.cu",
                            .entry = "gemm_wgmma",
                            .reads_maps = true,
                            .variant = variant,
                            .define = define_turns,
                            .alignment = whole_pieces,
                            .plan = plan,
                            .search = search};

}  // namespace kiln::cuda
