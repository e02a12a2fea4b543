/// The register tile over panels of float or of a half type, which is expanded on its way into the sums.
// Included once for each target: hence the toggled guard.
#if defined(KILN_CPU_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_BLOCK_INL_H
#undef KILN_CPU_BLOCK_INL_H
#else
#define KILN_CPU_BLOCK_INL_H
#endif

#include <algorithm>
#include <limits>

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6;  // 12 sums, 2 vectors of B and a broadcast in 16 registers
#elif HWY_TARGET == HWY_NEON
constexpr int kTileRows = 8;  // 16 sums in 32 registers
#else
constexpr int kTileRows = 12;  // 24 sums in 32 registers
#endif
constexpr int kPanel = 2 * kLanes;
constexpr int kFewRows = 4;
// Six sums alone would wait for each other, so that a last vector of a panel takes two groups of rows at once.
constexpr int kTallRows = kTileRows == 6 ? 12 : kTileRows;

/// A vector of B's elements as floats.
HWY_INLINE V expand(const float* b) { return hn::Load(D(), b); }
HWY_INLINE V expand(const hwy::float16_t* b) {
  return hn::PromoteTo(D(), hn::Load(hn::Rebind<hwy::float16_t, D>(), b));
}
HWY_INLINE V expand(const hwy::bfloat16_t* b) {
  return hn::PromoteTo(D(), hn::Load(hn::Rebind<hwy::bfloat16_t, D>(), b));
}

// Lines of B that one step of k takes from a panel (a half type's may share one), and how far they are apart.
template <class T>
constexpr int kLinesAStep = std::max<int>(1, kPanel * sizeof(T) / 64);
template <class T>
constexpr int kLineStep = kPanel / kLinesAStep<T>;

// Depth of one pass: 96 rows of it take 240 KiB, a panel 40 or 80 KiB. Deeper sums wait in C between passes.
constexpr int64_t kDepth = 640;

/// One pass of one tile over its panels of T.
template <class T>
struct Step {
  const float* const* a;   // [taps][kTileRows]
  ptrdiff_t tap_entries;   // from a tap's pointers to the next tap's; 0 if offsets say where they point
  ptrdiff_t group_stride;  // from a tap's pointers to the same tap's of the next kTileRows rows
  ptrdiff_t a_offset;
  const ptrdiff_t* tap_offsets;  // added, too, if there are any
  int64_t taps, k;
  const T* b;
  ptrdiff_t tap_stride;    // of B: from one tap to the next
  ptrdiff_t panel_stride;  // of B: from one panel to the next
  const T* soon;           // B to bring into L2 meanwhile, a cache line each step of k; else anything in cache
  float* c;
  ptrdiff_t ldc;
  int rows;  // to store, at most the template's
  int tail;  // columns of the last vector
  bool first, last;
  const float* bias;
  const float* residual;
  ptrdiff_t ldr;
  float lo, hi;
};

/// Brings what step i of k will want later into L2. Tiles of few rows wait for memory, so each fetches all of its
/// successor's panels, unless they are near; taller ones share the work.
template <int kRows, int kVecs, class T>
HWY_INLINE void fetch(const Step<T>& s, const T* soon) {
  if constexpr (kRows > kFewRows) {
    __builtin_prefetch(soon, 0, 2);
  } else if (s.soon != s.b) {
#pragma GCC unroll 2
    for (int panel = 0; panel < (kVecs + 1) / 2; ++panel)
#pragma GCC unroll 4
      for (int line = 0; line < kLinesAStep<T>; ++line)
        __builtin_prefetch(soon + panel * s.panel_stride + line * kLineStep<T>, 0, 2);
  }
}

enum class Rows : uint8_t {
  kAll,   ///< step.rows is the tile's
  kSome,  ///< fewer: rows beyond repeat the last one, and what they store is the same once more
};

/// kRows x kVecs vectors of sums in registers.
template <int kRows, int kVecs, Rows kWhich, class T>
struct Tile {
  static constexpr int kLast = kVecs - 1;
  // Pointers to rows don't fit into the general registers: each is fetched once for so many steps of k.
  static constexpr int kUnroll = kRows > 6 && kLanes < 16 ? 2 : kLanes < 16 ? 1 : kVecs == 1 ? 4 : 2;
  static constexpr ptrdiff_t kSoonStep = kRows > kFewRows ? kLineStep<T> : kPanel;

