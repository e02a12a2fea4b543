// Normalisation by the mean and variance of rows in registers, or of groups of any size and order.
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

/// A chunk of a group, shared by the threads of a block.
struct Chunk {
  int64_t base;
  int begin, end, first_channel;
  __device__ __forceinline__ explicit Chunk(const Normalization& n) {
    const int64_t row = blockIdx.x / n.chunks, image = row / n.groups, group = row % n.groups;
    base = image * n.image_stride + group * n.group_stride;
    begin = int(blockIdx.x % n.chunks) * n.chunk;
    end = min(begin + n.chunk, n.length);
    first_channel = int(group) * n.channels;
  }
};
__device__ __forceinline__ int64_t element_at(const Normalization& n, int i) {
  if (n.length == int(n.inner.extent)) return i;
  const int run = int(n.inner.quotient(i));
  return run * n.run_stride + (i - run * int(n.inner.extent));
}

/// The mean of a chunk and the sum of its squared differences from it. Two walks, the second over what is in cache: the
/// difference of two large sums would lose the variance of data far from zero.
template <class T>
__device__ __forceinline__ void chunk_statistics(const Normalization& n, const Chunk& c, float* scratch, float& mean,
                                                 float& squares) {
  const T* x = static_cast<const T*>(n.x) + c.base;
  float sum = 0;
  for (int i = c.begin + threadIdx.x; i < c.end; i += blockDim.x) sum += to_float(x[element_at(n, i)]);
  mean = block_fold(sum, 0.0f, Plus(), scratch) / (c.end - c.begin);
  float part = 0;
  for (int i = c.begin + threadIdx.x; i < c.end; i += blockDim.x) {
    const float difference = to_float(x[element_at(n, i)]) - mean;
    part += difference * difference;
  }
  squares = block_fold(part, 0.0f, Plus(), scratch);
}

template <class T, class S>
__device__ __forceinline__ void normalize_chunk(const Normalization& n, const Chunk& c, float mean, float factor) {
  const T* x = static_cast<const T*>(n.x) + c.base;
  T* y = static_cast<T*>(n.y) + c.base;
  const S *scale = static_cast<const S*>(n.scale), *bias = static_cast<const S*>(n.bias);
  for (int i = c.begin + threadIdx.x; i < c.end; i += blockDim.x) {
    const int64_t at = element_at(n, i);
    float value = (to_float(x[at]) - mean) * factor;
    int k = i;
    if (n.coefficients == 1) k = c.first_channel + int(n.plane.quotient(i));
    if (n.coefficients == 2) k = c.first_channel + i - int(n.inner.quotient(i) * n.inner.extent);
    if (scale) value *= to_float(scale[k]);
    if (bias) value += to_float(bias[k]);
    y[at] = from_float<T>(value);
  }
}

/// A block a group.
template <class T, class S>
__device__ __forceinline__ void normalize_long(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_wait();
  const Chunk c(n);
  float mean, squares;
  chunk_statistics<T>(n, c, scratch, mean, squares);
  normalize_chunk<T, S>(n, c, mean, 1.0f / sqrtf(squares / n.length + n.epsilon));
}

/// Several blocks a group: first their statistics,
template <class T>
__device__ __forceinline__ void normalize_parts(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_wait();
  const Chunk c(n);
  float mean, squares;
  chunk_statistics<T>(n, c, scratch, mean, squares);
  if (threadIdx.x > 0) return;
  n.parts[2 * blockIdx.x] = mean;
  n.parts[2 * blockIdx.x + 1] = squares;
}
/// then those of the group, which every block puts together in the same order, and the result.
template <class T, class S>
__device__ __forceinline__ void normalize_apply(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_wait();
  const Chunk c(n);
  const float* parts = n.parts + 2 * (int64_t(blockIdx.x) - blockIdx.x % n.chunks);
  const auto size_of = [&](int i) { return float(min(n.chunk, n.length - i * n.chunk)); };
  float sum = 0;
  for (int i = threadIdx.x; i < n.chunks; i += blockDim.x) sum += parts[2 * i] * size_of(i);
  const float mean = block_fold(sum, 0.0f, Plus(), scratch) / n.length;
  float squares = 0;
  for (int i = threadIdx.x; i < n.chunks; i += blockDim.x) {
    const float difference = parts[2 * i] - mean;
    squares += parts[2 * i + 1] + difference * difference * size_of(i);
  }
  squares = block_fold(squares, 0.0f, Plus(), scratch);
  normalize_chunk<T, S>(n, c, mean, 1.0f / sqrtf(squares / n.length + n.epsilon));
}

}  // namespace kiln

#define KILN_NORMALIZE(entry, threads, call)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads) entry(const __grid_constant__ kiln::Normalization n) { \
    using namespace kiln;                                                                                      \
    call(n);                                                                                                   \
  }
