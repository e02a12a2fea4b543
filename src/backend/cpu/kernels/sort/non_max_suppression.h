/// The best boxes of each image and class that do not overlap much (ops/non_max_suppression.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backend/cpu/device/team.h"
#include "steps/non_max_suppression.h"

namespace kiln::cpu {

struct NonMaxSuppressionShape {
  steps::NonMaxSuppression::Sizes sizes;
  DType dtype = DType::kF32;  ///< f32, f16 or bf16
  BoxFormat format = BoxFormat::kCorners;
  bool wide_indices = true;  ///< i64, else i32
};

/// The numbers of a run.
struct SelectionLimits {
  int64_t most = 0;  ///< boxes of a class
  float iou = 0;
  std::optional<float> score;
};

int64_t non_max_suppression_workspace(const Team& team, const NonMaxSuppressionShape& shape);  ///< bytes

/// Returns how many boxes are selected. `selected` takes them, unless there is no room for so many: then it stays as it
/// is.
int64_t non_max_suppression(Team& team, const NonMaxSuppressionShape& shape, const SelectionLimits& limits,
                            const void* boxes, const void* scores, void* selected, std::byte* workspace);

}  // namespace kiln::cpu
