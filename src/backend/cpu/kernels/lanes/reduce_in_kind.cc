#include "backend/cpu/kernels/lanes/reduce_in_kind.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "backend/cpu/kernels/aligned.h"

namespace kiln::cpu {
namespace {

template <class T>
T least() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::min();
}
template <class T>
T greatest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}
template <class T>
T divisor_of(int64_t number) {
  if constexpr (std::is_integral_v<T>) number = std::min<int64_t>(number, greatest<T>());
  return static_cast<T>(number);
}
template <class T>
T start_of(Reduction kind) {
  switch (kind) {
    case Reduction::kProd: return 1;
    case Reduction::kMax: return least<T>();
    case Reduction::kMin: return greatest<T>();
    default: return 0;
  }
}

/// NaN if either is.
template <Reduction kKind>
double combine(double a, double b) {
  if constexpr (kKind == Reduction::kProd) return a * b;
  if constexpr (kKind == Reduction::kMax) return a > b || std::isnan(a) ? a : b;
  if constexpr (kKind == Reduction::kMin) return a < b || std::isnan(a) ? a : b;
  return a + b;
}
template <Reduction kKind, std::integral T>
T combine(T a, T b) {
  using U = std::make_unsigned_t<T>;  // wraps
  if constexpr (kKind == Reduction::kProd) return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  if constexpr (kKind == Reduction::kMax) return std::max(a, b);
  if constexpr (kKind == Reduction::kMin) return std::min(a, b);
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}

/// Columns [begin, end) of one outer index, in tiles whose results stay in registers or L1.
template <Reduction kKind, class T>
void columns(const T* x, const ReduceShape& s, int64_t begin, int64_t end, T divisor, T* y) {
  constexpr int64_t kTile = 64;
  for (int64_t column = begin; column < end; column += kTile) {
    const int64_t width = std::min(kTile, end - column);
    T results[kTile];
    std::fill_n(results, width, start_of<T>(kKind));
    for (int64_t k = 0; k < s.length; ++k) {
      const T* from = x + k * s.inner + column;
      for (int64_t i = 0; i < width; ++i) results[i] = combine<kKind>(results[i], from[i]);
    }
    const bool divides = std::is_floating_point_v<T> || divisor > 1;
    for (int64_t i = 0; i < width; ++i) y[column + i] = divides ? results[i] / divisor : results[i];
  }
}

template <Reduction kKind, class T>
void run(Team& team, const ReduceShape& s, const T* x, T* y, T divisor) {
  constexpr int64_t kElementsAPart = 16384;
  const int64_t lanes = s.outer * s.inner;
  const int64_t each = std::max<int64_t>(1, kElementsAPart / std::max<int64_t>(s.length, 1));
  team.run(ceil_div(lanes, each), [&](int64_t part, int) {
    const int64_t end = std::min(lanes, (part + 1) * each);
    for (int64_t at = part * each; at < end;) {
      const int64_t row = at / s.inner, column = at % s.inner;
      const int64_t stop = std::min(s.inner, column + end - at);
      columns<kKind>(x + row * s.length * s.inner, s, column, stop, divisor, y + row * s.inner);
      at += stop - column;
    }
  });
}

template <class T>
void of_kind(Team& team, Reduction kind, const ReduceShape& s, const void* x, void* y, int64_t divisor) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(y);
  const auto by = divisor_of<T>(divisor);
  switch (kind) {
    case Reduction::kSum: return run<Reduction::kSum>(team, s, from, to, by);
    case Reduction::kProd: return run<Reduction::kProd>(team, s, from, to, by);
    case Reduction::kMax: return run<Reduction::kMax>(team, s, from, to, by);
    case Reduction::kMin: return run<Reduction::kMin>(team, s, from, to, by);
  }
}

}  // namespace

void reduce_in_kind(Team& team, Reduction kind, const ReduceShape& shape, DType dtype, const void* x, void* y,
                    int64_t divisor) {
  if (dtype == DType::kI32) return of_kind<int32_t>(team, kind, shape, x, y, divisor);
  if (dtype == DType::kI64) return of_kind<int64_t>(team, kind, shape, x, y, divisor);
  of_kind<double>(team, kind, shape, x, y, divisor);
}

}  // namespace kiln::cpu
