// Maximum and average of sliding windows: a thread an output, or kVec neighbouring channels of one.
#pragma once

#include "backend/cuda/kernels/pool/arguments.h"
#include "nest/walk.cuh"

namespace kiln {

enum class Pool { kMax, kAverage, kBlend };

using Pooling = cuda::PoolArgument;

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
  pdl_launch();
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

/// The greatest elements of T of words, side by side.
template <class T>
struct GreatestWord {
  unsigned word;
  __device__ __forceinline__ explicit GreatestWord(unsigned first) : word(first) {}
  __device__ __forceinline__ void take(unsigned next) { word = greater_word<T>(word, next); }
  __device__ __forceinline__ unsigned get() const { return word; }
};
/// Bytes are compared as the upper halves of 16 bits: what stands below decides only between equals.
template <class T>
requires(sizeof(T) == 1) struct GreatestWord<T> {
  unsigned odd, even;
  __device__ __forceinline__ explicit GreatestWord(unsigned first) : odd(first), even(first << 8) {}
  __device__ __forceinline__ void take(unsigned next) {
    odd = greater_pair<T>(odd, next);
    even = greater_pair<T>(even, next << 8);
  }
  __device__ __forceinline__ unsigned get() const { return __byte_perm(even, odd, 0x7351); }
};

/// Maxima of words of T, element by element; the least of T unless there are any.
template <class T, int kH, int kW>
__device__ __forceinline__ Vec<unsigned, 4> greatest_of(const Vec<unsigned, 4> (&loaded)[kH][kW], bool any) {
  Vec<unsigned, 4> peak;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    GreatestWord<T> greatest(loaded[0][0].at[word]);
#pragma unroll
    for (int i = 0; i < kH; ++i)
#pragma unroll
      for (int j = 0; j < kW; ++j)
        if (i + j > 0) greatest.take(loaded[i][j].at[word]);
    peak.at[word] = greatest.get();
  }
  if (any) return peak;
  Vec<T, 16 / sizeof(T)> least;
#pragma unroll
  for (int e = 0; e < 16 / sizeof(T); ++e) least.at[e] = from_float<T>(__int_as_float(0xff800000));
  return *reinterpret_cast<const Vec<unsigned, 4>*>(&least);
}
/// Sums of words of T times `share`, element by element.
template <class T, int kH, int kW>
__device__ __forceinline__ Vec<float, 16 / sizeof(T)> average_of(const Vec<unsigned, 4> (&loaded)[kH][kW],
                                                                 float share) {
  constexpr int kVec = 16 / sizeof(T);
  Vec<float, kVec> sum = {};
#pragma unroll
  for (int i = 0; i < kH; ++i)
#pragma unroll
    for (int j = 0; j < kW; ++j) {
      const auto& words = reinterpret_cast<const Words<T, kVec>&>(loaded[i][j]);
#pragma unroll
      for (int e = 0; e < kVec; ++e) sum.at[e] += words[e];
    }
#pragma unroll
  for (int e = 0; e < kVec; ++e) sum.at[e] *= share;
  return sum;
}

/// Maxima or averages of pictures, 16 bytes of channels a thread, with a window known to the compiler: all of its loads
/// are on their way at once. For a tap outside of x a maximum reads the nearest tap inside, which changes nothing.
template <class T, Pool kPool, int kH, int kW>
__device__ __forceinline__ void pool_window(const Pooling& p) {
  constexpr int kVec = 16 / sizeof(T);
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= p.walk.count) return;
  const int channel = int(p.walk.split(4, position)) * kVec;
  const int column = int(p.walk.split(3, position)), row = int(p.walk.split(2, position));
  position = p.walk.axes[1].quotient(position);  // pictures have no depth
  const Taps h(p, 1, row), w(p, 2, column);
  const bool any = h.begin < h.end && w.begin < w.end;
  const T* x = static_cast<const T*>(p.x) + position * p.x_image + channel;
  const T* rows[kH];
  int64_t columns[kW];
#pragma unroll
  for (int i = 0; i < kH; ++i) rows[i] = x + (h.start + min(max(i, h.begin), h.end - 1) * p.dilation[1]) * p.x_at[1];
