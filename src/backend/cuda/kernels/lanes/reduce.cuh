// Sums, products, maxima and minima along rows, or along an axis that is not the innermost; where there are few results
// in two steps, of which the first leaves one number a chunk.
#pragma once

#include "backend/cuda/kernels/lanes/arguments.h"
#include "device.cuh"
#include "nest/walk.cuh"

namespace kiln {

enum class Fold { kSum, kProd, kMax, kMin };

template <class A>
struct Limits;
template <>
struct Limits<float> {
  static __device__ float least() { return __int_as_float(0xff800000); }
  static __device__ float greatest() { return __int_as_float(0x7f800000); }
};
template <>
struct Limits<f16> : Limits<float> {};
template <>
struct Limits<bf16> : Limits<float> {};
template <>
struct Limits<double> {
  static __device__ double least() { return __longlong_as_double(int64_t(0xfff0000000000000)); }
  static __device__ double greatest() { return __longlong_as_double(0x7ff0000000000000); }
};
template <>
struct Limits<int> {
  static __device__ int64_t least() { return -2147483647 - 1; }
  static __device__ int64_t greatest() { return 2147483647; }
};
template <>
struct Limits<int64_t> {
  static __device__ int64_t least() { return int64_t(1) << 63; }
  static __device__ int64_t greatest() { return ~(int64_t(1) << 63); }
};
template <>
struct Limits<int8_t> {
  static __device__ int64_t least() { return -128; }
  static __device__ int64_t greatest() { return 127; }
};
template <>
struct Limits<uint8_t> {
  static __device__ int64_t least() { return 0; }
  static __device__ int64_t greatest() { return 255; }
};

/// What elements of T are folded in: float, double, or an int64 that wraps as T does.
template <class T>
struct Accumulator {
  using Type = int64_t;
};
template <>
struct Accumulator<float> {
  using Type = float;
};
template <>
struct Accumulator<double> {
  using Type = double;
};
template <>
struct Accumulator<f16> {
  using Type = float;
};
template <>
struct Accumulator<bf16> {
  using Type = float;
};

__device__ __forceinline__ float accumulated(float x) { return x; }
__device__ __forceinline__ float accumulated(f16 x) { return to_float(x); }
__device__ __forceinline__ float accumulated(bf16 x) { return to_float(x); }
__device__ __forceinline__ double accumulated(double x) { return x; }
__device__ __forceinline__ int64_t accumulated(int64_t x) { return x; }
__device__ __forceinline__ int64_t accumulated(int x) { return x; }
__device__ __forceinline__ int64_t accumulated(int8_t x) { return x; }
__device__ __forceinline__ int64_t accumulated(uint8_t x) { return x; }

template <class T>
__device__ __forceinline__ T reduced(float x) {
  return from_float<T>(x);
}
template <class T>
__device__ __forceinline__ T reduced(double x) {
  return x;
}
template <class T>
__device__ __forceinline__ T reduced(int64_t x) {
  return T(x);
}

template <class T, Fold kFold>
struct Folding {
  using A = typename Accumulator<T>::Type;
  static __device__ __forceinline__ A start() {
    if constexpr (kFold == Fold::kProd) return 1;
    if constexpr (kFold == Fold::kMax) return Limits<T>::least();
    if constexpr (kFold == Fold::kMin) return Limits<T>::greatest();
    return 0;
  }
  /// NaN if either is.
  __device__ __forceinline__ A operator()(A a, A b) const {
    if constexpr (kFold == Fold::kProd) return a * b;
    if constexpr (kFold == Fold::kMax) return a > b || a != a ? a : b;
    if constexpr (kFold == Fold::kMin) return a < b || a != a ? a : b;
    return a + b;
  }
};

/// The quotient that an average takes; `divisor` is 1 elsewhere.
__device__ __forceinline__ float divided(float sum, int64_t divisor, bool average) {
  return average ? sum / float(divisor) : sum;
}
__device__ __forceinline__ double divided(double sum, int64_t divisor, bool average) {
  return average ? sum / double(divisor) : sum;
}
__device__ __forceinline__ int64_t divided(int64_t sum, int64_t divisor, bool average) {
  return average && divisor > 0 ? sum / divisor : sum;
}

using Reduction = cuda::ReduceArgument;

/// Elements [begin, end) of a contiguous row by `threads` threads, several loads in flight.
template <class T, int kVec, class F>
__device__ __forceinline__ auto fold_row(const T* row, int64_t begin, int64_t end, int thread, int threads, F f) {
  constexpr int kUnroll = 4;
  auto result = F::start();
  int64_t at = begin + int64_t(thread) * kVec;
  const int64_t step = int64_t(threads) * kVec;
  for (; at + (kUnroll - 1) * step < end; at += kUnroll * step) {
    Vec<T, kVec> loaded[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) loaded[u] = load_vec<T, kVec>(row + at + u * step);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int e = 0; e < kVec; ++e) result = f(result, accumulated(loaded[u].at[e]));
  }
  for (; at < end; at += step) {
    const Vec<T, kVec> loaded = load_vec<T, kVec>(row + at);
#pragma unroll
    for (int e = 0; e < kVec; ++e) result = f(result, accumulated(loaded.at[e]));
  }
  return result;
}

