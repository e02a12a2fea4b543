#include "backend/cpu/kernels/gemm8/vnni.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/device/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own intrinsics (GCC bug 105593)
#endif
#endif

namespace kiln::cpu {

#if defined(__x86_64__)
namespace {

constexpr uint32_t kSignBits = 0x80808080;
constexpr int kLanes = 16;
constexpr int64_t kStep = kDotPanel * kDotGroup;  // bytes of a panel's group of k

/// How sums become results, in the form that a tile's loop wants.
template <int kVecs>
struct Ending {
  __m512 scale[kVecs], bias[kVecs], lo, hi;
  __m512i zero;
  __mmask16 mask[kVecs];
  bool is_whole;

  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline))
  Ending(const Finish& how, int64_t columns) {
    const Limits limits = limits_of(how);
    lo = _mm512_set1_ps(limits.lo);
    hi = _mm512_set1_ps(limits.hi);
    zero = _mm512_set1_epi32(how.zero);
    is_whole = columns == kVecs * kLanes;
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      scale[v] = _mm512_loadu_ps(how.scale + v * kLanes);
      bias[v] = _mm512_loadu_ps(how.bias + v * kLanes);
      const auto count = std::clamp<int64_t>(columns - v * kLanes, 0, kLanes);
      mask[v] = static_cast<__mmask16>((1U << count) - 1);
    }
  }
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) __m512 value(__m512i sum,
                                                                                              int v) const {
    const __m512 moved = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale[v], bias[v]);
    return _mm512_min_ps(_mm512_max_ps(moved, lo), hi);
  }
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void store_bytes(__m512 value, int v,
                                                                                                  uint8_t* to) const {
    const __m512i level = _mm512_add_epi32(_mm512_cvtps_epi32(value), zero);
    const __m128i bytes = _mm512_cvtepi32_epi8(level);  // `limits_of` saturated it
    if (is_whole)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + v * kLanes), bytes);
    else
      _mm_mask_storeu_epi8(to + v * kLanes, mask[v], bytes);
  }
};

/// kRows x kVecs vectors of 16 sums in registers.
template <int kRows, int kVecs, bool kSigned>
struct VnniTile {
  __m512i sum[kRows][kVecs];

  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void start(const int32_t* correction) {
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      __m512i first = _mm512_setzero_si512();
      if (correction) first = _mm512_sub_epi32(first, _mm512_loadu_si512(correction + v * kLanes));
#pragma GCC unroll 20
      for (int r = 0; r < kRows; ++r) sum[r][v] = first;
    }
  }
  /// kSteps groups of k, from group g on: pointers to rows don't fit into the general registers, so that each is
  /// fetched once for several.
  template <int kSteps>
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void add(const uint8_t* const* row,
                                                                                          int64_t g, const int8_t* b) {
    __m512i w[kSteps][kVecs];
#pragma GCC unroll 2
    for (int u = 0; u < kSteps; ++u)
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) w[u][v] = _mm512_loadu_si512(b + u * kStep + v * 64);
#pragma GCC unroll 20
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int u = 0; u < kSteps; ++u) {
        uint32_t bytes;
        std::memcpy(&bytes, row[r] + (g + u) * kDotGroup, sizeof bytes);
        __m512i x = _mm512_set1_epi32(static_cast<int>(bytes));
        if constexpr (kSigned) x = _mm512_xor_si512(x, _mm512_set1_epi32(static_cast<int>(kSignBits)));
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], x, w[u][v]);
      }
  }
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void add_all(const DotTile& t) {
    const int64_t groups = (t.k + kDotGroup - 1) / kDotGroup;
    const int8_t* b = t.b;
    const uint8_t* const* a = t.a;
    for (int64_t tap = 0; tap < t.taps; ++tap, a += kDotRows) {
      int64_t g = 0;
      for (; g + 2 <= groups; g += 2, b += 2 * kStep) add<2>(a, g, b);
      for (; g < groups; ++g, b += kStep) add<1>(a, g, b);
    }
  }
  /// kSteps groups of k of rows `pitch` apart, from where `a` has every fourth row on, which moves on.
  template <int kSteps>
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void add_line(const uint8_t** a,
                                                                                               ptrdiff_t pitch,
                                                                                               const int8_t* b) {
    __m512i w[kSteps][kVecs];
#pragma GCC unroll 4
    for (int u = 0; u < kSteps; ++u)
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) w[u][v] = _mm512_loadu_si512(b + u * kStep + v * 64);
#pragma GCC unroll 20
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int u = 0; u < kSteps; ++u) {
        uint32_t bytes;
        std::memcpy(&bytes, a[r / 4] + r % 4 * pitch + u * kDotGroup, sizeof bytes);
        const __m512i x = _mm512_set1_epi32(static_cast<int>(bytes));
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], x, w[u][v]);
      }
