#include "backend/cpu/kernels/lanes/reduce.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/lanes/reduce_in_kind.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#include "tensor/compute_types.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/lanes/reduce.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/lanes/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kElementsAPart = 16384;
constexpr int64_t kMostChunks = 16;  // of one long lane; their results wait on the caller's stack

template <Reduction kKind>
constexpr float start_of() {
  if constexpr (kKind == Reduction::kProd) return 1;
  if constexpr (kKind == Reduction::kMax) return -INFINITY;
  if constexpr (kKind == Reduction::kMin) return INFINITY;
  return 0;
}
template <Reduction kKind>
HWY_INLINE V combine(V a, V b) {
  if constexpr (kKind == Reduction::kProd) return hn::Mul(a, b);
  if constexpr (kKind == Reduction::kMax) return greater(a, b);
  if constexpr (kKind == Reduction::kMin) return lesser(a, b);
  return hn::Add(a, b);
}
template <Reduction kKind>
double combine(double a, double b) {
  if constexpr (kKind == Reduction::kProd) return a * b;
  if constexpr (kKind == Reduction::kMax) return std::isnan(a) || a > b ? a : b;
  if constexpr (kKind == Reduction::kMin) return std::isnan(a) || a < b ? a : b;
  return a + b;
}

/// Contiguous elements.
template <DType T, Reduction kKind>
double fold_row(const Stored<T>* x, int64_t length) {
  if constexpr (kKind == Reduction::kSum) {
    return sum_of<T>(x, length, [](V e) { return e; });
  } else {
    const V part = fold<T>(x, length, start_of<kKind>(), [](V a, V b) { return combine<kKind>(a, b); });
    return fold_lanes(part, [](float a, float b) { return static_cast<float>(combine<kKind>(double{a}, double{b})); });
  }
}

/// `width` neighbouring columns, at most kStrip, over `length` rows that lie `inner` apart, into `result`.
constexpr int kStripVectors = 8;
constexpr int64_t kStrip = kStripVectors * kLanes;

template <DType T, Reduction kKind, int kVectors>
void fold_strip(const Stored<T>* x, int64_t length, int64_t inner, int tail, float* result) {
  constexpr int64_t kRowsBetweenTotals = 64;  // keeps the error of sums from growing with the rows
  const V start = hn::Set(D(), start_of<kKind>());
  V total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = start;
  for (int64_t begin = 0; begin < length; begin += kRowsBetweenTotals) {
    const int64_t end = std::min(length, begin + kRowsBetweenTotals);
    V part[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) part[v] = start;
    for (int64_t k = begin; k < end; ++k) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v)
        part[v] = combine<kKind>(part[v], load<T>(x + k * inner + v * kLanes, v == kVectors - 1 ? tail : kLanes));
    }
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) total[v] = combine<kKind>(total[v], part[v]);
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(total[v], D(), result + v * kLanes);
}

template <DType T, Reduction kKind>
void fold_columns(const Stored<T>* x, int64_t length, int64_t inner, int64_t width, float* result) {
  const auto vectors = static_cast<int>((width + kLanes - 1) / kLanes);
  const auto tail = static_cast<int>(width - (vectors - 1) * kLanes);
  if (vectors == 1) return fold_strip<T, kKind, 1>(x, length, inner, tail, result);
  if (vectors == 2) return fold_strip<T, kKind, 2>(x, length, inner, tail, result);
  if (vectors <= 4) {  // two calls rather than a template for each width
    fold_strip<T, kKind, 2>(x, length, inner, kLanes, result);
    return fold_columns<T, kKind>(x + 2 * kLanes, length, inner, width - 2 * kLanes, result + 2 * kLanes);
  }
  if (vectors < kStripVectors) {
    fold_strip<T, kKind, 4>(x, length, inner, kLanes, result);
    return fold_columns<T, kKind>(x + 4 * kLanes, length, inner, width - 4 * kLanes, result + 4 * kLanes);
  }
  fold_strip<T, kKind, kStripVectors>(x, length, inner, tail, result);
}

struct Job {
  Team& team;
  ReduceShape shape;
  double divisor;
};

template <DType T>
void store_one(float value, Stored<T>* y) {
  store<T>(hn::Set(D(), value), y, 1);
}

/// Pieces of a lane of `length` that are worth a part of their own each.
int64_t chunks_of(int64_t length, int64_t width) {
  return std::clamp<int64_t>(length * width / kElementsAPart, 1, kMostChunks);
}

template <DType T, DType U, Reduction kKind>
void rows(const Job& job, const Stored<T>* x, Stored<U>* y) {
  const ReduceShape& s = job.shape;
  if (s.outer >= kMostChunks || s.length < 2 * kElementsAPart) {
    const int64_t each = std::max<int64_t>(1, kElementsAPart / std::max<int64_t>(s.length, 1));
    job.team.run(ceil_div(s.outer, each), [&](int64_t part, int) {
      for (int64_t r = part * each; r < std::min(s.outer, (part + 1) * each); ++r)
        store_one<U>(static_cast<float>(fold_row<T, kKind>(x + r * s.length, s.length) / job.divisor), y + r);
    });
    return;
  }
  const int64_t chunks = chunks_of(s.length, 1), each = round_up(ceil_div(s.length, chunks), 64);
  for (int64_t r = 0; r < s.outer; ++r) {
    double results[kMostChunks];
    job.team.run(chunks, [&](int64_t part, int) {
      const int64_t begin = std::min(s.length, part * each), end = std::min(s.length, begin + each);
      results[part] = fold_row<T, kKind>(x + r * s.length + begin, end - begin);
    });
    double result = results[0];
    for (int64_t i = 1; i < chunks; ++i) result = combine<kKind>(result, results[i]);
    store_one<U>(static_cast<float>(result / job.divisor), y + r);
  }
}

