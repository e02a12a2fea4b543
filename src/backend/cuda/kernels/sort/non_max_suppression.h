/// The best boxes of each image and class that do not overlap much, by the kernels of non_max_suppression.cuh.
#pragma once

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/sort/arguments.h"
#include "steps/non_max_suppression.h"

namespace kiln::cuda {

inline constexpr const char *kSuppressBoxesEntry = "suppress_boxes", *kSuppressStartsEntry = "suppress_starts",
                            *kStoreSelectedEntry = "store_selected";

struct NonMaxSuppressionPlan {
  NonMaxSuppressionArgument argument;
  LaunchShape suppress, starts, store;
  int64_t workspace_bytes = 0;

  /// Gives the argument its parts of the workspace.
  void place(std::byte* workspace);
};
NonMaxSuppressionPlan plan_non_max_suppression(const steps::NonMaxSuppression& step, const StepTypes& types,
                                               const StepShapes& shapes);

}  // namespace kiln::cuda
