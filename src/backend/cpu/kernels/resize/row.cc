#include "backend/cpu/kernels/resize/row.h"

#include <algorithm>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/resize/row.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

template <int kCount>
HWY_INLINE V blend_vector(const float* const* rows, const V* weights, int64_t at, int width) {
  V sum = hn::Mul(weights[0], load_some(rows[0] + at, width));
#pragma GCC unroll 4
  for (int t = 1; t < kCount; ++t) sum = hn::MulAdd(weights[t], load_some(rows[t] + at, width), sum);
  return sum;
}

/// A few rows, known to the compiler.
template <int kCount>
HWY_INLINE void blend_few(const float* const* rows, const float* weights, int64_t n, float* to) {
  const D d;
  V w[kCount];
#pragma GCC unroll 4
  for (int t = 0; t < kCount; ++t) w[t] = hn::Set(d, weights[t]);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(blend_vector<kCount>(rows, w, i, kLanes), d, to + i);
  const int rest = static_cast<int>(n - i);
  if (rest > 0) store_some(blend_vector<kCount>(rows, w, i, rest), to + i, rest);
}

HWY_INLINE void blend_many(const float* const* rows, const float* weights, int count, int64_t n, float* to) {
  const D d;
  for (int64_t i = 0; i < n; i += kLanes) {
    const int width = static_cast<int>(std::min<int64_t>(kLanes, n - i));
    V sum = hn::Zero(d);
    for (int t = 0; t < count; ++t) sum = hn::MulAdd(hn::Set(d, weights[t]), load_some(rows[t] + i, width), sum);
    store_some(sum, to + i, width);
  }
}

HWY_INLINE void blend_inline(const float* const* rows, const float* weights, int count, int64_t n, float* to) {
  switch (count) {
    case 1: return blend_few<1>(rows, weights, n, to);
    case 2: return blend_few<2>(rows, weights, n, to);
    case 4: return blend_few<4>(rows, weights, n, to);
    default: return blend_many(rows, weights, count, n, to);
  }
}

void blend(const float* const* rows, const float* weights, int count, int64_t n, float* to) {
  blend_inline(rows, weights, count, n, to);
}

/// A vector of outputs whose inputs all lie within one vector of the row: a load and a permutation a tap, where a
/// gather would load lane by lane. That is so wherever the scale is above 1.
template <int kTaps>
HWY_INLINE V resample_near(const RowTaps& taps, const float* row, int64_t i, int64_t base) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V values = hn::LoadU(d, row + base);
  V sum = hn::Zero(d);
#pragma GCC unroll 4
  for (int t = 0; t < kTaps; ++t) {
    const auto index = hn::Sub(hn::LoadU(di, taps.index + t * taps.out + i), hn::Set(di, static_cast<int32_t>(base)));
    const V weight = hn::LoadU(d, taps.weight + t * taps.out + i);
    const V value = hn::TableLookupLanes(values, hn::IndicesFromVec(d, index));
    sum = hn::MulAdd(weight, hn::IfThenElseZero(hn::Ne(weight, hn::Zero(d)), value), sum);
  }
  return sum;
}
HWY_INLINE V resample_far(const RowTaps& taps, int num_taps, const float* row, int64_t i) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sum = hn::Zero(d);
#pragma GCC unroll 4
  for (int t = 0; t < num_taps; ++t) {
    const V weight = hn::LoadU(d, taps.weight + t * taps.out + i);
    const V value = hn::GatherIndex(d, row, hn::LoadU(di, taps.index + t * taps.out + i));
    sum = hn::MulAdd(weight, hn::IfThenElseZero(hn::Ne(weight, hn::Zero(d)), value), sum);
  }
  return sum;
}

HWY_INLINE float resample_element(const RowTaps& taps, const float* row, int64_t i) {
  float sum = 0;
  for (int t = 0; t < taps.taps; ++t) {
    const float weight = taps.weight[t * taps.out + i];
    if (weight != 0) sum += weight * row[taps.index[t * taps.out + i]];
  }
  return sum;
}

/// Computes a vector of outputs from single elements, each from its own place. Elements with weight 0 are left out,
/// because infinity times 0 would be NaN.
template <int kTaps>
HWY_INLINE void resample_elements(const RowTaps& taps, const float* row, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= taps.out; i += kLanes) {
    const int64_t base = std::min<int64_t>(taps.index[i], taps.in - kLanes);
    const int64_t top = taps.index[(kTaps - 1) * taps.out + i + kLanes - 1];
    const V sum = taps.rising && base >= 0 && top - base < kLanes ? resample_near<kTaps>(taps, row, i, base)
                                                                  : resample_far(taps, kTaps, row, i);
    hn::StoreU(sum, D(), to + i);
  }
  for (; i < taps.out; ++i) to[i] = resample_element(taps, row, i);
}

/// As resample_elements, of as many taps as antialiasing has.
HWY_INLINE void resample_many(const RowTaps& taps, const float* row, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= taps.out; i += kLanes) hn::StoreU(resample_far(taps, taps.taps, row, i), D(), to + i);
  for (; i < taps.out; ++i) to[i] = resample_element(taps, row, i);
}

void resample(const RowTaps& taps, const float* row, float* to) {
  if (taps.inner == 1 && taps.taps == 2) return resample_elements<2>(taps, row, to);
  if (taps.inner == 1 && taps.taps == 4) return resample_elements<4>(taps, row, to);
  if (taps.inner == 1) return resample_many(taps, row, to);
  for (int64_t i = 0; i < taps.out; ++i) {
    float* target = to + i * taps.inner;
    const float* rows[kRowsAtOnce];
    float weights[kRowsAtOnce];
    int count = 0;
    for (int t = 0; t < taps.taps; ++t) {
      const float weight = taps.weight[t * taps.out + i];
      if (weight == 0) continue;  // an infinite neighbour without a part in this output
      if (count == kRowsAtOnce) {
        blend_inline(rows, weights, count, taps.inner, target);
        rows[0] = target;
        weights[0] = 1;
        count = 1;
      }
      rows[count] = row + taps.index[t * taps.out + i] * taps.inner;
      weights[count++] = weight;
    }
    if (count == 0) {
      std::fill_n(target, taps.inner, 0.0F);
      continue;
    }
    blend_inline(rows, weights, count, taps.inner, target);
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void blend_rows(const float* const* rows, const float* weights, int count, int64_t n, float* to) {
  KILN_DISPATCH(blend)(rows, weights, count, n, to);
}
void resample_row(const RowTaps& taps, const float* row, float* to) { KILN_DISPATCH(resample)(taps, row, to); }

}  // namespace kiln::cpu
#endif
