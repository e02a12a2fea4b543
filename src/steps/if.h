#pragma once

#include "ops/bodies.h"
#include "steps/step.h"

namespace kiln::steps {

/// One of two bodies of the plan, by a condition; row-major. Inputs: condition, and those of both bodies. Outputs:
/// those of the body that runs.
struct If {
  static constexpr std::string_view name = "if";
  static constexpr StepTensors tensors{.present = StepTensors::kAll,
                                       .least_inputs = 1,
                                       .most_inputs = StepTensors::kAny,
                                       .outputs = StepTensors::kAny,
                                       .sizes = StepTensors::kAny};
  std::vector<DecidedAxis> decided;  ///< by size: the extent that it is

  static void reflect(auto& self, auto f) { f("decided", self.decided); }
  Status check(const StepTypes& types) const;
};

}  // namespace kiln::steps

namespace kiln {

/// Fails unless the axes are those of outputs, as many as there are sizes.
Status check_decided(std::span<const DecidedAxis> decided, const StepTypes& types);
/// Fails unless an input that is there has one of these types and at most one axis.
Status check_single(const StepTypes& types, size_t input, bool (*is)(DType), std::string_view what);

}  // namespace kiln
