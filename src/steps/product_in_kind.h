#pragma once

#include "ops/matrix_multiply.h"
#include "steps/step.h"

namespace kiln::steps {

/// A matrix product of f64, i32 or i64, computed in that type, row-major. Inputs: a, b.
struct ProductInKind {
  static constexpr std::string_view name = "product_in_kind";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 2, .most_inputs = 2, .outputs = 1};

  ops::MatrixMultiply op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
