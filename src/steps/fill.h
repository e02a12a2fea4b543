#pragma once

#include "ops/fill.h"
#include "steps/step.h"

namespace kiln::steps {

/// Ramps and random numbers, row-major. Inputs: alpha or absent, beta or absent.
struct Fill {
  static constexpr std::string_view name = "fill";
  static constexpr StepTensors tensors{.present = 0, .least_inputs = 2, .most_inputs = 2, .outputs = 1};

  ops::Fill op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
