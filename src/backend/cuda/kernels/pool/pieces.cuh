// Maximum and average of pictures whose columns lie together, with a dense window known to the compiler: a thread makes
// a piece of kOut columns of each of kRows neighbouring rows of y.
#pragma once

#include "pool/pool.cuh"

namespace kiln {

/// What a kernel is compiled for. The piece of x that belongs to one of y is kOut * kStride elements, loaded by vectors
/// of kVec, and its neighbours kLeft on the left and as many on the right as the last window reaches.
template <class T_, Pool kPool_, int kHeight_, int kWidth_, int kDown_, int kStride_, int kLeft_, int kVec_, int kOut_,
          int kRows_>
struct PoolPieces {
  using T = T_;
  static constexpr Pool kPool = kPool_;
  static constexpr int kHeight = kHeight_, kWidth = kWidth_, kDown = kDown_, kStride = kStride_, kLeft = kLeft_,
                       kVec = kVec_, kOut = kOut_, kRows = kRows_;
  static constexpr int kSpan = kOut * kStride, kRight = kWidth - kStride > kLeft ? kWidth - kStride - kLeft : 0;
  static constexpr int kLines = (kRows - 1) * kDown + kHeight, kWords = kSpan * int(sizeof(T)) / 4;
};

/// A line of x: a piece as it is stored, and its neighbours.
template <class P>
struct PoolLine {
  using T = typename P::T;
  unsigned words[P::kWords];
  T around[P::kLeft + P::kRight + 1];  // one more than needed, because an array cannot be empty

