/// Different elements, or slices of few, by the kernels of top_k.cuh, which sort, and of unique.cuh.
#pragma once

#include "backend/cuda/kernels/sort/top_k.h"

namespace kiln::cuda {

inline constexpr const char *kUniqueSortedCountEntry = "unique_sorted_count",
                            *kUniqueSortedNumberEntry = "unique_sorted_number",
                            *kUniqueAppearingCountEntry = "unique_appearing_count",
                            *kUniqueAppearingNumberEntry = "unique_appearing_number",
                            *kUniqueStoreEntry = "unique_store", *kUniqueNextKeysEntry = "unique_next_keys";

/// Elements of a slice. Each is sorted by passes of its own.
inline constexpr int64_t kMostUniqueSlice = 16;

struct UniquePlan {
  struct Call {
    const char* entry;
    LaunchShape shape;
  };
  TopKPlan sort;   ///< by one element of the slices
  Call next_keys;  ///< in front of the sort's calls, for each element but the first that is sorted by
  UniqueArgument argument;
  std::vector<Call> calls;  ///< behind the sort's
  int64_t workspace_bytes = 0;

  /// The last element of the first slice: what the first passes sort by.
  const void* last_elements(const void* x) const;
  /// Gives the arguments their parts of the workspace.
  void place(std::byte* workspace);
  int element_bytes = 1;
};
/// 1 to kMostSorted - 1 slices of 1 to kMostUniqueSlice elements; `room` for different ones.
UniquePlan plan_unique(DType dtype, const LaneExtents& slices, int64_t room, bool sorted);

}  // namespace kiln::cuda
