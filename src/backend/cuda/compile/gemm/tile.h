/// What tiles are worth.
#pragma once

#include "backend/cuda/kernels/gemm/tile.h"

namespace kiln::cuda {

/// Facts about a device that decide which kernel is chosen.
struct Machine {
  double multiprocessors = 132, clock_hz = 1.7e9, memory_bytes_per_second = 3.5e12;
  int64_t shared_bytes = 232'448;  ///< the most that a block may have
  int compute = 90;                ///< compute capability times ten
  double l2_bytes_per_second() const { return multiprocessors * clock_hz * 40; }
};
/// Estimated time of one product of m x n x k in batches, when blocks of `tile` run it by `flops_per_cycle` a
/// multiprocessor.
double product_estimate_us(const TileShape& tile, double m, double n, double k, double batches, int64_t splits,
                           int64_t element_bytes, double flops_per_cycle, const Machine& machine);

}  // namespace kiln::cuda
