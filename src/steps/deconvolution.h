#pragma once

#include "steps/epilogue.h"
#include "steps/step.h"
#include "steps/window.h"

namespace kiln::steps {

/// A transposed convolution with what follows it: x[i] goes into every position of y that a window of y at i looks at.
/// Inputs: x[n, channels, spatial...], w[channels, channels of a group of y, kernel...] and those of the epilogue.
struct Deconvolution {
  static constexpr std::string_view name = "deconvolution";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 4, .most_inputs = StepTensors::kAny, .outputs = 1};

  Window window;
  int64_t groups = 1;
  Epilogue epilogue;

  static void reflect(auto& self, auto f) {
    f("window", self.window), f("groups", self.groups), f("epilogue", self.epilogue);
  }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
