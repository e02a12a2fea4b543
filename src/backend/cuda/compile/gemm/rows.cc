// gemm/rows.cu: products of few rows; both operands along k and aligned.
#include <array>
#include <cmath>

#include "backend/cuda/compile/gemm/family.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kLine = 128;  ///< bytes of k a step

/// Estimates a kernel that reads at memory's rate. That rate needs enough bytes under way; starting a block and adding
/// the sums of its warps and cluster take time of their own.
double estimate_us(const GemmKernel& kernel, int64_t m, int64_t n, int64_t k, int64_t batches, const Machine& machine) {
  const TileShape& t = kernel.tile;
  const auto count = [](int64_t x) { return static_cast<double>(x); };
  const double size = count(bytes_of(kernel.types.a)), tiles_m = count(ceil_div(m, t.bm));
  const double blocks = tiles_m * count(ceil_div(n, t.bn) * batches * kernel.splits);
  const double moved =
      tiles_m * count(n * batches) * count(k) * size * (1 + 0.3 * count(std::min(m, t.bm)) / count(t.bn));
  const double under_way = std::min(blocks / machine.multiprocessors, 3.0) * count(t.bn * t.stages * t.warps_n * kLine);
  const double busy = std::min(1.0, under_way / 40e3) * std::min(1.0, blocks / machine.multiprocessors + 0.3);
  // Rounds of loads wait for each other where no other block fills the time.
  const double own_steps = std::ceil(count(k) * size / kLine / count(t.warps_n * t.stages * kernel.splits));
  const double waiting = 0.8 * (own_steps - 1) * std::min(1.0, 0.75 * machine.multiprocessors / blocks);
  return 1.2 + waiting + 1e6 * moved / (machine.memory_bytes_per_second * 1.1 * busy) + (kernel.splits > 1 ? 0.7 : 0);
}

void search(GemmSearch& search) {
  const auto& [traits, m, n, k, batches, machine, found] = search;
  constexpr int64_t kMostRows = 16;
  if (machine.compute < 80 || m > kMostRows || !search.takes_tensor_cores() || !search.is_along_k()) return;
  GemmKernel kernel = search.kernel(kGemmRows);
  kernel.b_constant = traits.b_constant;
  const int64_t size = bytes_of(traits.types.a);
  const int64_t bm = m <= 8 ? 8 : 16, steps = ceil_div(k * size, kLine);
  for (const auto& [bn, warps, stages] :
       {std::array<int64_t, 3>{16, 4, 3}, {16, 8, 3}, {16, 16, 3}, {32, 4, 3}, {32, 8, 2}})
    for (const int64_t splits : {1, 2, 4}) {
      const int64_t blocks = ceil_div(n, bn) * batches * splits;
      if (splits > 1 &&
          (machine.compute < 90 || steps < splits * warps || blocks > static_cast<int64_t>(machine.multiprocessors)))
        continue;
      kernel.tile = {bm, bn, kLine / size, 1, warps, 0, 0, stages};
      kernel.splits = splits;
      search.found.push_back({kernel, estimate_us(kernel, m, n, k, batches, machine)});
    }
}

}  // namespace

const GemmSource kGemmRowsSource{.family = &kGemmRows, .file = "gemm/rows.cu", .search = search};

}  // namespace kiln::cuda
