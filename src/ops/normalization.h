/// Layer, instance, group and RMS normalisation.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance (of all elements, not their sample's)
/// over `axes` and, with several groups, over the channels of a group too, which are neighbours on axis 1. Where it is
/// not `centered`, the mean is taken to be 0: x / sqrt(mean(x^2) + epsilon) * scale + bias, RMS normalisation.
///   in   x      float, rank >= 1
///        scale  x's type, broadcast to x with axes aligned at the right; optional. Axis 1 may also have one extent a
///        bias   group. As scale; optional
///   out  y      x's type and shape
struct Normalization {
  static constexpr std::string_view name = "Normalization";
  static constexpr Trait traits = Trait::kReduction;
  static constexpr int min_inputs = 1, max_inputs = 3;
  std::vector<int64_t> axes;  ///< of x, in any order; negative ones count from the back
  double epsilon = 1e-5;
  int64_t groups = 1;           ///< of axis 1, which is then none of `axes`
  DType compute = DType::kF32;  ///< the type to compute in; statistics are never in less than f32
  bool centered = true;
  static void reflect(auto& self, auto f) {
    f("axes", self.axes);
    f("epsilon", self.epsilon);
    f("groups", self.groups);
    f("compute", self.compute);
    f("centered", self.centered);
  }
  /// Whether it is RMS normalization along the last axis alone, of a valid op on an x of that rank.
  bool is_rms_of_rows(int rank) const;
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
