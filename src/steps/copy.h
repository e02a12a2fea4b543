#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// A tensor copied from its format to another, or to other memory.
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr StepTensors tensors{
      .present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1, .blocked = true};

  static void reflect(auto&, auto) {}
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
