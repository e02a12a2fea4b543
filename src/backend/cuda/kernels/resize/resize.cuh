// Resampling by tables: every output is a weighted sum of inputs, the product of taps along up to three axes.
#pragma once

#include "backend/cuda/kernels/resize/arguments.h"
#include "nest/walk.cuh"

namespace kiln {

struct alignas(16) Unit16 {
  unsigned words[4];
};

using Resize = cuda::ResizeArgument;

/// Where an output lies in x but for the resized axes, and its coordinates along those.
struct Output {
  int64_t base;
  int at[3];
  __device__ __forceinline__ Output(const Resize& r, unsigned position) {
    const unsigned outer = r.inner.quotient(position);
    base = int64_t(position - outer * r.inner.extent) * r.width;
    position = outer;
#pragma unroll
    for (int axis = 2; axis >= 0; --axis) {
      const unsigned quotient = r.out[axis].quotient(position);
      at[axis] = int(position - quotient * r.out[axis].extent);
      position = quotient;
    }
    base += position * r.plane;
  }
};

/// The nearest element, whatever its type: a vector is one unit.
template <class Unit>
__device__ __forceinline__ void resize_nearest(const Resize& r) {
  const unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= r.count) return;
  const Output o(r, position);
  int64_t from = o.base;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) from += r.index[r.table[axis] + o.at[axis]] * r.strides[axis];
  pdl_launch();
  pdl_wait();
  static_cast<Unit*>(r.y)[position] = static_cast<const Unit*>(r.x)[from];
}

__device__ __forceinline__ int split(const Divisor& divisor, unsigned& position) {
  const unsigned quotient = divisor.quotient(position), rest = position - quotient * divisor.extent;
  position = quotient;
  return int(rest);
}

/// A band of kRows output rows, which need kSpan neighbouring rows of x at most.
template <int kRows, int kSpan>
struct Band {
  int64_t rows[kSpan];  ///< offsets in x; of those that are not there, the last
                        ///< one's
  float weights[kRows][kSpan];
  __device__ __forceinline__ Band(const Resize& r, int band) {
    const int first = r.index[r.first_rows + 2 * band], more = r.index[r.first_rows + 2 * band + 1];
    constexpr int kAtOnce = kSpan % 4 == 0 ? 4 : 2;
    const float* from = r.weight + r.band_weights + band * (kRows * kSpan);
#pragma unroll
    for (int k = 0; k < kSpan; ++k) rows[k] = (first + min(k, more)) * r.strides[1];
#pragma unroll
    for (int u = 0; u < kRows; ++u)
#pragma unroll
      for (int k = 0; k < kSpan; k += kAtOnce) {
        const auto some = load_vec<float, kAtOnce>(from + u * kSpan + k);
#pragma unroll
        for (int e = 0; e < kAtOnce; ++e) weights[u][k + e] = some.at[e];
      }
  }
};
/// Leaves out a tap of weight 0, because its element may be infinite: the other tap then stands for both.
template <class Place>
__device__ __forceinline__ void avoid_zero(Place& from_a, float& a, Place& from_b, float& b) {
  if (a == 0) from_a = from_b, a = b *= 0.5f;
  if (b == 0) from_b = from_a, b = a *= 0.5f;
}
/// Stores `left` rows at most: weighted sums of rows of x that are mixed across already.
template <class T, int kRows, int kSpan, int N>
__device__ __forceinline__ void put_band(const Band<kRows, kSpan>& band, const Vec<float, N> (&rows)[kSpan], int left,
                                         T* y, int64_t line) {
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    if (u >= left) break;
    Vec<float, N> sum = {};
#pragma unroll
    for (int k = 0; k < kSpan; ++k)
      if (band.weights[u][k] != 0)
#pragma unroll
        for (int e = 0; e < N; ++e) sum.at[e] += band.weights[u][k] * rows[k].at[e];
    store_floats<T, N>(y + u * line, sum);
  }
}

/// Bilinear sampling: a thread has a vector of a column of a band. All its loads are on their way at once, and a row of
/// x serves several of y.
template <class T, int kVec, int kRows, int kSpan>
__device__ __forceinline__ void resize_band(const Resize& r) {
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= r.count) return;
  const int vector = split(r.inner, position), column = split(r.out[2], position), at = split(r.bands, position);
  const int depth = split(r.out[0], position), rows = int(r.out[1].extent), columns = int(r.out[2].extent);
  const T* x =
      static_cast<const T*>(r.x) + position * r.plane + r.index[r.table[0] + depth] * r.strides[0] + vector * kVec;
  const Band<kRows, kSpan> band(r, at);
  int64_t from[2];
  float across[2];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    from[j] = r.index[r.table[2] + j * columns + column] * r.strides[2];
    across[j] = r.weight[r.table[2] + j * columns + column];
  }
  avoid_zero(from[0], across[0], from[1], across[1]);
  pdl_wait();
  Vec<T, kVec> loaded[kSpan][2];
#pragma unroll
  for (int k = 0; k < kSpan; ++k)
#pragma unroll
    for (int j = 0; j < 2; ++j) loaded[k][j] = load_vec<T, kVec>(x + band.rows[k] + from[j]);
  Vec<float, kVec> mixed[kSpan];
#pragma unroll
  for (int k = 0; k < kSpan; ++k)
#pragma unroll
    for (int e = 0; e < kVec; ++e)
      mixed[k].at[e] = across[0] * to_float(loaded[k][0].at[e]) + across[1] * to_float(loaded[k][1].at[e]);
  const int64_t line = int64_t(columns) * (r.inner.extent * kVec);
  T* y = static_cast<T*>(r.y) + ((int64_t(position) * r.out[0].extent + depth) * rows + at * kRows) * line +
         column * (r.inner.extent * kVec) + vector * kVec;
  put_band(band, mixed, rows - at * kRows, y, line);
}

