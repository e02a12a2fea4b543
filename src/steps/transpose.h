#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// A transpose of a row-major tensor.
struct Transpose {
  static constexpr std::string_view name = "transpose";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  std::vector<int64_t> perm;  ///< axis i of the output is axis perm[i] of x

  static void reflect(auto& self, auto f) { f("perm", self.perm); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
