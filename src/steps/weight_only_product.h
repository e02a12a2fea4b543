#pragma once

#include "steps/epilogue.h"
#include "steps/product_shape.h"
#include "steps/step.h"

namespace kiln::steps {

/// The last inputs of a product by quantized weights, whose numbers are (b - zero) * scale. Scales are floats; zero
/// points have b's type, and are absent where they are 0.
enum class WeightOperand : uint8_t { kScale, kZero };
inline constexpr size_t kWeightOperands = 2;

/// The place of such an input among `num_inputs`.
constexpr size_t input_of(WeightOperand operand, size_t num_inputs) {
  return num_inputs - kWeightOperands + static_cast<size_t>(operand);
}

/// The types in which weights are kept beside float activations.
constexpr bool is_weight_type(DType t) { return t == DType::kI4 || t == DType::kI8 || t == DType::kU8; }

/// How scales lie over a matrix k x n: one for each `block` elements along k, and for each column or for all. That of
/// element (i, j) is number i / block * k_stride + j * n_stride.
struct WeightScales {
  int64_t block = 1, k_stride = 0, n_stride = 0;
};
/// Where there are several blocks along k, their size is a multiple of this.
inline constexpr int64_t kBlockMultiple = 8;
/// The layout of scales of these extents over b, which `op` reads. Fails where kernels have no such layout.
Result<WeightScales> weight_scales(ops::MatrixOp op, const Extents& b, const Extents& scale);

/// A product of a matrix of floats, a as it is, by one matrix b of quantized weights, with what follows it, row-major.
/// Inputs: a, b, those of the epilogue, and scales and zero points (WeightOperand).
struct WeightOnlyProduct {
  static constexpr std::string_view name = "weight_only_product";
  static constexpr StepTensors tensors{
      .present = 2, .least_inputs = 4 + int{kWeightOperands}, .most_inputs = StepTensors::kAny, .outputs = 1};

  ops::MatrixMultiply op;
  Epilogue epilogue;

  static void reflect(auto& self, auto f) { f("op", self.op), f("epilogue", self.epilogue); }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
