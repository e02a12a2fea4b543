// Elements reduced with updates at computed indices. y becomes data. Each update finds the slice of y that it is for,
// and a stable sort by slice brings those of one slice together, in their order. Then a thread has an element of a
// slice and reduces it with one update after another: the bits are those of the reference, in every run. Where many
// updates are for one slice, most threads of a block load them ahead of the few that reduce.
#pragma once

#include "scatter/scatter.cuh"
#include "sort/top_k.cuh"

namespace kiln {

using ScatterReduce = cuda::ScatterReduceArgument;
using TargetKey = SortInteger<uint32_t>;

// The numbers that elements are reduced as. Halves are rounded after every update; integers wrap.
__device__ __forceinline__ float number_of(float x) { return x; }
__device__ __forceinline__ float number_of(f16 x) { return to_float(x); }
__device__ __forceinline__ float number_of(bf16 x) { return to_float(x); }
__device__ __forceinline__ int32_t number_of(int32_t x) { return x; }
__device__ __forceinline__ int64_t number_of(int64_t x) { return x; }
template <class T>
__device__ __forceinline__ T element_of(float x) {
  return from_float<T>(x);
}
template <class T>
__device__ __forceinline__ T element_of(int32_t x) {
  return x;
}
template <class T>
__device__ __forceinline__ T element_of(int64_t x) {
  return x;
}

struct ReduceSum {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
  __device__ __forceinline__ int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(uint32_t(a) + uint32_t(b));
  }
  __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const {
    return int64_t(uint64_t(a) + uint64_t(b));
  }
};
struct ReduceProd {
  __device__ __forceinline__ float operator()(float a, float b) const { return a * b; }
  __device__ __forceinline__ int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(uint32_t(a) * uint32_t(b));
  }
  __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const {
    return int64_t(uint64_t(a) * uint64_t(b));
  }
};
struct ReduceMax {  // as std::max: where neither is greater, a
  template <class A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return a < b ? b : a;
  }
};
struct ReduceMin {
  template <class A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return b < a ? b : a;
  }
};

/// What an element with an update is.
template <class T, class F>
__device__ __forceinline__ T reduced(T so_far, T update) {
  return element_of<T>(F()(number_of(so_far), number_of(update)));
}

/// The updates in the order of their slices.
struct SortedPicks {
  const ScatterReduce& r;
  __device__ __forceinline__ Item<uint32_t> item(uint32_t at) const {
    return static_cast<const Item<uint32_t>*>(r.items)[at];
  }
  __device__ __forceinline__ uint32_t target(uint32_t at) const { return TargetKey::key(item(at).key()); }
  /// Whether place `at` is there, and is for that slice.
  __device__ __forceinline__ bool is_for(uint32_t at, uint32_t slice) const {
    return at < r.scatter.picks && target(at) == slice;
  }
  /// Whether the updates that begin at `first` are left to a block.
  __device__ __forceinline__ bool is_long(uint32_t first, uint32_t slice) const {
    return is_for(first + cuda::kScatterRun, slice);
  }
};

template <auto kTarget>
__device__ __forceinline__ uint32_t target_or_outside(const ScatterReduce& r, uint32_t pick, int64_t* fault) {
  const int64_t to = kTarget(r.scatter, pick, fault);
  return to < 0 ? r.outside : uint32_t(to);
}

/// Finds what updates are for, one a thread; the kernels of top_k.cuh sort.
template <auto kTarget>
__device__ __forceinline__ void scatter_targets(const ScatterReduce& r, int64_t* fault) {
  pdl_launch();
  const uint32_t pick = blockIdx.x * blockDim.x + threadIdx.x;
  pdl_wait();
  if (pick < r.scatter.picks) r.targets[pick] = target_or_outside<kTarget>(r, pick, fault);
}
/// Finds what updates are for and sorts them, in one block.
template <auto kTarget>
__device__ __forceinline__ void scatter_sort(const ScatterReduce& r, int64_t* fault) {
  using I = Item<uint32_t>;
  __shared__ I items[kBlockItems<TargetKey>];
  pdl_launch();
  pdl_wait();
  for (uint32_t pick = threadIdx.x; pick < r.sort.padded; pick += blockDim.x) {
    I item;
    item.set_last();
    if (pick < r.scatter.picks) item.set(TargetKey::key(target_or_outside<kTarget>(r, pick, fault)), pick);
    items[pick] = item;
  }
  __syncthreads();
  sort_segments(items, r.sort.padded, r.sort.padded);
  for (uint32_t at = threadIdx.x; at < r.scatter.picks; at += blockDim.x) static_cast<I*>(r.sort.items)[at] = items[at];
}