  /// Element `i` counted from the piece's first; a constant.
  __device__ __forceinline__ float at(int i) const {
    if (i < 0) return to_float(around[P::kLeft + i]);
    if (i >= P::kSpan) return to_float(around[P::kLeft + i - P::kSpan]);
    if constexpr (sizeof(T) == 4)
      return __uint_as_float(words[i]);
    else
      return to_float(T{static_cast<unsigned short>(words[i / 2] >> i % 2 * 16)});
  }
  /// `column` is that of the piece's first element; `row` begins a row of `columns`.
  __device__ __forceinline__ void load(const T* row, int column, int columns, bool inside, T none) {
    constexpr int kVec = P::kVec;
    const T* piece = row + column;
    unsigned blank;
    if constexpr (sizeof(T) == 4)
      blank = __float_as_uint(to_float(none));
    else
      blank = none.bits * 0x10001u;
#pragma unroll
    for (int i = 0; i < P::kWords; ++i) words[i] = blank;
    if constexpr (kVec * sizeof(T) >= 4) {
      constexpr int kEach = kVec * int(sizeof(T)) / 4;
#pragma unroll
      for (int v = 0; v < P::kSpan / kVec; ++v)
        if (inside && column + v * kVec < columns) {
          const auto some = load_vec<unsigned, kEach>(reinterpret_cast<const unsigned*>(piece + v * kVec));
#pragma unroll
          for (int i = 0; i < kEach; ++i) words[v * kEach + i] = some.at[i];
        }
    } else {
#pragma unroll
      for (int i = 0; i < P::kSpan; i += 2) {
        T low = none, high = none;
        if (inside && column + i < columns) low = piece[i];
        if (inside && column + i + 1 < columns) high = piece[i + 1];
        words[i / 2] = low.bits | unsigned(high.bits) << 16;
      }
    }
#pragma unroll
    for (int i = 0; i < P::kLeft + P::kRight; ++i) {
      const int at = i < P::kLeft ? i - P::kLeft : P::kSpan + i - P::kLeft;
      around[i] = none;
      if (inside && unsigned(column + at) < unsigned(columns)) around[i] = piece[at];
    }
  }
  /// Element by element the greater one.
  __device__ __forceinline__ void take_greater(const PoolLine& x) {
#pragma unroll
    for (int i = 0; i < P::kWords; ++i) words[i] = greater_word<T>(words[i], x.words[i]);
#pragma unroll
    for (int i = 0; i < P::kLeft + P::kRight; ++i)
      around[i] = from_float<T>(greater(to_float(around[i]), to_float(x.around[i])));
  }
};

/// Sums or maxima of the windows of output row `u` of a thread.
template <class P>
__device__ __forceinline__ Vec<float, P::kOut> pool_row(const PoolLine<P> (&lines)[P::kLines], int u) {
  constexpr int kAll = P::kLeft + P::kSpan + P::kRight;
  float column[kAll];
  if constexpr (P::kPool == Pool::kMax) {
    PoolLine<P> peak = lines[u * P::kDown];
#pragma unroll
    for (int i = 1; i < P::kHeight; ++i) peak.take_greater(lines[u * P::kDown + i]);
#pragma unroll
    for (int i = 0; i < kAll; ++i) column[i] = peak.at(i - P::kLeft);
  } else {
#pragma unroll
    for (int i = 0; i < kAll; ++i) {
      column[i] = lines[u * P::kDown].at(i - P::kLeft);
#pragma unroll
      for (int j = 1; j < P::kHeight; ++j) column[i] += lines[u * P::kDown + j].at(i - P::kLeft);
    }
  }
  Vec<float, P::kOut> result;
#pragma unroll
  for (int e = 0; e < P::kOut; ++e) {
    result.at[e] = column[e * P::kStride];
#pragma unroll
    for (int j = 1; j < P::kWidth; ++j) result.at[e] = pooled_with<P::kPool>(result.at[e], column[e * P::kStride + j]);
  }
  return result;
}

/// Of how many elements along `axis` the average of the window from `start` on is, inverted.
template <int kKernel>
__device__ __forceinline__ float pool_share(const Pooling& p, int axis, int start) {
  const int before = p.excludes_padding ? max(start, 0) : start;
  const int behind = min(start + kKernel, p.excludes_padding ? p.in[axis] : p.in[axis] + p.pad_after[axis]);
  return reciprocal(float(behind - before));
}

/// Every window has a part of x. A whole warp has a part of shared memory, through which pieces that are not aligned in
/// y are stored element by element, neighbours together.
template <class P>
__device__ __forceinline__ void pool_pieces(const Pooling& p) {
  using T = typename P::T;
  constexpr int kOut = P::kOut, kRows = P::kRows;
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_there = position < p.walk.count;
  const int piece = int(p.walk.split(3, position)), first = int(p.walk.split(2, position)) * kRows;
  const int top = first * P::kDown - p.pad[1];
  const T* x = static_cast<const T*>(p.x) + position * p.x_image;
  const T none = from_float<T>(P::kPool == Pool::kMax ? __int_as_float(0xff800000) : 0.0f);
  pdl_wait();
  PoolLine<P> lines[P::kLines];
#pragma unroll
  for (int i = 0; i < P::kLines; ++i) {
    const bool inside = is_there && unsigned(top + i) < unsigned(p.in[1]);
    lines[i].load(x + (top + i) * int(p.x_at[1]), piece * P::kSpan, p.in[2], inside, none);
  }
  float across[kOut];
  if constexpr (P::kPool == Pool::kAverage)
#pragma unroll
    for (int e = 0; e < kOut; ++e) across[e] = pool_share<P::kWidth>(p, 2, (piece * kOut + e) * P::kStride - P::kLeft);
  // Rows and columns of y that are there; the sum is not used where there are none.
  const int rows = is_there ? min(p.rows - first, kRows) : 0, columns = min(p.columns - piece * kOut, kOut);
  T* y = static_cast<T*>(p.y) + position * p.y_image + first * int(p.y_at[1]) + piece * kOut;
  __shared__ alignas(16) T staged[4][kRows][kWarp * kOut];
  __shared__ T* targets[4][kWarp];
  __shared__ int extents[4][kWarp];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    Vec<float, kOut> value = pool_row<P>(lines, u);
    if constexpr (P::kPool == Pool::kAverage) {
      const float down = pool_share<P::kHeight>(p, 1, top + u * P::kDown);
#pragma unroll
      for (int e = 0; e < kOut; ++e) value.at[e] *= across[e] * down;
    }
    if (p.whole) {
      if (u < rows) store_floats<T, kOut>(y + u * int(p.y_at[1]), value);
    } else {
      const Vec<T, kOut> rounded = round_vec<T, kOut>(value);
      store_vec<T, kOut>(&staged[warp][u][lane * kOut], rounded);
    }
  }
  if (p.whole) return;
  targets[warp][lane] = y;
  extents[warp][lane] = rows * 16 + columns;
  __syncwarp();
#pragma unroll
  for (int k = 0; k < kOut; ++k) {
    const int at = k * kWarp + lane, owner = at / kOut, extent = extents[warp][owner];
    if (at % kOut >= extent % 16) continue;
    T* to = targets[warp][owner] + at % kOut;
#pragma unroll
    for (int u = 0; u < kRows; ++u)
      if (u < extent / 16) to[u * int(p.y_at[1])] = staged[warp][u][at];
  }
}

}  // namespace kiln
