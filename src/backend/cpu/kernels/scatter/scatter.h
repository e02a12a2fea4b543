/// Elements written over others at computed indices, or reduced with them: ops::Scatter in both modes. One thread
/// works, in the order of the updates: of several of an element the last one stays, and sums have the bits of the
/// reference.
///
/// Planned when shapes are bound; running allocates nothing. An update whose index is outside its axis is left out, and
/// the run returns what it met.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backend/cpu/kernels/outside_indices.h"
#include "base/error.h"
#include "ops/scatter.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"

namespace kiln::cpu {

struct ScatterPlan {
  ScatterMode mode = ScatterMode::kElement;
  ScatterReduction reduction = ScatterReduction::kNone;
  DType dtype = DType::kF32;  ///< of data
  bool wide_indices = false;  ///< i64, else i32
  int64_t data_bytes = 0;
  int64_t picks = 1, row_bytes = 1;         ///< updates, and what each writes
  int rank = 0, axis = 0;                   ///< kElement: axes; kNd: coordinates
  std::array<int64_t, kMaxRank> extents{};  ///< kElement: of updates; kNd: of the axes of y
  std::array<int64_t, kMaxRank> strides{};  ///< of y, bytes
  int64_t extent = 1;                       ///< kElement: of the axis in y
};

/// `dtype` is data's, one that can_scatter (steps/scatter.h); `data` and `indices` are the extents of dense tensors.
Result<ScatterPlan> plan_scatter(const ops::Scatter& scatter, DType dtype, bool wide_indices,
                                 std::span<const int64_t> data, std::span<const int64_t> indices);

/// Returns the indices that were outside their axis; those of an update count once.
OutsideIndices run_scatter(const ScatterPlan& plan, const void* data, const void* indices, const void* updates,
                           void* y);

}  // namespace kiln::cpu
