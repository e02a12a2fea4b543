// The first k elements of rows in the order of their sort keys, of equal ones the lower index first. Short rows are
// sorted in shared memory. Of long rows, passes over the digits of keys, the highest first, find a prefix of the k-th
// element's key until what has this prefix or a lower one fits a block, which sorts it. For more than a block's items
// whole rows are sorted by digits, the lowest first.
#pragma once

#include "backend/cuda/kernels/sort/arguments.h"
#include "ops/sort_key-inl.h"
#include "scan/block_scan.cuh"
#include "sort/sort_segments.cuh"

namespace kiln {

using TopK = cuda::TopKArgument;

// Elements of a type as they lie in memory.
struct SortF32 {
  using Bits = uint32_t;
  static __device__ __forceinline__ Bits key(Bits bits) { return device::float_key<Bits>(bits, 0x7f800000u); }
};
struct SortF16 {
  using Bits = uint16_t;
  static __device__ __forceinline__ Bits key(Bits bits) { return device::float_key<Bits>(bits, 0x7c00); }
};
struct SortBF16 {
  using Bits = uint16_t;
  static __device__ __forceinline__ Bits key(Bits bits) { return device::float_key<Bits>(bits, 0x7f80); }
};
template <class B>
struct SortInteger {
  using Bits = B;
  static __device__ __forceinline__ Bits key(Bits bits) { return device::integer_key<Bits>(bits); }
};
struct SortU8 {
  using Bits = uint8_t;
  static __device__ __forceinline__ Bits key(Bits bits) { return bits; }
};

/// A key and the index of its element: what comes first is least.
template <class Bits>
struct Item {
  uint64_t both;
  __device__ __forceinline__ void set(Bits key, uint32_t index) { both = uint64_t(key) << 32 | index; }
  __device__ __forceinline__ void set_last() { both = ~uint64_t(0); }
  __device__ __forceinline__ Bits key() const { return Bits(both >> 32); }
  __device__ __forceinline__ uint32_t index() const { return uint32_t(both); }
  __device__ __forceinline__ bool operator<(const Item& other) const { return both < other.both; }
};
template <>
struct Item<uint64_t> {
  uint64_t k;
  uint32_t i;
  __device__ __forceinline__ void set(uint64_t key, uint32_t index) { k = key, i = index; }
  __device__ __forceinline__ void set_last() { k = ~uint64_t(0), i = ~0u; }
  __device__ __forceinline__ uint64_t key() const { return k; }
  __device__ __forceinline__ uint32_t index() const { return i; }
  __device__ __forceinline__ bool operator<(const Item& other) const {
    return k != other.k ? k < other.k : i < other.i;
  }
};

template <class S>
inline constexpr int kKeyBits = 8 * int(sizeof(typename S::Bits));
template <class S>
inline constexpr int kBlockItems = cuda::items_of_block(kKeyBits<S>);

/// The offset of a row's first element, where rows have `length` elements.
__device__ __forceinline__ int64_t row_start(const TopK& t, uint32_t row, uint32_t length) {
  return int64_t(row / t.inner) * length * t.inner + row % t.inner;
}
template <class S>
__device__ __forceinline__ typename S::Bits key_of(const TopK& t, typename S::Bits bits) {
  const typename S::Bits key = S::key(bits);
  return t.is_largest ? typename S::Bits(~key) : key;
}
/// Writes the value and the index of place `at`.
template <class S>
__device__ __forceinline__ void store_place(const TopK& t, uint32_t row, uint32_t at, uint32_t index) {
  using Bits = typename S::Bits;
  const int64_t to = row_start(t, row, t.k) + int64_t(at) * t.inner;
  static_cast<Bits*>(t.values)[to] =
      static_cast<const Bits*>(t.x)[row_start(t, row, t.length) + int64_t(index) * t.inner];
  if (t.is_wide)
    static_cast<int64_t*>(t.indices)[to] = index;
  else
    static_cast<int32_t*>(t.indices)[to] = int32_t(index);
}

/// Short rows: a block has as many as fit.
template <class S>
__device__ __forceinline__ void top_k_short(const TopK& t) {
  using I = Item<typename S::Bits>;
  __shared__ I items[kBlockItems<S>];
  const uint32_t rows = kBlockItems<S> / t.padded, first = blockIdx.x * rows;
  const uint32_t here = min(rows, t.rows - first), count = here * t.padded;
  pdl_launch();
  pdl_wait();
  const auto* x = static_cast<const typename S::Bits*>(t.x);
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    // Neighbours in memory are neighbours in a row, or in several of them.
    const uint32_t row = t.inner == 1 ? i / t.padded : i % here, at = t.inner == 1 ? i % t.padded : i / here;
    I item;
    item.set_last();
    if (at < t.length) item.set(key_of<S>(t, x[row_start(t, first + row, t.length) + int64_t(at) * t.inner]), at);
    items[row * t.padded + at] = item;
  }
  __syncthreads();
  sort_segments(items, count, t.padded);
  for (uint32_t i = threadIdx.x; i < here * t.k; i += blockDim.x) {
    const uint32_t row = i / t.k, at = i % t.k;
    store_place<S>(t, first + row, at, items[row * t.padded + at].index());
  }
}

