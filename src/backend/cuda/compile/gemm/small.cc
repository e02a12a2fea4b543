// gemm/small.cu: as gemm/wgmma.cu, for few tiles: clusters share k.
#include <array>
#include <cmath>

#include "backend/cuda/compile/gemm/family.h"

namespace kiln::cuda {
namespace {

/// Estimates a kernel whose blocks share k and exchange their sums. Several such blocks fit on one multiprocessor.
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
      if (small_shared_bytes(kernel) + stages * 16 > search.machine.shared_bytes) continue;
      search.found.push_back({kernel, small_estimate_us(kernel, tiles, steps, peak, search.machine)});
    }
  }
}

}  // namespace

const GemmSource kGemmSmallSource{.family = &kGemmSmall, .file = "gemm/small.cu", .search = search};

}  // namespace kiln::cuda
