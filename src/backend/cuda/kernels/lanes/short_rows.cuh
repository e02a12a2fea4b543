// Short rows, one a thread: a block's rows come and go by whole vectors, through shared memory.
#pragma once

#include "device.cuh"

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

/// Which rows a block has, and the loads and stores around what its threads do with theirs.
template <class T, int kCols, int kRows>
struct ShortRowTeam {
  int64_t first;
  int here;
  __device__ __forceinline__ explicit ShortRowTeam(int64_t rows)
      : first(int64_t(blockIdx.x) * kRows), here(rows - first < kRows ? int(rows - first) : kRows) {}
  /// f(values) of each row: what it leaves there is the result.
  template <class F>
  __device__ __forceinline__ void map(ShortRows<T, kCols, kRows>& staged, const T* x, T* y, F f) const {
    constexpr int kPiece = ShortRows<T, kCols, kRows>::kPiece;
    staged.load(x + first * kCols, here * kCols);
    __syncthreads();
    T* const row = staged.at + threadIdx.x * ShortRows<T, kCols, kRows>::kStride;
    if (threadIdx.x < here) {
      float values[kCols];
#pragma unroll
      for (int k = 0; k < kCols; k += kPiece) {
        const Vec<float, kPiece> piece = load_floats<T, kPiece>(row + k);
#pragma unroll
        for (int e = 0; e < kPiece; ++e) values[k + e] = piece.at[e];
      }
      f(values);
#pragma unroll
      for (int k = 0; k < kCols; k += kPiece) {
        Vec<float, kPiece> piece;
#pragma unroll
        for (int e = 0; e < kPiece; ++e) piece.at[e] = values[k + e];
        store_vec<T, kPiece>(row + k, round_vec<T, kPiece>(piece));
      }
    }
    __syncthreads();
    staged.store(y + first * kCols, here * kCols);
  }
};

}  // namespace kiln
