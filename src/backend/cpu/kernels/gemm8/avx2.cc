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

/// The bits of all bytes that were seen.
struct Seen {
  __m256i wide;
  __m128i half;
  uint64_t word = 0;

  __attribute__((target("avx2"), always_inline)) Seen() : wide(_mm256_setzero_si256()), half(_mm_setzero_si128()) {}

  __attribute__((target("avx2"), always_inline)) void see(const uint8_t* from, int64_t count) {
    int64_t i = 0;
    for (; i + 32 <= count; i += 32)
      wide = _mm256_or_si256(wide, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
    for (; i < count; ++i) word |= from[i];
  }
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
  __m256i zero, flip;

  __attribute__((target("avx2,fma"), always_inline)) explicit Ending(const Finish& how) {
    const Limits limits = limits_of(how);
    lo = _mm256_set1_ps(limits.lo);
    hi = _mm256_set1_ps(limits.hi);
    // Bytes without a sign are packed as signed ones, and moved by 128 thereafter.
    zero = _mm256_set1_epi16(static_cast<int16_t>(how.zero - (how.bytes_are_signed ? 0 : 128)));
    flip = _mm256_set1_epi8(static_cast<char>(how.bytes_are_signed ? 0 : 0x80));
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
  /// Numbers of 16 bits that have a byte's place, of a row.
  __attribute__((target("avx2,fma"), always_inline)) __m256i words(const __m256i (&sum)[kVecs]) const {
    const __m256i low = _mm256_cvtps_epi32(value(sum[0], 0)), high = _mm256_cvtps_epi32(value(sum[1], 1));
    return _mm256_add_epi16(_mm256_packs_epi32(low, high), zero);
  }
  /// The 16 bytes of each of two rows, which `limits_of` saturated.
  __attribute__((target("avx2,fma"), always_inline)) __m256i bytes(const __m256i (&first)[kVecs],
                                                                   const __m256i (&second)[kVecs]) const {
    const __m256i mixed = _mm256_xor_si256(_mm256_packs_epi16(words(first), words(second)), flip);
    return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
};

/// What of a step's four bytes of either operand is added to sums.
struct NarrowProduct {
  __m256i ones;
  __attribute__((target("avx2"), always_inline)) NarrowProduct() : ones(_mm256_set1_epi16(1)) {}
  __attribute__((target("avx2"), always_inline)) __m256i operator()(__m256i x, __m256i w) const {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(x, w), ones);
  }
};
struct WideProduct {
  __attribute__((target("avx2"), always_inline)) __m256i operator()(__m256i x, __m256i w) const {
    return _mm256_madd_epi16(x, w);
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
    find_rows(t, row);
    add_steps(t.steps, row, t.places, t.b, kDotPanel * kDotGroup, NarrowProduct());
  }
  __attribute__((target("avx2"), always_inline)) void add(const WideTile& t) {
    const int16_t* row[kRows];
    find_rows(t, row);
    add_steps(t.steps, row, t.places, t.b, kHalfColumns * 2, WideProduct());
  }
  __attribute__((target("avx2"), always_inline)) void add(const JoinedTile& t) {
    const uint8_t* row[kRows];
    find_rows(t, row);
    add_joins<0>(t, row);
    add_joins<kRowsOfJoins>(t, row);
  }
  /// Position `p`.
  __attribute__((target("avx2"), always_inline)) void add(const PositionTile& t, int64_t p) {
    const int16_t* row[kRows];
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) row[r] = t.a + p * t.step + r * t.depth;
    add_steps(t.depth / 2, row, EvenPlaces(), t.b + p * t.depth * kHalfColumns, kHalfColumns * 2, WideProduct());
  }
  __attribute__((target("avx2"), always_inline)) void store(int32_t* to, ptrdiff_t ld) const {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + r * ld + v * kLanes), of[r][v]);
  }

 private:
  struct EvenPlaces {
    ptrdiff_t operator[](int64_t i) const { return 2 * i; }
  };
  static constexpr int kRowsOfJoins = 3;
  static_assert(2 * kRowsOfJoins == kRows);

  template <class Tile, class OfA>
  static void find_rows(const Tile& t, const OfA* (&row)[kRows]) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) row[r] = t.a[std::min(r, t.rows - 1)];
  }
  /// Rows kFirst, kFirst + 1 and kFirst + 2.
  template <int kFirst>
  __attribute__((target("avx2"), always_inline)) void add_joins(const JoinedTile& t,
                                                                const uint8_t* const (&row)[kRows]) {
    const JoinedStep* step = t.steps;
    add_joins_of<kFirst, 1>(t.joins[0], step, t.b, row);
    add_joins_of<kFirst, 2>(t.joins[1], step, t.b, row);
    add_joins_of<kFirst, 3>(t.joins[2], step, t.b, row);
  }
  template <int kFirst, int kSteps>
  __attribute__((target("avx2"), always_inline)) void add_joins_of(int32_t joins, const JoinedStep*& step,
                                                                   const int8_t* b,
                                                                   const uint8_t* const (&row)[kRows]) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (; joins > 0; --joins, step += kSteps) {
#pragma GCC unroll 3
      for (int r = kFirst; r < kFirst + kRowsOfJoins; ++r) {
        __m256i sum[kVecs];
#pragma GCC unroll 3
        for (int i = 0; i < kSteps; ++i) {
          int32_t four;
          std::memcpy(&four, row[r] + step[i].a, sizeof four);
          const __m256i x = _mm256_set1_epi32(four);
#pragma GCC unroll 2
          for (int v = 0; v < kVecs; ++v) {
            const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + step[i].b) + v);
            const __m256i products = _mm256_maddubs_epi16(x, w);
            sum[v] = i == 0 ? products : _mm256_add_epi16(sum[v], products);
          }
        }
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) of[r][v] = _mm256_add_epi32(of[r][v], _mm256_madd_epi16(sum[v], ones));
      }
    }
  }
  /// Elements of B lie `step` apart from step to step.
  template <class OfA, class OfB, class Places, class Product>
  __attribute__((target("avx2"), always_inline)) void add_steps(int64_t steps, const OfA* const (&row)[kRows],
                                                                const Places& places, const OfB* b, ptrdiff_t step,
                                                                const Product& product) {
    for (int64_t i = 0; i < steps; ++i, b += step) {
      const ptrdiff_t place = places[i];
      __m256i w[kVecs];
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) w[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b) + v);
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        int32_t four;
        std::memcpy(&four, row[r] + place, sizeof four);
        const __m256i x = _mm256_set1_epi32(four);
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) of[r][v] = _mm256_add_epi32(of[r][v], product(x, w[v]));
      }
    }
  }
};

