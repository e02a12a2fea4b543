// Bilinear sampling to twice the rows and columns where columns lie together.
#pragma once

#include "resize/resize.cuh"

namespace kiln {

/// Where the elements of y lie between those of x along an axis, whose ends repeat.
enum class Doubling {
  kCentered,  ///< 2i and 2i + 1 are 3/4 of element i and 1/4 of the one before and behind it
  kFromFirst  ///< 2i is element i, 2i + 1 half of it and half of the next
};

/// Four times what lies at 2i, or at 2i + 1.
template <Doubling kDoubling>
__device__ __forceinline__ float doubled(bool odd, float before, float at, float behind) {
  if constexpr (kDoubling == Doubling::kCentered) return 3 * at + (odd ? behind : before);
  return odd ? 2 * at + 2 * behind : 4 * at;
}

/// A thread makes 16 bytes of each of 2 * kRows rows of y. Every element is read once, but for the edges of its piece.
template <class T, Doubling kDoubling, int kRows>
__device__ __forceinline__ void resize_double(const Resize& r) {
  constexpr int kVec = 8 / sizeof(T), kBefore = kDoubling == Doubling::kCentered, kLines = kBefore + kRows + 1;
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= r.count) return;
  const int piece = split(r.inner, position), first = split(r.bands, position) * kRows;
  const int rows = int(r.out[1].extent) / 2, columns = int(r.out[2].extent) / 2;
  const T* x = static_cast<const T*>(r.x) + position * r.plane + piece * kVec;
  const int left = piece > 0 ? -1 : 0, right = (piece + 1) * kVec < columns ? kVec : kVec - 1;
  pdl_wait();
  Words<T, kVec> loaded[kLines];
  T around[kLines][2];
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    const T* row = x + min(max(first - kBefore + i, 0), rows - 1) * columns;
    loaded[i] = load_words<T, kVec>(row);
    if (kBefore) around[i][0] = row[left];
    around[i][1] = row[right];
  }
  constexpr float kUnit = 1.0f / 16;
  Vec<float, 2 * kVec> lines[kLines];
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    float at[kVec + 2];
    at[0] = kBefore ? to_float(around[i][0]) * kUnit : 0;
    at[kVec + 1] = to_float(around[i][1]) * kUnit;
#pragma unroll
    for (int e = 0; e < kVec; ++e) at[e + 1] = loaded[i][e] * kUnit;
#pragma unroll
    for (int e = 0; e < 2 * kVec; ++e)
      lines[i].at[e] = doubled<kDoubling>(e % 2 == 1, at[e / 2], at[e / 2 + 1], at[e / 2 + 2]);
  }
  T* y = static_cast<T*>(r.y) + (int64_t(position) * rows + first) * (4 * columns) + piece * (2 * kVec);
#pragma unroll
  for (int u = 0; u < 2 * kRows; ++u) {
    if (first + u / 2 >= rows) break;
    const int at = kBefore + u / 2;
    Vec<float, 2 * kVec> sum;
#pragma unroll
    for (int e = 0; e < 2 * kVec; ++e)
      sum.at[e] = doubled<kDoubling>(u % 2 == 1, lines[at - kBefore].at[e], lines[at].at[e], lines[at + 1].at[e]);
    store_floats<T, 2 * kVec>(y + u * 2 * columns, sum);
  }
}

}  // namespace kiln