  const Step<T>& s;
  V sum[kRows][kVecs];

  HWY_INLINE int at(int r) const { return kWhich == Rows::kAll ? r : std::min(r, s.rows - 1); }

  HWY_INLINE void start() {
    const D d;
    const float* more = s.first ? s.residual : s.c;  // later passes go on from the sums so far
    const ptrdiff_t ld = s.first ? s.ldr : s.ldc;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      const int count = v == kLast ? s.tail : kLanes;
      const V bias = s.first && s.bias ? load_some(s.bias + v * kLanes, count) : hn::Zero(d);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) sum[r][v] = bias;
    }
    if (!more) return;
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v)
        sum[r][v] = hn::Add(sum[r][v], load_some(more + at(r) * ld + v * kLanes, v == kLast ? s.tail : kLanes));
  }

  /// Steps [i, i + kSteps) of k of a tap.
  template <int kSteps>
  HWY_INLINE void steps(const float* const (&row)[kRows], ptrdiff_t i, const T* b, const T* soon) {
    const D d;
    V w[kSteps][kVecs];
#pragma GCC unroll 4
    for (int u = 0; u < kSteps; ++u) {
      fetch<kRows, kVecs>(s, soon + u * kSoonStep);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) w[u][v] = expand(b + u * kPanel + (v / 2) * s.panel_stride + (v % 2) * kLanes);
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int u = 0; u < kSteps; ++u) {
        const V x = hn::Set(d, row[r][i + u]);
#pragma GCC unroll 4
        for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::MulAdd(x, w[u][v], sum[r][v]);
      }
  }

  HWY_INLINE void multiply() {
    const float* const* a = s.a;
    const T* tap_b = s.b;
    const T* soon = s.soon;
    for (int64_t t = 0; t < s.taps; ++t, a += s.tap_entries, tap_b += s.tap_stride) {
      const ptrdiff_t offset = s.a_offset + (s.tap_offsets ? s.tap_offsets[t] : 0);
      const float* row[kRows];
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) row[r] = a[at(r) % kTileRows + at(r) / kTileRows * s.group_stride] + offset;
      const T* b = tap_b;
      ptrdiff_t i = 0;
      for (; i + kUnroll <= s.k; i += kUnroll, b += kUnroll * kPanel, soon += kUnroll * kSoonStep)
        steps<kUnroll>(row, i, b, soon);
      if constexpr (kUnroll > 1)
        for (; i < s.k; ++i, b += kPanel, soon += kSoonStep) steps<1>(row, i, b, soon);
    }
  }

  HWY_INLINE void clamp() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (!s.last || (s.lo == -kInfinity && s.hi == kInfinity)) return;
    const V lo = hn::Set(D(), s.lo), hi = hn::Set(D(), s.hi);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::Min(hi, hn::Max(lo, sum[r][v]));  // in this order NaN stays
  }

  /// `store_last` takes the last vector of a row, which may be a part of one.
  template <class Store>
  HWY_INLINE void store_rows(Store store_last) const {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      float* const c = s.c + at(r) * s.ldc;
#pragma GCC unroll 4
      for (int v = 0; v < kLast; ++v) hn::StoreU(sum[r][v], D(), c + v * kLanes);
      store_last(sum[r][kLast], c + kLast * kLanes);
    }
  }
  HWY_INLINE void store() const {
    if (s.tail == kLanes) {
      store_rows([](V x, float* to) HWY_ATTR { hn::StoreU(x, D(), to); });
    } else {
      const auto mask = hn::FirstN(D(), static_cast<size_t>(s.tail));
      store_rows([&](V x, float* to) HWY_ATTR { hn::BlendedStore(x, mask, D(), to); });
    }
  }
};

template <int kRows, int kVecs, Rows kWhich = Rows::kSome, class T>
void tile(const Step<T>& s) {
  Tile<kRows, kVecs, kWhich, T> tile{s, {}};
  tile.start();
  tile.multiply();
  tile.clamp();
  tile.store();
}

