// Normalisation by the mean and variance of rows in registers.
#pragma once

#include "lanes/row.cuh"
#include "nest/walk.cuh"

namespace kiln {

/// x and y; scale and bias of S, an element a column, or null for 1 and 0. Everything is computed in float.
template <class T, class S, int kVec, int kLoads, class Team>
__device__ __forceinline__ void normalize_row(const Team& team, const T* x, const S* scale, const S* bias, T* y,
                                              int cols, float epsilon) {
  const int thread = team.thread(), threads = team.threads();
  Row<T, kVec, kLoads> row;
  row.load(x, cols, thread, threads, 0);
  const float mean = team.fold(row.fold(0.0f, Plus()), 0.0f, Plus()) / cols;
  row.map(thread, threads, [=](float e, int col) { return col < cols ? e - mean : 0; });
  const float squares = team.fold(row.fold(0.0f, [](float sum, float e) { return sum + e * e; }), 0.0f, Plus());
  const float factor = 1.0f / sqrtf(squares / cols + epsilon);
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int col = (i * threads + thread) * kVec;
    if (col >= cols) continue;
    Vec<float, kVec> s, b;
    if (scale) s = load_floats<S, kVec>(scale + col);
    if (bias) b = load_floats<S, kVec>(bias + col);
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      float value = row.at[i].at[e] * factor;
      if (scale) value *= s.at[e];
      row.at[i].at[e] = bias ? value + b.at[e] : value;
    }
  }
  row.store(y, cols, thread, threads);
}

/// What kernels take; kernels/lanes/normalize.h has the same. A group is `length` elements: element i lies at
/// i / inner * run_stride + i % inner from the group's first.
struct Normalization {
  const void *x, *scale, *bias;
  void* y;
  float* parts;  ///< a mean and a sum of squared differences a chunk
  int64_t rows;  ///< groups in all
  int64_t image_stride, group_stride, run_stride;
  int groups;  ///< of an image
  int length, chunk, chunks;
  int channels;      ///< of a group
  int coefficients;  ///< 0: one an element of the group; 1: one a plane of it, by i / plane; 2: by i % inner
  Divisor inner, plane;
  float epsilon;
  int lanes;  ///< teams: that share a group; pixels: that a block has at once
};

template <class T, class S, int kVec, int kLoads>
__device__ __forceinline__ void normalize_warps(const Normalization& n) {
  pdl_wait();
  const int64_t row = int64_t(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= n.rows) return;
  normalize_row<T, S, kVec, kLoads>(WarpTeam(), static_cast<const T*>(n.x) + row * n.length,
                                    static_cast<const S*>(n.scale), static_cast<const S*>(n.bias),
                                    static_cast<T*>(n.y) + row * n.length, n.length, n.epsilon);
}
template <class T, class S, int kVec, int kLoads>
__device__ __forceinline__ void normalize_block(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_wait();
  const int64_t row = blockIdx.x;
  normalize_row<T, S, kVec, kLoads>(BlockTeam{scratch}, static_cast<const T*>(n.x) + row * n.length,
                                    static_cast<const S*>(n.scale), static_cast<const S*>(n.bias),
                                    static_cast<T*>(n.y) + row * n.length, n.length, n.epsilon);
}

}  // namespace kiln

#define KILN_NORMALIZE(entry, threads, call)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads) entry(const __grid_constant__ kiln::Normalization n) { \
    using namespace kiln;                                                                                      \
    call(n);                                                                                                   \
  }
