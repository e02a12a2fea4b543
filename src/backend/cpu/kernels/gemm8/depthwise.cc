#include "backend/cpu/kernels/gemm8/depthwise.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/gemm8/vnni.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::cpu {
namespace {

#if defined(__x86_64__)

constexpr int kGroups = 8;  // of four channels in a panel

/// Four taps of a panel, so that the bytes of a channel lie together: quads[i] has channels 4 i to 4 i + 3 in its lower
/// half, and those 16 further on in its upper half.
struct Quads {
  __m256i quads[kGroups / 2];
};
__attribute__((target("avx2"), always_inline)) inline Quads interleave(const __m256i (&x)[kDotGroup]) {
  const __m256i low01 = _mm256_unpacklo_epi8(x[0], x[1]), high01 = _mm256_unpackhi_epi8(x[0], x[1]);
  const __m256i low23 = _mm256_unpacklo_epi8(x[2], x[3]), high23 = _mm256_unpackhi_epi8(x[2], x[3]);
  return {{_mm256_unpacklo_epi16(low01, low23), _mm256_unpackhi_epi16(low01, low23),
           _mm256_unpacklo_epi16(high01, high23), _mm256_unpackhi_epi16(high01, high23)}};
}

/// The first `count` bytes of a panel, and zeros; no byte beyond them is read.
__attribute__((target("avx2"), always_inline)) inline __m256i load_channels(const uint8_t* p, int64_t count) {
  if (count == kDotPanel) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  if (count == 16) return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  alignas(32) uint8_t all[kDotPanel] = {};
  std::memcpy(all, p, static_cast<size_t>(count));
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(all));
}

/// Bytes become 16-bit numbers, whose products vpmaddwd adds in pairs: a vector of sums has four channels, two sums
/// each.
template <bool kSigned>
__attribute__((target("avx2"))) void depthwise_avx2(const DepthwiseTile& t, int row) {
  __m256i sum[kGroups];
#pragma GCC unroll 8
  for (int g = 0; g < kGroups; ++g) sum[g] = _mm256_setzero_si256();
  const int8_t* b = t.b;
  for (int64_t tap = 0; tap < t.taps; tap += kDotGroup, b += kDotPanel * kDotGroup) {
    __m256i x[kDotGroup];
#pragma GCC unroll 4
    for (int64_t i = 0; i < kDotGroup; ++i)
      x[i] = tap + i < t.taps ? load_channels(t.a[(tap + i) * kDotRows + row] + t.channel, t.columns)
                              : _mm256_setzero_si256();
    const Quads q = interleave(x);
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
      const __m128i four = g < 4 ? _mm256_castsi256_si128(q.quads[g % 4]) : _mm256_extracti128_si256(q.quads[g % 4], 1);
      const __m256i wide = kSigned ? _mm256_cvtepi8_epi16(four) : _mm256_cvtepu8_epi16(four);
      const __m256i w = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + g * 16)));
      sum[g] = _mm256_add_epi32(sum[g], _mm256_madd_epi16(wide, w));
    }
  }
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; g += 2) {
    const __m256i pairs = _mm256_permute4x64_epi64(_mm256_hadd_epi32(sum[g], sum[g + 1]), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(t.sums + row * kDotPanel + g * 4), pairs);
  }
}

/// kRows pixels, so that weights are fetched once for them. A vector of sums has the channels of one of Quads.
template <int kRows, bool kSigned>
__attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vnni"))) void depthwise_vnni(const DepthwiseTile& t,
                                                                                         int row0) {
  constexpr int kVecs = kGroups / 2;
  const __mmask32 channels = t.columns == kDotPanel ? ~__mmask32{0} : (__mmask32{1} << t.columns) - 1;
  const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
  __m256i sum[kRows][kVecs];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) sum[r][v] = _mm256_setzero_si256();
  const int8_t* b = t.b;
  for (int64_t tap = 0; tap < t.taps; tap += kDotGroup, b += kDotPanel * kDotGroup) {
    __m256i w[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v)
      w[v] =
          _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + v * 16))),
                                  _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + (kVecs + v) * 16)), 1);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      __m256i x[kDotGroup];
#pragma GCC unroll 4
      for (int64_t i = 0; i < kDotGroup; ++i) {
        x[i] = tap + i < t.taps ? _mm256_maskz_loadu_epi8(channels, t.a[(tap + i) * kDotRows + row0 + r] + t.channel)
                                : _mm256_setzero_si256();
        if constexpr (kSigned) x[i] = _mm256_xor_si256(x[i], sign);
      }
      const Quads q = interleave(x);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) sum[r][v] = _mm256_dpbusd_epi32(sum[r][v], q.quads[v], w[v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      int32_t* const to = t.sums + (row0 + r) * kDotPanel + v * 4;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(sum[r][v]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm256_extracti128_si256(sum[r][v], 1));
    }
}

template <bool kSigned>
void depthwise_x86(const DepthwiseTile& t) {
  int row = 0;
  if (has_vnni()) {
    for (; row + 4 <= t.rows; row += 4) depthwise_vnni<4, kSigned>(t, row);
    for (; row < t.rows; ++row) depthwise_vnni<1, kSigned>(t, row);
  }
  for (; row < t.rows; ++row) depthwise_avx2<kSigned>(t, row);
}

#endif

[[maybe_unused]] void depthwise_plain(const DepthwiseTile& t) {
  for (int r = 0; r < t.rows; ++r) {
    int32_t* const sums = t.sums + r * kDotPanel;
    std::fill_n(sums, kDotPanel, 0);
    for (int64_t tap = 0; tap < t.taps; ++tap) {
      const uint8_t* const pixel = t.a[tap * kDotRows + r] + t.channel;
      const int8_t* const b = t.b + tap / kDotGroup * kDotPanel * kDotGroup + tap % kDotGroup;
      for (int64_t j = 0; j < t.columns; ++j)
        sums[j] += (t.a_is_signed ? static_cast<int8_t>(pixel[j]) : pixel[j]) * b[j * kDotGroup];
    }
  }
}

}  // namespace

#if defined(__x86_64__)
void depthwise_dot(const DepthwiseTile& t) { t.a_is_signed ? depthwise_x86<true>(t) : depthwise_x86<false>(t); }
#else
void depthwise_dot(const DepthwiseTile& t) { depthwise_plain(t); }
#endif

}  // namespace kiln::cpu
