/// How kernels walk strided tensors: axes merged and ordered when shapes are bound, and what a launch passes of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/kernels/nest/arguments.h"
#include "tensor/extents.h"

namespace kiln::cuda {

/// A tensor's strides by axis, in elements; 0 repeats (inputs only), negative ones run backwards.
using AxisStrides = std::array<int64_t, kMaxRank>;

/// Axes outermost first, those of extent 1 left out, neighbours merged wherever all tensors allow it. Rank at least 1.
struct MergedAxes {
  int rank = 0;
  std::array<int64_t, kMaxRank> extents{};
  std::vector<AxisStrides> strides;  ///< one a tensor

  int64_t count() const { return volume(std::span(extents).first(static_cast<size_t>(rank))); }
  int64_t inner_extent() const { return extents[static_cast<size_t>(rank - 1)]; }
  int64_t inner_stride(size_t tensor) const { return strides[tensor][static_cast<size_t>(rank - 1)]; }
  /// Largest distance of an element from element 0, over all tensors.
  int64_t reach() const;
};
/// Axes are ordered by the strides of tensor `leader`, the largest outermost. At most kMaxRank axes differ from 1.
MergedAxes merge_axes(std::span<const int64_t> extents, std::span<const AxisStrides> tensors, size_t leader);

/// Strides along the axes of `space` of a tensor of `extents` with `own` strides, aligned at the right; 0 along axes
/// that it lacks or repeats.
AxisStrides broadcast_strides(std::span<const int64_t> extents, std::span<const int64_t> own,
                              std::span<const int64_t> space);

static_assert(kMaxAxes == kMaxRank);

Divisor divisor_of(int64_t extent);  ///< in [1, 2^31)

/// Whether offsets and counts of these axes fit the 32-bit walk.
bool is_narrow(const MergedAxes& axes);

/// A walk in vectors of `width` elements of the innermost axis; `per_block` is left to the launch.
WalkArgument narrow_walk(const MergedAxes& axes, int width);
WideWalkArgument wide_walk(const MergedAxes& axes, int width);
template <class Offset>
OperandArgument<Offset> operand_argument(const MergedAxes& axes, size_t tensor, int width) {
  OperandArgument<Offset> result;
  for (int axis = 0; axis < axes.rank; ++axis)
    result.strides[axis] = static_cast<Offset>(axes.strides[tensor][static_cast<size_t>(axis)]);
  result.step = result.strides[axes.rank - 1];
  result.strides[axes.rank - 1] *= width;
  return result;
}

}  // namespace kiln::cuda
