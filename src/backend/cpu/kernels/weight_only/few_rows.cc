#include "backend/cpu/kernels/weight_only/few_rows.h"

#include <algorithm>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/weight_only/few_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

using I = hn::RebindToSigned<D>;
using VI = hn::Vec<I>;
constexpr int kVecs = 2, kPanel = kVecs * kLanes;

#if HWY_TARGET == HWY_AVX3
constexpr bool kBiased = false;
constexpr int kMostRows = 8;
#else
constexpr bool kBiased = true;
constexpr int kMostRows = 4;
#endif

HWY_INLINE VI load_words(const std::byte* from) { return hn::LoadU(I(), reinterpret_cast<const int32_t*>(from)); }

/// Weights of i4 as floats. `words` are those of a vector: eight neighbours along k for each column.
struct Nibbles {
  using U = hn::RebindToUnsigned<D>;
#if HWY_TARGET == HWY_AVX3
  // One permutation of a table of all numbers is a conversion. It reads the low four bits of an index, so that a load
  // from the middle of a word shifts it.
  V table;
  HWY_INLINE Nibbles() {
    alignas(64) static constexpr float kNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
    table = hn::Load(D(), kNumbers);
  }
  template <int kAt>
  HWY_INLINE V number(const std::byte* words) const {
    VI index = load_words(words + kAt / 2);
    if constexpr (kAt % 2 == 1) index = hn::BitCast(I(), hn::ShiftRight<4>(hn::BitCast(U(), index)));
    return V{_mm512_permutexvar_ps(index.raw, table.raw)};
  }
#else
  // A nibble that stays where it is in its word is a number times a power of 16; `scale_row` divides A by it.
  template <int kAt>
  HWY_INLINE V number(const std::byte* words) const {
    const VI all = load_words(words);
    if constexpr (kAt == kBlockStep - 1)
      return hn::ConvertTo(D(), hn::BitCast(I(), hn::ShiftRight<4 * kAt>(hn::BitCast(U(), all))));
    else
      return hn::ConvertTo(D(), hn::And(all, hn::Set(I(), 15 << (4 * kAt))));
  }
#endif
};

/// 1 / 16^i for i below kBlockStep - 1, whose nibble is shifted down, where nibbles stay in their place; else 1.
HWY_INLINE float factor_of(int64_t i) {
  return kBiased && i != kBlockStep - 1 ? 1.0F / static_cast<float>(int64_t{1} << (4 * i)) : 1.0F;
}

/// Brings a line that is wanted soon into L2, and one that is wanted next into L1: one stream of weights alone does not
/// fill memory's queues.
HWY_INLINE void fetch(const std::byte* weights) {
  constexpr ptrdiff_t kSoon = 8'192, kNext = 1536;
  __builtin_prefetch(weights + kSoon, 0, 2);
  __builtin_prefetch(weights + kNext, 0, 3);
}

/// A vector of bytes as floats.
HWY_INLINE V load_bytes(const std::byte* from) {
  const hn::Rebind<int8_t, D> narrow;
  return hn::ConvertTo(D(), hn::PromoteTo(I(), hn::LoadU(narrow, reinterpret_cast<const int8_t*>(from))));
}
HWY_INLINE V load_zeros(const int8_t* from) { return load_bytes(reinterpret_cast<const std::byte*>(from)); }

/// Sums of a block of kRows rows: so many chains of each that no addition waits for the last one.
template <int kRows>
struct Sums {
  static constexpr int kChains = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  V at[kChains][kRows][kVecs];

  HWY_INLINE Sums() {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c)
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) at[c][r][v] = hn::Zero(D());
  }
  HWY_INLINE void add(int chain, int v, const float* const (&a)[kRows], ptrdiff_t i, V weight) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      at[chain % kChains][r][v] = hn::MulAdd(hn::Set(D(), a[r][i]), weight, at[chain % kChains][r][v]);
  }
  HWY_INLINE V total(int r, int v) const {
    if constexpr (kChains == 4)
      return hn::Add(hn::Add(at[0][r][v], at[1][r][v]), hn::Add(at[2][r][v], at[3][r][v]));
    else if constexpr (kChains == 2)
      return hn::Add(at[0][r][v], at[1][r][v]);
    else
      return at[0][r][v];
  }
};

