#include "backend/cpu/kernels/gemm/pack.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/half.h"

namespace kiln::cpu {
namespace {

/// Rows of `width` floats, columns contiguous in B.
void pack_rows(const float* b, ptrdiff_t k_stride, int64_t k, int64_t width, int64_t panel, float* out) {
  for (int64_t i = 0; i < k; ++i, b += k_stride, out += panel) {
    std::memcpy(out, b, static_cast<size_t>(width) * 4);
    std::memset(out + width, 0, static_cast<size_t>(panel - width) * 4);
  }
}

/// Four columns of a transposed source at a time, contiguous along k: squares turned in registers. GCC's vectors are
/// enough here, and spare a variant per target.
using Quad = float __attribute__((vector_size(16)));
Quad load_quad(const float* p) {
  Quad result;
  std::memcpy(&result, p, sizeof result);
  return result;
}
void pack_squares(const float* b, ptrdiff_t n_stride, int64_t k, int64_t width, int64_t panel, float* out) {
  for (int64_t i = 0; i + 4 <= k; i += 4)
    for (int64_t j = 0; j + 4 <= width; j += 4) {
      const float* from = b + i + j * n_stride;
      const Quad c0 = load_quad(from), c1 = load_quad(from + n_stride);
      const Quad c2 = load_quad(from + 2 * n_stride), c3 = load_quad(from + 3 * n_stride);
      const Quad low01 = __builtin_shufflevector(c0, c1, 0, 4, 1, 5),
                 high01 = __builtin_shufflevector(c0, c1, 2, 6, 3, 7);
      const Quad low23 = __builtin_shufflevector(c2, c3, 0, 4, 1, 5),
                 high23 = __builtin_shufflevector(c2, c3, 2, 6, 3, 7);
      const Quad rows[4] = {
          __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
          __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
      for (int r = 0; r < 4; ++r) std::memcpy(out + (i + r) * panel + j, &rows[r], sizeof rows[r]);
    }
}

/// Any strides. Sixteen rows at a time keep the lines of a transposed source in cache until they are used up.
void pack_strided(const Matrix& b, int64_t k, int64_t width, int64_t panel, float* out) {
  constexpr int64_t kRows = 16;
  for (int64_t i0 = 0; i0 < k; i0 += kRows) {
    const int64_t rows = std::min(kRows, k - i0);
    for (int64_t j = 0; j < width; ++j) {
      const float* from = b.data + i0 * b.k_stride + j * b.n_stride;
      float* to = out + i0 * panel + j;
      for (int64_t i = 0; i < rows; ++i) to[i * panel] = from[i * b.k_stride];
    }
    if (width < panel)
      for (int64_t i = i0; i < i0 + rows; ++i)
        std::memset(out + i * panel + width, 0, static_cast<size_t>(panel - width) * 4);
  }
}

}  // namespace

int64_t packed_size(int64_t taps, int64_t k, int64_t n) { return round_up(n, tiling().panel) * taps * k; }

void pack_panels(const Matrix& b, int64_t taps, int64_t k, int64_t n, int64_t panel0, int64_t panel1, float* packed) {
  const int64_t panel = tiling().panel;
  for (int64_t p = panel0; p < panel1; ++p) {
    const int64_t width = std::min(panel, n - p * panel);
    for (int64_t t = 0; t < taps; ++t) {
      const Matrix part{b.data + t * b.tap_stride + p * panel * b.n_stride, b.k_stride, b.n_stride};
      float* out = packed + (p * taps + t) * k * panel;
      if (b.n_stride == 1)
        pack_rows(part.data, b.k_stride, k, width, panel, out);
      else if (b.k_stride == 1 && k % 4 == 0 && width == panel)
        pack_squares(part.data, b.n_stride, k, width, panel, out);
      else
        pack_strided(part, k, width, panel, out);
    }
  }
}

namespace {

/// Packs a panel at a time and rounds it, so that only one is ever in FP32.
Status pack_half(const Matrix& b, PackedB& to, int64_t index) {
  const int64_t depth = to.taps * to.k;
  AlignedFloats panel = TRY(AlignedFloats::zeros(depth * to.panel));
  auto* out = reinterpret_cast<uint16_t*>(to.data.data()) + index * packed_size(to.taps, to.k, to.n);
  for (int64_t col = 0; col < to.n; col += to.panel, out += depth * to.panel) {
    Matrix part = b;
    part.data += col * b.n_stride;
    pack_panels(part, to.taps, to.k, std::min(to.panel, to.n - col), 0, 1, panel.data());
    narrow(panel.data(), depth * to.panel, to.dtype, out);
  }
  return {};
}

}  // namespace

Result<PackedB> pack_b(const Matrix& b, int64_t k, int64_t n, int64_t taps, int64_t batch, ptrdiff_t batch_stride,
                       DType dtype) {
  PackedB result{taps, k, n, batch, tiling().panel, {}, dtype};
  const int64_t size = packed_size(taps, k, n);
  result.data = TRY(AlignedFloats::zeros(ceil_div(size * batch * size_bytes(dtype, 1), 4)));
  if (size == 0) return result;
  for (int64_t i = 0; i < batch; ++i) {
    Matrix one = b;
    one.data += i * batch_stride;
    if (dtype == DType::kF32)
      pack_panels(one, taps, k, n, 0, ceil_div(n, result.panel), result.data.data() + i * size);
    else
      TRY(pack_half(one, result, i));
  }
  return result;
}

}  // namespace kiln::cpu
