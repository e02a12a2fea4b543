#include "backend/cpu/kernels/gemm/direct.h"

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/gemm/direct.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

// Sums that registers hold beside B's vectors: 16 registers with AVX2, 32 with the others.
constexpr int kSums = HWY_TARGET == HWY_AVX2 ? 8 : 16;
constexpr int kMostRows = 4;

/// Row r of kRows from `row` on. Rows beyond the block's repeat its last one, and what they store is the same once
/// more: two or three rows took as long as four.
template <int kRows>
HWY_INLINE int64_t at(const Block& block, int64_t row, int r) {
  return kRows == 1 ? row : std::min<int64_t>(row + r, block.rows - 1);
}

HWY_INLINE V clamp(const Block& block, V sum) {
  return hn::Min(hn::Set(D(), block.hi), hn::Max(hn::Set(D(), block.lo), sum));  // in this order NaN stays
}

// ---- Rows of B are contiguous: each is multiplied by an element of A's rows, and added to C's.

constexpr int kMostVecs = 8;  // of a strip: enough sums that none waits for the one before it

// B beyond this many bytes comes from memory, which likes rows read as a whole: so many steps of k at once, for which
// C waits in cache.
constexpr int64_t kNearBytes = 1 << 19;
constexpr int64_t kFarSteps = 16;

/// Steps [begin, end) of k for kVecs vectors of columns from `col` on, the last one of `tail` columns.
template <int kRows, int kVecs, bool kWhole>
HWY_INLINE void strip(const Block& block, const Matrix& m, int64_t row, int64_t col, int64_t begin, int64_t end,
                      int tail) {
  const D d;
  const auto load = [tail](const float* from, int v) HWY_ATTR {
    return kWhole || v < kVecs - 1 ? hn::LoadU(D(), from + v * kLanes) : load_some(from + v * kLanes, tail);
  };
  V sum[kRows][kVecs];
  const float* a[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    a[r] = block.a[at<kRows>(block, row, r)] + block.a_offset;
    const float* const more = begin > 0        ? block.c + at<kRows>(block, row, r) * block.ldc + col
                              : block.residual ? block.residual + at<kRows>(block, row, r) * block.ldr + col
                                               : nullptr;
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      sum[r][v] = begin == 0 && block.bias ? load(block.bias + col, v) : hn::Zero(d);
      if (more) sum[r][v] = hn::Add(sum[r][v], load(more, v));
    }
  }
  const float* b = m.data + begin * m.k_stride + col;
  for (int64_t i = begin; i < end; ++i, b += m.k_stride) {
    V w[kVecs];
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) w[v] = load(b, v);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[r][i]);
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::MulAdd(x, w[v], sum[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    float* const c = block.c + at<kRows>(block, row, r) * block.ldc + col;
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v)
      store_some(end == block.k ? clamp(block, sum[r][v]) : sum[r][v], c + v * kLanes,
                 kWhole || v < kVecs - 1 ? kLanes : tail);
  }
}

template <int kRows>
void strips(const Block& block, const Matrix& b, int64_t row, int64_t begin, int64_t end) {
  constexpr int kVecs = std::min(kMostVecs, kSums / kRows / 2 * 2);
  int64_t col = 0;
  for (; col + kVecs * kLanes <= block.cols; col += kVecs * kLanes)
    strip<kRows, kVecs, true>(block, b, row, col, begin, end, kLanes);
  if constexpr (kVecs > 4)
    for (; col + 4 * kLanes <= block.cols; col += 4 * kLanes)
      strip<kRows, 4, true>(block, b, row, col, begin, end, kLanes);
  if constexpr (kVecs > 2)
    for (; col + 2 * kLanes <= block.cols; col += 2 * kLanes)
      strip<kRows, 2, true>(block, b, row, col, begin, end, kLanes);
  const auto left = static_cast<int>(block.cols - col);
  if (left > kLanes) return strip<kRows, 2, false>(block, b, row, col, begin, end, left - kLanes);
  if (left > 0) strip<kRows, 1, false>(block, b, row, col, begin, end, left);
}

void run_rows(const Block& block, const Matrix& b) {
  const int64_t steps = 4 * block.k * block.cols <= kNearBytes ? std::max<int64_t>(block.k, 1) : kFarSteps;
  for (int64_t k0 = 0; k0 == 0 || k0 < block.k; k0 += steps)
    for (int64_t row = 0; row < block.rows; row += kMostRows) {
      const int64_t end = std::min(block.k, k0 + steps);
      block.rows - row == 1 ? strips<1>(block, b, row, k0, end) : strips<kMostRows>(block, b, row, k0, end);
    }
}

// ---- Columns of B are contiguous: each element is a dot product of a row of A and a column of B.

using Quad = hn::FixedTag<float, 4>;
constexpr int kDotRows = kSums / 4;
template <int kRows>
constexpr int kDotCols = kRows == 1 ? 8 : 4;

