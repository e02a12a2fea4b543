/// The best boxes of each image and class that do not overlap much, by the kernels of non_max_suppression.cuh and
/// long_suppression.cuh.
#pragma once

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/sort/top_k.h"
#include "steps/non_max_suppression.h"

namespace kiln::cuda {

inline constexpr const char *kSuppressBoxesEntry = "suppress_boxes", *kSuppressStartsEntry = "suppress_starts",
                            *kStoreSelectedEntry = "store_selected", *kLongGatherEntry = "long_gather",
                            *kLongCompareEntry = "long_compare", *kLongSelectEntry = "long_select",
                            *kLongRemoveEntry = "long_remove";

/// Whether lists of so many boxes, of which at most `kept` are selected, are long where there are few of them.
bool may_be_long(int64_t boxes, int64_t kept);

struct NonMaxSuppressionPlan {
  struct Call {
    const char* entry;
    LaunchShape shape;
    int round = 0;  ///< the kernel's second argument, but for the first call's
  };
  NonMaxSuppressionArgument argument;
  LaunchShape suppress, starts, store;
  bool is_long = false;  ///< instead of `suppress` there are `sort` and then `calls`
  TopKPlan sort;
  LongSuppressionArgument long_argument;
  std::vector<Call> calls;
  int64_t workspace_bytes = 0;

  /// Gives the arguments their parts of the workspace; all else of `argument` is there.
  void place(std::byte* workspace);
};
/// `step` takes these types and shapes; lists are long where they `may_be_long` and are few.
NonMaxSuppressionPlan plan_non_max_suppression(const steps::NonMaxSuppression& step, const StepTypes& types,
                                               const StepShapes& shapes);

}  // namespace kiln::cuda
