// Maximum and average of sliding windows: a thread an output, or kVec neighbouring channels of one.
#pragma once

#include "nest/walk.cuh"

namespace kiln {

enum class Pool { kMax, kAverage, kBlend };

/// kernels/pool/pool.h has the same. Spatial axes are depth, height, width; absent ones have extent 1.
struct Pooling {
  const void* x;
  void* y;
  Walk walk;                 ///< over y: [images or planes, depth, height, width, vectors of channels]
  int64_t x_image, y_image;  ///< strides; of the others, in elements too
  int64_t x_at[3], y_at[3];
  int in[3], kernel[3], stride[3], dilation[3], pad[3], pad_after[3];
  int excludes_padding;
  float blend;
};

/// Numbers are held as float or, of integers, as int.
__device__ __forceinline__ float pooled(float x) { return x; }
__device__ __forceinline__ float pooled(f16 x) { return to_float(x); }
__device__ __forceinline__ float pooled(bf16 x) { return to_float(x); }
__device__ __forceinline__ int pooled(int x) { return x; }
__device__ __forceinline__ int pooled(int8_t x) { return x; }
__device__ __forceinline__ int pooled(uint8_t x) { return x; }
template <class T>
__device__ __forceinline__ T unpooled(float x) {
  return from_float<T>(x);
}
template <class T>
__device__ __forceinline__ T unpooled(int x) {
  return T(x);
}
/// Taps [begin, end) of an axis that hit the input, and `padded`, behind the last that hits the input or its padding.
struct Taps {
  int start, begin, end, padded;
  __device__ __forceinline__ Taps(const Pooling& p, int axis, int o) {
    const int step = p.dilation[axis];
    start = o * p.stride[axis] - p.pad[axis];
    begin = start >= 0 ? 0 : (step - 1 - start) / step;
    end = behind(p.in[axis], step, p.kernel[axis]);
    padded = behind(p.in[axis] + p.pad_after[axis], step, p.kernel[axis]);
    begin = min(begin, end);
  }
  __device__ __forceinline__ int behind(int extent, int step, int kernel) const {
    return extent <= start ? 0 : min(kernel, (extent - start + step - 1) / step);
  }
};

template <class T, class A, Pool kPool, int kVec>
__device__ __forceinline__ void pool(const Pooling& p, A least) {
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= p.walk.count) return;
  const int channel = int(p.walk.split(4, position)) * kVec;
  int o[3];
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) o[axis] = int(p.walk.split(axis + 1, position));
  const Taps d(p, 0, o[0]), h(p, 1, o[1]), w(p, 2, o[2]);
  const T* x = static_cast<const T*>(p.x) + position * p.x_image + channel;
  A peak[kVec], sum[kVec];
#pragma unroll
  for (int e = 0; e < kVec; ++e) peak[e] = least, sum[e] = 0;
  pdl_wait();
  for (int i = d.begin; i < d.end; ++i)
    for (int j = h.begin; j < h.end; ++j) {
      const T* row = x + (d.start + i * p.dilation[0]) * p.x_at[0] + (h.start + j * p.dilation[1]) * p.x_at[1] +
                     w.start * p.x_at[2];
      const int64_t step = p.dilation[2] * p.x_at[2];
#pragma unroll 4
      for (int k = w.begin; k < w.end; ++k) {
        const Vec<T, kVec> loaded = load_vec<T, kVec>(row + k * step);
#pragma unroll
        for (int e = 0; e < kVec; ++e) {
          const A value = pooled(loaded.at[e]);
          if constexpr (kPool != Pool::kAverage) peak[e] = value > peak[e] || value != value ? value : peak[e];
          if constexpr (kPool != Pool::kMax) sum[e] += value;
        }
      }
    }
  Vec<T, kVec> result;
#pragma unroll
  for (int e = 0; e < kVec; ++e) {
    A value = peak[e];
    if constexpr (kPool != Pool::kMax) {
      const int inside = (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin);
      const float count = p.excludes_padding ? float(inside) : float(d.padded) * float(h.padded) * float(w.padded);
      const A average = inside > 0 ? sum[e] / count : 0;
      value = kPool == Pool::kAverage ? average : (1 - p.blend) * peak[e] + p.blend * average;
    }
    result.at[e] = unpooled<T>(value);
  }
  T* y = static_cast<T*>(p.y) + position * p.y_image + channel;
  store_vec<T, kVec>(y + o[0] * p.y_at[0] + o[1] * p.y_at[1] + o[2] * p.y_at[2], result);
}

}  // namespace kiln

#define KILN_POOL(entry, T, A, least, kind, vec)                                                     \
  extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ kiln::Pooling p) { \
    using namespace kiln;                                                                            \
    pool<T, A, Pool::kind, vec>(p, least);                                                           \
  }