template <class T, bool kPart, class A>
__device__ __forceinline__ void put(const Reduction& r, int64_t at, A value) {
  if constexpr (kPart)
    static_cast<A*>(r.y)[at] = value;
  else
    static_cast<T*>(r.y)[at] = reduced<T>(divided(value, r.divisor, r.average));
}

/// inner is 1: a warp a row. T is what results are rounded to, X what is read.
template <class X, class T, Fold kFold, int kVec>
__device__ __forceinline__ void reduce_warps(const Reduction& r) {
  using F = Folding<T, kFold>;
  pdl_launch();
  pdl_wait();
  const int64_t row = int64_t(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= r.outer) return;
  const X* x = static_cast<const X*>(r.x) + row * r.length;
  const auto result = warp_fold(fold_row<X, kVec>(x, 0, r.length, threadIdx.x % kWarp, kWarp, F()), F());
  if (threadIdx.x % kWarp == 0) put<T, false>(r, row, result);
}

/// inner is 1, and a row is kLoads vectors of each of `chunk` neighbouring lanes, a power of two: several rows a warp,
/// and several of those at once.
template <class X, class T, Fold kFold, int kVec, int kLoads>
__device__ __forceinline__ void reduce_short(const Reduction& r) {
  using F = Folding<T, kFold>;
  constexpr int kRows = 4 / kLoads;
  pdl_launch();
  const int lanes = int(r.chunk), team = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const int64_t first = (int64_t(blockIdx.x) * (blockDim.x / lanes) + team) * kRows;
  const X* x = static_cast<const X*>(r.x) + first * r.length + lane * kVec;
  pdl_wait();
  Vec<X, kVec> loaded[kRows][kLoads];
#pragma unroll
  for (int u = 0; u < kRows; ++u)
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if ((i * lanes + lane) * kVec < r.length && first + u < r.outer)
        loaded[u][i] = load_vec<X, kVec>(x + u * r.length + i * lanes * kVec);
  auto own = F::start();  // of row `lane`: the team stores its rows at once
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    auto result = F::start();
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if ((i * lanes + lane) * kVec < r.length)
#pragma unroll
        for (int e = 0; e < kVec; ++e) result = F()(result, accumulated(loaded[u][i].at[e]));
    for (int step = lanes / 2; step > 0; step /= 2) {
      const auto other = __shfl_xor_sync(kAllLanes, result, step);
      result = F()(result, decltype(result)(other));
    }
    if (lane == u) own = result;
    if (lanes < kRows && lane == 0 && first + u < r.outer) put<T, false>(r, first + u, result);
  }
  if (lanes >= kRows && lane < kRows && first + lane < r.outer) put<T, false>(r, first + lane, own);
}

