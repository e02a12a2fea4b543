#pragma once

#include "ops/read_values.h"
#include "steps/step.h"

namespace kiln::steps {

/// A copy of a row-major tensor, each of whose elements is a size that the run tells. Input: x. Output: y.
struct ReadValues {
  static constexpr std::string_view name = "read_values";
  static constexpr StepTensors tensors{
      .present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1, .sizes = StepTensors::kAny};

  ops::ReadValues op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
