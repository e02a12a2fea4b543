// Different slices, of an element each or of a few. Slices are sorted by their last element, then by the one before:
// a sort keeps the order of equal keys. Equal slices stand together in the sorted order: where a group begins there is
// counted by blocks, and then numbered. Groups that are to stand as they appear are numbered once more, in the order of
// x.
#pragma once

#include "sort/top_k.cuh"

namespace kiln {

using Unique = cuda::UniqueArgument;

/// How many of the block's threads before this one say yes; `total` becomes the number of all. `scratch` has one a
/// warp.
__device__ __forceinline__ uint32_t yes_before(bool yes, uint32_t& total, uint32_t* scratch) {
  const uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned answers = __ballot_sync(kAllLanes, yes);
  if (lane == 0) scratch[warp] = __popc(answers);
  __syncthreads();
  uint32_t before = __popc(answers & ((1u << lane) - 1));
  total = 0;
  for (uint32_t w = 0; w < cuda::kUniqueWarps; ++w) {
    if (w < warp) before += scratch[w];
    total += scratch[w];
  }
  __syncthreads();
  return before;
}

/// Where an element of slice `slice` of `count` stands.
__device__ __forceinline__ int64_t slice_element(const Unique& u, uint32_t slice, uint32_t element, uint32_t count) {
  const uint32_t outer = element / u.inner, inner = element - outer * u.inner;
  return (int64_t(outer) * count + slice) * u.inner + inner;
}
template <class S>
__device__ __forceinline__ typename S::Bits slice_key(const Unique& u, uint32_t slice, uint32_t element) {
  return S::key(static_cast<const typename S::Bits*>(u.x)[slice_element(u, slice, element, u.sort.length)]);
}

/// Before the passes over another element of the slices, the first of which is `pass`: items get its keys.
template <class S>
__device__ __forceinline__ void unique_next_keys(const Unique& u, int pass) {
  constexpr int kDigits = kKeyBits<S> / cuda::kSortDigit;
  pdl_launch();
  pdl_wait();
  const uint32_t at = blockIdx.x * cuda::kUniqueThreads + threadIdx.x;
  if (at >= u.sort.length) return;
  auto& item = Pass<S>{u.sort, pass, 0}.buffer((pass - 1) % 2)[at];
  const uint32_t slice = item.index();
  item.set(slice_key<S>(u, slice, u.size - 1 - pass / kDigits), slice);
}

/// Groups in the sorted order: each begins where a slice differs from the one before.
template <class S>
struct SortedGroups {
  const Unique& u;
  const Item<typename S::Bits>* items;
  __device__ __forceinline__ explicit SortedGroups(const Unique& u)
      : u(u), items(Pass<S>{u.sort, int(u.passes), 0}.buffer((u.passes - 1) % 2)) {}
  /// Items have the keys of the slices' first elements.
  __device__ __forceinline__ bool begins(uint32_t i) const {
    if (i == 0 || items[i].key() != items[i - 1].key()) return true;
    const uint32_t slice = items[i].index(), before = items[i - 1].index();
    for (uint32_t e = 1; e < u.size; ++e)
      if (slice_key<S>(u, slice, e) != slice_key<S>(u, before, e)) return true;
    return false;
  }
  __device__ __forceinline__ void put(uint32_t i, uint32_t before, bool begins) const {
    const uint32_t group = begins ? before : before - 1, slice = items[i].index();
    u.groups[slice] = group;
    if (begins) u.starts[group] = i, u.firsts[group] = slice;
  }
};
/// Groups in the order of x: each begins with its first slice.
struct AppearingGroups {
  const Unique& u;
  __device__ __forceinline__ explicit AppearingGroups(const Unique& u) : u(u) {}
  __device__ __forceinline__ bool begins(uint32_t i) const { return u.firsts[u.groups[i]] == i; }
  __device__ __forceinline__ void put(uint32_t i, uint32_t before, bool begins) const {
    if (begins) u.places[u.groups[i]] = before;
  }
};

/// Counts the groups that begin in this block's part.
template <class Groups>
__device__ __forceinline__ void unique_count(const Unique& u) {
  __shared__ uint32_t scratch[kWarp];
  pdl_launch();
  pdl_wait();
  const Groups groups(u);
  const uint32_t first = blockIdx.x * u.of_a_block, end = min(u.sort.length, first + u.of_a_block);
  uint32_t count = 0;
  for (uint32_t i = first + threadIdx.x; i < end; i += cuda::kUniqueThreads) count += groups.begins(i);
  count = block_fold(count, 0u, Plus(), scratch);
  if (threadIdx.x == 0) u.of_blocks[blockIdx.x] = count;
}

/// Numbers the groups that begin in this block's part.
template <class Groups>
__device__ __forceinline__ void unique_number(const Unique& u) {
  __shared__ uint32_t scratch[kWarp];
  pdl_launch();
  pdl_wait();
  const Groups groups(u);
  uint32_t all = 0, before = 0;
  for (uint32_t block = threadIdx.x; block < gridDim.x; block += cuda::kUniqueThreads) {
    const uint32_t count = u.of_blocks[block];
    all += count;
    if (block < blockIdx.x) before += count;
  }
  all = block_fold(all, 0u, Plus(), scratch);
  before = block_fold(before, 0u, Plus(), scratch);
  if (blockIdx.x == 0 && threadIdx.x == 0) *u.found = all;
  const uint32_t first = blockIdx.x * u.of_a_block, end = min(u.sort.length, first + u.of_a_block);
  for (uint32_t begin = first; begin < end; begin += cuda::kUniqueThreads) {
    const uint32_t i = begin + threadIdx.x;
    const bool begins = i < end && groups.begins(i);
    uint32_t total;
    const uint32_t here = yes_before(begins, total, scratch);
    if (i < end) groups.put(i, before + here, begins);
    before += total;
  }
}

/// Writes the outputs: a thread has a slice and, as far as there are so many, a group.
template <class S>
__device__ __forceinline__ void unique_store(const Unique& u) {
  using Bits = typename S::Bits;
  pdl_launch();
  pdl_wait();
  const uint32_t i = blockIdx.x * cuda::kUniqueThreads + threadIdx.x;
  if (i >= u.sort.length) return;
  const uint32_t found = uint32_t(*u.found);
  const uint32_t of_slice = u.groups[i];
  u.inverse[i] = u.is_sorted ? of_slice : u.places[of_slice];
  if (i >= found || found > u.room) return;
  const uint32_t place = u.is_sorted ? i : u.places[i], slice = u.firsts[i];
  const uint32_t end = i + 1 < found ? u.starts[i + 1] : u.sort.length;
  for (uint32_t e = 0; e < u.size; ++e)
    static_cast<Bits*>(u.y)[slice_element(u, place, e, found)] =
        static_cast<const Bits*>(u.x)[slice_element(u, slice, e, u.sort.length)];
  u.first[place] = slice;
  u.counts[place] = end - u.starts[i];
}

}  // namespace kiln
