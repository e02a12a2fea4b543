// Softmax along short rows, one a thread: a block's rows come and go by whole vectors, through shared memory.
#pragma once

#include "lanes/softmax_rows.cuh"

namespace kiln {

/// A block's rows of kCols in shared memory. Rows of whole vectors lie a vector further apart than in memory, so that
/// neighbouring threads read other banks; of others a vector holds the end of one row and the beginning of the next.
template <class T, int kCols, int kRows>
struct ShortRows {
  static constexpr int kVec = 16 / sizeof(T), kLoads = (kCols + kVec - 1) / kVec;
  static constexpr bool kWhole = kCols % kVec == 0;
  static constexpr int kStride = kWhole ? kCols + kVec : kCols;
  static constexpr int kPiece = kWhole ? kVec : sizeof(T) == 2 && kCols % 2 == 0 ? 2 : 1;  // aligned in every row
  alignas(16) T at[kRows * kStride];

  static __device__ __forceinline__ int place(int i) { return kWhole ? i / kCols * kStride + i % kCols : i; }
  __device__ __forceinline__ void load(const T* from, int count) {
    const int vectors = count / kVec;
    Vec<T, kVec> held[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (const int v = i * kRows + threadIdx.x; v < vectors) held[i] = load_vec<T, kVec>(from + v * kVec);
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (const int v = i * kRows + threadIdx.x; v < vectors) store_vec<T, kVec>(at + place(v * kVec), held[i]);
    if (const int i = vectors * kVec + threadIdx.x; i < count) at[place(i)] = from[i];
  }
  __device__ __forceinline__ void store(T* to, int count) const {
    const int vectors = count / kVec;
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (const int v = i * kRows + threadIdx.x; v < vectors)
        store_vec<T, kVec>(to + v * kVec, load_vec<T, kVec>(at + place(v * kVec)));
    if (const int i = vectors * kVec + threadIdx.x; i < count) to[i] = at[place(i)];
  }
};

/// x, y  (rows, kCols), aligned to 16 bytes; kRows threads a block.
template <class T, int kCols, int kRows>
__device__ __forceinline__ void softmax_short(const T* x, T* y, int64_t rows) {
  using Rows = ShortRows<T, kCols, kRows>;
  constexpr int kPiece = Rows::kPiece;
  __shared__ Rows staged;
  pdl_launch();
  const int64_t first = int64_t(blockIdx.x) * kRows;
  const int here = rows - first < kRows ? int(rows - first) : kRows;
  pdl_wait();
  staged.load(x + first * kCols, here * kCols);
  __syncthreads();
  T* const row = staged.at + threadIdx.x * Rows::kStride;
  if (threadIdx.x < here) {
    float values[kCols];
#pragma unroll
    for (int k = 0; k < kCols; k += kPiece) {
      const Vec<float, kPiece> piece = load_floats<T, kPiece>(row + k);
#pragma unroll
      for (int e = 0; e < kPiece; ++e) values[k + e] = piece.at[e];
    }
    float peak = values[0], sum = 0;
#pragma unroll
    for (int k = 1; k < kCols; ++k) peak = greater(peak, values[k]);
    const ExpFrom<T> exp_from{peak};
#pragma unroll
    for (int k = 0; k < kCols; ++k) sum += values[k] = exp_from(values[k]);
    const float share = share_of<T>(sum);
#pragma unroll
    for (int k = 0; k < kCols; k += kPiece) {
      Vec<float, kPiece> piece;
#pragma unroll
      for (int e = 0; e < kPiece; ++e) piece.at[e] = values[k + e] * share;
      store_vec<T, kPiece>(row + k, round_vec<T, kPiece>(piece));
    }
  }
  __syncthreads();
  staged.store(y + first * kCols, here * kCols);
}

}  // namespace kiln

#define KILN_SOFTMAX_SHORT(entry, threads, T, cols)                                                      \
  extern "C" __global__ void __launch_bounds__(threads) entry(const T* x, T* y, int64_t rows, int64_t) { \
    kiln::softmax_short<T, cols, threads>(x, y, rows);                                                   \
  }
