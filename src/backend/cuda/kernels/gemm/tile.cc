#include "backend/cuda/kernels/gemm/tile.h"

#include <algorithm>
#include <cmath>

namespace kiln::cuda {

std::vector<std::string> TileShape::defines() const {
  std::vector<std::string> result{str("BM=", bm), str("BN=", bn), str("BK=", bk)};
  if (warps_m)
    for (std::string& define :
         std::vector<std::string>{str("WARPS_M=", warps_m), str("WARPS_N=", warps_n), str("STAGES=", stages)})
      result.push_back(std::move(define));
  else
    for (std::string& define : std::vector<std::string>{str("TM=", tm), str("TN=", tn)})
      result.push_back(std::move(define));
  return result;
}

std::string TileShape::name() const { return str(bm, "x", bn, "x", bk); }

Status TileShape::require_whole() const {
  const auto within = [](int64_t x, int64_t most) { return x >= 1 && x <= most; };
  const bool valid =
      within(bm, 512) && within(bn, 512) && within(bk, 512) &&
      (warps_m ? within(warps_m, 32) && within(warps_n, 32) && within(stages, 32) : within(tm, 16) && within(tn, 16)) &&
      within(threads(), 1024);
  return require(valid, "a tile of ", name(), " is none of ours");
}

uint32_t mma_shared_bytes(const TileShape& t, DType element) {
  const int64_t stages = t.stages * (t.bm + t.bn) * t.bk * (bits_of(element) / 8);
  const int64_t slabs = t.warps_m * t.warps_n * 16 * (t.bn / t.warps_n + 8) * 4;
  return static_cast<uint32_t>(std::max(stages, slabs));
}

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
