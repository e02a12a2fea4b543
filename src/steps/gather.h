#pragma once

#include "ops/gather.h"
#include "steps/step.h"

namespace kiln::steps {

/// Elements picked by indices, row-major. Inputs: data, indices.
struct Gather {
  static constexpr std::string_view name = "gather";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 2, .most_inputs = 2, .outputs = 1};

  ops::Gather op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
