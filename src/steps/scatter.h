#pragma once

#include "ops/scatter.h"
#include "steps/step.h"

namespace kiln::steps {

/// Elements written over others at indices, or reduced with them, row-major. Inputs: data, indices, updates.
struct Scatter {
  static constexpr std::string_view name = "scatter";
  static constexpr StepTensors tensors{.present = 3, .least_inputs = 3, .most_inputs = 3, .outputs = 1};

  ops::Scatter op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps

namespace kiln {

/// Whether steps scatter elements of that type so: without a reduction, all of whole bytes.
constexpr bool can_scatter(ScatterReduction reduction, DType data) {
  return reduction == ScatterReduction::kNone ? bits_of(data) >= 8 : is_kernel_float(data) || is_index(data);
}

}  // namespace kiln
