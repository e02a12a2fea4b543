#include "steps/quantized_result.h"

#include <cmath>

#include "ops/quantization.h"
#include "tensor/view.h"

namespace kiln::steps {
namespace {

/// The place of such an input among `num_inputs`.
size_t input_of(ResultOperand operand, size_t num_inputs) {
  return num_inputs - kResultOperands + static_cast<size_t>(operand);
}

}  // namespace

bool is_quantized_result(DType type) { return is_byte(type) || type == DType::kF8E4M3; }

bool is_quantized(const StepTypes& types) { return is_quantized_result(types.outputs.back().dtype); }

Status check_quantized_result(const StepTypes& types, const StepTensor& like) {
  const StepTensor& y = types.outputs.back();
  const StepTensor& scale = types.inputs[input_of(ResultOperand::kScale, types.inputs.size())];
  const StepTensor& zero = types.inputs[input_of(ResultOperand::kZero, types.inputs.size())];
  TRY(require(is_quantized_result(y.dtype) && y.format == like.format, "a quantized result is ", y.dtype, " in format ",
              y.format, "; i8, u8 or f8e4m3 in format ", like.format, " is needed"));
  TRY(require(scale.present && is_kernel_float(scale.dtype), "the scale of a quantized result is ",
              scale.present ? str(scale.dtype) : "absent", "; f32, f16 and bf16 are possible"));
  return require(!zero.present || (zero.dtype == y.dtype && is_byte(y.dtype)), "the zero point of a result of ",
                 y.dtype, " is ", zero.dtype, "; it has the type of the result, and FP8 has none");
}

Status check_quantized_result(const StepTypes& types, const StepShapes& shapes) {
  for (const ResultOperand operand : {ResultOperand::kScale, ResultOperand::kZero}) {
    const size_t at = input_of(operand, types.inputs.size());
    if (types.inputs[at].present) TRY(require_count(shapes.inputs[at], 1, "a scale or zero point of a result"));
  }
  return {};
}

Result<ResultScale> result_scale(const StepTypes& types, std::span<const HostTensor* const> constants) {
  const auto number = [&](ResultOperand operand) -> Result<float> {
    const HostTensor* constant = constants[input_of(operand, constants.size())];
    TRY(require(constant && constant->volume() == 1,
                "a quantized result needs its scale and its zero point as constants of one element"));
    return static_cast<float>(View(*constant)[0]);
  };
  const float scale = TRY(number(ResultOperand::kScale));
  TRY(require(std::isfinite(scale) && scale > 0, "the scale of a quantized result is ", scale,
              "; a finite, positive number is needed"));
  const bool has_zero = types.inputs[input_of(ResultOperand::kZero, types.inputs.size())].present;
  return ResultScale{1 / scale, has_zero ? TRY(number(ResultOperand::kZero)) : 0};
}

}  // namespace kiln::steps
