#include "backend/cpu/kernels/gemm8/avx2.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/gemm8/vnni.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::cpu {

int64_t gathered_depth(int64_t taps, int64_t k) { return taps * round_up(k, kDotGroup); }

#if defined(__x86_64__)
namespace {

constexpr int kRows = kHalfRows;
constexpr int kVecs = 2;  // of 8 sums
constexpr int kLanes = 8;

/// The bits of all bytes that were copied.
struct Copied {
  __m256i wide;
  __m128i half;
  uint64_t word = 0;

  __attribute__((target("avx2"), always_inline)) Copied() : wide(_mm256_setzero_si256()), half(_mm_setzero_si128()) {}

  /// `count` is a multiple of kDotGroup.
  __attribute__((target("avx2"), always_inline)) void copy(const uint8_t* from, int64_t count, uint8_t* to) {
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), bytes);
      wide = _mm256_or_si256(wide, bytes);
    }
    if (i + 16 <= count) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bytes);
      half = _mm_or_si128(half, bytes);
      i += 16;
    }
    if (i + 8 <= count) copy_word<uint64_t>(from, i, to);
    if (i < count) copy_word<uint32_t>(from, i, to);
  }
  template <class Word>
  void copy_word(const uint8_t* from, int64_t& i, uint8_t* to) {
    Word bytes;
    std::memcpy(&bytes, from + i, sizeof bytes);
    std::memcpy(to + i, &bytes, sizeof bytes);
    word |= bytes;
    i += static_cast<int64_t>(sizeof bytes);
  }
  __attribute__((target("avx2"), always_inline)) Magnitude magnitude() const {
    const bool is_small =
        _mm256_movemask_epi8(wide) == 0 && _mm_movemask_epi8(half) == 0 && (word & 0x8080'8080'8080'8080) == 0;
    return is_small ? Magnitude::kTo127 : Magnitude::kTo255;
  }
};

template <bool kSigned>
__attribute__((target("avx2"))) void widen(const uint8_t* from, int64_t count, int16_t* to) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        kSigned ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
  }
  for (; i < count; ++i) to[i] = kSigned ? static_cast<int8_t>(from[i]) : from[i];
}

/// How sums become results.
struct Ending {
  __m256 scale[kVecs], bias[kVecs], lo, hi;
  __m256i zero;

  __attribute__((target("avx2,fma"), always_inline)) explicit Ending(const Finish& how) {
    const Limits limits = limits_of(how);
    lo = _mm256_set1_ps(limits.lo);
    hi = _mm256_set1_ps(limits.hi);
    zero = _mm256_set1_epi32(how.zero);
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      scale[v] = _mm256_loadu_ps(how.scale + v * kLanes);
      bias[v] = _mm256_loadu_ps(how.bias + v * kLanes);
    }
  }
  __attribute__((target("avx2,fma"), always_inline)) __m256 value(__m256i sum, int v) const {
    const __m256 moved = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale[v], bias[v]);
    return _mm256_min_ps(_mm256_max_ps(moved, lo), hi);
  }
  /// The 16 bytes of a row, of either sign: `limits_of` saturated them.
  __attribute__((target("avx2,fma"), always_inline)) __m128i bytes(const __m256i (&sum)[kVecs]) const {
    const __m256i low = _mm256_add_epi32(_mm256_cvtps_epi32(value(sum[0], 0)), zero);
    const __m256i high = _mm256_add_epi32(_mm256_cvtps_epi32(value(sum[1], 1)), zero);
    const __m256i mixed = _mm256_and_si256(_mm256_packs_epi32(low, high), _mm256_set1_epi16(0xff));
    const __m256i words = _mm256_permute4x64_epi64(mixed, 0xd8);
    return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  }
};

/// The sums of a tile.
struct Sums {
  __m256i of[kRows][kVecs];

  __attribute__((target("avx2"), always_inline)) void start(const int32_t* correction) {
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      __m256i first = _mm256_setzero_si256();
      if (correction)
        first = _mm256_sub_epi32(first, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(correction + v * kLanes)));
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) of[r][v] = first;
    }
  }
  __attribute__((target("avx2"), always_inline)) void add(const NarrowTile& t) {
    const uint8_t* row[kRows];
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) row[r] = t.a + std::min(r, t.rows - 1) * t.depth;
    const __m256i ones = _mm256_set1_epi16(1);
    const int8_t* b = t.b;
    for (int64_t i = 0; i < t.depth; i += kDotGroup, b += kDotPanel * kDotGroup) {
      __m256i w[kVecs];
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) w[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + v * 32));
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        int32_t four;
        std::memcpy(&four, row[r] + i, sizeof four);
        const __m256i x = _mm256_set1_epi32(four);
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v)
          of[r][v] = _mm256_add_epi32(of[r][v], _mm256_madd_epi16(_mm256_maddubs_epi16(x, w[v]), ones));
      }
    }
  }
  __attribute__((target("avx2"), always_inline)) void add(const WideTile& t) {
    const int16_t* row[kRows];
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) row[r] = t.a + std::min(r, t.rows - 1) * t.depth;
    const int16_t* b = t.b;
    for (int64_t i = 0; i < t.depth; i += 2, b += kHalfColumns * 2) {
      __m256i w[kVecs];
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) w[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + v * 16));
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        int32_t pair;
        std::memcpy(&pair, row[r] + i, sizeof pair);
        const __m256i x = _mm256_set1_epi32(pair);
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) of[r][v] = _mm256_add_epi32(of[r][v], _mm256_madd_epi16(x, w[v]));
      }
    }
  }
};

