#pragma once

#include "ops/nest_program.h"
#include "steps/step.h"

namespace kiln::steps {

/// A chain of pointwise ops in one pass over memory. Inputs broadcast against output 0, axes aligned at the right.
/// In place is allowed for an input of an output's extents and format.
struct Nest {
  static constexpr std::string_view name = "nest";
  static constexpr StepTensors tensors{
      .present = StepTensors::kAll, .least_inputs = 0, .most_inputs = StepTensors::kAny, .outputs = StepTensors::kAny};

  NestProgram program;  ///< of the step's inputs and outputs, in order

  static void reflect(auto& self, auto f) { f("program", self.program); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