HWY_INLINE hn::Vec<Quad> fold(hn::Vec<Quad> v) { return v; }
#if HWY_TARGET != HWY_NEON
template <class Wide>
HWY_INLINE hn::Vec<Quad> fold(Wide v) {
  const hn::Half<hn::DFromV<Wide>> half;
  return fold(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
}
#endif

/// x0 + x2, y0 + y2, x1 + x3, y1 + y3.
HWY_INLINE hn::Vec<Quad> pair_sums(hn::Vec<Quad> x, hn::Vec<Quad> y) {
  return hn::Add(hn::InterleaveLower(Quad(), x, y), hn::InterleaveUpper(Quad(), x, y));
}

/// The sums of four vectors.
HWY_INLINE hn::Vec<Quad> sums_of(V a, V b, V c, V d) {
  const Quad quad;
  const hn::Vec<Quad> ab = pair_sums(fold(a), fold(b)), cd = pair_sums(fold(c), fold(d));
  return hn::Add(hn::ConcatLowerLower(quad, cd, ab), hn::ConcatUpperUpper(quad, cd, ab));
}

/// Adds what follows to the sums of up to four columns, and stores them.
HWY_INLINE void finish(const Block& block, hn::Vec<Quad> y, int64_t row, int64_t col) {
  const Quad quad;
  const auto mask = hn::FirstN(quad, static_cast<size_t>(std::min<int64_t>(4, block.cols - col)));
  if (block.bias) y = hn::Add(y, hn::MaskedLoad(mask, quad, block.bias + col));
  if (block.residual) y = hn::Add(y, hn::MaskedLoad(mask, quad, block.residual + row * block.ldr + col));
  y = hn::Min(hn::Set(quad, block.hi), hn::Max(hn::Set(quad, block.lo), y));  // in this order NaN stays
  hn::BlendedStore(y, mask, quad, block.c + row * block.ldc + col);
}

/// Each sum has one order whatever kRows is.
template <int kRows>
HWY_INLINE void dots(const Block& block, const Matrix& m, int64_t row, int64_t col) {
  constexpr int kCols = kDotCols<kRows>;
  const float *a[kRows], *b[kCols];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) a[r] = block.a[at<kRows>(block, row, r)] + block.a_offset;
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) b[c] = m.data + std::min(col + c, block.cols - 1) * m.n_stride;
  V sum[kRows][kCols];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) sum[r][c] = hn::Zero(D());
  const auto step = [&](int64_t i, auto load) HWY_ATTR {
    V x[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) x[r] = load(a[r] + i);
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) {
      const V w = load(b[c] + i);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r][c] = hn::MulAdd(x[r], w, sum[r][c]);
    }
  };
  int64_t i = 0;
  for (; i + kLanes <= block.k; i += kLanes) step(i, [](const float* from) HWY_ATTR { return hn::LoadU(D(), from); });
  if (const auto left = static_cast<int>(block.k - i); left > 0)
    step(i, [left](const float* from) HWY_ATTR { return load_some(from, left); });
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    if (row + r >= block.rows) break;  // C may be the residual, which is read once
#pragma GCC unroll 2
    for (int c = 0; c < kCols; c += 4)
      if (col + c < block.cols)
        finish(block, sums_of(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]), row + r, col + c);
  }
}

void run_columns(const Block& block, const Matrix& b) {
  if (block.rows == 1) {
    for (int64_t col = 0; col < block.cols; col += kDotCols<1>) dots<1>(block, b, 0, col);
    return;
  }
  for (int64_t col = 0; col < block.cols; col += kDotCols<kDotRows>)
    for (int64_t row = 0; row < block.rows; row += kDotRows) dots<kDotRows>(block, b, row, col);
}

void run(const Block& block, const Matrix& b) {
  // Both strides are 1 where B is one row or one column; a stride of an axis of one index says nothing.
  const bool columns = b.k_stride == 1 ? b.n_stride != 1 || block.k > 1 : b.n_stride != 1 && block.k <= 1;
  columns ? run_columns(block, b) : run_rows(block, b);
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

bool is_direct(int64_t m, int64_t k, int64_t n, const Matrix& b) {
  // Rows beyond pay for packing; a dot product of few elements has the sum of its lanes to pay for, too.
  constexpr int64_t kMostRows = 16, kMostRowsOfDots = 8, kMostRowsOfShortDots = 4, kShort = 128;
  if (b.n_stride == 1 || n <= 1) return m <= kMostRows;
  return (b.k_stride == 1 || k <= 1) && m <= (k < kShort ? kMostRowsOfShortDots : kMostRowsOfDots);
}

void run_direct(const Block& block, const Matrix& b) {
  if (block.rows > 0 && block.cols > 0) KILN_DISPATCH(run)(block, b);
}

}  // namespace kiln::cpu
#endif
