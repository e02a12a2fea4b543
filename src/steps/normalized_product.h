#pragma once

#include "steps/gated_product.h"
#include "steps/matrix_multiply.h"

namespace kiln::steps {

/// A product of rows that RMS normalization divides, y = epilogue(r[i] * sum over l of a[i, l] * b[l, j]) with r[i] =
/// 1 / sqrt(mean over l of a[i, l]^2 + epsilon); with a gate, a gated product of them. Inputs as those of
/// MatrixMultiply, or of GatedProduct; row-major.
struct NormalizedProduct {
  static constexpr std::string_view name = "normalized_product";
  static constexpr StepTensors tensors = MatrixMultiply::tensors;

  ops::MatrixMultiply op;
  Epilogue epilogue;  ///< of a gated one a bias at most
  std::optional<NestProgram> gate;
  double epsilon = 1e-5;

  static void reflect(auto& self, auto f) {
    f("op", self.op), f("epilogue", self.epilogue), f("gate", self.gate), f("epsilon", self.epsilon);
  }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
