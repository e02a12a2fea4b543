// gemm/small.cu: as gemm/wgmma.cu, for few tiles: clusters share k.
#include <array>
#include <cmath>

#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

int64_t dynamic_bytes(const GemmKernel& kernel) {
  const TileShape& t = kernel.tile;
  return t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment + exchange_bytes(t.bm, t.bn, kernel.splits);
}

std::string variant(const GemmKernel& kernel) {
  return str("small ", kernel.tile.name(), " in ", kernel.tile.stages, splits_text(kernel),
             kernel.types.is_mixed() ? ", w in two" : "");
}

void define_cluster(const GemmKernel& kernel, KernelSource& source) {
  define_stages(kernel, source);
  define(source, "SPLIT", kernel.splits);
  define(source, "B_CONSTANT", int{kernel.b_constant});
  if (kernel.types.is_mixed()) define(source, "TERMS", 2);
  define_wgmma(kernel, source);
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& g, int64_t multiprocessors) {
  const TileShape& t = kernel.tile;
  GemmLaunch launch = TRY(plan_maps(kernel, g, t.bn));
  TRY(require(!kernel.types.is_mixed() || g.batches.axes == 0, "a product of FP32 weights has no batches"));
  if (kernel.types.is_mixed()) launch.map_b = map_of(kernel.types.a, g.k, g.n, g.b_column, 2, g.n * g.b_column, t.bn);
  launch.main.shared_bytes = static_cast<uint32_t>(dynamic_bytes(kernel));
  launch.main.block[0] = static_cast<uint32_t>(2 * t.bm + 32);
  launch.main.cluster = static_cast<uint32_t>(kernel.splits);
  const int64_t blocks = ceil_div(g.m, t.bm) * ceil_div(g.n, t.bn) * g.batches.count() * kernel.splits;
  TRY(set_grid(launch, g, blocks, multiprocessors));
  return launch;
}

/// Blocks that share k exchange their sums; several of them fit a multiprocessor.
double small_estimate_us(const GemmKernel& kernel, int64_t tiles, int64_t steps, double peak, const Machine& machine) {
  const TileShape& t = kernel.tile;
  const double splits = static_cast<double>(kernel.splits), area = static_cast<double>(t.bm * t.bn);
  const double own_steps = std::ceil(static_cast<double>(steps) / splits);
  const double step_cycles = std::max(2 * area * static_cast<double>(t.bk) / (peak * std::sqrt(area) / 128), 60.0);
  const double turns = std::max(1.0, static_cast<double>(tiles) * splits / machine.multiprocessors);
  const double exchanged = area * 4 * (splits - 1) / splits;
  constexpr double kExchangedPerUs = 25e3;
  return 0.5 + turns * (own_steps * step_cycles + 1500) * 1e6 / machine.clock_hz + 0.25 * std::log2(splits) +
         exchanged / kExchangedPerUs;
}

void search(GemmSearch& search) {
  if (!takes_maps(search)) return;
  const GemmTraits& traits = search.traits;
  GemmKernel kernel = search.kernel(kGemmSmall);
  kernel.b_constant = traits.b_constant;
  const double peak = traits.types.a == DType::kF32 ? 1800 : 3600;
  const int64_t bk = kLineBytes / bytes_of(traits.types.a);
  const int64_t steps = ceil_div(search.k, bk) * (traits.types.is_mixed() ? 2 : 1);
  for (const auto& [bm, bn, stages] :
       {std::array<int64_t, 3>{64, 32, 8}, {64, 64, 6}, {64, 128, 6}, {128, 32, 8}, {128, 64, 6}, {64, 16, 8}}) {
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    const int64_t tiles = search.tiles(kernel.tile);
    for (const int64_t splits : {1, 2, 4, 8}) {
      if (bn / 8 % splits != 0 || steps < splits || tiles * splits > 2 * search.multiprocessors()) continue;
      kernel.splits = splits;
      if (dynamic_bytes(kernel) + stages * 16 > kMostSharedBytes) continue;
      search.found.push_back({kernel, small_estimate_us(kernel, tiles, steps, peak, search.machine)});
    }
  }
}

}  // namespace

const GemmFamily kGemmSmall{.name = "small",
                            .file = "gemm/small.cu",
                            .entry = "gemm_small",
                            .reads_maps = true,
                            .takes_mixed = true,
                            .variant = variant,
                            .define = define_cluster,
                            .alignment = whole_pieces,
                            .plan = plan,
                            .search = search};

}  // namespace kiln::cuda
