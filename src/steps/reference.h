#pragma once

#include "ops/field_types.h"
#include "steps/step.h"

namespace kiln::steps {

/// Any op by its reference, row-major: the fallback. Its tensors are checked by whoever has its constants.
struct Reference {
  static constexpr std::string_view name = "reference";
  static constexpr StepTensors tensors{.present = 0,
                                       .least_inputs = 0,
                                       .most_inputs = StepTensors::kAny,
                                       .outputs = StepTensors::kAny,
                                       .sizes = StepTensors::kAny};

  Op op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
};

}  // namespace kiln::steps
