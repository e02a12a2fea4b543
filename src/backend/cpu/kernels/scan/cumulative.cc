#include "backend/cpu/kernels/scan/cumulative.h"

#include <algorithm>
#include <type_traits>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#include "tensor/numeric.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/scan/cumulative.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// How elements lie in memory, and what they are summed and multiplied in.
struct F32 {
  using Stored = float;
  using Wide = double;
  static HWY_INLINE Wide load(Stored x) { return double{x}; }
  static HWY_INLINE Stored store(Wide y) { return static_cast<float>(y); }
};
struct F16 {
  using Stored = uint16_t;
  using Wide = double;
  static HWY_INLINE Wide load(Stored x) { return double{half_to_float(x)}; }
  static HWY_INLINE Stored store(Wide y) { return float_to_half(static_cast<float>(y)); }
};
struct BF16 {
  using Stored = uint16_t;
  using Wide = double;
  static HWY_INLINE Wide load(Stored x) { return double{bfloat16_to_float(x)}; }
  static HWY_INLINE Stored store(Wide y) { return float_to_bfloat16(static_cast<float>(y)); }
};
/// A type whose sums are of that type: double, and unsigned integers, which wrap.
template <class U>
struct Own {
  using Stored = U;
  using Wide = U;
  static HWY_INLINE Wide load(Stored x) { return x; }
  static HWY_INLINE Stored store(Wide y) { return y; }
};

template <CumulativeOperation kOperation, class Wide>
HWY_INLINE Wide combine(Wide before, Wide element) {
  return kOperation == CumulativeOperation::kSum ? before + element : before * element;
}
template <CumulativeOperation kOperation, class Vector>
HWY_INLINE Vector combine_vectors(Vector before, Vector elements) {
  return kOperation == CumulativeOperation::kSum ? hn::Add(before, elements) : hn::Mul(before, elements);
}
template <CumulativeOperation kOperation>
constexpr int kNothing = kOperation == CumulativeOperation::kSum ? 0 : 1;

constexpr int64_t kLeastColumns = 64, kMostColumns = 1024;  // that are done side by side

/// One step of `width` columns: results take x, and y takes results, before that where `exclusive`.
template <class T, CumulativeOperation kOperation>
HWY_INLINE void step_columns(typename T::Wide* HWY_RESTRICT results, const typename T::Stored* HWY_RESTRICT x,
                             typename T::Stored* HWY_RESTRICT y, int64_t width, bool exclusive) {
  for (int64_t c = 0; c < width; ++c) {
    const typename T::Wide before = results[c];
    results[c] = combine<kOperation>(before, T::load(x[c]));
    y[c] = T::store(exclusive ? before : results[c]);
  }
}
constexpr int kSteps = 4;  // of floats, for which results stay in registers

/// kCount steps of floats, each `next` elements after the one before it. Vectors have 8 at most: rows are seldom
/// aligned, and wider vectors that cross cache lines took 1.7 times as long.
template <CumulativeOperation kOperation, int kCount>
HWY_INLINE void step_floats(double* HWY_RESTRICT results, const float* HWY_RESTRICT x, float* HWY_RESTRICT y,
                            ptrdiff_t next, int64_t width, bool exclusive) {
  const hn::CappedTag<float, 8> d;
  const hn::Half<decltype(d)> half;
  const hn::Repartition<double, decltype(d)> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), halved = lanes / 2;
  int64_t c = 0;
  for (; c + lanes <= width; c += lanes) {
    auto low = hn::LoadU(wide, results + c), high = hn::LoadU(wide, results + c + halved);
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      const auto element = hn::LoadU(d, x + i * next + c);
      const auto low_before = low, high_before = high;
      low = combine_vectors<kOperation>(low, hn::PromoteTo(wide, hn::LowerHalf(half, element)));
      high = combine_vectors<kOperation>(high, hn::PromoteTo(wide, hn::UpperHalf(half, element)));
      hn::StoreU(hn::Combine(d, hn::DemoteTo(half, exclusive ? high_before : high),
                             hn::DemoteTo(half, exclusive ? low_before : low)),
                 d, y + i * next + c);
    }
    hn::StoreU(low, wide, results + c);
    hn::StoreU(high, wide, results + c + halved);
  }
  for (int i = 0; i < kCount; ++i)
    step_columns<F32, kOperation>(results + c, x + i * next + c, y + i * next + c, width - c, exclusive);
}

