#pragma once

#include "steps/lane_extents.h"
#include "steps/step.h"

namespace kiln::steps {

/// Normalisation over the innermost axes, or over planes and groups of channels. Inputs: x, a scale or absent, a bias
/// or absent: one element a position of the innermost axes, or one a channel. In place is allowed. Where it is not
/// centered, the mean is taken to be 0 (RMS normalisation), which is possible over the innermost axes only. A
/// normalisation of rows may have a result of bytes, with the inputs of quantized_result.h behind the others; it writes
/// the floats too where it has two outputs, as the first one.
struct Normalization {
  static constexpr std::string_view name = "normalization";
  static constexpr int version = 2;
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 3, .most_inputs = 5, .outputs = StepTensors::kAny};
  static constexpr size_t kInputs = 3;  ///< of one that does not quantize

  bool rows = false;   ///< the innermost `axes` axes are normalised; else planes, of x[n, channels, ...]
  int axes = 1;        ///< at least one
  int64_t groups = 1;  ///< of channels, which they divide; of planes only
  double epsilon = 1e-5;
  bool centered = true;

  static void reflect(auto& self, auto f) {
    f("rows", self.rows), f("axes", self.axes), f("groups", self.groups), f("epsilon", self.epsilon);
    f("centered", self.centered);
  }
  /// The lanes of rows, for x of these extents.
  LaneExtents lanes(const Extents& x) const {
    return lane_extents(x, x.size() - static_cast<size_t>(axes), x.size() - 1);
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
