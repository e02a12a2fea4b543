#pragma once

#include "steps/epilogue.h"
#include "steps/product_shape.h"
#include "steps/step.h"

namespace kiln::steps {

/// A matrix product with what follows it, row-major. Inputs: a, b, and what the epilogue reads.
struct MatrixMultiply {
  static constexpr std::string_view name = "matrix_multiply";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 4, .most_inputs = StepTensors::kAny, .outputs = 1};

  ops::MatrixMultiply op;
  Epilogue epilogue;

  static void reflect(auto& self, auto f) { f("op", self.op), f("epilogue", self.epilogue); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