/// Calls use(key, index) for the elements of this block's chunk.
template <class S, class F>
__device__ __forceinline__ void for_each_key(const TopK& t, uint32_t row, uint32_t chunk, F use) {
  constexpr int kLoads = 8;  // at once
  const auto* x = static_cast<const typename S::Bits*>(t.x) + row_start(t, row, t.length);
  const uint32_t end = min(t.length, (chunk + 1) * t.chunk_length);
  for (uint32_t at = chunk * t.chunk_length + threadIdx.x; at < end; at += kLoads * cuda::kSortThreads) {
    typename S::Bits loaded[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (at + i * cuda::kSortThreads < end) loaded[i] = x[int64_t(at + i * cuda::kSortThreads) * t.inner];
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (at + i * cuda::kSortThreads < end) use(key_of<S>(t, loaded[i]), at + i * cuda::kSortThreads);
  }
}

/// Long rows: nothing is known.
__device__ __forceinline__ void top_k_begin(const TopK& t) {
  pdl_launch();
  pdl_wait();
  const uint32_t row = blockIdx.x;
  for (uint32_t bin = threadIdx.x; bin < cuda::kSelectBins; bin += blockDim.x)
    t.counts[int64_t(row) * cuda::kSelectBins + bin] = 0;
  if (threadIdx.x == 0) t.states[row] = {0, 0, t.k, 0, 0, 0};
}

/// Finds the next digit of the k-th key from the counts of all blocks; the counts become 0. All threads call it.
template <class S>
__device__ __forceinline__ void take_digit(const TopK& t, cuda::TopKRow& state, uint32_t* counts, int low,
                                           uint32_t* scratch) {
  constexpr int kEach = cuda::kSelectBins / cuda::kSortThreads;
  uint32_t bins[kEach], sum = 0, total;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    bins[i] = __ldcg(counts + threadIdx.x * kEach + i);
    sum += bins[i];
    counts[threadIdx.x * kEach + i] = 0;
  }
  const uint32_t wanted = state.ties;
  uint32_t before = sum_before(sum, total, scratch);  // its barrier: all have read the state
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (before < wanted && wanted <= before + bins[i]) {
      state.prefix |= uint64_t(threadIdx.x * kEach + i) << low;
      state.low = low;
      state.ties = wanted - before;
      state.is_done = t.k - state.ties + bins[i] <= kBlockItems<S>;
      state.arrived = 0;
    }
    before += bins[i];
  }
}

