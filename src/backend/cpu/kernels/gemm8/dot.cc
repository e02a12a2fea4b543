#include "backend/cpu/kernels/gemm8/dot.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/gemm8/finish.h"
#include "backend/cpu/kernels/gemm8/vnni.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::cpu {
namespace {

/// The first `count` bytes, 1 to 3, and zeros.
inline uint32_t load_bytes(const uint8_t* p, int64_t count) {
  uint32_t bytes = p[0];
  if (count > 1) bytes |= uint32_t{p[1]} << 8;
  if (count > 2) bytes |= uint32_t{p[2]} << 16;
  return bytes;
}

#if defined(__x86_64__)

/// Half a panel: bytes become 16-bit numbers, whose products vpmaddwd adds in pairs. A vector of sums holds four
/// columns, two sums each.
template <int kRows, bool kSigned>
__attribute__((target("avx2"))) void dot_avx2(const DotTile& t, int row0, int half) {
  constexpr int kVecs = 4;
  __m256i sum[kRows][kVecs];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) sum[r][v] = _mm256_setzero_si256();
  const int8_t* b = t.b + half * 64;
  const uint8_t* const* a = t.a;
  for (int64_t tap = 0; tap < t.taps; ++tap, a += kDotRows) {
    const uint8_t* row[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) row[r] = a[row0 + r];
    for (int64_t i = 0; i < t.k; i += kDotGroup, b += kDotPanel * kDotGroup) {
      __m256i x[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        uint32_t bytes;
        if (i + kDotGroup <= t.k)
          std::memcpy(&bytes, row[r] + i, sizeof bytes);
        else
          bytes = load_bytes(row[r] + i, t.k - i);
        const __m128i four = _mm_set1_epi32(static_cast<int>(bytes));
        x[r] = kSigned ? _mm256_cvtepi8_epi16(four) : _mm256_cvtepu8_epi16(four);
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) {
        const __m256i w = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + v * 16)));
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(x[r], w));
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    if (row0 + r >= t.rows) break;
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; v += 2) {
      const __m256i pairs = _mm256_permute4x64_epi64(_mm256_hadd_epi32(sum[r][v], sum[r][v + 1]), 0xd8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(t.sums + (row0 + r) * kDotPanel + half * 16 + v * 4), pairs);
    }
  }
}
void dot_by_avx2(const DotTile& t) {
  for (int row0 = 0; row0 < t.rows; row0 += 3)
    for (int half = 0; half < (t.columns <= 16 ? 1 : 2); ++half)
      t.a_is_signed ? dot_avx2<3, true>(t, row0, half) : dot_avx2<3, false>(t, row0, half);
}

#endif

[[maybe_unused]] void dot_plain(const DotTile& t) {
  const int64_t groups = (t.k + kDotGroup - 1) / kDotGroup;
  for (int r = 0; r < t.rows; ++r) {
    int32_t* const sums = t.sums + r * kDotPanel;
    std::fill_n(sums, kDotPanel, 0);
    for (int64_t tap = 0; tap < t.taps; ++tap) {
      const uint8_t* const row = t.a[tap * kDotRows + r];
      const int8_t* const b = t.b + tap * groups * kDotPanel * kDotGroup;
      for (int64_t i = 0; i < t.k; ++i) {
        const int32_t x = t.a_is_signed ? static_cast<int8_t>(row[i]) : row[i];
        for (int64_t j = 0; j < kDotPanel; ++j)
          sums[j] += x * b[(i / kDotGroup * kDotPanel + j) * kDotGroup + i % kDotGroup];
      }
    }
  }
}

}  // namespace

#if defined(__x86_64__)
void dot(const DotTile& tile) { has_vnni() ? vnni_dot(tile) : dot_by_avx2(tile); }
void dot_and_finish(const DotTile& tile, const Finish& how) {
  if (has_vnni() && !how.residual) return vnni_dot_and_finish(tile, how);
  dot(tile);
  finish(tile.sums, tile.rows, tile.columns, how);
}
int32_t dot_shift(bool a_is_signed) { return a_is_signed && has_vnni() ? 128 : 0; }
#else
void dot(const DotTile& tile) { dot_plain(tile); }
void dot_and_finish(const DotTile& tile, const Finish& how) {
  dot(tile);
  finish(tile.sums, tile.rows, tile.columns, how);
}
int32_t dot_shift(bool) { return 0; }
#endif

}  // namespace kiln::cpu