#pragma GCC unroll 5
    for (int i = 0; i < (kRows + 3) / 4; ++i) a[i] += kSteps * kDotGroup;
  }
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void add_lines(const LineTile& t) {
    constexpr int kSteps = kVecs == 1 ? 2 : 1;
    const int64_t groups = (t.k + kDotGroup - 1) / kDotGroup;
    const int8_t* b = t.b;
    for (int64_t tap = 0; tap < t.taps; ++tap) {
      const uint8_t* a[(kRows + 3) / 4];
#pragma GCC unroll 5
      for (int i = 0; i < (kRows + 3) / 4; ++i) a[i] = t.a + t.steps[tap] + 4 * i * t.pitch;
      int64_t g = 0;
      for (; g + kSteps <= groups; g += kSteps, b += kSteps * kStep) add_line<kSteps>(a, t.pitch, b);
      for (; g < groups; ++g, b += kStep) add_line<1>(a, t.pitch, b);
    }
  }
  template <class Tile>
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void store(const Tile& t) const {
#pragma GCC unroll 20
    for (int r = 0; r < kRows; ++r) {  // a loop that ends elsewhere would keep the sums in memory
      if (r >= t.rows) break;
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) _mm512_storeu_si512(t.sums + r * kDotPanel + v * kLanes, sum[r][v]);
    }
  }
  template <class Tile>
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) void finish(const Tile& t,
                                                                                             const Finish& how) const {
    const Ending<kVecs> ending(how, t.columns);
    if (how.floats) {
#pragma GCC unroll 20
      for (int r = 0; r < kRows; ++r) {
        if (r >= t.rows) break;
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v)
          _mm512_mask_storeu_ps(how.floats + r * how.ld + v * kLanes, ending.mask[v], ending.value(sum[r][v], v));
      }
      return;
    }
#pragma GCC unroll 20
    for (int r = 0; r < kRows; ++r) {
      if (r >= t.rows) break;
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) ending.store_bytes(ending.value(sum[r][v], v), v, how.bytes + r * how.ld);
    }
  }
};

template <int kRows, int kVecs, bool kSigned>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) void run_tile(const DotTile& t, const Finish* how) {
  VnniTile<kRows, kVecs, kSigned> tile;
  tile.start(how ? how->correction : nullptr);
  tile.add_all(t);
  how ? tile.finish(t, *how) : tile.store(t);
}
/// Sums of a line: to memory where a residual is to be added, which registers have no room for.
template <int kRows, int kVecs>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) void run_line(const LineTile& t, const Finish& how) {
  VnniTile<kRows, kVecs, false> tile;
  tile.start(how.residual ? nullptr : how.correction);
  tile.add_lines(t);
  how.residual ? tile.store(t) : tile.finish(t, how);
}
/// Too few rows would wait for their sums: what is computed beyond `rows` is not looked at.
void run_line(const LineTile& t, const Finish& how) {
  if (t.columns > kLanes) return t.rows > 8 ? run_line<12, 2>(t, how) : run_line<8, 2>(t, how);
  if (t.rows > 16) return run_line<20, 1>(t, how);
  if (t.rows > 12) return run_line<16, 1>(t, how);
  t.rows > 10 ? run_line<12, 1>(t, how) : run_line<10, 1>(t, how);
}
template <int kRows>
void run_rows(const DotTile& t, const Finish* how) {
  if (t.columns <= kLanes) return t.a_is_signed ? run_tile<kRows, 1, true>(t, how) : run_tile<kRows, 1, false>(t, how);
  t.a_is_signed ? run_tile<kRows, 2, true>(t, how) : run_tile<kRows, 2, false>(t, how);
}
void run(const DotTile& t, const Finish* how) {
  if (t.rows > 8) return run_rows<12>(t, how);
  if (t.rows > 4) return run_rows<8>(t, how);
  if (t.rows > 2) return run_rows<4>(t, how);
  t.rows == 2 ? run_rows<2>(t, how) : run_rows<1>(t, how);
}

}  // namespace

bool has_vnni() {
  static const bool has = __builtin_cpu_supports("avx512vnni");
  return has && target() == Target::kAvx512;
}
void vnni_dot(const DotTile& tile) { run(tile, nullptr); }
void vnni_dot_and_finish(const DotTile& tile, const Finish& how) { run(tile, &how); }
void vnni_line_and_finish(const LineTile& tile, const Finish& how) {
  run_line(tile, how);
  if (how.residual) cpu::finish(tile.sums, tile.rows, tile.columns, how);
}

#else

bool has_vnni() { return false; }
void vnni_line_and_finish(const LineTile&, const Finish&) {}

#endif

}  // namespace kiln::cpu
