// Coordinates of the elements that are not zero. The first launch reads x once, and leaves a bit an element and the
// number of such bits a block and a warp. In the second, each block adds up the numbers before its own, and writes its
// coordinates: neighbouring lanes write neighbouring ones.
#pragma once

#include "nest/walk.cuh"
#include "scan/arguments.h"

namespace kiln {

using NonZero = cuda::NonZeroArgument;

/// The groups of one warp.
struct MarkedGroups {
  int64_t first, end;
  __device__ __forceinline__ explicit MarkedGroups(const NonZero& z) {
    first = min(z.groups, (int64_t(blockIdx.x) * cuda::kMarkWarps + threadIdx.x / kWarp) * z.of_a_warp);
    end = min(z.groups, first + z.of_a_warp);
  }
};

/// One bit for each byte that is not 0.
__device__ __forceinline__ unsigned marks_of_bytes(unsigned bytes) {
  const unsigned high_bits = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes;
  return (high_bits >> 7 & 0x01010101u) * 0x01020408u >> 24;  // bits 0, 8, 16 and 24 become bits 24 to 27
}
__device__ __forceinline__ unsigned marks_of_bytes(const uint4& x) {
  return marks_of_bytes(x.x) | marks_of_bytes(x.y) << 4 | marks_of_bytes(x.z) << 8 | marks_of_bytes(x.w) << 12;
}

/// Marks a whole group of bytes, of which this lane has the vectors `lane` and `kWarp + lane`. Lane i returns the word
/// of the i-th 32 elements.
__device__ __forceinline__ unsigned marks_of_bytes(const uint4& low, const uint4& high) {
  const unsigned lane = threadIdx.x % kWarp, pair = lane % 16 * 2;
  const unsigned both = marks_of_bytes(low) | marks_of_bytes(high) << 16;  // of either half of the group 16 elements
  const unsigned first = __shfl_sync(kAllLanes, both, pair), second = __shfl_sync(kAllLanes, both, pair + 1);
  return lane < 16 ? (first & 0xffff) | second << 16 : first >> 16 | (second & 0xffff0000u);
}
/// Marks a group by ballots: a lane has every 32nd element, as far as they are among the `here` from x on.
template <bool kWhole, class Bits>
__device__ __forceinline__ unsigned marks_of_lanes(const Bits* x, Bits tested, int64_t here) {
  constexpr int kLoads = 16;  // at once
  const unsigned lane = threadIdx.x % kWarp;
  unsigned mine = 0;
#pragma unroll
  for (int begin = 0; begin < kWarp; begin += kLoads) {
    Bits loaded[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = (begin + i) * kWarp;
      loaded[i] = kWhole || here > at ? x[at] : Bits(0);
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const unsigned word = __ballot_sync(kAllLanes, (loaded[i] & tested) != 0);
      if (lane == begin + i) mine = word;
    }
  }
  return mine;
}
/// Marks one group. Lane i returns the word of the i-th 32 elements.
template <class Bits>
__device__ __forceinline__ unsigned marks_of_group(const NonZero& z, int64_t group) {
  const unsigned lane = threadIdx.x % kWarp;
  const Bits* x = static_cast<const Bits*>(z.x) + group * cuda::kMarkGroup;
  const int64_t here = z.count - group * cuda::kMarkGroup;
  if (here < cuda::kMarkGroup) return marks_of_lanes<false>(x + lane, Bits(z.tested), here - lane);
  return marks_of_lanes<true>(x + lane, Bits(z.tested), here);
}

/// Stores the marks of whole groups of bytes from `group` on, all bits of which are tested, and adds up their number. x
/// is aligned to 16. Returns the first group that is left.
__device__ __forceinline__ int64_t mark_bytes(const NonZero& z, int64_t group, int64_t end, uint64_t& sum) {
  constexpr int kAtOnce = 2;
  const unsigned lane = threadIdx.x % kWarp;
  const uint4* x = static_cast<const uint4*>(z.x) + lane;
  constexpr int64_t kVectors = cuda::kMarkGroup / 16;
  const int64_t whole = min(end, z.count / cuda::kMarkGroup);
  for (; group < whole; group += kAtOnce) {
    uint4 low[kAtOnce], high[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (group + i < whole) low[i] = x[(group + i) * kVectors], high[i] = x[(group + i) * kVectors + kWarp];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (group + i < whole) {
        const unsigned word = marks_of_bytes(low[i], high[i]);
        z.marks[(group + i) * kWarp + lane] = word;
        sum += __popc(word);
      }
  }
  return min(group, whole);
}

template <class Bits>
__device__ __forceinline__ void non_zero_mark(const NonZero& z) {
  __shared__ uint64_t scratch[kWarp];
  pdl_launch();
  pdl_wait();
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const MarkedGroups groups(z);
  uint64_t sum = 0;
  int64_t group = groups.first;
  if constexpr (sizeof(Bits) == 1)
    if (reinterpret_cast<uint64_t>(z.x) % 16 == 0) group = max(group, mark_bytes(z, group, groups.end, sum));
  for (; group < groups.end; ++group) {
    const unsigned word = marks_of_group<Bits>(z, group);
    z.marks[group * kWarp + lane] = word;
    sum += __popc(word);
  }
  const uint64_t of_warp = warp_fold(sum, Plus()), of_block = block_fold(sum, uint64_t(0), Plus(), scratch);
  if (lane == 0) z.of_warps[blockIdx.x * cuda::kMarkWarps + warp] = of_warp;
  if (threadIdx.x == 0) z.of_blocks[blockIdx.x] = of_block;
}

/// Writes the coordinates of the element `index`, the `place`-th of `n`.
template <class Index>
__device__ __forceinline__ void put_coordinates(const NonZero& z, int64_t index, int64_t place, int64_t n) {
  Index* y = static_cast<Index*>(z.y) + place;
  for (int axis = z.rank - 1; axis > 0; --axis) {
    const int64_t rest = z.is_wide ? index / z.extents[axis] : int64_t(z.axes[axis].quotient(unsigned(index)));
    y[axis * n] = Index(index - rest * z.extents[axis]);
    index = rest;
  }
  if (z.rank > 0) *y = Index(index);
}

template <class Index>
__device__ __forceinline__ void non_zero_write(const NonZero& z) {
  __shared__ uint64_t scratch[kWarp];
  __shared__ unsigned short places[cuda::kMarkWarps][cuda::kMarkGroup];
  pdl_launch();
  pdl_wait();
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  // What does not wait for the sums is loaded beside what is summed up.
  const MarkedGroups groups(z);
  const uint64_t of_earlier = lane < warp ? z.of_warps[blockIdx.x * cuda::kMarkWarps + lane] : 0;
  uint64_t all = 0, before = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
    const uint64_t sum = z.of_blocks[block];
    all += sum;
    if (block < blockIdx.x) before += sum;
  }
  if (z.is_wide) {
    all = block_fold(all, uint64_t(0), Plus(), scratch);
    before = block_fold(before, uint64_t(0), Plus(), scratch);
  } else {
    const uint64_t both = block_fold(all << 32 | before, uint64_t(0), Plus(), scratch);
    all = both >> 32, before = both & 0xffffffffu;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *z.found = int64_t(all);
  if (all > uint64_t(z.most)) return;
  before += warp_fold(of_earlier, Plus());
  unsigned short* const mine = places[warp];
  for (int64_t group = groups.first; group < groups.end; ++group) {
    const unsigned word = z.marks[group * kWarp + lane], here = __popc(word);
    unsigned end = here;  // of this lane's bits among the group's
#pragma unroll
    for (int step = 1; step < kWarp; step *= 2) {
      const unsigned more = __shfl_up_sync(kAllLanes, end, step);
      if (lane >= step) end += more;
    }
    const unsigned count = __shfl_sync(kAllLanes, end, kWarp - 1);
    if (count <= cuda::kMarkGroup / 4) {  // each lane walks its own bits; many would meet in shared memory's banks
      unsigned place = end - here;
      for (unsigned bits = word; bits != 0; bits &= bits - 1)
        mine[place++] = (unsigned short)(lane * kWarp + __ffs(int(bits)) - 1);
    } else {
#pragma unroll 8
      for (int i = 0; i < kWarp; ++i) {
        const unsigned bits = __shfl_sync(kAllLanes, word, i), start = __shfl_sync(kAllLanes, end - here, i);
        if (bits >> lane & 1) mine[start + __popc(bits & ((1u << lane) - 1))] = (unsigned short)(i * kWarp + lane);
      }
    }
    __syncwarp();
    for (unsigned i = lane; i < count; i += kWarp)
      put_coordinates<Index>(z, group * cuda::kMarkGroup + mine[i], int64_t(before) + i, int64_t(all));
    __syncwarp();
    before += count;
  }
}

}  // namespace kiln
