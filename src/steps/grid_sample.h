#pragma once

#include "ops/grid_sample.h"
#include "steps/step.h"

namespace kiln::steps {

/// An image sampled at positions, row-major. Inputs: x, grid.
struct GridSample {
  static constexpr std::string_view name = "grid_sample";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 2, .most_inputs = 2, .outputs = 1};

  ops::GridSample op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