/// inner is 1: `chunk` neighbouring rows a block, of any length and alignment, by way of shared memory, which holds
/// them all; together they begin at a vector. A power of two of neighbouring lanes shares a row.
template <class X, class T, Fold kFold>
__device__ __forceinline__ void reduce_staged(const Reduction& r) {
  using F = Folding<T, kFold>;
  constexpr int kVec = 16 / sizeof(X), kUnroll = 4;
  extern __shared__ __align__(16) char shared[];
  pdl_launch();
  const int64_t first_row = blockIdx.x * r.chunk;
  const int rows = int(first_row + r.chunk < r.outer ? r.chunk : r.outer - first_row);
  const int length = int(r.length), count = rows * length;
  const X* x = static_cast<const X*>(r.x) + first_row * r.length;
  X* stage = reinterpret_cast<X*>(shared);
  pdl_wait();
  const int whole = count / kVec;
  for (int i = threadIdx.x; i < whole; i += kUnroll * blockDim.x) {
    Vec<unsigned, 4> loaded[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (i + u * blockDim.x < whole)
        loaded[u] = load_vec<unsigned, 4>(reinterpret_cast<const unsigned*>(x + (i + u * blockDim.x) * kVec));
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (i + u * blockDim.x < whole)
        store_vec<unsigned, 4>(reinterpret_cast<unsigned*>(stage + (i + u * blockDim.x) * kVec), loaded[u]);
  }
  for (int i = whole * kVec + threadIdx.x; i < count; i += blockDim.x) stage[i] = x[i];
  __syncthreads();
  int lanes = 1;  // as many threads a row as there are
  while (lanes < kWarp && lanes * 2 * int(r.chunk) <= blockDim.x) lanes *= 2;
  for (int first = 0; first < rows; first += blockDim.x / lanes) {
    const int row = first + threadIdx.x / lanes;
    auto result = F::start();
    if (row < rows && sizeof(X) == 2 && length % 2 == 0) {  // by words
      for (int i = threadIdx.x % lanes * 2; i < length; i += lanes * 2) {
        const Vec<X, 2> pair = load_vec<X, 2>(stage + row * length + i);
        result = F()(F()(result, accumulated(pair.at[0])), accumulated(pair.at[1]));
      }
    } else if (row < rows) {
      for (int i = threadIdx.x % lanes; i < length; i += lanes)
        result = F()(result, accumulated(stage[row * length + i]));
    }
    for (int step = lanes / 2; step > 0; step /= 2) {
      const auto other = __shfl_xor_sync(kAllLanes, result, step);
      result = F()(result, decltype(result)(other));
    }
    if (threadIdx.x % lanes == 0 && row < rows) put<T, false>(r, first_row + row, result);
  }
}

/// The same for rows that are no shorter than a vector, of which shared memory has only sums: a vector's elements
/// belong to one row, or to two.
template <class X, class T, Fold kFold>
__device__ __forceinline__ void reduce_pieces(const Reduction& r) {
  using F = Folding<T, kFold>;
  using A = typename F::A;
  constexpr int kVec = 16 / sizeof(X), kUnroll = 4;
  extern __shared__ __align__(16) char shared[];
  Vec<A, 2>* pieces = reinterpret_cast<Vec<A, 2>*>(shared);  // of each vector: of its first row, and of the next one
  pdl_launch();
  const int64_t first_row = blockIdx.x * r.chunk;
  const int rows = int(first_row + r.chunk < r.outer ? r.chunk : r.outer - first_row);
  const int length = int(r.length), count = rows * length, whole = count / kVec;
  const unsigned inverse = 0xffffffffu / unsigned(length) + 1;  // of indices below 2^16
  const X* x = static_cast<const X*>(r.x) + first_row * r.length;
  const auto place = [&](int i, const X(&at)[kVec], int size) {
    const int own = (int(__umulhi(i * kVec, inverse)) + 1) * length - i * kVec;  // of the row of its first element
    Vec<A, 2> piece = {F::start(), F::start()};
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      if (e >= size) break;
      const A value = accumulated(at[e]);
      if (e < own)
        piece.at[0] = F()(piece.at[0], value);
      else
        piece.at[1] = F()(piece.at[1], value);
    }
    pieces[i] = piece;
  };
  pdl_wait();
  for (int i = threadIdx.x; i < whole; i += kUnroll * blockDim.x) {
    Vec<X, kVec> loaded[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (i + u * blockDim.x < whole) loaded[u] = load_vec<X, kVec>(x + (i + u * blockDim.x) * kVec);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (i + u * blockDim.x < whole) place(i + u * blockDim.x, loaded[u].at, kVec);
  }
  if (whole * kVec < count && threadIdx.x == 0) {  // the end of x
    X at[kVec];
#pragma unroll
    for (int e = 0; e < kVec; ++e)
      if (whole * kVec + e < count) at[e] = x[whole * kVec + e];
    place(whole, at, count - whole * kVec);
  }
  __syncthreads();
  int lanes = 1;  // as many threads a row as there are
  while (lanes < kWarp && lanes * 2 * int(r.chunk) <= blockDim.x) lanes *= 2;
  for (int first = 0; first < rows; first += blockDim.x / lanes) {
    const int row = first + threadIdx.x / lanes, begin = row * length, end = begin + length;
    A result = F::start();
    if (row < rows)
      for (int i = begin / kVec + threadIdx.x % lanes; i * kVec < end; i += lanes)
        result = F()(result, pieces[i].at[i * kVec < begin]);
    for (int step = lanes / 2; step > 0; step /= 2) {
      const auto other = __shfl_xor_sync(kAllLanes, result, step);
      result = F()(result, A(other));
    }
    if (threadIdx.x % lanes == 0 && row < rows) put<T, false>(r, first_row + row, result);
  }
}

/// inner is 1: a block a row, or a chunk of one.
template <class X, class T, Fold kFold, int kVec, bool kPart>
__device__ __forceinline__ void reduce_blocks(const Reduction& r) {
  using F = Folding<T, kFold>;
  __shared__ typename F::A scratch[kWarp];
  pdl_launch();
  pdl_wait();
  const int64_t row = blockIdx.x / r.chunks, chunk = blockIdx.x % r.chunks;
  const int64_t begin = chunk * r.chunk, end = begin + r.chunk < r.length ? begin + r.chunk : r.length;
  const X* x = static_cast<const X*>(r.x) + row * r.length;
  const auto part = fold_row<X, kVec>(x, begin, end, threadIdx.x, blockDim.x, F());
  const auto result = block_fold(part, F::start(), F(), scratch);
  if (threadIdx.x == 0) put<T, kPart>(r, blockIdx.x, result);
}

/// Threads along x take neighbouring lanes, kVec each; the block's rows of threads share them.
template <class T, Fold kFold, int kVec, bool kPart>
__device__ __forceinline__ void reduce_columns(const Reduction& r) {
  using F = Folding<T, kFold>;
  using A = typename F::A;
  constexpr int kUnroll = 8;
  __shared__ A parts[8][kWarp * kVec];
  pdl_launch();
  const int64_t strips = (r.inner + kWarp * kVec - 1) / (kWarp * kVec);
  int64_t block = blockIdx.x;
  const int64_t chunk = block % r.chunks;
  block /= r.chunks;
  const int64_t column = block % strips * (kWarp * kVec) + threadIdx.x * kVec, outer = block / strips;
  const int64_t begin = chunk * r.chunk, end = begin + r.chunk < r.length ? begin + r.chunk : r.length;
  const T* x = static_cast<const T*>(r.x) + outer * r.length * r.inner + column;
  A result[kVec];
#pragma unroll
  for (int e = 0; e < kVec; ++e) result[e] = F::start();
  pdl_wait();
  if (column < r.inner) {
    for (int64_t i = begin + threadIdx.y; i < end; i += kUnroll * blockDim.y) {
      Vec<T, kVec> loaded[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (i + u * blockDim.y < end) loaded[u] = load_vec<T, kVec>(x + (i + u * blockDim.y) * r.inner);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (i + u * blockDim.y < end)
#pragma unroll
          for (int e = 0; e < kVec; ++e) result[e] = F()(result[e], accumulated(loaded[u].at[e]));
    }
  }
#pragma unroll
  for (int e = 0; e < kVec; ++e) parts[threadIdx.y][threadIdx.x * kVec + e] = result[e];
  __syncthreads();
  const int own = threadIdx.y * kWarp + threadIdx.x;  // one of the strip's columns
  const int64_t to = block % strips * (kWarp * kVec) + own;
  if (own >= kWarp * kVec || to >= r.inner) return;
  A total = parts[0][own];
  for (int i = 1; i < blockDim.y; ++i) total = F()(total, parts[i][own]);
  put<T, kPart>(r, (outer * r.inner + to) * r.chunks + chunk, total);
}

/// Any axes: a warp a result; y is dense, in the order of `kept`.
using AxesReduction = cuda::AxesArgument;
template <class W>
__device__ __forceinline__ int offset_at(const W& walk, const Operand<int>& strides, unsigned position) {
  int offset = 0;
#pragma unroll 1
  for (int axis = walk.rank - 1; axis > 0; --axis) offset += int(walk.split(axis, position)) * strides.strides[axis];
  return offset + int(position) * strides.strides[0];
}
template <class T, Fold kFold>
__device__ __forceinline__ void reduce_axes(const AxesReduction& r) {
  using F = Folding<T, kFold>;
  pdl_launch();
  pdl_wait();
  const unsigned row = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= r.kept.count) return;
  const T* x = static_cast<const T*>(r.x) + offset_at(r.kept, r.from_kept, row);
  auto result = F::start();
  for (unsigned i = threadIdx.x % kWarp; i < r.reduced.count; i += kWarp)
    result = F()(result, accumulated(x[offset_at(r.reduced, r.from_reduced, i)]));
  result = warp_fold(result, F());
  if (threadIdx.x % kWarp == 0) static_cast<T*>(r.y)[row] = reduced<T>(divided(result, r.divisor, r.average));
}

}  // namespace kiln
