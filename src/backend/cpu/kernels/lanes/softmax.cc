#include "backend/cpu/kernels/lanes/softmax.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/lanes/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/lanes/exp-inl.h"
#include "backend/cpu/kernels/lanes/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// One contiguous row. f32 keeps its exponentials in y until their sum is known; narrower types would lose digits there
/// and compute them twice.
template <DType T>
void row(const Stored<T>* x, Stored<T>* y, int64_t length) {
  const D d;
  const float peak = hn::GetLane(hn::MaxOfLanes(
      d, fold<T>(x, length, -INFINITY, [](V a, V b) { return hn::Max(a, b); })));  // exp finds a NaN that this loses
  const V shift = hn::Set(d, peak);
  double sum;
  if constexpr (T == DType::kF32) {
    sum = 0;
    for (int64_t begin = 0; begin < length; begin += kFoldBlock) {
      const int64_t end = std::min(length, begin + kFoldBlock);
      V part[2] = {hn::Zero(d), hn::Zero(d)};
      int64_t i = begin;
      for (; i + 2 * kLanes <= end; i += 2 * kLanes)
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v) {
          const V e = exp_to_zero(hn::Sub(load<T>(x + i + v * kLanes), shift));
          store<T>(e, y + i + v * kLanes);
          part[v] = hn::Add(part[v], e);
        }
      for (; i < end; i += kLanes) {
        const int count = static_cast<int>(std::min<int64_t>(kLanes, end - i));
        const V e = exp_to_zero(hn::Sub(load<T>(x + i, count), shift));
        store<T>(e, y + i, count);
        part[0] = hn::Add(part[0], hn::IfThenElseZero(first(count), e));
      }
      sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(part[0], part[1]))));
    }
  } else {
    sum = sum_of<T>(x, length, [&](V e) { return exp_to_zero(hn::Sub(e, shift)); });
  }
  const V factor = hn::Set(d, static_cast<float>(1 / sum));
  const Stored<T>* from = T == DType::kF32 ? y : x;
  for_each_vector<T>(from, length, [&](V e, int64_t i, int count) {
    if constexpr (T != DType::kF32) e = exp_to_zero(hn::Sub(e, shift));
    store<T>(hn::Mul(e, factor), y + i, count);
  });
}

/// `count` neighbouring columns, at most kStripVectors vectors of them, whose elements lie `inner` apart.
constexpr int kStripVectors = 4;
constexpr int64_t kStrip = kStripVectors * kLanes;
constexpr int64_t kRowsBetweenTotals = 64;

template <DType T, int kVectors>
void strip(const Stored<T>* x, Stored<T>* y, int64_t length, int64_t inner, int tail) {
  const D d;
  const auto count = [&](int v) { return v == kVectors - 1 ? tail : kLanes; };
  V peak[kVectors], sum[kVectors], total[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    peak[v] = hn::Set(d, -INFINITY);
    total[v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < length; ++k)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) peak[v] = hn::Max(peak[v], load<T>(x + k * inner + v * kLanes, count(v)));
  for (int64_t begin = 0; begin < length; begin += kRowsBetweenTotals) {
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
    for (int64_t k = begin; k < std::min(length, begin + kRowsBetweenTotals); ++k)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const V e = exp_to_zero(hn::Sub(load<T>(x + k * inner + v * kLanes, count(v)), peak[v]));
        if constexpr (T == DType::kF32) store<T>(e, y + k * inner + v * kLanes, count(v));
        sum[v] = hn::Add(sum[v], e);
      }
    for (int v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], sum[v]);
  }
  for (int v = 0; v < kVectors; ++v) total[v] = hn::Div(hn::Set(d, 1.0f), total[v]);
  const Stored<T>* from = T == DType::kF32 ? y : x;
  for (int64_t k = 0; k < length; ++k)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      V e = load<T>(from + k * inner + v * kLanes, count(v));
      if constexpr (T != DType::kF32) e = exp_to_zero(hn::Sub(e, peak[v]));
      store<T>(hn::Mul(e, total[v]), y + k * inner + v * kLanes, count(v));
    }
}

template <DType T>
void columns(const Stored<T>* x, Stored<T>* y, int64_t length, int64_t inner, int64_t width) {
  const auto vectors = static_cast<int>((width + kLanes - 1) / kLanes);
  const auto tail = static_cast<int>(width - (vectors - 1) * kLanes);
  switch (vectors) {
    case 1: return strip<T, 1>(x, y, length, inner, tail);
    case 2: return strip<T, 2>(x, y, length, inner, tail);
    case 3: return strip<T, 3>(x, y, length, inner, tail);
    default: return strip<T, 4>(x, y, length, inner, tail);
  }
}

template <DType T>
void run_typed(Team& team, const SoftmaxShape& s, const Stored<T>* x, Stored<T>* y) {
  constexpr int64_t kElementsAPart = 8192;
  if (s.inner == 1) {
    const int64_t rows = std::max<int64_t>(1, kElementsAPart / s.length);
    team.run(ceil_div(s.outer, rows), [&](int64_t part, int) {
      for (int64_t r = part * rows; r < std::min(s.outer, (part + 1) * rows); ++r)
        row<T>(x + r * s.length, y + r * s.length, s.length);
    });
    return;
  }
  const int64_t strips = ceil_div(s.inner, kStrip);
  const int64_t tasks = s.outer * strips;
  const int64_t each = std::max<int64_t>(1, kElementsAPart / (s.length * std::min(s.inner, kStrip)));
  team.run(ceil_div(tasks, each), [&](int64_t part, int) {
    for (int64_t t = part * each; t < std::min(tasks, (part + 1) * each); ++t) {
      const int64_t column = t % strips * kStrip, at = t / strips * s.length * s.inner + column;
      columns<T>(x + at, y + at, s.length, s.inner, std::min(kStrip, s.inner - column));
    }
  });
}

void run(Team& team, const SoftmaxShape& shape, const void* x, void* y) {
  const auto typed = [&]<DType T>() {
    run_typed<T>(team, shape, static_cast<const Stored<T>*>(x), static_cast<Stored<T>*>(y));
  };
  switch (shape.dtype) {
    case DType::kF32: return typed.template operator()<DType::kF32>();
    case DType::kF16: return typed.template operator()<DType::kF16>();
    case DType::kBF16: return typed.template operator()<DType::kBF16>();
    default: CHECK(!"softmax of a type other than f32, f16 and bf16");
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void softmax(Team& team, const SoftmaxShape& shape, const void* x, void* y) {
  if (shape.outer == 0 || shape.length == 0 || shape.inner == 0) return;
  KILN_DISPATCH(run)(team, shape, x, y);
}

}  // namespace kiln::cpu
#endif
