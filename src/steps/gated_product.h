#pragma once

#include "ops/nest_program.h"
#include "steps/epilogue.h"
#include "steps/product_shape.h"
#include "steps/step.h"

namespace kiln::steps {

/// A gated linear unit: the columns of a * b + bias are two halves, of which a function of two numbers makes one result
/// a pair, y[i, j] = gate(p[i, j], p[i, n / 2 + j]). Inputs: a, and b and the bias or absent, which are constants;
/// row-major.
struct GatedProduct {
  static constexpr std::string_view name = "gated_product";
  static constexpr size_t kNumInputs = Epilogue::kHook;
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 4, .most_inputs = 4, .outputs = 1};

  ops::MatrixMultiply op;
  Epilogue epilogue;  ///< a bias at most
  NestProgram gate;

  static void reflect(auto& self, auto f) { f("op", self.op), f("epilogue", self.epilogue), f("gate", self.gate); }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
