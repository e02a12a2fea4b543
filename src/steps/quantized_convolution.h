#pragma once

#include "steps/byte_operands.h"
#include "steps/step.h"
#include "steps/window.h"

namespace kiln::steps {

/// A convolution of bytes with what follows it, of all channels or, depthwise, of each by itself. Inputs: x[n,
/// channels, spatial...], w[channels, channels of x or 1, kernel...], those of the epilogue, and scales and zero points
/// (byte_operands.h). Padding is x_zero.
struct QuantizedConvolution {
  static constexpr std::string_view name = "quantized_convolution";
  static constexpr StepTensors tensors{
      .present = 2, .least_inputs = 4 + int{kByteOperands}, .most_inputs = StepTensors::kAny, .outputs = 1};

  Window window;
  bool is_depthwise = false;
  Epilogue epilogue;

  static void reflect(auto& self, auto f) {
    f("window", self.window), f("is_depthwise", self.is_depthwise), f("epilogue", self.epilogue);
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
