#pragma once

#include "ops/recurrence.h"
#include "steps/step.h"

namespace kiln::steps {

/// A recurrence, row-major. Inputs and outputs are the op's, all floats of one type; w, r, b and p are constants.
struct Recurrence {
  static constexpr std::string_view name = "recurrence";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 3, .most_inputs = 8, .outputs = StepTensors::kAny};

  ops::Recurrence op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