/// The same where columns lie together: a thread has kPack neighbouring ones. Their tables are at r.table[2], aligned.
template <class T, int kPack, int kRows, int kSpan>
__device__ __forceinline__ void resize_lines(const Resize& r) {
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= r.count) return;
  const int pack = split(r.inner, position), at = split(r.bands, position);
  const int depth = split(r.out[0], position), rows = int(r.out[1].extent), columns = int(r.out[2].extent);
  const T* x = static_cast<const T*>(r.x) + position * r.plane + r.index[r.table[0] + depth] * r.strides[0];
  const Band<kRows, kSpan> band(r, at);
  Vec<int, kPack> from[2];
  Vec<float, kPack> across[2];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    from[j] = load_vec<int, kPack>(r.index + r.table[2] + j * columns + pack * kPack);
    across[j] = load_vec<float, kPack>(r.weight + r.table[2] + j * columns + pack * kPack);
  }
#pragma unroll
  for (int e = 0; e < kPack; ++e) avoid_zero(from[0].at[e], across[0].at[e], from[1].at[e], across[1].at[e]);
  pdl_wait();
  T loaded[kSpan][2][kPack];
#pragma unroll
  for (int k = 0; k < kSpan; ++k)
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int e = 0; e < kPack; ++e) loaded[k][j][e] = (x + band.rows[k])[from[j].at[e]];
  Vec<float, kPack> mixed[kSpan];
#pragma unroll
  for (int k = 0; k < kSpan; ++k)
#pragma unroll
    for (int e = 0; e < kPack; ++e)
      mixed[k].at[e] = across[0].at[e] * to_float(loaded[k][0][e]) + across[1].at[e] * to_float(loaded[k][1][e]);
  T* y = static_cast<T*>(r.y) + ((int64_t(position) * r.out[0].extent + depth) * rows + at * kRows) * columns +
         pack * kPack;
  put_band(band, mixed, rows - at * kRows, y, columns);
}

/// The nearest elements of kRows output rows: a thread has kPack neighbouring units of each, of one column where units
/// are vectors of channels, else of as many columns.
template <class Unit, int kPack, int kRows>
__device__ __forceinline__ void resize_nearest_band(const Resize& r) {
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= r.count) return;
  const int rows = int(r.out[1].extent), columns = int(r.out[2].extent), vectors = int(r.inner.extent);
  const int vector = kPack > 1 ? 0 : split(r.inner, position);
  const int pack = split(kPack > 1 ? r.inner : r.out[2], position), at = split(r.bands, position);
  const int depth = split(r.out[0], position), first = at * kRows;
  const Unit* x =
      static_cast<const Unit*>(r.x) + position * r.plane + r.index[r.table[0] + depth] * r.strides[0] + vector;
  const Vec<int, kPack> from = load_vec<int, kPack>(r.index + r.table[2] + pack * kPack);
  int row[kRows];
#pragma unroll
  for (int u = 0; u < kRows; ++u) row[u] = r.index[r.table[1] + min(first + u, rows - 1)];
  const int64_t width = kPack > 1 ? 1 : vectors, line = columns * width;
  Unit* y = static_cast<Unit*>(r.y) + ((int64_t(position) * r.out[0].extent + depth) * rows + first) * line +
            pack * kPack * width + vector;
  pdl_wait();
  struct alignas(sizeof(Unit) * kPack) Pack {
    Unit at[kPack];
  };
  Pack loaded[kRows];
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    if (u > 0 && row[u] == row[u - 1]) continue;
#pragma unroll
    for (int e = 0; e < kPack; ++e) loaded[u].at[e] = (x + row[u] * r.strides[1])[from.at[e] * r.strides[2]];
  }
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    if (u > 0 && row[u] == row[u - 1]) loaded[u] = loaded[u - 1];
    if (first + u < rows) *reinterpret_cast<Pack*>(y + u * line) = loaded[u];
  }
}

template <class T, int kVec>
__device__ __forceinline__ void resize_taps(const Resize& r) {
  const unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= r.count) return;
  const Output o(r, position);
  const auto at = [&](int axis, int tap) { return r.table[axis] + tap * int(r.out[axis].extent) + o.at[axis]; };
  pdl_launch();
  pdl_wait();
  Vec<float, kVec> sum = {};
  for (int i = 0; i < r.taps[0]; ++i) {
    const float weight_i = r.weight[at(0, i)];
    const int64_t from_i = o.base + r.index[at(0, i)] * r.strides[0];
    for (int j = 0; j < r.taps[1]; ++j) {
      const float weight_j = weight_i * r.weight[at(1, j)];
      const int64_t from_j = from_i + r.index[at(1, j)] * r.strides[1];
      for (int k = 0; k < r.taps[2]; ++k) {
        const float weight = weight_j * r.weight[at(2, k)];
        if (weight == 0) continue;  // an infinite neighbour without a part in this element
        const Vec<float, kVec> x =
            load_floats<T, kVec>(static_cast<const T*>(r.x) + from_j + r.index[at(2, k)] * r.strides[2]);
#pragma unroll
        for (int e = 0; e < kVec; ++e) sum.at[e] += weight * x.at[e];
      }
    }
  }
  store_floats<T, kVec>(static_cast<T*>(r.y) + int64_t(position) * kVec, sum);
}

}  // namespace kiln
