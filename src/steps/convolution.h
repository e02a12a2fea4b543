#pragma once

#include "steps/epilogue.h"
#include "steps/step.h"
#include "steps/window.h"

namespace kiln::steps {

/// A convolution with what follows it. Inputs: x[n, channels, spatial...], w[channels, channels of a group of x,
/// kernel...], those of the epilogue, and last, where tensors are joined, what else x has.
struct Convolution {
  static constexpr std::string_view name = "convolution";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 4, .most_inputs = StepTensors::kAny, .outputs = 1};

  Window window;
  int64_t groups = 1;
  bool joined = false;  ///< the channels of the last input come behind those of x
  Epilogue epilogue;

  static void reflect(auto& self, auto f) {
    f("window", self.window), f("groups", self.groups), f("joined", self.joined), f("epilogue", self.epilogue);
  }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