/// Long rows: counts the digits below bit `high` of keys whose higher bits are known to be the k-th key's.
template <class S>
__device__ __forceinline__ void top_k_count(const TopK& t, int high) {
  __shared__ uint32_t counts[cuda::kSelectBins], scratch[cuda::kSortThreads];
  __shared__ bool is_last;
  const uint32_t row = blockIdx.x / t.chunks, chunk = blockIdx.x % t.chunks;
  const int low = max(0, high - cuda::kSelectDigit);
  pdl_launch();
  pdl_wait();
  cuda::TopKRow& state = t.states[row];
  if (state.is_done) return;
  const uint64_t prefix = state.prefix;
  for (uint32_t bin = threadIdx.x; bin < cuda::kSelectBins; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();
  const uint32_t mask = (1u << (high - low)) - 1;
  for_each_key<S>(t, row, chunk, [&](typename S::Bits key, uint32_t) {
    if (high == kKeyBits<S> || (uint64_t(key) ^ prefix) >> high == 0)
      atomicAdd(counts + (uint32_t(uint64_t(key) >> low) & mask), 1u);
  });
  __syncthreads();
  uint32_t* all = t.counts + int64_t(row) * cuda::kSelectBins;
  for (uint32_t bin = threadIdx.x; bin < cuda::kSelectBins; bin += blockDim.x)
    if (counts[bin]) atomicAdd(all + bin, counts[bin]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&state.arrived, 1u) == t.chunks - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  take_digit<S>(t, state, all, low, scratch);
}

/// Long rows whose whole k-th key is known and is that of too many elements: counts these by chunks.
template <class S>
__device__ __forceinline__ void top_k_ties(const TopK& t) {
  __shared__ uint32_t count;
  const uint32_t row = blockIdx.x / t.chunks, chunk = blockIdx.x % t.chunks;
  pdl_launch();
  pdl_wait();
  const cuda::TopKRow& state = t.states[row];
  if (state.is_done) return;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  uint32_t mine = 0;
  for_each_key<S>(t, row, chunk, [&](typename S::Bits key, uint32_t) { mine += key == state.prefix; });
  if (mine) atomicAdd(&count, mine);
  __syncthreads();
  if (threadIdx.x == 0) t.chunk_ties[blockIdx.x] = count;
}

/// Long rows: gathers what is before the k-th element or may be, in any order.
template <class S>
__device__ __forceinline__ void top_k_gather(const TopK& t) {
  using I = Item<typename S::Bits>;
  __shared__ uint32_t scratch[cuda::kSortThreads];
  const uint32_t row = blockIdx.x / t.chunks, chunk = blockIdx.x % t.chunks;
  pdl_launch();
  pdl_wait();
  cuda::TopKRow& state = t.states[row];
  I* items = static_cast<I*>(t.items) + int64_t(row) * kBlockItems<S>;
  const uint64_t prefix = state.prefix;
  const auto take = [&](typename S::Bits key, uint32_t index) {
    const uint32_t to = atomicAdd(&state.found, 1u);
    if (to < kBlockItems<S>) items[to].set(key, index);
  };
  if (state.is_done) {
    const uint32_t low = state.low;
    for_each_key<S>(t, row, chunk, [&](typename S::Bits key, uint32_t index) {
      if (uint64_t(key) >> low <= prefix >> low) take(key, index);
    });
    return;
  }
  uint32_t ties = 0, total;
  for (uint32_t c = threadIdx.x; c < chunk; c += blockDim.x) ties += t.chunk_ties[row * t.chunks + c];
  sum_before(ties, total, scratch);
  uint32_t taken = total;
  const auto* x = static_cast<const typename S::Bits*>(t.x) + row_start(t, row, t.length);
  const uint32_t end = min(t.length, (chunk + 1) * t.chunk_length);
  for (uint32_t begin = chunk * t.chunk_length; begin < end; begin += blockDim.x) {
    const uint32_t at = begin + threadIdx.x;
    const bool is_there = at < end;
    const typename S::Bits key = is_there ? key_of<S>(t, x[int64_t(at) * t.inner]) : 0;
    const bool is_tie = is_there && key == prefix;
    const uint32_t before = sum_before<uint32_t>(is_tie, total, scratch);
    if (is_there && (key < prefix || (is_tie && taken + before < state.ties))) take(key, at);
    taken += total;
  }
}

/// Long rows: sorts what was gathered.
template <class S>
__device__ __forceinline__ void top_k_finish(const TopK& t) {
  using I = Item<typename S::Bits>;
  __shared__ I items[kBlockItems<S>];
  const uint32_t row = blockIdx.x;
  pdl_launch();
  pdl_wait();
  const uint32_t count = min(t.states[row].found, uint32_t(kBlockItems<S>));
  uint32_t padded = 1;
  while (padded < count) padded *= 2;
  const I* from = static_cast<const I*>(t.items) + int64_t(row) * kBlockItems<S>;
  for (uint32_t i = threadIdx.x; i < padded; i += blockDim.x) {
    if (i < count)
      items[i] = from[i];
    else
      items[i].set_last();
  }
  __syncthreads();
  sort_segments(items, padded, padded);
  for (uint32_t at = threadIdx.x; at < min(t.k, count); at += blockDim.x) store_place<S>(t, row, at, items[at].index());
}

/// Whole rows, sorted: a row's items before pass `pass`, the first of which reads elements. Passes behind those over
/// all digits begin with the lowest digit again, of keys that others have set.
template <class S>
struct Pass {
  using I = Item<typename S::Bits>;
  const TopK& t;
  int pass;
  uint32_t row;
  __device__ __forceinline__ I* buffer(int which) const {
    return static_cast<I*>(t.items) + (int64_t(which) * t.rows + row) * t.length;
  }
  __device__ __forceinline__ I item(uint32_t at) const {
    if (pass > 0) return buffer((pass - 1) % 2)[at];
    I result;
    result.set(
        key_of<S>(t, static_cast<const typename S::Bits*>(t.x)[row_start(t, row, t.length) + int64_t(at) * t.inner]),
        at);
    return result;
  }
  __device__ __forceinline__ uint32_t digit(const I& item) const {
    constexpr int kDigits = kKeyBits<S> / cuda::kSortDigit;
    return uint32_t(uint64_t(item.key()) >> (cuda::kSortDigit * (pass % kDigits))) & (cuda::kSortBins - 1);
  }
};

/// Whole rows, sorted: counts a chunk's digits.
template <class S>
__device__ __forceinline__ void top_k_digits(const TopK& t, int pass) {
  __shared__ uint32_t counts[cuda::kSortBins];
  const uint32_t row = blockIdx.x / t.chunks, chunk = blockIdx.x % t.chunks;
  pdl_launch();
  pdl_wait();
  const Pass<S> p{t, pass, row};
  counts[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t end = min(t.length, (chunk + 1) * t.chunk_length);
  for (uint32_t at = chunk * t.chunk_length + threadIdx.x; at < end; at += blockDim.x)
    atomicAdd(counts + p.digit(p.item(at)), 1u);
  __syncthreads();
  t.counts[(int64_t(row) * cuda::kSortBins + threadIdx.x) * t.chunks + chunk] = counts[threadIdx.x];
}

/// Whole rows, sorted: counts become the places at which a chunk's items of a digit begin.
__device__ __forceinline__ void top_k_starts(const TopK& t) {
  __shared__ uint32_t scratch[cuda::kShortThreads];
  pdl_launch();
  pdl_wait();
  const uint32_t count = cuda::kSortBins * t.chunks, each = (count + blockDim.x - 1) / blockDim.x;
  uint32_t* counts = t.counts + int64_t(blockIdx.x) * count;
  const uint32_t begin = min(count, threadIdx.x * each), end = min(count, begin + each);
  uint32_t sum = 0, total;
  for (uint32_t i = begin; i < end; ++i) sum += counts[i];
  uint32_t at = sum_before(sum, total, scratch);
  for (uint32_t i = begin; i < end; ++i) {
    const uint32_t here = counts[i];
    counts[i] = at;
    at += here;
  }
}

/// Counts of rows of many chunks become places within their bin, and a bin's total is stored. A block does one bin.
__device__ __forceinline__ void top_k_bin_starts(const TopK& t) {
  __shared__ uint32_t scratch[cuda::kSortThreads];
  pdl_launch();
  pdl_wait();
  uint32_t* counts = t.counts + int64_t(blockIdx.x) * t.chunks;
  uint32_t start = 0, total;
  for (uint32_t begin = 0; begin < t.chunks; begin += cuda::kSortThreads) {
    const uint32_t chunk = begin + threadIdx.x;
    const uint32_t before = sum_before(chunk < t.chunks ? counts[chunk] : 0, total, scratch);
    if (chunk < t.chunks) counts[chunk] = start + before;
    start += total;
  }
  if (threadIdx.x == 0) t.totals[blockIdx.x] = start;
}

/// Whole rows, sorted: moves a chunk's items to their places, those of one digit in their order.
template <class S>
__device__ __forceinline__ void top_k_move(const TopK& t, int pass) {
  constexpr uint32_t kWarps = cuda::kSortThreads / kWarp;
  __shared__ uint32_t starts[cuda::kSortBins], of_warps[kWarps][cuda::kSortBins];
  const uint32_t row = blockIdx.x / t.chunks, chunk = blockIdx.x % t.chunks;
  const uint32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  pdl_launch();
  pdl_wait();
  const Pass<S> p{t, pass, row};
  auto* to = p.buffer(pass % 2);
  const int64_t bin = int64_t(row) * cuda::kSortBins + threadIdx.x;
  uint32_t before = 0, total;
  if (t.totals) before = sum_before(t.totals[bin], total, of_warps[0]);
  starts[threadIdx.x] = before + t.counts[bin * t.chunks + chunk];
  const uint32_t end = min(t.length, (chunk + 1) * t.chunk_length);
  for (uint32_t begin = chunk * t.chunk_length; begin < end; begin += blockDim.x) {
    const uint32_t at = begin + threadIdx.x;
    for (uint32_t w = 0; w < kWarps; ++w) of_warps[w][threadIdx.x] = 0;
    __syncthreads();
    Item<typename S::Bits> item;
    uint32_t digit = cuda::kSortBins;  // none
    if (at < end) {
      item = p.item(at);
      digit = p.digit(item);
    }
    const uint32_t alike = __match_any_sync(kAllLanes, digit), rank = __popc(alike & ((1u << lane) - 1));
    if (at < end && rank == 0) of_warps[warp][digit] = __popc(alike);
    __syncthreads();
    uint32_t start = starts[threadIdx.x];
    for (uint32_t w = 0; w < kWarps; ++w) {
      const uint32_t count = of_warps[w][threadIdx.x];
      of_warps[w][threadIdx.x] = start;
      start += count;
    }
    starts[threadIdx.x] = start;
    __syncthreads();
    if (at < end) to[of_warps[warp][digit] + rank] = item;
    __syncthreads();
  }
}

/// Whole rows, sorted: writes the first k.
template <class S>
__device__ __forceinline__ void top_k_store(const TopK& t, int passes) {
  pdl_launch();
  pdl_wait();
  const uint32_t blocks = (t.k + blockDim.x - 1) / blockDim.x;
  const uint32_t row = blockIdx.x / blocks, at = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  const Pass<S> p{t, passes, row};
  if (at < t.k) store_place<S>(t, row, at, p.item(at).index());
}

}  // namespace kiln
