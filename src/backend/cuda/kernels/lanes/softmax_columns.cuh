// Softmax along an axis that is not the innermost. A block has blockDim.x vectors of neighbouring lanes; its blockDim.y
// rows of threads share them.
#pragma once

#include "device.cuh"

namespace kiln {

/// Whether products of elements and small numbers stay finite in float.
template <class T>
inline constexpr bool kSmallRange = false;
template <>
inline constexpr bool kSmallRange<f16> = true;
/// exp(x - shift) by the hardware's power of two. Its error and that of the product grow with the distance, where
/// results vanish beside the largest; halves have digits to spare for a product that is rounded before the difference.
template <class T>
__device__ __forceinline__ float exp_from_shift(float x, float shift) {
  constexpr float kLog2e = 1.4426950408889634f;
  const float power = kSmallRange<T> ? __fmaf_rn(x, kLog2e, -(shift * kLog2e)) : (x - shift) * kLog2e;
  return power_of_two(power);
}
/// The number to subtract from a part of a lane; chosen so that a part without a finite element adds nothing.
__device__ __forceinline__ float shift_of(float peak) { return peak == __int_as_float(0xff800000) ? 0 : peak; }

/// Where a thread stands.
template <int kVec>
struct ColumnPlace {
  int64_t base, step;  ///< of its vector in row 0 of the block, and from a row to the next
  bool inside;
  __device__ __forceinline__ ColumnPlace(int64_t length, int64_t inner) {
    const int64_t width = blockDim.x * kVec, strips = (inner + width - 1) / width;
    const int64_t outer = blockIdx.x / strips, column = (blockIdx.x - outer * strips) * width + threadIdx.x * kVec;
    base = outer * length * inner + column;
    step = inner;
    inside = column < inner;
  }
};

/// Joins the peaks and sums of all threads that share a lane. `factor` is what a thread multiplies its exponentials by,
/// which were taken relative to `peak`. `shared` has two floats for each lane of each row of threads.
template <class T, int kVec>
__device__ __forceinline__ Vec<float, kVec> fold_columns(float* shared, const Vec<float, kVec>& peak,
                                                         const Vec<float, kVec>& sum) {
  const int width = blockDim.x * kVec, rows = blockDim.y;
  float *peaks = shared, *sums = shared + rows * width;
  Vec<float, kVec> factor;
  if (rows == 1) {
#pragma unroll
    for (int e = 0; e < kVec; ++e)  // NaN where all of a lane is -infinity
      factor.at[e] = exp_from_shift<T>(shift_of(peak.at[e]), peak.at[e]) / sum.at[e];
    return factor;
  }
  store_vec<float, kVec>(peaks + threadIdx.y * width + threadIdx.x * kVec, peak);
  store_vec<float, kVec>(sums + threadIdx.y * width + threadIdx.x * kVec, sum);
  __syncthreads();
  for (int lane = threadIdx.y * blockDim.x + threadIdx.x; lane < width; lane += blockDim.x * rows) {
    float all = peaks[lane], total = 0;
#pragma unroll 4
    for (int row = 1; row < rows; ++row) all = greater(all, peaks[row * width + lane]);
#pragma unroll 4
    for (int row = 0; row < rows; ++row)
      total += sums[row * width + lane] * exp_from_shift<T>(shift_of(peaks[row * width + lane]), all);
    peaks[lane] = all;
    sums[lane] = 1.0f / total;
  }
  __syncthreads();
  const Vec<float, kVec> all = load_vec<float, kVec>(peaks + threadIdx.x * kVec);
  const Vec<float, kVec> share = load_vec<float, kVec>(sums + threadIdx.x * kVec);
#pragma unroll
  for (int e = 0; e < kVec; ++e) factor.at[e] = exp_from_shift<T>(shift_of(peak.at[e]), all.at[e]) * share.at[e];
  return factor;
}

/// x, y (outer, length, inner), length <= kLoads * blockDim.y: a lane is held in registers, memory is read once and
/// each exponential taken once.
template <class T, int kVec, int kLoads>
__device__ __forceinline__ void softmax_held_columns(const T* x, T* y, int64_t, int length, int64_t inner) {
  extern __shared__ __align__(16) float shared[];
  pdl_launch();
  const ColumnPlace<kVec> place(length, inner);
  const float kLeast = __int_as_float(0xff800000);
  pdl_wait();
  Vec<T, kVec> loaded[kLoads], least;
#pragma unroll
  for (int e = 0; e < kVec; ++e) least.at[e] = from_float<T>(kLeast);
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int row = i * blockDim.y + threadIdx.y;
    loaded[i] = least;
    if (place.inside && row < length) loaded[i] = load_vec<T, kVec>(x + place.base + row * place.step);
  }
  Vec<float, kVec> at[kLoads], peak, sum;
#pragma unroll
  for (int e = 0; e < kVec; ++e) peak.at[e] = kLeast, sum.at[e] = 0;
#pragma unroll
  for (int i = 0; i < kLoads; ++i)
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      at[i].at[e] = to_float(loaded[i].at[e]);
      peak.at[e] = greater(peak.at[e], at[i].at[e]);
    }