template <int kVecs, class T>
void tile_of_rows(const Step<T>& s) {
  if constexpr (kVecs > 2) {
    return s.rows == 1 ? tile<1, kVecs>(s) : tile<2, kVecs>(s);
  } else {
    if (kVecs == 1 && s.rows == kTallRows) return tile<kTallRows, 1, Rows::kAll>(s);
    if (kVecs == 1 && s.rows > kTileRows) return tile<kTallRows, 1>(s);
    if (s.rows == kTileRows) return tile<kTileRows, kVecs, Rows::kAll>(s);
    if (kTileRows >= 12 && s.rows > 8) return tile<kTileRows, kVecs>(s);
    if (kTileRows >= 8 && s.rows > 6) return tile<std::min(8, kTileRows), kVecs>(s);
    if (s.rows > 4) return tile<6, kVecs>(s);
    if (s.rows > 2) return tile<4, kVecs>(s);
    if (s.rows > 1) return tile<2, kVecs>(s);
    return tile<1, kVecs>(s);
  }
}

/// One pass over all the block's panels and tiles: taps [tap, tap + s.taps), depth [k0, k0 + s.k) of each.
template <class T>
void pass(const Block& block, Step<T> s, int64_t tap, int64_t k0) {
  // Few rows leave registers for two panels at once; one panel alone could not hide the latency of its sums.
  const int64_t width = block.rows <= 2 ? 2 * kPanel : kPanel;
  s.a_offset = block.a_offset + k0;
  const int64_t packed_k = block.packed_k ? block.packed_k : block.k;
  s.tap_stride = packed_k * kPanel;
  s.panel_stride = block.taps * s.tap_stride;
  s.tap_entries = block.tap_offsets ? 0 : kTileRows;
  s.tap_offsets = block.tap_offsets ? block.tap_offsets + tap : nullptr;
  s.group_stride = block.tap_offsets ? kTileRows : block.taps * kTileRows;
  for (int64_t col = 0; col < block.cols; col += width) {
    const int64_t cols = std::min(width, block.cols - col);
    const auto vecs = static_cast<int>((cols + kLanes - 1) / kLanes);
    s.tail = static_cast<int>(cols - (vecs - 1) * kLanes);
    s.b = static_cast<const T*>(block.b) + col / kPanel * s.panel_stride + (tap * packed_k + k0) * kPanel;
    s.bias = block.bias ? block.bias + col : nullptr;
    const int64_t height = vecs == 1 ? kTallRows : kTileRows;
    for (int64_t row = 0; row < block.rows; row += height) {
      s.rows = static_cast<int>(std::min(height, block.rows - row));
      s.a = block.a + row / kTileRows * s.group_stride + tap * s.tap_entries;
      s.c = block.c + row * block.ldc + col;
      // The first tiles of a panel fetch the next panel, which would otherwise come from L3 at the pace of use.
      const int64_t share = row / kTileRows;
      if (block.b_is_near)
        s.soon = s.b;
      else if (block.rows <= kFewRows)
        s.soon = s.b + width / kPanel * s.panel_stride;
      else
        s.soon = share < kLinesAStep<T> ? s.b + s.panel_stride + share * s.taps * s.k * kLineStep<T> : s.b;
      s.residual = block.residual ? block.residual + row * block.ldr + col : nullptr;
      switch (vecs) {
        case 1: tile_of_rows<1>(s); break;
        case 2: tile_of_rows<2>(s); break;
        case 3: tile_of_rows<3>(s); break;
        default: tile_of_rows<4>(s); break;
      }
    }
  }
}

template <class T>
void run(const Block& block) {
  Step<T> s{};
  s.ldc = block.ldc;
  s.ldr = block.ldr;
  s.lo = block.lo;
  s.hi = block.hi;
  if (block.taps * block.k == 0) {
    s.first = s.last = true;
    return pass(block, s, 0, 0);
  }
  // Passes of equal depth: whole taps if one is short enough, else parts of a tap.
  const int64_t taps_a_pass = std::clamp<int64_t>(kDepth / block.k, 1, block.taps);
  const int64_t parts = (block.k + kDepth - 1) / kDepth;
  const int64_t depth = (block.k + parts - 1) / parts;
  for (int64_t tap = 0; tap < block.taps; tap += taps_a_pass)
    for (int64_t k0 = 0; k0 < block.k; k0 += depth) {
      s.taps = std::min(taps_a_pass, block.taps - tap);
      s.k = std::min(depth, block.k - k0);
      s.first = tap == 0 && k0 == 0;
      s.last = tap + s.taps == block.taps && k0 + s.k == block.k;
      pass(block, s, tap, k0);
    }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
