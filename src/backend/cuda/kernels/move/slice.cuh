// Slices whose coordinates may lie outside of the source: wrapped, clamped, mirrored or filled. The target is dense.
#pragma once

#include "backend/cuda/kernels/move/arguments.h"
#include "nest/walk.cuh"

namespace kiln {

using Slice = cuda::SliceArgument;

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

/// A slice whose coordinates may lie outside of the source, in 32 bits.
using BandSlice = cuda::BandSliceArgument;
__device__ __forceinline__ int coordinate_of(int mode, int i, int extent) {
  if (unsigned(i) < unsigned(extent)) return i;
  if (mode == kFill || mode == kStrictBounds || extent == 0) return -1;
  if (mode == kClamp) return i < 0 ? 0 : extent - 1;
  const int period = mode == kWrap ? extent : max(2 * (extent - 1), 1);
  int at = i % period;
  if (at < 0) at = mode == kWrap ? at + period : -at;
  return at < extent ? at : period - at;
}

struct alignas(16) Unit16 {
  unsigned words[4];
};
/// As many of an element as a unit has.
template <class Unit, class Element>
__device__ __forceinline__ Unit filled(Element e) {
  if constexpr (sizeof(Unit) == sizeof(Element)) {
    return e;
  } else {
    static_assert(sizeof(Unit) == 16);
    const unsigned low = sizeof(e) == 1 ? e * 0x01010101u : sizeof(e) == 2 ? e * 0x00010001u : unsigned(e);
    const unsigned high = sizeof(e) == 8 ? unsigned(uint64_t(e) >> 32) : low;
    return {{low, high, low, high}};
  }
}
/// A thread has one column of a band of kRows rows: what the columns and the outer axes decide is found once. A unit is
/// one element or several.
template <class Unit, class Element>
__device__ __forceinline__ void slice_band(const BandSlice& s) {
  constexpr int kRows = sizeof(Unit) < 4 ? 8 : 4;
  pdl_launch();
  unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= s.count) return;
  int64_t source = 0;
  bool outside = false;
  const auto split = [&](int axis) {
    const unsigned quotient = s.axes[axis].quotient(position), i = position - quotient * s.axes[axis].extent;
    position = quotient;
    return int(i);
  };
  const auto add = [&](int axis, int i) {
    const int at = coordinate_of(s.mode, s.starts[axis] + i * s.steps[axis], s.extents[axis]);
    outside |= at < 0;
    source += at * s.strides[axis];
  };
  const int last = s.rank - 1, column = split(last), first = split(last - 1) * kRows;
  const unsigned outer = position;
  add(last, column);
#pragma unroll 1
  for (int axis = last - 2; axis >= 0; --axis) add(axis, split(axis));
  int64_t from[kRows];
  bool inside[kRows];
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    const int row = coordinate_of(s.mode, s.starts[last - 1] + (first + u) * s.steps[last - 1], s.extents[last - 1]);
    inside[u] = !outside && row >= 0 && first + u < s.rows;
    from[u] = source + row * s.strides[last - 1];
  }
  pdl_wait();
  const Unit fill = filled<Unit, Element>(s.fill ? *static_cast<const Element*>(s.fill) : Element(0));
  Unit values[kRows];
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    values[u] = fill;
    if (inside[u]) values[u] = static_cast<const Unit*>(s.from)[from[u]];
  }
  const int columns = int(s.axes[last].extent);
  Unit* to = static_cast<Unit*>(s.to) + (int64_t(outer) * s.rows + first) * columns + column;
#pragma unroll
  for (int u = 0; u < kRows; ++u)
    if (first + u < s.rows) to[u * columns] = values[u];
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
    const Slice::Axis& a = s.axes[axis];
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