__attribute__((target("avx2,fma"), always_inline)) inline void store_floats(const __m256i (&sum)[kVecs],
                                                                            const Ending& ending, int64_t columns,
                                                                            float* to) {
  alignas(32) float values[kHalfColumns];
#pragma GCC unroll 2
  for (int v = 0; v < kVecs; ++v) _mm256_store_ps(values + v * kLanes, ending.value(sum[v], v));
  std::memcpy(to, values, static_cast<size_t>(columns) * sizeof(float));
}
__attribute__((target("avx2,fma"), always_inline)) inline void store_bytes(const __m256i (&sum)[kVecs],
                                                                           const Ending& ending, int64_t columns,
                                                                           uint8_t* to) {
  const __m128i bytes = ending.bytes(sum);
  if (columns == kHalfColumns) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  } else {
    alignas(16) uint8_t all[kHalfColumns];
    _mm_store_si128(reinterpret_cast<__m128i*>(all), bytes);
    std::memcpy(to, all, static_cast<size_t>(columns));
  }
}

template <class Tile>
__attribute__((target("avx2,fma"))) void finish_floats(const Tile& t, const Finish& how) {
  Sums sums;
  sums.start(how.correction);
  sums.add(t);
  const Ending ending(how);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    if (r >= t.rows) break;
    store_floats(sums.of[r], ending, t.columns, how.floats + r * how.ld);
  }
}
template <class Tile>
__attribute__((target("avx2,fma"))) void finish_bytes(const Tile& t, const Finish& how) {
  Sums sums;
  sums.start(how.correction);
  sums.add(t);
  const Ending ending(how);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    if (r >= t.rows) break;
    store_bytes(sums.of[r], ending, t.columns, how.bytes + r * how.ld);
  }
}
template <class Tile>
__attribute__((target("avx2"))) void store_sums(const Tile& t, int32_t* to, ptrdiff_t ld) {
  Sums sums;
  sums.start(nullptr);
  sums.add(t);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + r * ld + v * kLanes), sums.of[r][v]);
}

template <class Tile>
void run(const Tile& tile, const Finish& how, int32_t* sums) {
  if (!how.residual) return how.floats ? finish_floats(tile, how) : finish_bytes(tile, how);
  store_sums(tile, sums, kDotPanel);
  finish(sums, tile.rows, tile.columns, how);
}

}  // namespace

bool uses_gathered_rows() { return !has_vnni(); }

__attribute__((target("avx2"))) Magnitude gather_rows(const RowsOfA& from, uint8_t* to) {
  const int64_t of_tap = round_up(from.k, kDotGroup);
  Copied copied;
  for (int64_t r = 0; r < from.rows; ++r) {
    const uint8_t* const* a = from.a + r / kDotRows * from.taps * kDotRows + r % kDotRows;
    for (int64_t tap = 0; tap < from.taps; ++tap, to += of_tap) copied.copy(a[tap * kDotRows], of_tap, to);
  }
  return copied.magnitude();
}

void widen_rows(const uint8_t* from, int64_t count, bool is_signed, int16_t* to) {
  is_signed ? widen<true>(from, count, to) : widen<false>(from, count, to);
}

__attribute__((target("avx2"))) void widen_half_panel(const int8_t* b, int64_t depth, int16_t* to) {
  constexpr int kPair = kHalfColumns * 2;  // numbers of two steps of k
  const auto* from = reinterpret_cast<const __m128i*>(b);
  for (int64_t i = 0; i < depth; i += kDotGroup, from += kDotPanel * kDotGroup / 16, to += 2 * kPair)
    for (int eight = 0; eight < 2; ++eight) {
      // A column's four numbers lie side by side: its first pair goes to `first`, its second to `second`.
      const __m256 low = _mm256_castsi256_ps(_mm256_cvtepi8_epi16(_mm_loadu_si128(from + eight * 2)));
      const __m256 high = _mm256_castsi256_ps(_mm256_cvtepi8_epi16(_mm_loadu_si128(from + eight * 2 + 1)));
      const __m256i first = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88));
      const __m256i second = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
      auto* const target = reinterpret_cast<__m256i*>(to + eight * kPair / 2);
      _mm256_storeu_si256(target, _mm256_permute4x64_epi64(first, 0xd8));
      _mm256_storeu_si256(target + 2, _mm256_permute4x64_epi64(second, 0xd8));
    }
}

void dot_and_finish(const NarrowTile& tile, const Finish& how, int32_t* sums) { run(tile, how, sums); }
void dot_and_finish(const WideTile& tile, const Finish& how, int32_t* sums) { run(tile, how, sums); }
void add_up(const WideTile& tile, int32_t* sums, ptrdiff_t ld) { store_sums(tile, sums, ld); }

__attribute__((target("avx2,fma"))) void finish_half(const int32_t* sums, int64_t rows, const int64_t* places,
                                                     int64_t columns, const Finish& how) {
  const Ending ending(how);
  for (int64_t r = 0; r < rows; ++r) {
    if (places[r] < 0) continue;
    __m256i sum[kVecs];
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v)
      sum[v] = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums + r * kDotPanel + v * kLanes)),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(how.correction + v * kLanes)));
    if (how.floats)
      store_floats(sum, ending, columns, how.floats + places[r]);
    else
      store_bytes(sum, ending, columns, how.bytes + places[r]);
  }
}

#else

bool uses_gathered_rows() { return false; }

#endif

}  // namespace kiln::cpu
