// Elements written over others at computed indices, in three launches: y becomes data, each update claims the slice of
// y that it is for, and the last one to claim it (by its number, so that bits do not change from run to run) is
// written. An index outside its axis writes nothing, and is stored where the host finds it (device/fault_word.h).
#pragma once

#include "backend/cuda/kernels/scatter/arguments.h"
#include "gather/gather.cuh"

namespace kiln {

using Scatter = cuda::ScatterArgument;

/// updates[i] is for y[i with i[axis] replaced by indices[i]]; -1: for nothing.
template <class Index>
__device__ __forceinline__ int64_t element_target(const Scatter& s, unsigned pick, int64_t* fault) {
  const int64_t picked = resolve(static_cast<const Index*>(s.indices)[pick], s.extent, fault);
  int64_t to = picked * s.strides[s.axis];
  unsigned rest = pick;
  for (int axis = s.rank - 1; axis >= 0; --axis) {
    const unsigned quotient = s.extents[axis].quotient(rest);
    if (axis != s.axis) to += (rest - quotient * s.extents[axis].extent) * s.strides[axis];
    rest = quotient;
  }
  return picked < 0 ? -1 : to;
}

/// updates[i] is for y[indices[i, 0 ... rank - 1]]; -1: for nothing.
template <class Index>
__device__ __forceinline__ int64_t nd_target(const Scatter& s, unsigned pick, int64_t* fault) {
  int64_t to = 0;
  bool inside = true;
  for (int k = 0; k < s.rank; ++k) {
    const int64_t picked =
        resolve(static_cast<const Index*>(s.indices)[int64_t(pick) * s.rank + k], s.extents[k].extent, fault);
    inside = inside && picked >= 0;
    to += picked * s.strides[k];
  }
  return inside ? to : -1;
}

/// y = data, and no slice of y has an owner.
template <class Unit>
__device__ __forceinline__ void scatter_copy(const Scatter& s) {
  pdl_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  pdl_wait();
  if (at < s.copied) static_cast<Unit*>(s.y)[at] = static_cast<const Unit*>(s.data)[at];
  for (unsigned slice = at; slice < s.slices; slice += gridDim.x * blockDim.x) s.owners[slice] = -1;
}
/// Updates claim the slices that kTarget gives.
template <auto kTarget>
__device__ __forceinline__ void scatter_claim(const Scatter& s, int64_t* fault) {
  pdl_launch();
  const unsigned pick = blockIdx.x * blockDim.x + threadIdx.x;
  pdl_wait();
  if (pick >= s.picks) return;
  const int64_t to = kTarget(s, pick, fault);
  if (to >= 0) atomicMax(s.owners + to, int(pick));
}
/// Owners write their slices.
template <class Unit, auto kTarget>
__device__ __forceinline__ void scatter_write(const Scatter& s, int64_t* fault) {
  pdl_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned pick = s.row.quotient(at), b = at - pick * s.row.extent;
  pdl_wait();
  if (pick >= s.picks) return;
  const int64_t to = kTarget(s, pick, fault);
  if (to < 0 || s.owners[to] != int(pick)) return;
  static_cast<Unit*>(s.y)[to * s.row.extent + b] = static_cast<const Unit*>(s.updates)[at];
}

}  // namespace kiln
