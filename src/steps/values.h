#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// Symbolic values as a row-major tensor: its elements are the step's parameters, which are known at bind.
struct Values {
  static constexpr std::string_view name = "values";
  static constexpr StepTensors tensors{.present = 0, .least_inputs = 0, .most_inputs = StepTensors::kAny, .outputs = 1};

  static void reflect(auto&, auto) {}
  Status check(const StepTypes& types, const StepShapes& shapes) const;
  /// The tensor's elements.
  static Bytes elements(DType dtype, std::span<const int64_t> params);
};

}  // namespace kiln::steps
