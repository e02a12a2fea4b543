// A row of elements spread over the lanes of a warp or the threads of a block, in registers: memory is read once.
#pragma once

#include "device.cuh"

namespace kiln {

/// The bits of -infinity, of halves twice.
template <class T>
inline constexpr unsigned kLeastBits = 0xff800000;
template <>
inline constexpr unsigned kLeastBits<f16> = 0xfc00fc00;
template <>
inline constexpr unsigned kLeastBits<bf16> = 0xff80ff80;

/// kVec neighbours as they were stored: halves in words, of which each conversion takes its half.
template <class T, int kVec, bool kWords = kInWords<T, kVec>>
struct Stored {
  T at[kVec];
  __device__ __forceinline__ void load(const T* from) {
    const Vec<T, kVec> all = load_vec<T, kVec>(from);
#pragma unroll
    for (int e = 0; e < kVec; ++e) at[e] = all.at[e];
  }
  __device__ __forceinline__ void fill(unsigned bits) {
#pragma unroll
    for (int e = 0; e < kVec; ++e)
      if constexpr (sizeof(T) == 4)
        at[e] = __uint_as_float(bits);
      else
        at[e] = T{static_cast<unsigned short>(bits)};
  }
  __device__ __forceinline__ float operator[](int e) const { return to_float(at[e]); }
};
template <class T, int kVec>
struct Stored<T, kVec, true> {
  Words<T, kVec> at;
  __device__ __forceinline__ void load(const T* from) { at = load_words<T, kVec>(from); }
  __device__ __forceinline__ void fill(unsigned bits) {
#pragma unroll
    for (int i = 0; i < Words<T, kVec>::kWords; ++i) at.at[i] = bits;
  }
  __device__ __forceinline__ float operator[](int e) const { return at[e]; }
};

/// kLoads vectors of kVec neighbours a thread; thread t holds columns (i * threads + t) * kVec + e at at[i][e].
/// Needs cols <= kLoads * threads * kVec, and where kVec > 1 cols % kVec == 0 and rows aligned to vectors.
template <class T, int kVec, int kLoads>
struct Row {
  static constexpr int kCount = kLoads * kVec;
  Stored<T, kVec> at[kLoads];

  __device__ __forceinline__ float operator[](int k) const { return at[k / kVec][k % kVec]; }
  /// `beyond` fills what lies past the end.
  __device__ __forceinline__ void load(const T* row, int cols, int thread, int threads, unsigned beyond) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int col = (i * threads + thread) * kVec;
      at[i].fill(beyond);
      if (col < cols) at[i].load(row + col);
    }
  }
  static __device__ __forceinline__ void store(T* row, int cols, int thread, int threads,
                                               const float (&values)[kCount]) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int col = (i * threads + thread) * kVec;
      if (col >= cols) continue;
      Vec<float, kVec> all;
#pragma unroll
      for (int e = 0; e < kVec; ++e) all.at[e] = values[i * kVec + e];
      store_floats<T, kVec>(row + col, all);
    }
  }
};

/// The threads that share a row: one warp of several in a block, or all of the block.
struct WarpTeam {
  __device__ __forceinline__ int thread() const { return threadIdx.x % kWarp; }
  __device__ __forceinline__ int threads() const { return kWarp; }
  __device__ __forceinline__ int64_t first() const {
    return int64_t(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  }
  template <int kWhich, class F>
  __device__ __forceinline__ float fold(float value, float, F f) const {
    return warp_fold(value, f);
  }
};
struct BlockTeam {
  float* scratch;  ///< 2 * 32 floats, shared
  __device__ __forceinline__ int thread() const { return threadIdx.x; }
  __device__ __forceinline__ int threads() const { return blockDim.x; }
  __device__ __forceinline__ int64_t first() const { return blockIdx.x; }
  /// Folds of kWhich 0 and 1 take turns: between two that use the same scratch every thread passes the other's barrier.
  template <int kWhich, class F>
  __device__ __forceinline__ float fold(float value, float start, F f) const {
    value = warp_fold(value, f);
    const int warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
    float* parts = scratch + kWhich * kWarp;
    if (lane == 0) parts[threadIdx.x / kWarp] = value;
    __syncthreads();
    return warp_fold(lane < warps ? parts[lane] : start, f);
  }
};

}  // namespace kiln
