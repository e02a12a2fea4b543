#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// Softmax along one axis. In place is allowed.
struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  int axis = 0;  ///< by its position in memory: of a channels-last tensor the channels are the last one

  static void reflect(auto& self, auto f) { f("axis", self.axis); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
