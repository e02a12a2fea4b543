/// A step's result that is quantized before it is written: steps that compute in floats and have such a form.
#pragma once

#include <span>

#include "steps/step_tensors.h"
#include "tensor/host_tensor.h"

namespace kiln::steps {

/// The last inputs of a step whose last output is of bytes, i8, u8 or FP8: y = saturate(round(value * (1 / scale)) +
/// zero), by one scale, a float, and a zero point of y's type, which is absent where it is 0 and for FP8. Both are
/// constants. `value` is not rounded to the float type that the output would have else.
enum class ResultOperand : uint8_t { kScale, kZero };
inline constexpr size_t kResultOperands = 2;

/// Whether steps may have a result of this type.
bool is_quantized_result(DType type);

/// Whether the step has one.
bool is_quantized(const StepTypes& types);

/// Fails unless the last output and the last inputs are of such types; the output lies as `like`.
Status check_quantized_result(const StepTypes& types, const StepTensor& like);
/// Fails unless there is one scale, and one zero point or none.
Status check_quantized_result(const StepTypes& types, const StepShapes& shapes);

/// The scale and the zero point as kernels take them.
struct ResultScale {
  float inverse = 1, zero = 0;  ///< the former is 1 / scale
};
/// Reads them from a step's constants, as Executor::load has them. Fails where they are none, and for scales that are
/// not finite and positive.
Result<ResultScale> result_scale(const StepTypes& types, std::span<const HostTensor* const> constants);

}  // namespace kiln::steps
