#pragma once

#include "ops/resize.h"
#include "steps/step.h"

namespace kiln::steps {

/// Resampling in any unblocked format. Inputs: x, and where a run has them its roi and scales.
struct Resize {
  static constexpr std::string_view name = "resize";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 3, .outputs = 1};

  ops::Resize op;
  bool from_sizes = false;  ///< the op has its sizes input, so that scales follow from the extents

  static void reflect(auto& self, auto f) { f("op", self.op), f("from_sizes", self.from_sizes); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
