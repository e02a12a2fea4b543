#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// Inputs one after the other along an axis, all in one format.
struct Concatenation {
  static constexpr std::string_view name = "concatenation";
  static constexpr StepTensors tensors{
      .present = StepTensors::kAll, .least_inputs = 1, .most_inputs = StepTensors::kAny, .outputs = 1};

  int axis = 0;  ///< by its position in memory

  static void reflect(auto& self, auto f) { f("axis", self.axis); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
