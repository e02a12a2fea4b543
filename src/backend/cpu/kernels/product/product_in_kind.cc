#include "backend/cpu/kernels/product/product_in_kind.h"

#include <algorithm>
#include <type_traits>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/product/product_in_kind.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
// A block of y: its sums, a row of b and an element of a fit AVX2's 16 registers.
constexpr int64_t kRows = 4, kVectors = 2;
template <class T>
inline constexpr int64_t kColumns = kVectors* kLanes<T>;
constexpr int64_t kTerms = 256;              // of a packed block of b, which stays in L1 or L2: 32 KiB at most
constexpr int64_t kTermsOfPart = 128 << 10;  // some ten microseconds of work: several times what a fork and join takes

template <class T>
struct Operands {
  const T *a, *b;
  T* y;
};

template <class D, class V>
HWY_INLINE V add_product(D, V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
    return hn::MulAdd(a, b, sum);
  else
    return hn::Add(hn::Mul(a, b), sum);
}

/// y = a b, or y += a b unless it is the first, for `num_rows` rows and kColumns columns. b's columns are neighbours.
template <int64_t num_rows, class T>
HWY_INLINE void run_block(const ProductShape& s, const T* a, const T* b, int64_t b_k, int64_t terms, bool is_first,
                          T* y, int64_t y_row) {
  const Tag<T> d;
  hn::Vec<Tag<T>> sums[num_rows][kVectors];
  for (int64_t i = 0; i < num_rows; ++i)
    for (int64_t v = 0; v < kVectors; ++v)
      sums[i][v] = is_first ? hn::Zero(d) : hn::LoadU(d, y + i * y_row + v * kLanes<T>);
  for (int64_t k = 0; k < terms; ++k) {
    const auto first = hn::LoadU(d, b + k * b_k), second = hn::LoadU(d, b + k * b_k + kLanes<T>);
    for (int64_t i = 0; i < num_rows; ++i) {
      const auto x = hn::Set(d, a[i * s.a_row + k * s.a_k]);
      sums[i][0] = add_product(d, x, first, sums[i][0]);
      sums[i][1] = add_product(d, x, second, sums[i][1]);
    }
  }
  for (int64_t i = 0; i < num_rows; ++i)
    for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, y + i * y_row + v * kLanes<T>);
}
template <class T>
HWY_INLINE void run_rows(int64_t num_rows, const ProductShape& s, const T* a, const T* b, int64_t b_k, int64_t terms,
                         bool is_first, T* y, int64_t y_row) {
  switch (num_rows) {
    case 1: return run_block<1>(s, a, b, b_k, terms, is_first, y, y_row);
    case 2: return run_block<2>(s, a, b, b_k, terms, is_first, y, y_row);
    case 3: return run_block<3>(s, a, b, b_k, terms, is_first, y, y_row);
    default: return run_block<kRows>(s, a, b, b_k, terms, is_first, y, y_row);
  }
}

/// Rows of y of fewer than kColumns columns, by way of a whole block.
template <class T>
void run_narrow(int64_t num_rows, int64_t width, const ProductShape& s, const T* a, const T* b, int64_t terms,
                bool is_first, T* y) {
  T block[kRows * kColumns<T>] = {};
  if (!is_first)
    for (int64_t i = 0; i < num_rows; ++i) std::copy_n(y + i * s.n, width, block + i * kColumns<T>);
  run_rows(num_rows, s, a, b, kColumns<T>, terms, is_first, block, kColumns<T>);
  for (int64_t i = 0; i < num_rows; ++i) std::copy_n(block + i * kColumns<T>, width, y + i * s.n);
}

