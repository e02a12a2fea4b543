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
  /// Whether weights are of another type than the floats that they multiply.
  bool is_mixed() const { return a != b && is_kernel_float(a); }
  /// Whether the operands have one byte each: integers, whose sums are integers, or FP8.
  bool is_of_bytes() const { return bits_of(a) == 8; }
  auto operator<=>(const ContractionTypes&) const = default;
  static void reflect(auto& self, auto f) {
    f("a", self.a), f("b", self.b), f("accumulator", self.accumulator), f("out", self.out);
  }
  /// Fails unless kernels multiply the operands, and sums end in FP32.
  Status check() const {
    const bool floats = is_kernel_float(a) && is_kernel_float(b) && is_kernel_float(out);
    const bool integers = (a == DType::kI8 || a == DType::kU8) && b == DType::kI8;
    const bool bytes = integers || (a == DType::kF8E4M3 && b == a);
    return require((floats || (bytes && (is_kernel_float(out) || bits_of(out) == 8))) && accumulator == DType::kF32,
                   "no contraction makes ", out, " of ", a, " and ", b, " by sums in ", accumulator);
  }
};

}  // namespace kiln
