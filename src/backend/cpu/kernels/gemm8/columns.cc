#include "backend/cpu/kernels/gemm8/columns.h"

namespace kiln::cpu {

Columns fill_columns(const PackedBytes& w, const ByteScales& scales, const float* bias, int32_t x_shift, float inverse,
                     std::byte* memory) {
  const int64_t bytes = column_bytes(w.n);
  const Columns to{reinterpret_cast<int32_t*>(memory), reinterpret_cast<float*>(memory + bytes),
                   reinterpret_cast<float*>(memory + 2 * bytes)};
  const int32_t shift = scales.x_zero + x_shift;
  for (int64_t j = 0; j < w.n; ++j) {
    to.correction[j] = shift * w.column_sums[static_cast<size_t>(j)];
    to.scale[j] = scales.x_scale * scales.w_scale[scales.w_scale_is_one ? 0 : j] * inverse;
    to.bias[j] = bias ? bias[j] * inverse : 0;
  }
  for (int64_t j = w.n; j < round_up(w.n, kDotPanel); ++j) to.correction[j] = 0, to.scale[j] = 0, to.bias[j] = 0;
  return to;
}

}  // namespace kiln::cpu
