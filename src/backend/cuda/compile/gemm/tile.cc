#include "backend/cuda/compile/gemm/tile.h"

#include <algorithm>
#include <cmath>

namespace kiln::cuda {

double product_estimate_us(const TileShape& tile, double m, double n, double k, double batches, int64_t splits,
                           int64_t element_bytes, double flops_per_cycle, const Machine& machine) {
  const double split = static_cast<double>(splits), bytes = static_cast<double>(element_bytes);
  const double bm = static_cast<double>(tile.bm), bn = static_cast<double>(tile.bn), bk = static_cast<double>(tile.bk);
  const double blocks = std::ceil(m / bm) * std::ceil(n / bn) * batches * split;
  const double steps = std::max(1.0, std::ceil(std::ceil(k / bk) / split));
  // Small tiles keep the units less busy; a lone block of a multiprocessor cannot hide its own latencies.
  const double share = std::min(1.0, std::sqrt(bm * bn) / 128);
  const double step_cycles = std::max(2 * bm * bn * bk / (flops_per_cycle * share), 60.0);
  const double waves = std::max(1.0, std::ceil(blocks / machine.multiprocessors));
  const double compute_s = waves * (steps * step_cycles + 1500) / machine.clock_hz;
  const double moved = batches * (m * k + n * k + m * n) * bytes + (splits > 1 ? split * 8 * m * n * batches : 0);
  const double loaded = blocks * steps * (bm + bn) * bk * bytes;
  const double launches = splits > 1 ? 2 : 1;
  return 1e6 * std::max({compute_s, moved / machine.memory_bytes_per_second, loaded / machine.l2_bytes_per_second()}) +
         1.5 * launches;
}

}  // namespace kiln::cuda