template <DType U>
void store_strip(const float* from, double divisor, int64_t width, Stored<U>* y) {
  const V by = hn::Set(D(), static_cast<float>(divisor));
  for (int64_t i = 0; i < width; i += kLanes)
    store<U>(hn::Div(hn::LoadU(D(), from + i), by), y + i, static_cast<int>(std::min<int64_t>(kLanes, width - i)));
}

template <DType T, DType U, Reduction kKind>
void columns(const Job& job, const Stored<T>* x, Stored<U>* y) {
  const ReduceShape& s = job.shape;
  const int64_t strips = ceil_div(s.inner, kStrip), tasks = s.outer * strips;
  const int64_t width = std::min(s.inner, kStrip);
  if (tasks >= kMostChunks || s.length * width < 2 * kElementsAPart) {
    const int64_t each = std::max<int64_t>(1, kElementsAPart / std::max<int64_t>(s.length * width, 1));
    job.team.run(ceil_div(tasks, each), [&](int64_t part, int) {
      alignas(kCacheLine) float result[kStrip];
      for (int64_t t = part * each; t < std::min(tasks, (part + 1) * each); ++t) {
        const int64_t row = t / strips, column = t % strips * kStrip, own = std::min(kStrip, s.inner - column);
        fold_columns<T, kKind>(x + row * s.length * s.inner + column, s.length, s.inner, own, result);
        store_strip<U>(result, job.divisor, own, y + row * s.inner + column);
      }
    });
    return;
  }
  const int64_t chunks = chunks_of(s.length, width), each = ceil_div(s.length, chunks);
  for (int64_t t = 0; t < tasks; ++t) {
    const int64_t row = t / strips, column = t % strips * kStrip, own = std::min(kStrip, s.inner - column);
    alignas(kCacheLine) float results[kMostChunks][kStrip];
    job.team.run(chunks, [&](int64_t part, int) {
      const int64_t begin = std::min(s.length, part * each), end = std::min(s.length, begin + each);
      fold_columns<T, kKind>(x + (row * s.length + begin) * s.inner + column, end - begin, s.inner, own, results[part]);
    });
    for (int64_t c = 1; c < chunks; ++c)
      for (int64_t i = 0; i < round_up(own, kLanes); i += kLanes)
        hn::StoreU(combine<kKind>(hn::LoadU(D(), results[0] + i), hn::LoadU(D(), results[c] + i)), D(), results[0] + i);
    store_strip<U>(results[0], job.divisor, own, y + row * s.inner + column);
  }
}

template <DType T, DType U>
void of_kind(const Job& job, Reduction kind, const void* x, void* y) {
  const auto run = [&]<Reduction kKind>() {
    const auto* from = static_cast<const Stored<T>*>(x);
    auto* to = static_cast<Stored<U>*>(y);
    job.shape.inner == 1 ? rows<T, U, kKind>(job, from, to) : columns<T, U, kKind>(job, from, to);
  };
  switch (kind) {
    case Reduction::kSum: return run.template operator()<Reduction::kSum>();
    case Reduction::kProd: return run.template operator()<Reduction::kProd>();
    case Reduction::kMax: return run.template operator()<Reduction::kMax>();
    case Reduction::kMin: return run.template operator()<Reduction::kMin>();
  }
}
template <DType T>
void of_output(const Job& job, Reduction kind, const void* x, DType out, void* y) {
  if (out == DType::kF32) return of_kind<T, DType::kF32>(job, kind, x, y);
  if (out == DType::kF16) return of_kind<T, DType::kF16>(job, kind, x, y);
  of_kind<T, DType::kBF16>(job, kind, x, y);
}
void run(Team& team, Reduction kind, const ReduceShape& shape, DType in, const void* x, DType out, void* y,
         double divisor) {
  const Job job{team, shape, divisor};
  if (in == DType::kF32) return of_output<DType::kF32>(job, kind, x, out, y);
  if (in == DType::kF16) return of_output<DType::kF16>(job, kind, x, out, y);
  of_output<DType::kBF16>(job, kind, x, out, y);
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

bool can_reduce(DType in, DType out) {
  const auto narrow = [](DType t) { return is_kernel_float(t); };
  return (narrow(in) && narrow(out)) || (is_own_kind(in) && in == out);
}

void reduce(Team& team, Reduction kind, const ReduceShape& shape, DType in, const void* x, DType out, void* y,
            int64_t divisor) {
  CHECK(can_reduce(in, out));
  if (shape.outer == 0 || shape.inner == 0) return;
  if (!is_kernel_float(in)) return reduce_in_kind(team, kind, shape, in, x, y, divisor);
  KILN_DISPATCH(run)(team, kind, shape, in, x, out, y, static_cast<double>(divisor));
}

}  // namespace kiln::cpu
#endif
