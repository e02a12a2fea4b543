// Slices whose coordinates may lie outside of the source: wrapped, clamped, mirrored or filled. The target is dense.
#pragma once

#include "nest/walk.cuh"

namespace kiln {

/// One axis of the source. kernels/move/slice.h has the same.
struct SliceAxis {
  int64_t extent, start, step;  ///< element i of the target is element start + i * step
  int64_t stride;               ///< in units
};
struct Slice {
  WideWalk walk;  ///< over the target
  const void* from;
  void* to;
  const void* fill;  ///< one unit; null: zeros
  int mode;          ///< SliceMode of ops/slice.h
  SliceAxis axes[kMaxAxes];
};

enum { kStrictBounds, kWrap, kClamp, kFill, kReflect };

/// The element that coordinate `i` means, or -1: slice_coordinate of ops/slice.h.
__device__ __forceinline__ int64_t coordinate(int mode, int64_t i, int64_t extent) {
  if (uint64_t(i) < uint64_t(extent)) return i;
  if (extent == 0) return -1;
  if (mode == kWrap) return (i % extent + extent) % extent;
  if (mode == kClamp) return i < 0 ? 0 : extent - 1;
  if (mode != kReflect) return -1;
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  int64_t at = i % period;
  at = at < 0 ? -at : at;
  return at < extent ? at : period - at;
}

template <class Unit>
__device__ __forceinline__ void slice(const Slice& s) {
  uint64_t position = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (position >= s.walk.count) return;
  const uint64_t target = position;
  int64_t source = 0;
  bool outside = false;
#pragma unroll 1
  for (int axis = s.walk.rank - 1; axis >= 0; --axis) {
    const SliceAxis& a = s.axes[axis];
    // Most targets are small: the division is then a short one.
    int64_t i;
    if (position >> 32) {
      i = int64_t(s.walk.split(axis, position));
    } else {
      const unsigned low = unsigned(position), extent = unsigned(s.walk.axes[axis]);
      const unsigned quotient = s.walk.axes[axis] >> 32 ? 0 : low / extent;
      i = low - quotient * extent;
      position = quotient;
    }
    const int64_t at = coordinate(s.mode, a.start + i * a.step, a.extent);
    outside |= at < 0;
    source += at * a.stride;
  }
  pdl_launch();
  pdl_wait();
  Unit value = {};
  if (!outside)
    value = static_cast<const Unit*>(s.from)[source];
  else if (s.fill)
    value = *static_cast<const Unit*>(s.fill);
  static_cast<Unit*>(s.to)[target] = value;
}

}  // namespace kiln

#define KILN_SLICE(entry, Unit)                                                                    \
  extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ kiln::Slice s) { \
    kiln::slice<Unit>(s);                                                                          \
  }