/// At most kMostColumns columns from x on.
template <class T, CumulativeOperation kOperation>
void combine_columns(const CumulativeShape& s, const typename T::Stored* x, typename T::Stored* y, int64_t width) {
  typename T::Wide results[kMostColumns];
  std::fill_n(results, width, kNothing<kOperation>);
  const ptrdiff_t next = s.reverse ? -s.inner : s.inner;
  const auto run = [&](bool exclusive) {
    ptrdiff_t at = s.reverse ? (s.length - 1) * s.inner : 0;
    int64_t i = 0;
    if constexpr (std::is_same_v<T, F32>)
      for (; i + kSteps <= s.length; i += kSteps, at += kSteps * next)
        step_floats<kOperation, kSteps>(results, x + at, y + at, next, width, exclusive);
    for (; i < s.length; ++i, at += next) step_columns<T, kOperation>(results, x + at, y + at, width, exclusive);
  };
  s.exclusive ? run(true) : run(false);
}

constexpr int kRows = 8;  // beside each other, since each result waits for the one before it

/// Rows of neighbouring elements, one after the other in memory.
template <class T, CumulativeOperation kOperation, int kCount>
void combine_rows(const CumulativeShape& s, const typename T::Stored* HWY_RESTRICT x,
                  typename T::Stored* HWY_RESTRICT y) {
  typename T::Wide results[kCount];
  std::fill_n(results, kCount, kNothing<kOperation>);
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t at = s.reverse ? s.length - 1 - i : i;
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) {
      const typename T::Wide before = results[r];
      results[r] = combine<kOperation>(before, T::load(x[r * s.length + at]));
      y[r * s.length + at] = T::store(s.exclusive ? before : results[r]);
    }
  }
}

template <class T, CumulativeOperation kOperation>
void run_columns(Team& team, const CumulativeShape& s, const typename T::Stored* x, typename T::Stored* y) {
  constexpr int64_t kElementsAPart = 8192;
  // Memory is read fastest in long runs: strips are as wide as leaves one for each thread.
  const int64_t wanted = ceil_div(s.outer * s.inner, team.size());
  const int64_t columns = std::clamp(round_up(wanted, kLeastColumns), kLeastColumns, kMostColumns);
  const int64_t strips = ceil_div(s.inner, columns), tasks = s.outer * strips;
  const int64_t each = std::max<int64_t>(1, kElementsAPart / (s.length * std::min(s.inner, columns)));
  team.run(ceil_div(tasks, each), [&](int64_t part, int) {
    for (int64_t t = part * each; t < std::min(tasks, (part + 1) * each); ++t) {
      const int64_t column = t % strips * columns, at = t / strips * s.length * s.inner + column;
      combine_columns<T, kOperation>(s, x + at, y + at, std::min(columns, s.inner - column));
    }
  });
}

template <class T, CumulativeOperation kOperation>
void run_rows(Team& team, const CumulativeShape& s, const typename T::Stored* x, typename T::Stored* y) {
  constexpr int64_t kElementsAPart = 8192;
  const int64_t each = round_up(ceil_div(kElementsAPart, s.length), kRows);
  team.run(ceil_div(s.outer, each), [&](int64_t part, int) {
    int64_t row = part * each;
    const int64_t end = std::min(s.outer, row + each);
    for (; row + kRows <= end; row += kRows)
      combine_rows<T, kOperation, kRows>(s, x + row * s.length, y + row * s.length);
    for (; row < end; ++row) combine_rows<T, kOperation, 1>(s, x + row * s.length, y + row * s.length);
  });
}

template <class T, CumulativeOperation kOperation>
void run_typed(Team& team, const CumulativeShape& s, const void* x, void* y) {
  const auto* from = static_cast<const typename T::Stored*>(x);
  auto* to = static_cast<typename T::Stored*>(y);
  s.inner == 1 ? run_rows<T, kOperation>(team, s, from, to) : run_columns<T, kOperation>(team, s, from, to);
}

template <class T>
void run(Team& team, const CumulativeShape& s, const void* x, void* y) {
  switch (s.operation) {
    case CumulativeOperation::kSum: return run_typed<T, CumulativeOperation::kSum>(team, s, x, y);
    case CumulativeOperation::kProd: return run_typed<T, CumulativeOperation::kProd>(team, s, x, y);
  }
}

void run_any(Team& team, const CumulativeShape& shape, const void* x, void* y) {
  switch (shape.dtype) {
    case DType::kF32: return run<F32>(team, shape, x, y);
    case DType::kF16: return run<F16>(team, shape, x, y);
    case DType::kBF16: return run<BF16>(team, shape, x, y);
    case DType::kF64: return run<Own<double>>(team, shape, x, y);
    case DType::kI32: return run<Own<uint32_t>>(team, shape, x, y);
    case DType::kI64: return run<Own<uint64_t>>(team, shape, x, y);
    default: CHECK(!"running results of a type without a kernel");
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void cumulative(Team& team, const CumulativeShape& shape, const void* x, void* y) {
  if (shape.outer == 0 || shape.length == 0 || shape.inner == 0) return;
  KILN_DISPATCH(run_any)(team, shape, x, y);
}

}  // namespace kiln::cpu
#endif
