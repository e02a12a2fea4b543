#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// Elements of one box; a launch may hold several, whose blocks follow each other.
template <class W>
struct Box {
  W walk;
  OperandArgument<typename W::Offset> from, to;
  uint32_t first_block = 0;
};
template <class W, int kCount>
struct Boxes {
  int32_t count = kCount;
  Box<W> at[kCount];
};

struct TransposeArgument {
  WalkArgument outer;                 ///< of tiles: its innermost two axes count tiles along a and along b
  OperandArgument<int32_t> from, to;  ///< strides of outer's axes; of the last two: from one tile to the next
  int32_t extent_a, extent_b;
  int32_t from_b, to_a;  ///< strides
};

/// A slice whose coordinates may lie outside of the source. The target is dense.
struct SliceArgument {
  /// One axis of the source: element i of the target is element start + i * step; `stride` in units.
  struct Axis {
    int64_t extent, start, step, stride;
  };
  WideWalkArgument walk;  ///< over the target
  const void* from = nullptr;
  void* to = nullptr;
  const void* fill = nullptr;  ///< one element, read in mode kFill; null: zeros
  int32_t mode = 0;            ///< SliceMode of ops/slice.h
  Axis axes[kMaxAxes] = {};
};
/// A slice whose coordinates may lie outside of the source, in 32 bits.
struct BandSliceArgument {
  uint32_t count = 0;          ///< threads
  int32_t rank = 0, mode = 0;  ///< at least two axes
  Divisor axes[kMaxAxes];      ///< of the target, in units; the last but one in bands
  const void* from = nullptr;
  void* to = nullptr;
  const void* fill = nullptr;
  int32_t extents[kMaxAxes] = {}, starts[kMaxAxes] = {}, steps[kMaxAxes] = {};  ///< of the source
  int64_t strides[kMaxAxes] = {};
  int32_t rows = 1;  ///< of the target, along the last axis but one
};
struct FlatSliceArgument {
  uint32_t count = 0;  ///< vectors of 16 bytes of the target
  int32_t rank = 0, mode = 0;
  int32_t words = 0;  ///< of the source
  const void* from = nullptr;
  void* to = nullptr;
  const void* fill = nullptr;
  Divisor axes[kMaxAxes];  ///< of the target
  int32_t extents[kMaxAxes] = {}, starts[kMaxAxes] = {}, steps[kMaxAxes] = {},
          strides[kMaxAxes] = {};  ///< of the source
};

}  // namespace kiln::cuda
