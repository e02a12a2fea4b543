// Slices along rows, whatever these are aligned to: a thread makes 16 aligned bytes of the target, which are parts of
// one row of the source or of two. What it loads are aligned words, shifted into place.
#pragma once

#include "move/slice.cuh"

namespace kiln {

/// Axes innermost first, three at least.
using FlatSlice = cuda::FlatSliceArgument;

struct FlatVector {
  unsigned at[4];
};
/// Loads the words that hold 16 bytes of the source from element `first` on. Words outside of the source are undefined.
template <int kBytes>
__device__ __forceinline__ void load_unaligned(const FlatSlice& s, int first, unsigned (&words)[5]) {
  constexpr int kWords = kBytes < 4 ? 5 : 4;
  const int word = kBytes == 8 ? first * 2 : first >> (kBytes == 4 ? 0 : kBytes == 2 ? 1 : 2);
  const unsigned* from = static_cast<const unsigned*>(s.from);
  if (unsigned(word) <= unsigned(s.words - kWords)) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = from[word + i];
  } else {
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = from[min(max(word + i, 0), s.words - 1)];
  }
}
template <int kBytes>
__device__ __forceinline__ FlatVector shifted(const unsigned (&words)[5], int first) {
  FlatVector result;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    result.at[i] = kBytes < 4 ? __funnelshift_r(words[i], words[i + 1], unsigned(first) * (8 * kBytes)) : words[i];
  return result;
}

/// Elements [begin, end) of a vector, four bits a byte of it.
template <int kBytes>
__device__ __forceinline__ uint64_t part_of(int begin, int end) {
  const auto from = [](int element) {  // a shift by 64 leaves nothing
    return ones_above(unsigned(element) * (4 * kBytes));
  };
  return begin < end ? from(begin) & ~from(end) : 0;
}
/// Puts a part of x in its place in y.
__device__ __forceinline__ void put_part(FlatVector& y, const FlatVector& x, uint64_t part) {
  constexpr unsigned kAll = 0x44444444u, kNone = 0x32103210u;  // bytes of x and of y, as a permutation selects them
  const unsigned low = (unsigned(part) & kAll) | kNone, high = (unsigned(part >> 32) & kAll) | kNone;
  y.at[0] = __byte_perm(y.at[0], x.at[0], low);
  y.at[1] = __byte_perm(y.at[1], x.at[1], low >> 16);
  y.at[2] = __byte_perm(y.at[2], x.at[2], high);
  y.at[3] = __byte_perm(y.at[3], x.at[3], high >> 16);
}

/// Where the rows of an outer position begin in the source, or a large negative number.
__device__ __forceinline__ int outer_offset(const FlatSlice& s, int mode, unsigned position) {
  constexpr int kOutside = -(1 << 30);
  if (s.rank == 3) {  // the outermost axis needs no division
    const int at = coordinate_of(mode, s.starts[2] + int(position) * s.steps[2], s.extents[2]);
    return at < 0 ? kOutside : at * s.strides[2];
  }
  int offset = 0;
#pragma unroll 1
  for (int axis = 2; axis < s.rank; ++axis) {
    unsigned i = position;
    position = s.axes[axis].quotient(i);
    i -= position * s.axes[axis].extent;
    const int at = coordinate_of(mode, s.starts[axis] + int(i) * s.steps[axis], s.extents[axis]);
    if (at < 0) return kOutside;
    offset += at * s.strides[axis];
  }
  return offset;
}

/// Rows have a vector at least and steps of 1. kFills: what lies outside of the source is filled.
template <class Element, bool kFills>
__device__ __forceinline__ void slice_flat(const FlatSlice& s) {
  constexpr int kBytes = sizeof(Element), kVec = 16 / kBytes;
  pdl_launch();
  const unsigned vector = blockIdx.x * blockDim.x + threadIdx.x;
  if (vector >= s.count) return;
  const int mode = kFills ? int(kFill) : s.mode;
  const int columns = int(s.axes[0].extent), extent = s.extents[0], start = s.starts[0];
  unsigned outer = s.axes[0].quotient(vector * kVec);
  const int column = int(vector * kVec - outer * unsigned(columns)), from = start + column;
  const int row = [&] {
    const unsigned position = outer;
    outer = s.axes[1].quotient(position);
    return int(position - outer * s.axes[1].extent);
  }();
  const auto row_offset = [&](int i, int base) {
    const int at = coordinate_of(mode, s.starts[1] + i * s.steps[1], s.extents[1]);
    return at < 0 ? -1 : base + at * s.strides[1];
  };
  // Elements [0, split) are of this row, the others of the next.
  const int split = min(columns - column, kVec), base = outer_offset(s, mode, outer), first = row_offset(row, base);
  int next = -1;
  if (split < kVec)
    next =
        row + 1 < int(s.axes[1].extent) ? row_offset(row + 1, base) : row_offset(0, outer_offset(s, mode, outer + 1));
  uint64_t parts[2] = {};
  if (first >= 0) parts[0] = part_of<kBytes>(max(-from, 0), min(extent - from, split));
  if (next >= 0) parts[1] = part_of<kBytes>(split + max(-start, 0), min(split + extent - start, kVec));
  const int places[] = {first + from, next + start - split};
  pdl_wait();
  const Element fill = s.fill ? *static_cast<const Element*>(s.fill) : Element(0);
  unsigned words[2][5] = {};
#pragma unroll
  for (int k = 0; k < 2; ++k)
    if (parts[k]) load_unaligned<kBytes>(s, places[k], words[k]);
  const auto around = filled<Unit16, Element>(fill);
  FlatVector result{{around.words[0], around.words[1], around.words[2], around.words[3]}};
#pragma unroll
  for (int k = 0; k < 2; ++k) put_part(result, shifted<kBytes>(words[k], places[k]), parts[k]);
  if (!kFills && ~(parts[0] | parts[1])) {
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      if ((parts[0] | parts[1]) >> 4 * kBytes * e & 1) continue;
      const int at = coordinate_of(mode, e < split ? from + e : start + e - split, extent);
      const auto one = filled<Unit16, Element>(static_cast<const Element*>(s.from)[(e < split ? first : next) + at]);
      put_part(result, {{one.words[0], one.words[1], one.words[2], one.words[3]}}, part_of<kBytes>(e, e + 1));
    }
  }
  static_cast<uint4*>(s.to)[vector] = make_uint4(result.at[0], result.at[1], result.at[2], result.at[3]);
}

}  // namespace kiln
