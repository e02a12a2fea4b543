// Resampling by tables: every output is a weighted sum of inputs, the product of taps along up to three axes.
#pragma once

#include "nest/walk.cuh"

namespace kiln {

struct alignas(16) Unit16 {
  unsigned words[4];
};

/// kernels/resize/resize.h has the same. y is [planes, out, out, out, inner], inner in vectors of a kernel's width.
struct Resize {
  const void* x;
  void* y;
  const int* index;  ///< tap t of output i of an axis at its table's start + t * out + i
  const float* weight;
  unsigned count;
  Divisor inner, out[3];
  int taps[3], table[3];
  int64_t plane;       ///< elements of x from one plane to the next
  int64_t strides[3];  ///< of x
  int width;           ///< elements of a vector
};

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

#define KILN_RESIZE(entry, call)                                                                    \
  extern "C" __global__ void __launch_bounds__(128) entry(const __grid_constant__ kiln::Resize r) { \
    using namespace kiln;                                                                           \
    call(r);                                                                                        \
  }