#pragma unroll
  for (int i = 0; i < kW; ++i) columns[i] = (w.start + min(max(i, w.begin), w.end - 1) * p.dilation[2]) * p.x_at[2];
  T* y = static_cast<T*>(p.y) + position * p.y_image + row * p.y_at[1] + column * p.y_at[2] + channel;
  pdl_wait();
  Vec<unsigned, 4> loaded[kH][kW];
#pragma unroll
  for (int i = 0; i < kH; ++i)
#pragma unroll
    for (int j = 0; j < kW; ++j) {
      const bool inside = i >= h.begin && i < h.end && j >= w.begin && j < w.end;
      if constexpr (kPool != Pool::kMax) loaded[i][j] = {};
      if (kPool == Pool::kMax ? any : inside)
        loaded[i][j] = load_vec<unsigned, 4>(reinterpret_cast<const unsigned*>(rows[i] + columns[j]));
    }
  if constexpr (kPool == Pool::kMax) {
    store_vec<unsigned, 4>(reinterpret_cast<unsigned*>(y), greatest_of<T>(loaded, any));
  } else {
    const float count =
        p.excludes_padding ? float((h.end - h.begin) * (w.end - w.begin)) : float(h.padded) * float(w.padded);
    store_floats<T, kVec>(y, average_of<T>(loaded, any ? 1.0f / count : 0.0f));
  }
}

/// Maxima, or sums, as they grow.
template <Pool kPool>
__device__ __forceinline__ float pooled_with(float value, float next) {
  if constexpr (kPool != Pool::kMax) return value + next;
  return greater(value, next);
}

/// Maxima or averages of pictures whose columns lie together, with a dense window known to the compiler: a thread has a
/// column of a band of kRows output rows, whose loads are on their way at once. For what lies outside of x the nearest
/// element is read: it changes no maximum, for x has a part of every window, and averages leave it out.
template <class T, Pool kPool, int kH, int kW, int kRows>
__device__ __forceinline__ void pool_lines(const Pooling& p) {
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= p.walk.count) return;
  const int column = int(p.walk.split(3, position)), first = int(p.walk.split(2, position)) * kRows;
  const int left = column * p.stride[2] - p.pad[2], top = first * p.stride[1] - p.pad[1];
  const T* x = static_cast<const T*>(p.x) + position * p.x_image;
  T* y = static_cast<T*>(p.y) + position * p.y_image + first * p.y_at[1] + column;
  int columns[kW];
#pragma unroll
  for (int j = 0; j < kW; ++j) columns[j] = min(max(left + j, 0), p.in[2] - 1);
  const auto outside = [](int at, int extent) { return unsigned(at) >= unsigned(extent); };
  pdl_wait();
  T loaded[kRows][kH][kW];
#pragma unroll
  for (int u = 0; u < kRows; ++u)
#pragma unroll
    for (int i = 0; i < kH; ++i) {
      const T* row = x + min(max(top + u * p.stride[1] + i, 0), p.in[1] - 1) * int(p.x_at[1]);
#pragma unroll
      for (int j = 0; j < kW; ++j) loaded[u][i][j] = row[columns[j]];
    }
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    if (first + u >= p.rows) break;
    const int from = top + u * p.stride[1];
    float value = kPool == Pool::kMax ? __int_as_float(0xff800000) : 0.0f;
#pragma unroll
    for (int i = 0; i < kH; ++i)
#pragma unroll
      for (int j = 0; j < kW; ++j) {
        const bool counts = kPool == Pool::kMax || !(outside(from + i, p.in[1]) || outside(left + j, p.in[2]));
        if (counts) value = pooled_with<kPool>(value, to_float(loaded[u][i][j]));
      }
    if (kPool != Pool::kMax) {
      const bool is_whole = from >= 0 && from + kH <= p.in[1] && left >= 0 && left + kW <= p.in[2];
      if (is_whole) {
        value *= 1.0f / (kH * kW);
      } else {
        const Taps h(p, 1, first + u), w(p, 2, column);
        value /= p.excludes_padding ? (h.end - h.begin) * (w.end - w.begin) : h.padded * w.padded;
      }
    }
    y[u * int(p.y_at[1])] = from_float<T>(value);
  }
}

}  // namespace kiln
