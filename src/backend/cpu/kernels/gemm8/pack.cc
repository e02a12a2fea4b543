#include "backend/cpu/kernels/gemm8/pack.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm8/avx2.h"
#include "backend/cpu/kernels/gemm8/dot.h"

namespace kiln::cpu {

int64_t PackedBytes::panel_bytes() const { return taps * round_up(k, kDotGroup) * kDotPanel; }

int8_t PackedBytes::at(int64_t tap, int64_t i, int64_t j) const {
  const int64_t row = tap * round_up(k, kDotGroup) * kDotPanel + i / kDotGroup * kDotPanel * kDotGroup;
  return panel(j / kDotPanel)[row + j % kDotPanel * kDotGroup + i % kDotGroup];
}

Result<PackedBytes> pack_bytes(const ByteMatrix& b, int64_t k, int64_t n, int64_t taps) {
  PackedBytes result{taps, k, n, {}, std::vector<int32_t>(static_cast<size_t>(n)), {}, {}};
  const int64_t panels = ceil_div(n, kDotPanel);
  result.data = TRY(AlignedFloats::zeros(ceil_div(panels * result.panel_bytes(), 4)));
  auto* const bytes = reinterpret_cast<int8_t*>(result.data.data());
  const int64_t tap_bytes = round_up(k, kDotGroup) * kDotPanel;
  for (int64_t j = 0; j < n; ++j) {
    int8_t* const column = bytes + j / kDotPanel * result.panel_bytes() + j % kDotPanel * kDotGroup;
    int32_t sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      int8_t* const to = column + t * tap_bytes;
      for (int64_t i = 0; i < k; ++i) {
        const int8_t w = b.data[b.offset(t, i, j)];
        to[i / kDotGroup * kDotPanel * kDotGroup + i % kDotGroup] = w;
        sum += w;
      }
    }
    result.column_sums[static_cast<size_t>(j)] = sum;
  }
  if (uses_half_panels()) result.joined = join_steps(result);
  return result;
}

}  // namespace kiln::cpu
