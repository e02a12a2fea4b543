#pragma once

#include "steps/lane_extents.h"
#include "steps/step.h"

namespace kiln::steps {

/// Softmax along one axis. In place is allowed.
struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  int axis = 0;  ///< by its position in memory: of a channels-last tensor the channels are the last one

  static void reflect(auto& self, auto f) { f("axis", self.axis); }
  /// The lanes of the axis, for x of these extents and format.
  LaneExtents lanes(const Format& format, const Extents& x) const {
    return lane_extents(in_memory_order(format, x), static_cast<size_t>(axis), static_cast<size_t>(axis));
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
