/// Different elements, by the kernels of top_k.cuh, which sort, and of unique.cuh.
#pragma once

#include "backend/cuda/kernels/sort/top_k.h"

namespace kiln::cuda {

inline constexpr const char *kUniqueSortedCountEntry = "unique_sorted_count",
                            *kUniqueSortedNumberEntry = "unique_sorted_number",
                            *kUniqueAppearingCountEntry = "unique_appearing_count",
                            *kUniqueAppearingNumberEntry = "unique_appearing_number",
                            *kUniqueStoreEntry = "unique_store";

struct UniquePlan {
  struct Call {
    const char* entry;
    LaunchShape shape;
  };
  TopKPlan sort;
  UniqueArgument argument;
  std::vector<Call> calls;  ///< behind the sort's
  int64_t workspace_bytes = 0;

  /// Gives the arguments their parts of the workspace.
  void place(std::byte* workspace);
};
/// `count` elements, 1 to kMostSorted - 1; `room` for different ones.
UniquePlan plan_unique(DType dtype, int64_t count, int64_t room, bool sorted);

}  // namespace kiln::cuda
