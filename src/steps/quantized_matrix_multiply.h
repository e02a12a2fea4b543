#pragma once

#include "steps/byte_operands.h"
#include "steps/product_shape.h"
#include "steps/step.h"

namespace kiln::steps {

/// A product of matrices of bytes with what follows it, row-major: a as it is, b one matrix. Inputs: a, b, those of the
/// epilogue, and scales and zero points (byte_operands.h), in which a is x and b is w.
struct QuantizedMatrixMultiply {
  static constexpr std::string_view name = "quantized_matrix_multiply";
  static constexpr StepTensors tensors{
      .present = 2, .least_inputs = 4 + int{kByteOperands}, .most_inputs = StepTensors::kAny, .outputs = 1};

  ops::MatrixMultiply op;
  Epilogue epilogue;

  static void reflect(auto& self, auto f) { f("op", self.op), f("epilogue", self.epilogue); }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