#pragma unroll
  for (int e = 0; e < kVec; ++e) {
    const float shift = shift_of(peak.at[e]);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      at[i].at[e] = exp_from_shift<T>(at[i].at[e], shift);
      sum.at[e] += at[i].at[e];
    }
  }
  const Vec<float, kVec> factor = fold_columns<T, kVec>(shared, peak, sum);
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int row = i * blockDim.y + threadIdx.y;
#pragma unroll
    for (int e = 0; e < kVec; ++e) at[i].at[e] *= factor.at[e];
    if (place.inside && row < length) store_floats<T, kVec>(y + place.base + row * place.step, at[i]);
  }
}

/// Columns of exactly kLength halves, a thread each kVec of them, which stay as they are stored: exponentials are taken
/// twice, so that registers have room for wide vectors.
template <class T, int kVec, int kLength>
__device__ __forceinline__ void softmax_stored_columns(const T* x, T* y, int64_t, int64_t, int64_t inner) {
  constexpr int kWords = kVec / 2;
  pdl_launch();
  const ColumnPlace<kVec> place(kLength, inner);
  if (!place.inside) return;
  x += place.base, y += place.base;
  pdl_wait();
  Words<T, kVec> loaded[kLength], peaks;
#pragma unroll
  for (int i = 0; i < kLength; ++i) loaded[i] = load_words<T, kVec>(x + i * place.step);
  peaks = loaded[0];
#pragma unroll
  for (int i = 1; i < kLength; ++i)
#pragma unroll
    for (int k = 0; k < kWords; ++k) peaks.at[k] = greater_word<T>(peaks.at[k], loaded[i].at[k]);
  float shift[kVec], factor[kVec];
#pragma unroll
  for (int e = 0; e < kVec; ++e) {
    shift[e] = shift_of(peaks[e]);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kLength; ++i) sum += exp_from_shift<T>(loaded[i][e], shift[e]);
    factor[e] = exp_from_shift<T>(shift[e], peaks[e]) / sum;  // NaN where all of a lane is -infinity
  }
#pragma unroll
  for (int i = 0; i < kLength; ++i) {
    Vec<float, kVec> result;
#pragma unroll
    for (int e = 0; e < kVec; ++e) result.at[e] = exp_from_shift<T>(loaded[i][e], shift[e]) * factor[e];
    store_floats<T, kVec>(y + i * place.step, result);
  }
}

/// Lanes of any length: one walk for their peaks and sums, another, through the cache where it is large enough, for the
/// result.
template <class T, int kVec>
__device__ __forceinline__ void softmax_columns(const T* x, T* y, int64_t, int64_t length, int64_t inner) {
  constexpr int kUnroll = 4;
  extern __shared__ __align__(16) float shared[];
  pdl_launch();
  const ColumnPlace<kVec> place(length, inner);
  const float kLeast = __int_as_float(0xff800000);
  const auto each_batch = [&](auto f) {  // f(first row, vectors), rows blockDim.y apart
    for (int64_t first = threadIdx.y; place.inside && first < length; first += kUnroll * blockDim.y) {
      Vec<T, kVec> loaded[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (first + u * blockDim.y < length)
          loaded[u] = load_vec<T, kVec>(x + place.base + (first + u * blockDim.y) * place.step);
      f(first, loaded);
    }
  };
  Vec<float, kVec> peak, sum;
#pragma unroll
  for (int e = 0; e < kVec; ++e) peak.at[e] = kLeast, sum.at[e] = 0;
  pdl_wait();
  each_batch([&](int64_t first, const Vec<T, kVec>(&loaded)[kUnroll]) {
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      float at[kUnroll], next = peak.at[e];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        at[u] = first + u * blockDim.y < length ? to_float(loaded[u].at[e]) : kLeast;
        next = greater(next, at[u]);
      }
      const float shift = shift_of(next);
      sum.at[e] *= exp_from_shift<T>(shift_of(peak.at[e]), shift);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) sum.at[e] += exp_from_shift<T>(at[u], shift);
      peak.at[e] = next;
    }
  });
  const Vec<float, kVec> factor = fold_columns<T, kVec>(shared, peak, sum);
#pragma unroll
  for (int e = 0; e < kVec; ++e) peak.at[e] = shift_of(peak.at[e]);
  each_batch([&](int64_t first, const Vec<T, kVec>(&loaded)[kUnroll]) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * blockDim.y >= length) continue;
      Vec<float, kVec> result;
#pragma unroll
      for (int e = 0; e < kVec; ++e)
        result.at[e] = exp_from_shift<T>(to_float(loaded[u].at[e]), peak.at[e]) * factor.at[e];
      store_floats<T, kVec>(y + place.base + (first + u * blockDim.y) * place.step, result);
    }
  });
}

}  // namespace kiln
