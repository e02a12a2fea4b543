#include "backend/cpu/kernels/copy/transpose_block.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/copy/transpose_block.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <int kBytes>
struct Chunk {
  std::byte bytes[kBytes];
};

/// Any block, an element at a time.
template <int kBytes>
HWY_INLINE void transpose_scalar(const std::byte* from, ptrdiff_t from_stride, std::byte* to, ptrdiff_t to_stride,
                                 int64_t a0, int64_t a1, int64_t b0, int64_t b1) {
  for (int64_t a = a0; a < a1; ++a)
    for (int64_t b = b0; b < b1; ++b) {
      Chunk<kBytes> element;
      std::memcpy(&element, from + b * from_stride + a * kBytes, kBytes);
      std::memcpy(to + a * to_stride + b * kBytes, &element, kBytes);
    }
}

// Squares of 16-byte vectors: n elements of 16 / n bytes. Interleaving rows i and i + n / 2, log2(n) times, turns rows
// into columns.
template <int kBytes>
using Bits = hwy::UnsignedFromSize<kBytes>;
template <int kBytes>
using Row = hn::CappedTag<Bits<kBytes>, static_cast<size_t>(16 / kBytes)>;

/// One square, a row of 16 bytes at a time: kN = 16 / kBytes rows become kN columns.
template <int kBytes>
HWY_INLINE void transpose_square(const std::byte* from, ptrdiff_t from_stride, std::byte* to, ptrdiff_t to_stride) {
  constexpr int kN = 16 / kBytes;
  const Row<kBytes> d;
  using V = hn::Vec<Row<kBytes>>;
  V rows[kN], next[kN];
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) rows[i] = hn::LoadU(d, reinterpret_cast<const Bits<kBytes>*>(from + i * from_stride));
#pragma GCC unroll 4
  for (int stage = 1; stage < kN; stage *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kN / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kN / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kN / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) hn::StoreU(rows[i], d, reinterpret_cast<Bits<kBytes>*>(to + i * to_stride));
}

#if HWY_TARGET != HWY_NEON
/// Eight by eight words: the 4 x 4 squares of rows 0 to 3 and 4 to 7 share vectors of 32 bytes.
HWY_INLINE void transpose_8x8(const std::byte* from, ptrdiff_t from_stride, std::byte* to, ptrdiff_t to_stride) {
  const hn::CappedTag<uint32_t, 8> d;
  const hn::CappedTag<uint32_t, 4> half;
  const hn::CappedTag<uint64_t, 4> d64;
  const auto pair = [&](int row, int column) HWY_ATTR {
    const auto at = [&](int r) HWY_ATTR {
      return hn::LoadU(half, reinterpret_cast<const uint32_t*>(from + r * from_stride) + column);
    };
    return hn::Combine(d, at(row + 4), at(row));
  };
#pragma GCC unroll 2
  for (int column = 0; column < 8; column += 4) {
    const auto r0 = pair(0, column), r1 = pair(1, column), r2 = pair(2, column), r3 = pair(3, column);
    const auto t0 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
    const auto t1 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
    const auto t2 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
    const auto t3 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
    const auto put = [&](int row, auto v) HWY_ATTR {
      hn::StoreU(hn::BitCast(d, v), d, reinterpret_cast<uint32_t*>(to + row * to_stride));
    };
    put(column, hn::InterleaveLower(d64, t0, t2));
    put(column + 1, hn::InterleaveUpper(d64, t0, t2));
    put(column + 2, hn::InterleaveLower(d64, t1, t3));
    put(column + 3, hn::InterleaveUpper(d64, t1, t3));
  }
}
#endif

/// Squares of kN x kN by `square`, the edges an element at a time. Squares come in groups whose sides are cache lines:
/// at strides of a power of two all rows share a few places of the cache, so each line is finished before the next.
template <int kBytes, int kN, class Square>
HWY_INLINE void by_squares(const std::byte* from, ptrdiff_t from_stride, std::byte* to, ptrdiff_t to_stride,
                           int64_t num_a, int64_t num_b, Square square) {
  constexpr int64_t kLine = 64 / kBytes;
  const int64_t whole_a = num_a / kN * kN, whole_b = num_b / kN * kN;
  for (int64_t b0 = 0; b0 < whole_b; b0 += kLine)
    for (int64_t a0 = 0; a0 < whole_a; a0 += kLine)
      for (int64_t a = a0; a < std::min(whole_a, a0 + kLine); a += kN)
        for (int64_t b = b0; b < std::min(whole_b, b0 + kLine); b += kN)
          square(from + b * from_stride + a * kBytes, from_stride, to + a * to_stride + b * kBytes, to_stride);
  if (whole_b < num_b) transpose_scalar<kBytes>(from, from_stride, to, to_stride, 0, whole_a, whole_b, num_b);
  if (whole_a < num_a) transpose_scalar<kBytes>(from, from_stride, to, to_stride, whole_a, num_a, 0, num_b);
}

/// Three rows of bytes become dense triples, as the planes of a picture become pixels.
HWY_INLINE void interleave_3(const std::byte* from, ptrdiff_t from_stride, std::byte* to, int64_t num_a) {
  const Row<1> d;
  constexpr int64_t kLanes = 16;
  const auto row = [&](int b, int64_t a)
                       HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + b * from_stride + a)); };
  int64_t a = 0;
  for (; a + kLanes <= num_a; a += kLanes)
    hn::StoreInterleaved3(row(0, a), row(1, a), row(2, a), d, reinterpret_cast<uint8_t*>(to + a * 3));
  transpose_scalar<1>(from, from_stride, to, 3, a, num_a, 0, 3);
}

template <int kBytes>
void transpose(const std::byte* from, ptrdiff_t from_stride, std::byte* to, ptrdiff_t to_stride, int64_t num_a,
               int64_t num_b) {
  if (kBytes == 1 && num_b == 3 && to_stride == 3) return interleave_3(from, from_stride, to, num_a);
  if constexpr (kBytes == 16) {
    transpose_scalar<kBytes>(from, from_stride, to, to_stride, 0, num_a, 0, num_b);
#if HWY_TARGET != HWY_NEON
  } else if constexpr (kBytes == 4) {
    by_squares<4, 8>(from, from_stride, to, to_stride, num_a, num_b, transpose_8x8);
#endif
  } else {
    by_squares<kBytes, 16 / kBytes>(from, from_stride, to, to_stride, num_a, num_b, transpose_square<kBytes>);
  }
}
}  // namespace

TransposeBlock choose_block(int element_bytes) {
  switch (element_bytes) {
    case 1: return transpose<1>;
    case 2: return transpose<2>;
    case 4: return transpose<4>;
    case 8: return transpose<8>;
    default: return transpose<16>;
  }
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {
TransposeBlock transpose_block(int element_bytes) { return KILN_DISPATCH(choose_block)(element_bytes); }
}  // namespace kiln::cpu
#endif
