/// Folding contiguous elements to a number, with little rounding: vectors of partial sums over short blocks, blocks in
/// double.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_LANES_FOLD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_LANES_FOLD_INL_H
#undef KILN_CPU_LANES_FOLD_INL_H
#else
#define KILN_CPU_LANES_FOLD_INL_H
#endif

#include <algorithm>

#include "backend/cpu/kernels/lanes/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

constexpr int64_t kFoldBlock = 32 * 4 * kLanes;  // 32 additions a lane between doubles

/// Calls `visit(V, mask of the lanes that count or nothing, offset)`: whole vectors without a mask, then the rest.
template <DType T, class Visit>
HWY_INLINE void for_each_vector(const Stored<T>* x, int64_t length, Visit visit) {
  int64_t i = 0;
  for (; i + kLanes <= length; i += kLanes) visit(load<T>(x + i), i, kLanes);
  if (i < length) visit(load<T>(x + i, static_cast<int>(length - i)), i, static_cast<int>(length - i));
}

/// The sum of f(x[i]), for f from vector to vector.
template <DType T, class F>
HWY_INLINE double sum_of(const Stored<T>* x, int64_t length, F f) {
  const D d;
  double total = 0;
  int64_t i = 0;
  while (i < length) {
    const int64_t end = std::min(length, i + kFoldBlock);
    V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (; i + 4 * kLanes <= end; i += 4 * kLanes)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sum[v] = hn::Add(sum[v], f(load<T>(x + i + v * kLanes)));
    for (; i + kLanes <= end; i += kLanes) sum[0] = hn::Add(sum[0], f(load<T>(x + i)));
    if (i < end) {
      const auto rest = static_cast<int>(end - i);
      sum[1] = hn::Add(sum[1], hn::IfThenElseZero(first(rest), f(load<T>(x + i, rest))));
      i = end;
    }
    total +=
        static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3])))));
  }
  return total;
}

/// All elements combined by `f`, from vectors of `start`.
template <DType T, class F>
HWY_INLINE V fold(const Stored<T>* x, int64_t length, float start, F f) {
  const V begin = hn::Set(D(), start);
  V part[4] = {begin, begin, begin, begin};
  int64_t i = 0;
  for (; i + 4 * kLanes <= length; i += 4 * kLanes)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) part[v] = f(part[v], load<T>(x + i + v * kLanes));
  for (; i + kLanes <= length; i += kLanes) part[0] = f(part[0], load<T>(x + i));
  if (i < length) {
    const auto rest = static_cast<int>(length - i);
    part[1] = f(part[1], hn::IfThenElse(first(rest), load<T>(x + i, rest), begin));
  }
  return f(f(part[0], part[1]), f(part[2], part[3]));
}

/// The lanes of a vector combined by a function of floats.
template <class F>
HWY_INLINE float fold_lanes(V v, F f) {
  float lane[kLanes];
  hn::StoreU(v, D(), lane);
  float result = lane[0];
  for (int i = 1; i < kLanes; ++i) result = f(result, lane[i]);
  return result;
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
