#include "steps/byte_operands.h"

#include "ops/quantization.h"
#include "steps/step_tensors.h"

namespace kiln::steps {
namespace {

Status require_scale(const StepTypes& types, ByteOperand which, bool may_be_absent) {
  const size_t at = input_of(which, types.inputs.size());
  const StepTensor& input = types.inputs[at];
  if (!input.present) return require(may_be_absent, "a product of bytes has no input ", at, ", a scale");
  return require(is_kernel_float(input.dtype), "input ", at, " of a product of bytes, a scale, is ", input.dtype);
}

Status require_zero(const StepTypes& types, ByteOperand which, DType type) {
  const size_t at = input_of(which, types.inputs.size());
  const StepTensor& input = types.inputs[at];
  return require(!input.present || (input.dtype == type && is_byte(type)), "input ", at,
                 " of a product of bytes, a zero point of ", type, ", is ", input.dtype);
}

}  // namespace

DType value_type(const StepTypes& types, const Epilogue& epilogue) {
  const DType y = types.outputs[0].dtype;
  if (is_kernel_float(y)) return y;
  return epilogue.hook ? epilogue.hook->program.outputs[0] : epilogue.residual.value_or(DType::kF32);
}

Status check_byte_operands(const StepTypes& types, const Epilogue& epilogue) {
  TRY(epilogue.check(types, kByteOperands, value_type(types, epilogue)));
  constexpr DType kF8 = DType::kF8E4M3;
  const DType x = types.inputs[0].dtype, w = types.inputs[1].dtype, y = types.outputs[0].dtype;
  const bool multiplies = (is_byte(x) && w == DType::kI8) || (x == kF8 && w == kF8);
  const bool is_narrow = is_byte(y) || y == kF8;
  TRY(require(multiplies && (is_narrow || is_kernel_float(y)), "a product of bytes ", x, " and ", w, " cannot make ",
              y));
  TRY(require_scale(types, ByteOperand::kXScale, false));
  TRY(require_zero(types, ByteOperand::kXZero, x));
  TRY(require_scale(types, ByteOperand::kWScale, false));
  TRY(require_scale(types, ByteOperand::kYScale, !is_narrow));
  return require_zero(types, ByteOperand::kYZero, y);
}

Status check_byte_operands(const StepTypes& types, const StepShapes& shapes, int64_t channels) {
  for (const ByteOperand which :
       {ByteOperand::kXScale, ByteOperand::kXZero, ByteOperand::kWScale, ByteOperand::kYScale, ByteOperand::kYZero}) {
    const size_t at = input_of(which, types.inputs.size());
    if (!types.inputs[at].present) continue;
    const bool is_of_channels = which == ByteOperand::kWScale && volume(shapes.inputs[at]) != 1;
    TRY(require_count(shapes.inputs[at], is_of_channels ? channels : 1, "a scale or zero point"));
  }
  return {};
}

Status check_byte_sums(const Extents& w, int64_t channels) {
  if (channels == 0) return {};
  return require(volume(w) / channels <= kMostBytesOfSum, "weights of bytes ", w, " have ", volume(w) / channels,
                 " a channel; sums of more than ", kMostBytesOfSum, " products may leave 32 bits");
}

}  // namespace kiln::steps
