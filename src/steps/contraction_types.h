/// The types of sums of products: of a matrix product or a convolution.
#pragma once

#include "base/error.h"
#include "steps/step_types.h"
#include "tensor/field_types.h"

namespace kiln {

/// What a kernel reads, sums in and writes. Of a convolution, `a` is x and `b` is w.
struct ContractionTypes {
  DType a = DType::kF32, b = DType::kF32;
  DType accumulator = DType::kF32;
  DType out = DType::kF32;

  /// Both operands and the result of one type.
  static constexpr ContractionTypes all(DType type) { return {type, type, DType::kF32, type}; }
  /// The types of a step whose first two inputs are the operands.
  static ContractionTypes of(const StepTypes& step) {
    return {step.inputs[0].dtype, step.inputs[1].dtype, DType::kF32, step.outputs[0].dtype};
  }
  /// Whether weights are of another type than what they multiply.
  bool is_mixed() const { return a != b; }
  auto operator<=>(const ContractionTypes&) const = default;
  static void reflect(auto& self, auto f) {
    f("a", self.a), f("b", self.b), f("accumulator", self.accumulator), f("out", self.out);
  }
  /// Fails unless all are floats that kernels have, and sums are FP32.
  Status check() const {
    return require(is_kernel_float(a) && is_kernel_float(b) && is_kernel_float(out) && accumulator == DType::kF32,
                   "no contraction makes ", out, " of ", a, " and ", b, " by sums in ", accumulator);
  }
};

}  // namespace kiln
