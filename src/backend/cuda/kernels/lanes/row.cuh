// A row of elements spread over the lanes of a warp or the threads of a block, in registers: memory is read once.
#pragma once

#include "device.cuh"

namespace kiln {

/// kLoads vectors of kVec neighbours a thread; thread t holds columns (i * threads + t) * kVec + e at at[i].at[e].
/// Needs cols <= kLoads * threads * kVec, and where kVec > 1 cols % kVec == 0 and rows aligned to vectors.
template <class T, int kVec, int kLoads>
struct Row {
  Vec<float, kVec> at[kLoads];

  /// `beyond` fills what lies past the end.
  __device__ __forceinline__ void load(const T* row, int cols, int thread, int threads, float beyond) {
    Vec<T, kVec> raw[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int col = (i * threads + thread) * kVec;
      if (col < cols) raw[i] = load_vec<T, kVec>(row + col);
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const bool inside = (i * threads + thread) * kVec < cols;
#pragma unroll
      for (int e = 0; e < kVec; ++e) at[i].at[e] = inside ? to_float(raw[i].at[e]) : beyond;
    }
  }
  template <class U>
  __device__ __forceinline__ void store(U* row, int cols, int thread, int threads) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int col = (i * threads + thread) * kVec;
      if (col < cols) store_floats<U, kVec>(row + col, at[i]);
    }
  }
  template <class F>
  __device__ __forceinline__ float fold(float start, F f) const {
    float result = start;
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
#pragma unroll
      for (int e = 0; e < kVec; ++e) result = f(result, at[i].at[e]);
    return result;
  }
  /// at = f(at, column)
  template <class F>
  __device__ __forceinline__ void map(int thread, int threads, F f) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
#pragma unroll
      for (int e = 0; e < kVec; ++e) at[i].at[e] = f(at[i].at[e], (i * threads + thread) * kVec + e);
  }
};

/// The threads that share a row: one warp of several in a block, or all of the block.
struct WarpTeam {
  static constexpr bool kWhole = false;
  __device__ __forceinline__ int thread() const { return threadIdx.x % kWarp; }
  __device__ __forceinline__ int threads() const { return kWarp; }
  template <class F>
  __device__ __forceinline__ float fold(float value, float, F f) const {
    return warp_fold(value, f);
  }
};
struct BlockTeam {
  static constexpr bool kWhole = true;
  float* scratch;  ///< 32 floats, shared
  __device__ __forceinline__ int thread() const { return threadIdx.x; }
  __device__ __forceinline__ int threads() const { return blockDim.x; }
  template <class F>
  __device__ __forceinline__ float fold(float value, float start, F f) const {
    return block_fold(value, start, f, scratch);
  }
};

}  // namespace kiln