/// Results of whole rows of kHalfColumns.
template <class Tile>
__attribute__((target("avx2,fma"))) void finish_floats(const Tile& t, const Finish& how) {
  Sums sums;
  sums.start(how.correction);
  sums.add(t);
  const Ending ending(how);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    if (r >= t.rows) break;
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v)
      _mm256_storeu_ps(how.floats + r * how.ld + v * kLanes, ending.value(sums.of[r][v], v));
  }
}
template <class Tile>
__attribute__((target("avx2,fma"))) void finish_bytes(const Tile& t, const Finish& how) {
  Sums sums;
  sums.start(how.correction);
  sums.add(t);
  const Ending ending(how);
#pragma GCC unroll 3
  for (int r = 0; r < kRows; r += 2) {
    if (r >= t.rows) break;
    const __m256i bytes = ending.bytes(sums.of[r], sums.of[r + 1]);
    uint8_t* const to = how.bytes + r * how.ld;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
    if (r + 1 < t.rows) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + how.ld), _mm256_extracti128_si256(bytes, 1));
  }
}
template <class Tile>
__attribute__((target("avx2"))) void store_sums(const Tile& t, int32_t* to, ptrdiff_t ld) {
  Sums sums;
  sums.start(nullptr);
  sums.add(t);
  sums.store(to, ld);
}

struct HalfShape {
  int64_t rows, columns;
};
template <class T>
void copy_rows(const T* from, const HalfShape& shape, T* to, ptrdiff_t ld) {
  for (int64_t r = 0; r < shape.rows; ++r)
    std::memcpy(to + r * ld, from + r * kHalfColumns, static_cast<size_t>(shape.columns) * sizeof(T));
}

