#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// A row-major tensor broadcast to the output's extents.
struct Expand {
  static constexpr std::string_view name = "expand";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  static void reflect(auto&, auto) {}
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
