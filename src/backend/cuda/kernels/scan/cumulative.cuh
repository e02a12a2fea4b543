// Running sums and products along rows. A block sums a chunk of one row, or a chunk of as many rows side by side as it
// has threads. Where rows have several chunks, the first launch sums these, the second sums the sums, and the third
// goes on from there.
#pragma once

#include "scan/arguments.h"
#include "scan/block_scan.cuh"

namespace kiln {

using Cumulative = cuda::CumulativeArgument;

template <class A>
inline constexpr bool kIsInteger = A(1) / A(2) == A(0);
template <class A>
inline constexpr bool kIsDouble = false;
template <>
inline constexpr bool kIsDouble<double> = true;

__device__ __forceinline__ float widened(float x) { return x; }
__device__ __forceinline__ float widened(f16 x) { return to_float(x); }
__device__ __forceinline__ float widened(bf16 x) { return to_float(x); }
__device__ __forceinline__ double widened(double x) { return x; }
__device__ __forceinline__ uint32_t widened(uint32_t x) { return x; }
__device__ __forceinline__ uint64_t widened(uint64_t x) { return x; }
template <class T, class A>
__device__ __forceinline__ T narrowed(A sum) {
  if constexpr (kIsInteger<A> || kIsDouble<A>)
    return sum;
  else
    return from_float<T>(sum);
}

/// One row's elements in the order in which they are summed.
template <class T>
struct ScannedRow {
  const Cumulative& c;
  int64_t first;
  __device__ __forceinline__ ScannedRow(const Cumulative& c, int64_t row)
      : c(c), first(row / c.inner * c.length * c.inner + row % c.inner) {}
  __device__ __forceinline__ int64_t place(int64_t i) const {
    return first + (c.reverse ? c.length - 1 - i : i) * c.inner;
  }
  __device__ __forceinline__ auto operator[](int64_t i) const { return widened(static_cast<const T*>(c.x)[place(i)]); }
  template <class A>
  __device__ __forceinline__ void put(int64_t i, A sum) const {
    static_cast<T*>(c.y)[place(i)] = narrowed<T>(sum);
  }
};

/// A chunk of one row: calls put(i, sum before, sum) if kPut; returns the sum of all, and starts at `sum`.
template <class A, bool kPut, class Row>
__device__ __forceinline__ A scan_chunk(const Cumulative& c, const Row& row, int64_t chunk, A sum) {
  __shared__ A scratch[cuda::kScanThreads];
  constexpr int kEach = cuda::kScanEach;
  const int64_t end = min(c.length, (chunk + 1) * c.chunk_length);
  for (int64_t begin = chunk * c.chunk_length; begin < end; begin += cuda::kScanThreads * kEach) {
    const int64_t at = begin + threadIdx.x * kEach;
    A values[kEach], mine = 0, total;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      values[i] = at + i < end ? row[at + i] : A(0);
      mine += values[i];
    }
    A before = sum + sum_before(mine, total, scratch);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (kPut && at + i < end) row.put(at + i, c.exclusive ? before : A(before + values[i]));
      before += values[i];
    }
    sum += total;
  }
  return sum;
}
/// A chunk of this thread's row.
template <class A, bool kPut, class Row>
__device__ __forceinline__ A scan_column(const Cumulative& c, const Row& row, int64_t chunk, A sum) {
  const int64_t end = min(c.length, (chunk + 1) * c.chunk_length);
  for (int64_t i = chunk * c.chunk_length; i < end; ++i) {
    const A value = row[i];
    if (kPut) row.put(i, c.exclusive ? sum : A(sum + value));
    sum += value;
  }
  return sum;
}

/// Sums chunks (kPut: from their start on, written to y; else their sums are kept).
template <class T, class A, bool kPut>
__device__ __forceinline__ void cumulative_chunks(const Cumulative& c) {
  pdl_launch();
  pdl_wait();
  A* sums = static_cast<A*>(c.sums);
  const int64_t chunk = blockIdx.x % c.chunks, block = blockIdx.x / c.chunks;
  if (!c.per_thread) {
    const A sum = scan_chunk<A, kPut>(c, ScannedRow<T>(c, block), chunk, kPut && sums ? sums[blockIdx.x] : A(0));
    if (!kPut && threadIdx.x == 0) sums[blockIdx.x] = sum;
    return;
  }
  const int64_t row = block * cuda::kScanThreads + threadIdx.x;
  if (row >= c.rows) return;
  A* own = sums + row * c.chunks + chunk;
  const A sum = scan_column<A, kPut>(c, ScannedRow<T>(c, row), chunk, kPut && sums ? *own : A(0));
  if (!kPut) *own = sum;
}

/// Running products: a thread has a row, and multiplies from its beginning on, as the order of factors matters:
/// products of later ones alone may leave the range of floats.
template <class T, class A>
__device__ __forceinline__ void cumulative_products(const Cumulative& c) {
  pdl_launch();
  pdl_wait();
  const int64_t at = int64_t(blockIdx.x) * cuda::kScanThreads + threadIdx.x;
  if (at >= c.rows) return;
  const ScannedRow<T> row(c, at);
  A product = 1;
  for (int64_t i = 0; i < c.length; ++i) {
    const A before = product;
    product *= row[i];
    row.put(i, c.exclusive ? before : product);
  }
}

/// The sums of a row's chunks become those of all chunks before.
template <class A>
__device__ __forceinline__ void cumulative_starts(const Cumulative& c) {
  __shared__ A scratch[cuda::kScanThreads];
  pdl_launch();
  pdl_wait();
  A* sums = static_cast<A*>(c.sums) + blockIdx.x * c.chunks;
  A start = 0, total;
  for (int64_t begin = 0; begin < c.chunks; begin += cuda::kScanThreads) {
    const int64_t at = begin + threadIdx.x;
    const A before = sum_before(at < c.chunks ? sums[at] : A(0), total, scratch);
    if (at < c.chunks) sums[at] = start + before;
    start += total;
  }
}

}  // namespace kiln
