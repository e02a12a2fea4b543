#pragma once

#include "steps/convolution.h"

namespace kiln::steps {

/// A convolution of single pixels, and a depthwise convolution of its result, which nobody else reads: what comes first
/// in the blocks of networks for small machines. Inputs: those of the first convolution, then those of the second but
/// for its x.
struct PointwiseDepthwise {
  static constexpr std::string_view name = "pointwise_depthwise";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 7, .most_inputs = StepTensors::kAny, .outputs = 1};

  Convolution pointwise, depthwise;

  static void reflect(auto& self, auto f) { f("pointwise", self.pointwise), f("depthwise", self.depthwise); }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;

  /// The input that is the second convolution's w; those of its epilogue follow.
  size_t second_w() const { return Epilogue::kBias + pointwise.epilogue.reads().size(); }
};

}  // namespace kiln::steps