template <class Tile>
void run(const Tile& tile, const Finish& how, int32_t* sums) {
  if (how.residual) {
    store_sums(tile, sums, kDotPanel);
    return finish(sums, tile.rows, tile.columns, how);
  }
  if (tile.columns == kHalfColumns) return how.floats ? finish_floats(tile, how) : finish_bytes(tile, how);
  Finish whole = how;
  whole.ld = kHalfColumns;
  if (how.floats) {
    whole.floats = reinterpret_cast<float*>(sums);
    finish_floats(tile, whole);
    copy_rows(whole.floats, {tile.rows, tile.columns}, how.floats, how.ld);
  } else {
    whole.bytes = reinterpret_cast<uint8_t*>(sums);
    finish_bytes(tile, whole);
    copy_rows(whole.bytes, {tile.rows, tile.columns}, how.bytes, how.ld);
  }
}

}  // namespace

bool uses_half_panels() { return !has_vnni(); }

__attribute__((target("avx2"))) Magnitude gather_rows(const RowsOfA& from, uint8_t* to) {
  const int64_t of_tap = round_up(from.k, kDotGroup);
  Seen seen;
  for (int64_t r = 0; r < from.rows; ++r) {
    const uint8_t* const* a = from.a + r / kDotRows * from.taps * kDotRows + r % kDotRows;
    for (int64_t tap = 0; tap < from.taps; ++tap, to += of_tap) seen.copy(a[tap * kDotRows], of_tap, to);
  }
  return seen.magnitude();
}

__attribute__((target("avx2"))) Magnitude magnitude_of(const uint8_t* bytes, int64_t count) {
  Seen seen;
  seen.see(bytes, count);
  return seen.magnitude();
}

void widen_bytes(const uint8_t* from, int64_t count, bool is_signed, int16_t* to) {
  is_signed ? widen<true>(from, count, to) : widen<false>(from, count, to);
}

__attribute__((target("avx2"))) void widen_half_panel(const int8_t* b, int64_t taps, int64_t k, int16_t* to) {
  constexpr int kPair = kHalfColumns * 2;  // numbers of two steps of k
  const auto* from = reinterpret_cast<const __m128i*>(b);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t i = 0; i < k; i += kDotGroup, from += kDotPanel * kDotGroup / 16, to += 2 * kPair)
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
    if (round_up(k, kDotGroup) - k >= 2) to -= kPair;  // of zeros: the next tap takes its place
  }
}

void dot_and_finish(const NarrowTile& tile, const Finish& how, int32_t* sums) { run(tile, how, sums); }
void dot_and_finish(const JoinedTile& tile, const Finish& how, int32_t* sums) { run(tile, how, sums); }
void dot_and_finish(const WideTile& tile, const Finish& how, int32_t* sums) { run(tile, how, sums); }

__attribute__((target("avx2"))) void multiply_positions(const PositionTile& tile, const int32_t* correction,
                                                        int32_t* to) {
  for (int64_t p = 0; p < tile.positions; ++p) {
    Sums sums;
    sums.start(p == tile.corrected ? correction : nullptr);
    sums.add(tile, p);
    sums.store(to + p * kRows * kHalfColumns, kHalfColumns);
  }
}

__attribute__((target("avx2,fma"))) void finish_half(const int32_t* sums, int64_t rows, const int64_t* places,
                                                     int64_t columns, const Finish& how) {
  const Ending ending(how);
  for (int64_t r = 0; r < rows; r += 2) {
    __m256i sum[2][kVecs];
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v)
        sum[i][v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums + (r + i) * kHalfColumns + v * kLanes));
    if (how.floats) {
      alignas(32) float values[kHalfColumns];
      for (int i = 0; i < 2; ++i) {
        if (places[r + i] < 0) continue;
        for (int v = 0; v < kVecs; ++v) _mm256_store_ps(values + v * kLanes, ending.value(sum[i][v], v));
        std::memcpy(how.floats + places[r + i], values, static_cast<size_t>(columns) * sizeof(float));
      }
      continue;
    }
    const __m256i bytes = ending.bytes(sum[0], sum[1]);
    const __m128i row[] = {_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)};
    for (int i = 0; i < 2; ++i) {
      if (places[r + i] < 0) continue;
      if (columns == kHalfColumns) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(how.bytes + places[r + i]), row[i]);
      } else {
        alignas(16) uint8_t all[kHalfColumns];
        _mm_store_si128(reinterpret_cast<__m128i*>(all), row[i]);
        std::memcpy(how.bytes + places[r + i], all, static_cast<size_t>(columns));
      }
    }
  }
}

#else

bool uses_half_panels() { return false; }

#endif

}  // namespace kiln::cpu
