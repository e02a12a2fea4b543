/// One row of output pixels of a pooling.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/pool/pool.h"

namespace kiln::cpu {

/// The input rows that an output row reads, a pass of them at a time; sums and maxima so far stand in `out`.
struct PoolRow {
  static constexpr int64_t kMostLines = 64;
  const PoolShape& shape;
  const float* lines[kMostLines];  // first pixel of an input row, from its first channel of this part on
  int64_t num_lines;
  int64_t channels;  // of this part; channels last only
  ptrdiff_t in_ld, out_ld;
  float* out;
  double lines_counted;  // what the outer axes contribute to an average's divisor
  bool first, last;
  int64_t origin = 0;  // the column that lines begin with; channels last only
};
void run_pool_row(const PoolRow& row);        ///< channels last
void run_pool_plane_row(const PoolRow& row);  ///< channels first: `lines` and `out` are of one plane

/// Taps of an axis that count in an average at output position `o`.
int64_t taps_counted(const PoolShape& shape, int axis, int64_t o);

}  // namespace kiln::cpu