template <int kRows, int kAt>
HWY_INLINE void add_nibble(Sums<kRows>& sums, const Nibbles& nibbles, const std::byte* words,
                           const float* const (&a)[kRows], ptrdiff_t i) {
  sums.add(kAt, 0, a, i + kAt, nibbles.number<kAt>(words));
  sums.add(kAt, 1, a, i + kAt, nibbles.number<kAt>(words + kLanes * 4));
}

/// Adds the products of rows [i, end) of a panel; `weights` are those of row i.
template <int kRows>
HWY_INLINE void add_nibbles(Sums<kRows>& sums, const std::byte* weights, const float* const (&a)[kRows], ptrdiff_t i,
                            ptrdiff_t end) {
  const Nibbles nibbles;
  for (; i < end; i += kBlockStep, weights += kPanel * 4) {
#pragma GCC unroll 2
    for (int line = 0; line < kPanel * 4; line += 64) fetch(weights + line);
    add_nibble<kRows, 0>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 1>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 2>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 3>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 4>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 5>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 6>(sums, nibbles, weights, a, i);
    add_nibble<kRows, 7>(sums, nibbles, weights, a, i);
  }
}
template <int kRows>
HWY_INLINE void add_bytes(Sums<kRows>& sums, const std::byte* weights, const float* const (&a)[kRows], ptrdiff_t i,
                          ptrdiff_t end) {
  for (; i < end; i += 4) {  // panels are padded to kBlockStep rows
#pragma GCC unroll 2
    for (int line = 0; line < kPanel * 4; line += 64) fetch(weights + line);
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u, weights += kPanel)
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) sums.add(u, v, a, i + u, load_bytes(weights + v * kLanes));
  }
}

/// Totals of all blocks, bias and residual on top, to C.
template <int kRows>
HWY_INLINE void store(const PanelTask& t, const float (&totals)[kRows][kPanel]) {
  const D d;
  const auto columns = static_cast<int>(std::min<int64_t>(kPanel, t.weights->n - t.panel * kPanel));
  const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
  for (int r = 0; r < std::min(kRows, t.rows); ++r)
    for (int v = 0; v < kVecs; ++v) {
      const int count = std::min(kLanes, columns - v * kLanes);
      if (count <= 0) break;
      V x = hn::LoadU(d, totals[r] + v * kLanes);
      if (t.bias) x = hn::Add(x, load_some(t.bias + v * kLanes, count));
      if (t.residual) x = hn::Add(x, load_some(t.residual + r * t.ldr + v * kLanes, count));
      store_some(hn::Min(hi, hn::Max(lo, x)), t.c + r * t.ldc + v * kLanes, count);  // in this order NaN stays
    }
}

template <int kRows, bool kNibbles>
void rows_by_panel(const PanelTask& t) {
  const D d;
  const PackedWeights& w = *t.weights;
  const float* a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = t.a + std::min(r, t.rows - 1) * t.lda;
  alignas(64) float totals[kRows][kPanel] = {};
  const std::byte* weights = w.panel_data(t.panel);
  const float* scales = w.panel_scales(t.panel);
  const int8_t* zeros = w.panel_zeros(t.panel);
  const int64_t blocks = w.blocks();
  for (int64_t b = 0; b < blocks; ++b, scales += kPanel) {
    const int64_t i = b * w.block, end = blocks == 1 ? w.padded_k() : i + w.block;
    Sums<kRows> sums;
    if constexpr (kNibbles)
      add_nibbles(sums, weights + i * (kPanel / 2), a, i, end);
    else
      add_bytes(sums, weights + i * kPanel, a, i, end);
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      const V scale = hn::Load(d, scales + v * kLanes);
      const V zero = zeros ? load_zeros(zeros + b * kPanel + v * kLanes) : hn::Zero(d);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        V sum = sums.total(r, v);
        if (zeros) sum = hn::NegMulAdd(zero, hn::Set(d, t.sums[std::min(r, t.rows - 1) * t.lds + b]), sum);
        float* const total = totals[r] + v * kLanes;
        hn::Store(hn::MulAdd(sum, scale, hn::Load(d, total)), d, total);
      }
    }
  }
  store<kRows>(t, totals);
}

