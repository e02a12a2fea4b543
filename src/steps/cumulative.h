#pragma once

#include "ops/cumulative.h"
#include "steps/lane_extents.h"
#include "steps/step.h"

namespace kiln::steps {

/// Running sums or products along one axis, row-major.
struct Cumulative {
  static constexpr std::string_view name = "cumulative";
  static constexpr int version = 2;
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  CumulativeOperation operation = CumulativeOperation::kSum;
  int axis = 0;  ///< from the front
  bool exclusive = false, reverse = false;

  static void reflect(auto& self, auto f) {
    f("operation", self.operation);
    f("axis", self.axis);
    f("exclusive", self.exclusive);
    f("reverse", self.reverse);
  }
  /// The lanes of the axis, for x of these extents.
  LaneExtents lanes(const Extents& x) const {
    return lane_extents(x, static_cast<size_t>(axis), static_cast<size_t>(axis));
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