/// `terms` rows and `width` columns of b, zeros behind them up to kColumns.
template <class T>
void pack(const ProductShape& s, const T* b, int64_t terms, int64_t width, T* packed) {
  if (width < kColumns<T>) std::fill_n(packed, terms * kColumns<T>, T());
  if (s.b_column == 1) {
    for (int64_t k = 0; k < terms; ++k) std::copy_n(b + k * s.b_k, width, packed + k * kColumns<T>);
    return;
  }
  for (int64_t j = 0; j < width; ++j)
    for (int64_t k = 0; k < terms; ++k) packed[k * kColumns<T> + j] = b[k * s.b_k + j * s.b_column];
}

/// Rows [first_row, end_row) of `width` columns that begin at `column`.
template <class T>
void run_panel(const ProductShape& s, const Operands<T>& at, int64_t first_row, int64_t end_row, int64_t column,
               int64_t width) {
  const bool in_place = s.b_column == 1 && width == kColumns<T> && end_row - first_row <= kRows;  // packed for one use
  alignas(64) T packed[kTerms * kColumns<T>];
  int64_t k = 0;
  do {  // once at least: without terms y is zero
    const int64_t terms = std::min(kTerms, s.k - k);
    const T* b = at.b + k * s.b_k + column * s.b_column;
    if (!in_place) pack(s, b, terms, width, packed);
    for (int64_t row = first_row; row < end_row; row += kRows) {
      const int64_t num_rows = std::min(kRows, end_row - row);
      const T* a = at.a + row * s.a_row + k * s.a_k;
      T* y = at.y + row * s.n + column;
      if (width == kColumns<T>)
        run_rows(num_rows, s, a, in_place ? b : packed, in_place ? s.b_k : kColumns<T>, terms, k == 0, y, s.n);
      else
        run_narrow(num_rows, width, s, a, packed, terms, k == 0, y);
    }
    k += terms;
  } while (k < s.k);
}

template <class T>
Operands<T> moved_to(const ProductShape& s, Operands<T> at, int64_t batch) {
  for (const ProductAxis& axis : s.axes) {
    const int64_t i = batch % axis.extent;
    batch /= axis.extent;
    at.a += i * axis.a, at.b += i * axis.b, at.y += i * axis.y;
  }
  return at;
}

template <class T>
void run(Team& team, const ProductShape& s, const Operands<T>& whole) {
  int64_t batches = 1;
  for (const ProductAxis& axis : s.axes) batches *= axis.extent;
  if (batches == 0 || s.m == 0 || s.n == 0) return;
  const int64_t panels = ceil_div(s.n, kColumns<T>), terms_of_row = std::max<int64_t>(s.k, 1) * kColumns<T>;
  const int64_t rows = std::min(s.m, round_up(std::max<int64_t>(64, kTermsOfPart / terms_of_row), kRows));
  const int64_t wide = std::clamp<int64_t>(kTermsOfPart / (rows * terms_of_row), 1, panels);
  const int64_t down = ceil_div(s.m, rows), across = ceil_div(panels, wide);
  team.run(batches * down * across, [&](int64_t part, int) {
    const Operands<T> at = moved_to(s, whole, part / (down * across));
    const int64_t row = part / across % down * rows, panel = part % across * wide;
    for (int64_t p = panel; p < std::min(panel + wide, panels); ++p)
      run_panel(s, at, row, std::min(row + rows, s.m), p * kColumns<T>, std::min(kColumns<T>, s.n - p * kColumns<T>));
  });
}

template <class T>
void run_kind(Team& team, const ProductShape& s, const void* a, const void* b, void* y) {
  run<T>(team, s, {static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(y)});
}

void run_any(Team& team, const ProductShape& s, DType dtype, const void* a, const void* b, void* y) {
  if (dtype == DType::kI32) return run_kind<int32_t>(team, s, a, b, y);
  if (dtype == DType::kI64) return run_kind<int64_t>(team, s, a, b, y);
  run_kind<double>(team, s, a, b, y);
}

}  // namespace

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void product_in_kind(Team& team, const ProductShape& shape, DType dtype, const void* a, const void* b, void* y) {
  KILN_DISPATCH(run_any)(team, shape, dtype, a, b, y);
}

}  // namespace kiln::cpu
#endif
