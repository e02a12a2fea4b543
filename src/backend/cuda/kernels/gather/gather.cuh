// Elements picked by indices, in units of 1 to 16 bytes. An index outside its axis reads no memory: its elements become
// zeros, and the index is stored where the host finds it (device/fault_word.h).
#pragma once

#include "backend/cuda/kernels/gather/arguments.h"
#include "nest/walk.cuh"

namespace kiln {

struct alignas(16) Unit16 {
  unsigned words[4];
};

using Gather = cuda::GatherArgument;

/// The index from the front, or -1 if it is outside, which `fault` is told.
__device__ __forceinline__ int64_t resolve(int64_t index, int64_t extent, int64_t* fault) {
  const int64_t from_front = index < 0 ? index + extent : index;
  if (uint64_t(from_front) < uint64_t(extent)) return from_front;
  *static_cast<volatile int64_t*>(fault) = index << 1 | 1;
  return -1;
}

template <class Unit>
__device__ __forceinline__ void put(const Gather& g, unsigned at, bool inside, int64_t from) {
  Unit value = {};
  if (inside) value = static_cast<const Unit*>(g.data)[from];
  static_cast<Unit*>(g.y)[at] = value;
}

/// y[e, a, i, b] = data[e, a, indices[e, i], b]. A thread has up to kUnroll units, g.step apart. It loads all their
/// indices at once, and then all their data.
template <class Unit, class Index>
__device__ __forceinline__ void gather_rows(const Gather& g, int64_t* fault) {
  pdl_launch();
  constexpr int kUnroll = 4;
  const unsigned first = blockIdx.x * (g.step ? kUnroll * blockDim.x : blockDim.x) + threadIdx.x;
  int64_t index_at[kUnroll], from[kUnroll], picked[kUnroll];
  bool live[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const unsigned at = first + u * g.step;
    live[u] = at < g.count && (u == 0 || g.step);
    if (!live[u]) continue;
    const unsigned slice = g.row.quotient(at), b = at - slice * g.row.extent;
    const unsigned ea = g.picks.quotient(slice), i = slice - ea * g.picks.extent;
    const unsigned e = g.outer.quotient(ea), a = ea - e * g.outer.extent;
    index_at[u] = e * g.index_batch + i;
    from[u] = e * g.data_batch + a * g.extent * g.row.extent + b;
  }
  pdl_wait();
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (live[u]) picked[u] = static_cast<const Index*>(g.indices)[index_at[u]];
  Unit values[kUnroll] = {};
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (!live[u]) continue;
    picked[u] = resolve(picked[u], g.extent, fault);
    if (picked[u] >= 0) values[u] = static_cast<const Unit*>(g.data)[from[u] + picked[u] * g.row.extent];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (live[u]) static_cast<Unit*>(g.y)[first + u * g.step] = values[u];
}

/// y[i] = data[i with i[axis] replaced by indices[i]]
template <class Unit, class Index>
__device__ __forceinline__ void gather_elements(const Gather& g, int64_t* fault) {
  pdl_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= g.count) return;
  pdl_wait();
  const int64_t picked = resolve(static_cast<const Index*>(g.indices)[at], g.extent, fault);
  int64_t from = picked * g.strides[g.axis];
  unsigned rest = at;
  for (int axis = g.rank - 1; axis >= 0; --axis) {
    const unsigned quotient = g.extents[axis].quotient(rest);
    if (axis != g.axis) from += (rest - quotient * g.extents[axis].extent) * g.strides[axis];
    rest = quotient;
  }
  put<Unit>(g, at, picked >= 0, from);
}

/// y[e, i, b] = data[e, indices[e, i, 0 ... rank - 1], b]
template <class Unit, class Index>
__device__ __forceinline__ void gather_nd(const Gather& g, int64_t* fault) {
  pdl_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= g.count) return;
  const unsigned slice = g.row.quotient(at), b = at - slice * g.row.extent;
  pdl_wait();
  int64_t from = g.picks.quotient(slice) * g.data_batch + b;
  bool inside = true;
  for (int k = 0; k < g.rank; ++k) {
    const int64_t picked =
        resolve(static_cast<const Index*>(g.indices)[int64_t(slice) * g.rank + k], g.extents[k].extent, fault);
    inside = inside && picked >= 0;
    from += picked * g.strides[k];
  }
  put<Unit>(g, at, inside, from);
}

}  // namespace kiln
