#pragma once

#include "steps/lane_extents.h"
#include "steps/step.h"

namespace kiln::steps {

/// The first elements of each row in their order, row-major. Input: x. Outputs: values, indices.
struct TopK {
  static constexpr std::string_view name = "top_k";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 2};

  int axis = 0;  ///< from the front
  bool largest = true;

  static void reflect(auto& self, auto f) {
    f("axis", self.axis);
    f("largest", self.largest);
  }
  /// The lanes of the axis, for a tensor of these extents.
  LaneExtents lanes(const Extents& x) const {
    return lane_extents(x, static_cast<size_t>(axis), static_cast<size_t>(axis));
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps

namespace kiln {

/// Whether a step sorts elements of that type.
constexpr bool has_sort_key(DType t) {
  return is_kernel_float(t) || t == DType::kI32 || t == DType::kI64 || t == DType::kI8 || t == DType::kU8;
}
/// Rows have fewer elements: their indices have 31 bits.
inline constexpr int64_t kMostSorted = int64_t{1} << 31;

}  // namespace kiln
