/// Elements picked by indices: ops::Gather in its three modes, for any type of whole bytes.
///
/// Planned when shapes are bound; running allocates nothing. An index outside its axis reads no memory: its elements
/// become zeros, and the run returns what it met.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/outside_indices.h"
#include "base/error.h"
#include "ops/gather.h"
#include "tensor/extents.h"

namespace kiln::cpu {

struct GatherPlan {
  GatherMode mode = GatherMode::kDefault;
  int element_bytes = 1;
  bool wide_indices = false;  ///< i64, else i32

  // kDefault: y[e, a, i, row] = data[e, a, indices[e, i], row]
  int64_t batches = 1, outer = 1, picks = 1;           ///< extents of e, a and i
  int64_t data_batch_bytes = 0, index_batch_step = 0;  ///< from one e to the next; 0 where it broadcasts
  int64_t extent = 1;                                  ///< of the axis
  int64_t row_bytes = 1;

  // kElement and kNd
  int rank = 0;                                   ///< kElement: axes; kNd: coordinates
  int axis = 0;                                   ///< kElement
  std::array<int64_t, kMaxRank> index_extents{};  ///< kElement: of indices; kNd: of the axes picked from
  std::array<int64_t, kMaxRank> data_strides{};   ///< bytes
  int64_t parts = 1;
};

/// Extents of dense data and indices. kUnsupported where elementwise axes broadcast in part, one way each.
Result<GatherPlan> plan_gather(const ops::Gather& gather, int element_bytes, bool wide_indices,
                               std::span<const int64_t> data, std::span<const int64_t> indices);

/// Returns the indices that were outside their axis; those of a row of coordinates count once.
OutsideIndices run_gather(Team& team, const GatherPlan& plan, const void* data, const void* indices, void* y);

}  // namespace kiln::cpu