/// Reduces elements with few updates. The thread of a slice's first update has its element; others leave.
template <class T, class F>
__device__ __forceinline__ void scatter_reduce(const ScatterReduce& r) {
  constexpr int kLoads = 4;  // at once
  pdl_launch();
  const Scatter& s = r.scatter;
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = s.row.quotient(at), b = at - first * s.row.extent;
  pdl_wait();
  if (first >= s.picks) return;
  const SortedPicks sorted{r};
  const uint32_t slice = sorted.target(first);
  if (slice == r.outside || (first > 0 && sorted.target(first - 1) == slice) || sorted.is_long(first, slice)) return;
  const T* updates = static_cast<const T*>(s.updates) + b;
  T& y = static_cast<T*>(s.y)[int64_t(slice) * s.row.extent + b];
  T so_far = y;
  bool more = true;
  for (uint32_t from = first; more; from += kLoads) {
    T loaded[kLoads];
    bool live[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      live[i] = sorted.is_for(from + i, slice);
      if (live[i]) loaded[i] = updates[int64_t(sorted.item(from + i).index()) * s.row.extent];
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (live[i]) so_far = reduced<T, F>(so_far, loaded[i]);
    more = live[kLoads - 1];
  }
  y = so_far;
}

/// The place behind the last update of a slice that has the places from `from` on. All threads of the block call it.
__device__ __forceinline__ uint32_t end_of_run(const SortedPicks& sorted, uint32_t from, uint32_t slice) {
  uint32_t last = from, end = sorted.r.scatter.picks;
  while (end - last > 1) {
    const uint32_t step = (end - last + blockDim.x - 1) / blockDim.x, at = last + threadIdx.x * step;
    const int inside = __syncthreads_count(at < end && sorted.target(at) == slice);  // from the first thread on
    last += (inside - 1) * step;
    end = min(end, last + step);
  }
  return end;
}

/// The updates of one slice in some of its columns, by pieces, each of which is loaded while the one before is reduced.
template <class T>
struct LongRun {
  static constexpr int kEach = cuda::kScatterHeld / cuda::kScatterLoaders;
  const SortedPicks& sorted;
  uint32_t first, end, column;

  __device__ __forceinline__ uint32_t piece() const { return cuda::kScatterHeld >> sorted.r.columns_shift; }
  __device__ __forceinline__ void load(T* held, uint32_t begin, uint32_t loader) const {
    const Scatter& s = sorted.r.scatter;
    const uint32_t shift = sorted.r.columns_shift;
    uint32_t picks[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const uint32_t place = begin + ((i * cuda::kScatterLoaders + loader) >> shift);
      picks[i] = place < end ? sorted.item(place).index() : 0;
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const uint32_t to = i * cuda::kScatterLoaders + loader, own = column + (to & ((1u << shift) - 1));
      if (begin + (to >> shift) < end && own < s.row.extent)
        held[to] = static_cast<const T*>(s.updates)[int64_t(picks[i]) * s.row.extent + own];
    }
  }
};

/// Reduces elements with many updates. A block begins at each kScatterRun-th place, for some columns; the first of a
/// slice has it.
template <class T, class F>
__device__ __forceinline__ void scatter_reduce_long(const ScatterReduce& r) {
  __shared__ T held[2][cuda::kScatterHeld];
  pdl_launch();
  const Scatter& s = r.scatter;
  const uint32_t tiles = ((s.row.extent - 1) >> r.columns_shift) + 1;
  const uint32_t place = blockIdx.x / tiles * cuda::kScatterRun;
  pdl_wait();
  const SortedPicks sorted{r};
  const uint32_t slice = sorted.target(place);
  if (slice == r.outside || (place > 0 && sorted.target(place - cuda::kScatterRun) == slice)) return;
  const int before = __syncthreads_count(threadIdx.x < min(place, uint32_t(cuda::kScatterRun)) &&
                                         sorted.target(place - 1 - threadIdx.x) == slice);
  const uint32_t first = place - before, column = blockIdx.x % tiles << r.columns_shift;
  if (!sorted.is_long(first, slice)) return;
  const LongRun<T> run{sorted, first, end_of_run(sorted, place, slice), column};
  const uint32_t lane = threadIdx.x, piece = run.piece();
  const bool reduces = lane < min(1u << r.columns_shift, s.row.extent - column), loads = lane >= kWarp;
  T* y = static_cast<T*>(s.y) + int64_t(slice) * s.row.extent + column;
  T so_far = {};
  if (reduces) so_far = y[lane];
  if (loads) run.load(held[0], first, lane - kWarp);
  int which = 0;
  for (uint32_t begin = first; begin < run.end; which ^= 1) {
    __syncthreads();
    const uint32_t count = min(piece, run.end - begin);
    if (reduces) {
#pragma unroll 8
      for (uint32_t i = 0; i < count; ++i) so_far = reduced<T, F>(so_far, held[which][(i << r.columns_shift) + lane]);
    }
    begin += count;
    if (loads && begin < run.end) run.load(held[which ^ 1], begin, lane - kWarp);
  }
  if (reduces) y[lane] = so_far;
}

}  // namespace kiln
