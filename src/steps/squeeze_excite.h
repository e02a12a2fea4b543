#pragma once

#include "ops/nest_program.h"
#include "steps/step.h"

namespace kiln::steps {

/// Squeeze and excitation of pictures: x times gates, which the mean of each channel decides by two small products.
/// Inputs: x, w1 [hidden, channels, 1, ...], w2 [channels, hidden, 1, ...], b1 or absent, b2 or absent; all but x are
/// constants. In place is allowed.
struct SqueezeExcite {
  static constexpr std::string_view name = "squeeze_excite";
  static constexpr StepTensors tensors{.present = 3, .least_inputs = 5, .most_inputs = 5, .outputs = 1};

  NestProgram hidden, gate;  ///< functions of the first product's and of the second's elements, floats

  static void reflect(auto& self, auto f) { f("hidden", self.hidden), f("gate", self.gate); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
