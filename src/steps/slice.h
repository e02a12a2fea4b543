#pragma once

#include "ops/slice.h"
#include "steps/step.h"

namespace kiln::steps {

/// A slice in any mode. Inputs: x, the fill element or absent. Parameters: a start an axis of x, then a stride an axis.
struct Slice {
  static constexpr std::string_view name = "slice";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 2, .outputs = 1};

  SliceMode mode = SliceMode::kStrictBounds;

  static void reflect(auto& self, auto f) { f("mode", self.mode); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
