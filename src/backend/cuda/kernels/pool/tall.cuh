// Averages of pictures whose channels lie together, with a dense window that is taller than its steps: a thread makes
// 16 bytes of channels of a column of kRows neighbouring rows of y, which share rows of x.
#pragma once

#include "pool/pieces.cuh"

namespace kiln {

/// Every window has a part of x.
template <class T, int kHeight, int kWidth, int kDown, int kRows>
__device__ __forceinline__ void average_tall(const Pooling& p) {
  constexpr int kVec = 16 / sizeof(T), kLines = (kRows - 1) * kDown + kHeight;
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= p.walk.count) return;
  const int channel = int(p.walk.split(4, position)) * kVec, column = int(p.walk.split(3, position));
  const int first = int(p.walk.split(2, position)) * kRows;
  const int left = column * p.stride[2] - p.pad[2], top = first * kDown - p.pad[1];
  const T* x = static_cast<const T*>(p.x) + position * p.x_image + channel;
  const float across = pool_share<kWidth>(p, 2, left);
  pdl_wait();
  Vec<float, kVec> lines[kLines] = {};
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    const T* row = x + (top + i) * int(p.x_at[1]) + left * int(p.x_at[2]);
    Words<T, kVec> loaded[kWidth] = {};
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
      if (unsigned(top + i) < unsigned(p.in[1]) && unsigned(left + j) < unsigned(p.in[2]))
        loaded[j] = load_words<T, kVec>(row + j * int(p.x_at[2]));
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
#pragma unroll
      for (int e = 0; e < kVec; ++e) lines[i].at[e] += loaded[j][e];
  }
  T* y = static_cast<T*>(p.y) + position * p.y_image + first * p.y_at[1] + column * p.y_at[2] + channel;
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    if (first + u >= p.rows) break;
    Vec<float, kVec> sum = lines[u * kDown];
    const float share = across * pool_share<kHeight>(p, 1, top + u * kDown);
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
#pragma unroll
      for (int i = 1; i < kHeight; ++i) sum.at[e] += lines[u * kDown + i].at[e];
      sum.at[e] *= share;
    }
    store_floats<T, kVec>(y + u * p.y_at[1], sum);
  }
}

}  // namespace kiln
