/// Elements reduced with updates at computed indices: ops::Scatter in both modes with a reduction, for what can_scatter
/// (steps/scatter.h), in the order of the updates. An index outside its axis changes nothing, and the second argument
/// of the kernel that reads indices, a FaultWord's address, has it.
#pragma once

#include <vector>

#include "backend/cuda/kernels/scatter/scatter.h"
#include "backend/cuda/kernels/sort/top_k.h"

namespace kiln::cuda {

/// Updates are so few that a block sorts them.
inline constexpr int64_t kMostScatterSorted = items_of_block(32);

inline constexpr const char *kScatterTargetsEntry = "scatter_targets", *kScatterSortEntry = "scatter_sort",
                            *kScatterReduceEntry = "scatter_reduce", *kScatterLongEntry = "scatter_reduce_long";

struct ScatterReducePlan {
  struct Call {
    const char* entry;
    LaunchShape shape;
  };
  /// Launches, in their order, behind those that copy.
  Call targets;                ///< or sorting, too
  std::vector<TopKCall> sort;  ///< none where a block sorts
  std::vector<Call> reduce;    ///< none where there are no updates
  ScatterReduceArgument argument;
  int64_t workspace_bytes = 0;

  /// Gives the argument its parts of the workspace.
  void place(std::byte* workspace);
  TopKPlan sorting;
  int64_t targets_at = 0;
};
/// Extents of dense data and indices. kUnsupported where data or updates have 2^31 elements.
Result<ScatterReducePlan> plan_scatter_reduce(const ops::Scatter& scatter, int element_bytes,
                                              std::span<const int64_t> data, std::span<const int64_t> indices);

}  // namespace kiln::cuda
