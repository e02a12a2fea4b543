#include "backend/cpu/kernels/gemm8/finish.h"

#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/gemm8/finish.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

using DI = hn::RebindToSigned<D>;

/// The first `count` lanes, rounded to even, moved and saturated; NaN is 0.
template <class T>
HWY_INLINE void store_bytes(V value, int32_t zero, int count, uint8_t* to) {
  constexpr float kBeyond = 1024;  // what no byte has, and far from what 32 bits lack
  const D d;
  const V within = hn::Min(hn::Max(value, hn::Set(d, -kBeyond)), hn::Set(d, kBeyond));
  const auto is_nan = hn::RebindMask(DI(), hn::IsNaN(value));
  const auto moved = hn::IfThenZeroElse(is_nan, hn::Add(hn::NearestInt(within), hn::Set(DI(), zero)));
  const hn::Rebind<T, D> db;
  const auto narrow = hn::DemoteTo(db, moved);
  T* const bytes = reinterpret_cast<T*>(to);
  if (count == kLanes) {
    hn::StoreU(narrow, db, bytes);
  } else {
    alignas(16) T all[hn::MaxLanes(db)];
    hn::StoreU(narrow, db, all);
    std::copy_n(all, count, bytes);
  }
}

HWY_INLINE void store(V value, const Finish& how, int64_t at, int count) {
  if (how.floats) return store_some(value, how.floats + at, count);
  how.bytes_are_signed ? store_bytes<int8_t>(value, how.zero, count, how.bytes + at)
                       : store_bytes<uint8_t>(value, how.zero, count, how.bytes + at);
}

void finish_block(const int32_t* sums, int64_t rows, int64_t cols, const Finish& how) {
  const D d;
  const DI di;
  const V lo = hn::Set(d, how.lo), hi = hn::Set(d, how.hi);
  for (int64_t j = 0; j < cols; j += kLanes) {
    const int count = static_cast<int>(std::min<int64_t>(kLanes, cols - j));
    const auto mask = hn::FirstN(di, static_cast<size_t>(count));
    const auto correction = hn::MaskedLoad(mask, di, how.correction + j);
    const V scale = load_some(how.scale + j, count), bias = load_some(how.bias + j, count);
    for (int64_t r = 0; r < rows; ++r) {
      const auto sum = hn::Sub(hn::LoadU(di, sums + r * kDotPanel + j), correction);
      V value = hn::MulAdd(hn::ConvertTo(d, sum), scale, bias);
      if (how.residual) value = hn::Add(value, load_some(how.residual + r * how.ldr + j, count));
      store(hn::Min(hn::Max(value, lo), hi), how, r * how.ld + j, count);
    }
  }
}

void requantize_block(int64_t rows, int64_t cols, const Requantize& how) {
  const V inverse = hn::Set(D(), how.inverse_scale);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t j = 0; j < cols; j += kLanes) {
      const int count = static_cast<int>(std::min<int64_t>(kLanes, cols - j));
      const V value = hn::Mul(load_some(how.from + r * how.from_ld + j, count), inverse);
      uint8_t* const to = how.to + r * how.to_ld + j;
      how.is_signed ? store_bytes<int8_t>(value, how.zero, count, to)
                    : store_bytes<uint8_t>(value, how.zero, count, to);
    }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void finish(const int32_t* sums, int64_t rows, int64_t cols, const Finish& how) {
  KILN_DISPATCH(finish_block)(sums, rows, cols, how);
}
void requantize(int64_t rows, int64_t cols, const Requantize& how) { KILN_DISPATCH(requantize_block)(rows, cols, how); }

}  // namespace kiln::cpu
#endif
