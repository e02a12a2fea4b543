// Where a sliding window looks, and where pixels lie. Axes in the order depth, height, width; absent ones have
// extent 1.
#pragma once
#include "backend/cuda/kernels/conv/arguments.h"

namespace kiln {

using Window = cuda::ConvWindow;
using Strides = cuda::ConvStrides;

/// An output pixel by its place in [n, d, h, w].
struct Pixel {
  int n, at[3];
  __device__ Pixel(const Window& w, int index) {
    at[2] = index % w.out[2];
    index /= w.out[2];
    at[1] = index % w.out[1];
    index /= w.out[1];
    at[0] = index % w.out[0];
    n = index / w.out[0];
  }
  __device__ long long offset(const Strides& s) const {
    return n * s.n + at[0] * s.at[0] + at[1] * s.at[1] + at[2] * s.at[2];
  }
};

/// A position of the kernel by its place in [d, h, w].
struct Tap {
  int at[3];
  __device__ Tap(const Window& w, int index) {
    at[2] = index % w.kernel[2];
    index /= w.kernel[2];
    at[1] = index % w.kernel[1];
    at[0] = index / w.kernel[1];
  }
};

}  // namespace kiln