template <int kRows>
void rows_by_panel(const PanelTask& t) {
  t.weights->type == DType::kI4 ? rows_by_panel<kRows, true>(t) : rows_by_panel<kRows, false>(t);
}

void panel(const PanelTask& t) {
  if (t.rows == 1) return rows_by_panel<1>(t);
  if (t.rows == 2) return rows_by_panel<2>(t);
  if (t.rows <= 4) return rows_by_panel<4>(t);
  if constexpr (kMostRows == 8) rows_by_panel<8>(t);
}

WeightTarget target_facts() { return {kPanel, kBiased, kMostRows}; }

void copy_row(const PackedWeights& w, const float* from, float* to) {
  const bool scales = kBiased && w.type == DType::kI4;
  for (int64_t i = 0; i < w.k; ++i) to[i] = scales ? from[i] * factor_of(i % kBlockStep) : from[i];
  std::fill(to + w.k, to + w.padded_k(), 0.0F);
}

template <int kAt>
HWY_INLINE void expand_nibble(const Nibbles& nibbles, const std::byte* words, V scale, V zero, float* to) {
  const V number = hn::Mul(nibbles.number<kAt>(words), hn::Set(D(), factor_of(kAt)));
  hn::StoreU(hn::Mul(hn::Sub(number, zero), scale), D(), to + kAt * kPanel);
}

/// Rows [k0, k1) of a vector's columns, all of one block; `k1 - k0` may end within a word at the end of the panel.
HWY_INLINE void expand_block(const PackedWeights& w, const std::byte* data, int64_t rows, V scale, V zero, float* to) {
  if (w.type != DType::kI4) {
    for (int64_t i = 0; i < rows; ++i)
      hn::StoreU(hn::Mul(hn::Sub(load_bytes(data + i * kPanel), zero), scale), D(), to + i * kPanel);
    return;
  }
  const Nibbles nibbles;
  for (int64_t i = 0; i < rows; i += kBlockStep, data += kPanel * 4, to += kBlockStep * kPanel) {
    alignas(64) float last[kBlockStep * kPanel];
    float* const out = i + kBlockStep <= rows ? to : last;
    expand_nibble<0>(nibbles, data, scale, zero, out);
    expand_nibble<1>(nibbles, data, scale, zero, out);
    expand_nibble<2>(nibbles, data, scale, zero, out);
    expand_nibble<3>(nibbles, data, scale, zero, out);
    expand_nibble<4>(nibbles, data, scale, zero, out);
    expand_nibble<5>(nibbles, data, scale, zero, out);
    expand_nibble<6>(nibbles, data, scale, zero, out);
    expand_nibble<7>(nibbles, data, scale, zero, out);
    if (out == to) continue;
    for (int64_t u = 0; u < rows - i; ++u) hn::StoreU(hn::Load(D(), last + u * kPanel), D(), to + u * kPanel);
  }
}

void expand(const PackedWeights& w, int64_t panel, int64_t k0, int64_t k1, float* to) {
  const D d;
  const int64_t row_bytes = size_bytes(w.type, kPanel);
  for (int64_t i = k0; i < k1;) {
    const int64_t b = i / w.block, end = std::min(k1, (b + 1) * w.block);
    for (int v = 0; v < kVecs; ++v) {
      const V scale = hn::Load(d, w.panel_scales(panel) + b * kPanel + v * kLanes);
      const V zero = w.zeros.empty() ? hn::Zero(d) : load_zeros(w.panel_zeros(panel) + b * kPanel + v * kLanes);
      const int64_t in_row = w.type == DType::kI4 ? v * kLanes * 4 : v * kLanes;
      expand_block(w, w.panel_data(panel) + i * row_bytes + in_row, end - i, scale, zero,
                   to + (i - k0) * kPanel + v * kLanes);
    }
    i = end;
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

WeightTarget weight_target() { return KILN_DISPATCH(target_facts)(); }
void multiply_panel(const PanelTask& task) { KILN_DISPATCH(panel)(task); }
void scale_row(const PackedWeights& weights, const float* from, float* to) {
  KILN_DISPATCH(copy_row)(weights, from, to);
}
void expand_panel(const PackedWeights& weights, int64_t panel, int64_t k0, int64_t k1, float* to) {
  KILN_DISPATCH(expand)(weights, panel, k0, k1, to);
}

}  // namespace kiln::cpu
#endif
