/// Contractions of bytes: what their steps have in common.
#pragma once

#include "steps/epilogue.h"

namespace kiln::steps {

/// The last inputs of a step that multiplies bytes: x's numbers are (x - x_zero) * x_scale, w's are w * w_scale, with
/// one scale for all, or one a channel. Where y is of bytes, it is saturate(round(value / y_scale) + y_zero). Scales
/// are floats; zero points have the type of their tensor, and are absent where they are 0. FP8 is a byte, too.
enum class ByteOperand : uint8_t { kXScale, kXZero, kWScale, kYScale, kYZero };
inline constexpr size_t kByteOperands = 5;

/// The place of such an input among `num_inputs`.
constexpr size_t input_of(ByteOperand operand, size_t num_inputs) {
  return num_inputs - kByteOperands + static_cast<size_t>(operand);
}

/// The type of values before they become y: where y is of bytes, that of the hook's result or the residual.
DType value_type(const StepTypes& types, const Epilogue& epilogue);
/// Fails unless x, w and y are of types that such steps have, and their scales are there.
Status check_byte_operands(const StepTypes& types, const Epilogue& epilogue);
/// Fails unless scales and zero points have one element, those of w one or one a channel.
Status check_byte_operands(const StepTypes& types, const StepShapes& shapes, int64_t channels);

/// So many products of bytes add up to what 32 bits have, whatever the bytes are: none is beyond 255 * 128.
inline constexpr int64_t kMostBytesOfSum = 1 << 16;
/// Fails if w, with that many channels of the result, has more bytes a channel.
Status check_byte_sums(const Extents& w, int64_t channels);

}  // namespace kiln::steps
